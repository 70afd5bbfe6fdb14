//! What each method would take for the whole table, in operations, so that the same table gives the same answer on any
//! machine; and the work that a budget buys.

use catena::data::Dataset;
use catena::learning::Family;
use catena_baselines::fullscale::FullScaleSize;

use crate::fit::Budget;

/// Dense multiplications per second of one ordinary core, for times that are said, never for decisions.
const RATE: f64 = 4e9;

/// How much a contest may look at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Work {
    /// Rows from which parameters are learned by the full-scale likelihood, to be compared.
    pub(super) learning_rows: usize,
    /// Rows that take part in all.
    pub(super) contest_rows: usize,
    /// Iterations of every climb.
    pub(super) iterations: usize,
    /// The most numbers in a dense system that is solved at once.
    pub(super) most_dense: usize,
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
                most_dense: 1200,
                tries_variants: false,
            },
            Budget::Default => Self {
                learning_rows: 300,
                contest_rows: 4000,
                iterations: 40,
                most_dense: 3000,
                tries_variants: true,
            },
            Budget::Thorough => Self {
                learning_rows: 800,
                contest_rows: 10_000,
                iterations: 80,
                most_dense: 6000,
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

/// Seconds of one core to condition on `n_rows` rows and predict as many.
pub(super) fn full_scale_seconds(
    size: FullScaleSize,
    family: &Family,
    n_outputs: usize,
    n_rows: usize,
) -> f64 {
    1.5 * n_rows as f64 * per_location(size, family, n_outputs) / RATE
}

/// The same with a dense system of so many equations.
pub(super) fn exact_seconds(n_equations: usize, n_rows: usize, n_outputs: usize) -> f64 {
    let equations = n_equations as f64;
    (equations.powi(3) / 3.0 + equations.powi(2) * (n_rows * n_outputs) as f64) / RATE
}

/// The same by message passing on this many structures.
pub(super) fn sweep_seconds(n_structures: usize, family: &Family, n_outputs: usize, n_rows: usize) -> f64 {
    let states = family.n_shared + if family.private_kernel.is_some() { n_outputs } else { 0 };
    1e-6 * crate::selection::cost_per_row(states, n_outputs) * (n_structures * n_rows) as f64
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
