//! Seconds for 100 iterations of learning on ETTh1 over time, 30 % of its cells hidden, on one core.
//!
//! Claims guarded: with D = 7 and L = 4 Matérn-3/2 latents, at most 0.5 s for the first 4000 rows and at most 2 s for all
//! 17 420. Beside it, without a goal, the same latents with a private Matérn-1/2 one per output, as models are learned by
//! default. Without the real file, a station like it is made up. The climb starts from the
//! table's principal axes and is not allowed to stop early; building the graph is part of the time.

use std::hint::black_box;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use catena::data::{Observations, OutputScaling};
use catena::graph::FactorGraph;
use catena::kernel::{Kernel, StateKind};
use catena::learning::{
    Extent, Family, GraphEvidence, Lbfgs, LogPosterior, OptimizerSettings, OutputMoments, Priors,
};
use catena::structure::{Tree, sorted_chain};
use catena_studies::gap_table::{GapTable, ett_over_time};
use catena_testkit::station_table::station_table;

use crate::Failure;
use crate::pinning::pin_to_one_core;
use crate::timing::median;

/// Rows, and the seconds that are the goal.
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

/// What one climb did.
struct Climb {
    seconds: f64,
    iterations: usize,
    evaluations: usize,
    value: f64,
}

/// Measures both sizes and prints a table, or one JSON object per line.
///
/// # Errors
/// When the file cannot be read or is too short.
pub(crate) fn run(json: bool, ett: Option<&Path>) -> Result<(), Failure> {
    let csv = ett.map(std::fs::read_to_string).transpose()?;
    let pinning = pin_to_one_core().describe();
    let mut out = std::io::stdout().lock();
    if !json {
        writeln!(out, "{ITERATIONS} iterations, median of {ROUNDS}, {pinning}")?;
        writeln!(
            out,
            "table                          latents        seconds   goal  evaluations  log posterior"
        )?;
    }
    for (n_rows, goal) in SIZES {
        let table = match &csv {
            Some(csv) => ett_over_time(csv, n_rows, 0)?,
            None => station_table(n_rows, 0),
        };
        for (latents, family, goal) in [("4", SHARED, Some(goal)), ("4 + 7 private", WITH_PRIVATE, None)] {
            let climbs = climbs(&table, family)?;
            let seconds = median(climbs.iter().map(|climb| climb.seconds).collect());
            let fastest = climbs.iter().map(|climb| climb.seconds).fold(f64::INFINITY, f64::min);
            let Climb { iterations, evaluations, value, .. } = climbs[0];
            let name = &table.name;
            if iterations < ITERATIONS {
                return Err(format!("the climb on {name} ended after {iterations} iterations").into());
            }
            if json {
                let line = serde_json::json!({
                    "bench": "learning", "table": name, "rows": n_rows, "latents": latents,
                    "iterations": iterations, "evaluations": evaluations, "seconds": seconds,
                    "fastest": fastest, "goal": goal, "log_posterior": value, "pinning": pinning,
                });
                writeln!(out, "{line}")?;
            } else {
                let goal = goal.map_or_else(|| "-".to_owned(), |goal| format!("{goal:.1}"));
                writeln!(
                    out,
                    "{name:<30} {latents:<14} {seconds:>7.3} {goal:>6} {evaluations:>12} {value:>14.1}"
                )?;
            }
        }
    }
    Ok(())
}

fn climbs(table: &GapTable, family: Family) -> Result<Vec<Climb>, Failure> {
    let data = table.dataset()?;
    let observations = OutputScaling::standardizing(data.observations())?.apply(data.observations())?;
    let tree = sorted_chain(data.inputs())?;
    let extent = Extent::of(data.inputs(), &tree);
    // One untimed run fills caches.
    climb(&tree, &observations, extent, family)?;
    (0..ROUNDS).map(|_| climb(&tree, &observations, extent, family)).collect()
}

fn climb(tree: &Tree, observations: &Observations, extent: Extent, family: Family) -> Result<Climb, Failure> {
    let before = Instant::now();
    let start = family.start(&OutputMoments::of(observations), extent, 1.0)?;
    let parameters = family.parameters(start.clone(), NOISE_FLOOR);
    let priors = Priors::for_points(extent.spacing, extent.span);
    let evidence = GraphEvidence::new(FactorGraph::new(&start, tree, observations)?);
    let mut objective = LogPosterior::new(evidence, &parameters, &priors);
    // A tolerance of zero: only a vanishing slope could end the climb early.
    let settings =
        OptimizerSettings { max_iterations: ITERATIONS, tolerance: 0.0, ..OptimizerSettings::default() };
    let mut ascent = Lbfgs::new(&mut objective, parameters.vector_of(&start), settings);
    ascent.run(&mut objective, usize::MAX, &mut |_| ControlFlow::Continue(()));
    black_box(ascent.point());
    Ok(Climb {
        seconds: before.elapsed().as_secs_f64(),
        iterations: ascent.n_iterations(),
        evaluations: ascent.n_evaluations(),
        value: ascent.value(),
    })
}
