//! On five named tables the race of the default starts ends within one nat of the best of twenty random starts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
#![allow(clippy::print_stdout, reason = "the margins are worth reading")]

use catena::data::OutputScaling;
use catena::graph::FactorGraph;
use catena::kernel::Kernel;
use catena::learning::{
    Extent, Family, GraphEvidence, Learned, MultiStartSettings, OutputMoments, Priors, multi_start,
};
use catena::model::Lmc;
use catena::structure::StructureChoice;
use catena_studies::gap_table::GapTable;
use catena_testkit::learning_tables::recipe;
use catena_testkit::station_table::station_table;
use std::ops::ControlFlow;

const N_RANDOM: u64 = 20;
/// In log posterior.
const ALLOWED: f64 = 1.0;

/// By how much the best of twenty random starts, each climbed to its end, beats the race of the default starts.
fn lead_of_random_starts(table: &GapTable, n_shared: usize, kernels: (Kernel, Kernel)) -> f64 {
    let data = table.dataset().unwrap();
    let scaling = OutputScaling::standardizing(data.observations()).unwrap();
    let observations = scaling.apply(data.observations()).unwrap();
    let choice = StructureChoice::for_dim(data.inputs().dim());
    let tree = choice.build(data.inputs()).unwrap();
    let extent = Extent::of(data.inputs(), &tree);
    let family = Family {
        n_shared,
        shared_kernel: kernels.0,
        private_kernel: Some(kernels.1),
        state: choice.state(),
        tied: false,
    };
    let moments = OutputMoments::of(&observations);
    let starts = [1.0, 0.3, 3.0].map(|multiplier| family.start(&moments, extent, multiplier).unwrap());
    let parameters = family.parameters(starts[0].clone(), 1e-6);
    let priors = Priors::for_points(extent.spacing, extent.span);
    let graph = FactorGraph::new(&starts[0], &tree, &observations).unwrap();
    let climb = |starts: &[Lmc]| -> Learned {
        let make = || GraphEvidence::new(graph.clone());
        let settings = MultiStartSettings::default();
        multi_start(&make, &parameters, &priors, starts, settings, &|_| ControlFlow::Continue(())).unwrap()
    };
    let raced = climb(&starts).log_posterior;
    let ends: Vec<f64> = (0..N_RANDOM)
        .map(|seed| climb(&[family.random_start(table.n_outputs, extent, seed).unwrap()]).log_posterior)
        .collect();
    let best = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let worst = ends.iter().copied().fold(f64::INFINITY, f64::min);
    println!("{}: race {raced:.2}, random starts {worst:.2} to {best:.2}", table.name);
    best - raced
}

fn check(name: &str, n_rows: usize) {
    let recipe = recipe(name).with_rows(n_rows);
    let kernels = (recipe.shared_kernel, recipe.private.0);
    let lead = lead_of_random_starts(&recipe.draw().table, recipe.n_shared, kernels);
    assert!(lead <= ALLOWED, "{name}: a random start ends {lead:.2} nats higher");
}

#[test]
fn on_the_short_table_with_many_outputs() {
    check("short-many", 250);
}

#[test]
fn on_the_smooth_table() {
    check("smooth", 300);
}

#[test]
fn on_the_table_with_an_output_mostly_missing() {
    check("mostly-missing", 500);
}

#[test]
fn on_the_plane() {
    check("plane", 400);
}

#[test]
fn on_the_station() {
    let table = station_table(500, 1);
    let lead = lead_of_random_starts(&table, 3, (Kernel::Matern32, Kernel::Matern12));
    assert!(lead <= ALLOWED, "{}: a random start ends {lead:.2} nats higher", table.name);
}
