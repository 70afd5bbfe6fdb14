//! Seconds for 100 iterations of learning on ETTh1 over time, 30 % of its cells held out, on one core.
//!
//! Claims: with D = 7 and L = 4 Matérn-3/2 latents, at most 0.5 s for the first 4000 rows and at most 2 s for all
//! 17 420. Also measured, without a goal: the same latents with a private Matérn-1/2 latent per output, the default family.
//! Without the real file, a similar station is simulated. The optimization starts from the table's principal axes and does
//! not stop early; the time includes building the graph.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use catena::data::{Observations, OutputScaling};
use catena::graph::FactorGraph;
use catena::kernel::{Kernel, StateKind};
use catena::learning::{
    Extent, Family, GraphEvidence, MultiStartSettings, OptimizerSettings, OutputMoments, Priors, multi_start,
};
use catena::structure::{Tree, sorted_chain};
use catena_studies::gap_table::{GapTable, ett_over_time};
use catena_testkit::station_table::station_table;

use serde_json::json;

use crate::pinning::pin_to_one_core;
use crate::report::Table;
use crate::timing::median;
use crate::{Failure, Options};

/// Rows, and the goal in seconds.
const SIZES: [(usize, f64); 2] = [(4000, 0.5), (17_420, 2.0)];
const ITERATIONS: usize = 100;
const ROUNDS: usize = 7;
const NOISE_FLOOR: f64 = 1e-6;
const SHARED: Family = Family {
    n_shared: 4,
    shared_kernel: Kernel::Matern32,
    private_kernel: None,
    state: StateKind::Derivative,
    tied: false,
};
const WITH_PRIVATE: Family = Family { private_kernel: Some(Kernel::Matern12), ..SHARED };

/// One optimization.
struct Run {
    seconds: f64,
    iterations: usize,
    evaluations: usize,
    value: f64,
}

/// Measures and prints.
///
/// # Errors
/// If the file cannot be read or is too short.
pub(crate) fn run(options: &Options<'_>) -> Result<(), Failure> {
    let csv = options.value("--ett").map(std::fs::read_to_string).transpose()?;
    let pinning = pin_to_one_core();
    let note = format!("seconds for {ITERATIONS} iterations, median of {ROUNDS}, {pinning}");
    let mut report = Table::new("learning", options.json, &note);
    for (n_rows, goal) in SIZES {
        let table = match &csv {
            Some(csv) => ett_over_time(csv, n_rows, 0)?,
            None => station_table(n_rows, 0),
        };
        for (latents, family, goal) in [("4", SHARED, Some(goal)), ("4 + 7 private", WITH_PRIVATE, None)] {
            let runs = runs(&table, family)?;
            let Run { iterations, evaluations, value, .. } = runs[0];
            if iterations < ITERATIONS {
                let name = &table.name;
                return Err(format!("learning on {name} ended after {iterations} iterations").into());
            }
            report.row(&[
                ("table", json!(table.name)),
                ("latents", json!(latents)),
                ("seconds", json!(median(runs.iter().map(|run| run.seconds).collect()))),
                ("goal", json!(goal)),
                ("evaluations", json!(evaluations)),
                ("log_posterior", json!(value)),
            ]);
        }
    }
    Ok(())
}

fn runs(table: &GapTable, family: Family) -> Result<Vec<Run>, Failure> {
    let data = table.dataset()?;
    let observations = OutputScaling::standardizing(data.observations())?.apply(data.observations())?;
    let tree = sorted_chain(data.inputs())?;
    let extent = Extent::of(data.inputs(), &tree);
    // One untimed run fills caches.
    optimize(&tree, &observations, extent, family)?;
    (0..ROUNDS).map(|_| optimize(&tree, &observations, extent, family)).collect()
}

fn optimize(
    tree: &Tree,
    observations: &Observations,
    extent: Extent,
    family: Family,
) -> Result<Run, Failure> {
    let before = Instant::now();
    let start = family.start(&OutputMoments::of(observations), extent, 1.0)?;
    let parameters = family.parameters(start.clone(), NOISE_FLOOR);
    let priors = Priors::for_points(extent.spacing, extent.span);
    let graph = FactorGraph::new(&start, tree, observations)?;
    // With a tolerance of zero only a vanishing gradient can stop it early.
    let optimizer =
        OptimizerSettings { max_iterations: ITERATIONS, tolerance: 0.0, ..OptimizerSettings::default() };
    let settings = MultiStartSettings { trial_iterations: ITERATIONS, optimizer };
    let evidence = || GraphEvidence::new(graph.clone());
    let starts = std::slice::from_ref(&start);
    let go_on = |_| ControlFlow::Continue(());
    let learned = black_box(multi_start(&evidence, &parameters, &priors, starts, settings, &go_on)?);
    Ok(Run {
        seconds: before.elapsed().as_secs_f64(),
        iterations: learned.path.len() - 1,
        evaluations: learned.n_evaluations,
        value: learned.log_posterior,
    })
}
