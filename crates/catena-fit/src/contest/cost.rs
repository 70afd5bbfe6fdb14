//! What each method would take for the whole table, in operations, so that the same table gives the same answer on any
//! machine; and the work that a budget buys.

use catena::data::Dataset;
use catena::learning::Family;
use catena_methods::fullscale::FullScaleSize;

use crate::fit::Budget;

/// Multiplications per second of one ordinary core in many small neighborhoods, for times that are said, never for decisions.
const NEIGHBORHOOD_RATE: f64 = 4e9;
/// The same in one large dense system.
const DENSE_RATE: f64 = 1.2e10;

/// How much a contest may look at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Work {
    /// Rows from which parameters are learned by the full-scale likelihood, to be compared.
    pub(super) learning_rows: usize,
    /// Rows that take part in all.
    pub(super) contest_rows: usize,
    /// Iterations of every climb.
    pub(super) iterations: usize,
    /// Multiplications up to which exact inference is taken without asking whether another method is nearly as good.
    pub(super) exact_operations: f64,
    /// Whether families are compared beyond their smoothness.
    pub(super) tries_variants: bool,
}

impl Work {
    pub(super) fn new(budget: Budget) -> Self {
        match budget {
            Budget::Quick => Self {
                learning_rows: 150,
                contest_rows: 1000,
                iterations: 20,
                exact_operations: 3e9,
                tries_variants: false,
            },
            Budget::Default => Self {
                learning_rows: 300,
                contest_rows: 4000,
                iterations: 40,
                exact_operations: 5e10,
                tries_variants: true,
            },
            Budget::Thorough => Self {
                learning_rows: 800,
                contest_rows: 10_000,
                iterations: 80,
                exact_operations: 4e11,
                tries_variants: true,
            },
        }
    }
}

/// Rows from which the chosen full-scale model is learned, and iterations, where the user asks for no number.
pub(crate) fn final_learning(budget: Budget, family: &Family, n_outputs: usize) -> (usize, usize) {
    let (operations, fewest, most, iterations) = match budget {
        Budget::Quick => (6e9, 150, 600, 30),
        Budget::Default => (8e10, 300, 2000, 100),
        Budget::Thorough => (8e11, 500, 10_000, 300),
    };
    let per_row = per_location(FullScaleSize::default(), family, n_outputs) * iterations as f64;
    (((operations / per_row) as usize).clamp(fewest, most), iterations)
}

/// Multiplications of one likelihood with gradient, per location.
fn per_location(size: FullScaleSize, family: &Family, n_outputs: usize) -> f64 {
    let n_latents = if family.n_shared == 0 { n_outputs } else { family.n_shared };
    size.cost_per_location(n_latents, channels_per_row(family, n_outputs))
}

/// Equations that a complete row comes down to.
fn channels_per_row(family: &Family, n_outputs: usize) -> usize {
    match family.private_kernel {
        Some(_) => n_outputs,
        None => n_outputs.min(family.n_shared),
    }
}

/// Equations of a table under a family, at most.
pub(super) fn n_equations(table: &Dataset, family: &Family) -> usize {
    let observations = table.observations();
    let per_row = channels_per_row(family, observations.n_outputs());
    table.inputs().rows().map(|row| observations.row(row).len().min(per_row)).sum()
}

/// Seconds of one core for the whole table by the full-scale method: to learn, to condition and to predict every row.
pub(super) fn full_scale_seconds(
    size: FullScaleSize,
    family: &Family,
    budget: Budget,
    table: &Dataset,
) -> f64 {
    let n_outputs = table.observations().n_outputs();
    // The likelihood without its gradient, and a prediction, take about as long as one with it.
    let operations = table.n_rows() as f64 * per_location(size, family, n_outputs);
    learning_seconds(size, family, budget, table) + operations / NEIGHBORHOOD_RATE
}

/// Seconds of one core to learn by the full-scale likelihood, if every iteration is used.
fn learning_seconds(size: FullScaleSize, family: &Family, budget: Budget, table: &Dataset) -> f64 {
    let n_outputs = table.observations().n_outputs();
    let (rows, iterations) = final_learning(budget, family, n_outputs);
    let evaluations = (rows.min(table.n_rows()) * iterations) as f64;
    evaluations * per_location(size, family, n_outputs) / NEIGHBORHOOD_RATE
}

/// Multiplications of exact inference with so many equations: its factor, and every row predicted.
pub(super) fn exact_operations(n_equations: usize, family: &Family, table: &Dataset) -> f64 {
    let n_outputs = table.observations().n_outputs();
    let n_latents = family.n_shared + if family.private_kernel.is_some() { n_outputs } else { 0 };
    let targets = (table.n_rows() * n_outputs.min(n_latents)) as f64;
    let equations = n_equations as f64;
    equations * equations * (equations / 3.0 + targets)
}

/// Seconds of one core for the whole table by exact inference, which learns by the full-scale likelihood.
pub(super) fn exact_seconds(n_equations: usize, family: &Family, budget: Budget, table: &Dataset) -> f64 {
    learning_seconds(FullScaleSize::default(), family, budget, table)
        + exact_operations(n_equations, family, table) / DENSE_RATE
}

/// Seconds of one core for the whole table by message passing on this many structures, after so many iterations of learning,
/// if every one is used.
pub(super) fn sweep_seconds(n_structures: usize, family: &Family, iterations: usize, table: &Dataset) -> f64 {
    let n_outputs = table.observations().n_outputs();
    let states = family.n_shared + if family.private_kernel.is_some() { n_outputs } else { 0 };
    let sweeps = (n_structures + iterations) as f64;
    1e-6 * crate::selection::cost_per_row(states, n_outputs) * sweeps * table.n_rows() as f64
}

/// A time as people say it.
pub(super) fn spoken(seconds: f64) -> String {
    match seconds {
        ..0.1 => "under 0.1 s".to_owned(),
        ..10.0 => format!("about {seconds:.1} s"),
        ..120.0 => format!("about {seconds:.0} s"),
        ..7200.0 => format!("about {:.0} min", seconds / 60.0),
        _ => format!("about {:.0} h", seconds / 3600.0),
    }
}
