//! The cost model: how many rows and iterations a budget allows, and the estimated work of each method.
//!
//! Decisions depend on counted work only, never on measured time, so that a table gives the same model on every machine.

use catena::data::Dataset;
use catena::kernel::Kernel;
use catena::learning::{Family, MultiStartSettings, OptimizerSettings};
use catena::model::Lmc;
use catena_methods::fullscale::FullScaleSize;

use crate::options::Budget;

/// Multiplications per second of one core in many small neighborhoods. For displayed times only.
const NEIGHBORHOOD_RATE: f64 = 4e9;
/// The same in one large dense system.
const DENSE_RATE: f64 = 1.2e10;
/// Evaluations of the log evidence with gradient per iteration of the optimizer.
pub(crate) const EVALUATIONS_PER_ITERATION: f64 = 1.2;
/// The mean cost of a candidate, in costs of the largest.
const MEAN_COST: f64 = 0.4;
/// Of longer tables, the chosen family is learned from at least this many rows.
const FEWEST_FINAL_ROWS: usize = 20_000;
/// With the quick budget, the rows from which parameters that groups share are learned.
const MOST_FINAL_ROWS_OF_GROUPS: usize = 2500;
/// Iterations with which a model continues on the whole table if it was learned from some of its rows.
const CONTINUED: usize = 12;
/// The fewest rows and iterations that can distinguish models.
pub(crate) const FEWEST_ROWS: usize = 200;
pub(crate) const FEWEST_ITERATIONS: usize = 15;

/// Multi-start settings: all starts run `trial_iterations` iterations, the best one continues to `iterations`.
pub(crate) fn limits(trial_iterations: usize, iterations: usize) -> MultiStartSettings {
    MultiStartSettings {
        trial_iterations,
        optimizer: OptimizerSettings { max_iterations: iterations, ..OptimizerSettings::default() },
    }
}

/// The same with a loose tolerance, for models that are only compared.
pub(crate) fn short(trial_iterations: usize, iterations: usize) -> MultiStartSettings {
    let settings = limits(trial_iterations, iterations);
    MultiStartSettings { optimizer: OptimizerSettings { tolerance: 0.1, ..settings.optimizer }, ..settings }
}

/// The sizes on which the cost of a row depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowSize {
    pub(crate) state_size: usize,
    pub(crate) n_latents: usize,
    pub(crate) n_outputs: usize,
}

impl RowSize {
    /// The size of a row under a model.
    pub(crate) fn of_model(model: &Lmc) -> Self {
        let (state_size, n_latents) = (model.state_dim(), model.n_latents());
        Self { state_size, n_latents, n_outputs: model.n_outputs() }
    }

    /// The size of a row under a family.
    pub(crate) fn of(family: &Family, n_outputs: usize) -> Self {
        let states = |kernel: Kernel| kernel.state_dim(family.state_of(kernel)).unwrap_or(1);
        let own = family.private_kernel.map_or(0, |kernel| n_outputs * states(kernel));
        let state_size = family.n_shared * states(family.shared_kernel) + own;
        Self { state_size, n_latents: n_latents(family, n_outputs), n_outputs }
    }

    /// Microseconds of one core for the log evidence with its gradient, per row: from instruction counts at 8, 13 and 26 states
    /// with private latents, and from `catena-bench wide` without.
    pub(crate) fn microseconds(self) -> f64 {
        let Self { state_size, n_latents, n_outputs } = self;
        let (size, n_cells) = (state_size as f64, n_outputs as f64);
        let dynamics = 0.1 * size + 1.5e-3 * size * size;
        if n_latents > n_outputs {
            // Most weights are zero.
            return dynamics + 1e-3 * size * size * n_cells;
        }
        // The cells are combined into one observation per latent; rows with a mask of their own take up to three times as long.
        let n_observations = n_latents as f64;
        dynamics + 1.5e-3 * size * size * n_observations + 6e-3 * n_cells * n_observations
    }
}

/// The size of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableSize {
    pub(crate) n_rows: usize,
    pub(crate) n_inputs: usize,
    pub(crate) n_outputs: usize,
}

impl TableSize {
    pub(crate) fn of(table: &Dataset) -> Self {
        let (n_inputs, n_outputs) = (table.inputs().dim(), table.observations().n_outputs());
        Self { n_rows: table.n_rows(), n_inputs, n_outputs }
    }
}

/// Rows, folds and iterations for the choice of the family.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SelectionPlan {
    /// Rows from which families are learned for the comparison, at most.
    pub(crate) n_rows: usize,
    /// Rows on which they are compared along a line, at most: a prediction takes one sweep, learning many.
    pub(crate) compared_rows: usize,
    /// For each smoothness.
    pub(crate) smoothness: MultiStartSettings,
    /// For each candidate on each fold.
    pub(crate) candidate: MultiStartSettings,
    /// For variants of a candidate, which start from its models.
    pub(crate) variant: MultiStartSettings,
    /// Folds of held-out cells; 0 to choose by parsimony score.
    pub(crate) n_folds: u64,
    /// Whether the state is so large that folds, iterations and candidates were reduced.
    pub(crate) is_reduced: bool,
    /// Length-scale multipliers of the starts of each candidate.
    pub(crate) candidate_multipliers: &'static [f64],
    /// Length-scale multipliers of further starts of the chosen family.
    pub(crate) final_multipliers: &'static [f64],
}

impl SelectionPlan {
    /// `largest` is the size of a row of the largest of `n_candidates` candidates.
    pub(crate) fn new(budget: Budget, n_rows: usize, largest: RowSize, n_candidates: usize) -> Self {
        let (mut n_folds, mut smoothness, mut candidate, variant) = match budget {
            Budget::Quick => (0, 15, 30, 30),
            Budget::Default => (4, 20, 30, 12),
            Budget::Thorough => (5, 60, 120, 120),
        };
        // Seconds of one core for all candidates, and the fewest and most rows to use.
        let (seconds, fewest_rows, most_rows) = match budget {
            Budget::Quick => (4.0, FEWEST_ROWS, 2000),
            Budget::Default => (10.0, 500, 4000),
            Budget::Thorough => (500.0, 1000, 10_000),
        };
        // All candidates and two variants on the first fold, four candidates and a variant on the others.
        let affordable = |n_folds: u64, iterations: usize| {
            let on_others = n_candidates.min(4) as f64 + 1.0;
            let n_trials = n_candidates as f64 + on_others * n_folds.saturating_sub(1) as f64 + 2.0;
            let evaluations = n_trials * EVALUATIONS_PER_ITERATION * iterations as f64;
            seconds * 1e6 / (MEAN_COST * largest.microseconds() * evaluations)
        };
        // If even the fewest rows are too expensive, reduce folds first, then iterations.
        let fewest = fewest_rows.min(n_rows) as f64;
        let is_reduced = affordable(n_folds, candidate) < fewest;
        if is_reduced {
            while n_folds > 1 && affordable(n_folds, candidate) < fewest {
                n_folds -= 1;
            }
            let share = (affordable(n_folds, candidate) / fewest).min(1.0);
            let reduced = |iterations: usize| ((share * iterations as f64) as usize).max(FEWEST_ITERATIONS);
            smoothness = reduced(smoothness);
            candidate = reduced(candidate);
        }
        let learned = (affordable(n_folds, candidate) as usize).clamp(fewest_rows, most_rows).min(n_rows);
        // A fifth of the time for predictions.
        let swept = (0.2 * affordable(n_folds, 1)) as usize;
        let compared_rows =
            if n_folds == 0 { learned } else { swept.clamp(learned, most_rows.max(learned)).min(n_rows) };
        Self {
            n_rows: learned,
            compared_rows,
            smoothness: short(smoothness / 3, smoothness),
            candidate: short(candidate / 3, candidate),
            variant: short(variant, variant),
            n_folds,
            is_reduced,
            candidate_multipliers: if budget == Budget::Thorough { &[1.0, 0.3, 3.0] } else { &[1.0] },
            final_multipliers: match budget {
                _ if is_reduced => &[],
                Budget::Quick => &[],
                Budget::Default => &[1.0, 0.3, 3.0],
                Budget::Thorough => &[1.0, 0.3, 3.0, 0.1, 10.0],
            },
        }
    }
}

/// Settings and rows for learning the chosen family by message passing.
pub(crate) struct FinalPlan {
    pub(crate) settings: MultiStartSettings,
    /// Rows along a line from which the family is learned, at most: as many as the budget allows with the fewest iterations.
    pub(crate) n_rows: usize,
}

impl FinalPlan {
    /// For a table of `n_rows` rows of this size.
    pub(crate) fn new(budget: Budget, n_rows: usize, row: RowSize) -> Self {
        let (seconds, fewest, most) = match budget {
            Budget::Quick => (2.0, 25, 150),
            Budget::Default => (8.0, 30, 300),
            Budget::Thorough => (250.0, 50, 1000),
        };
        let affordable = |n_iterations: usize| {
            let evaluations = EVALUATIONS_PER_ITERATION * n_iterations as f64;
            (seconds * 1e6 / (row.microseconds() * evaluations)) as usize
        };
        let most_rows = affordable(fewest).max(FEWEST_FINAL_ROWS);
        let iterations = affordable(n_rows.min(most_rows).max(1)).clamp(fewest, most);
        Self { settings: limits((iterations / 4).max(10), iterations), n_rows: most_rows }
    }

    /// The same for a table with groups. They share parameters, so with the quick budget some of many groups are enough to learn them.
    pub(crate) fn for_groups(self, budget: Budget, n_groups: usize) -> Self {
        let most =
            if budget == Budget::Quick && n_groups > 1 { MOST_FINAL_ROWS_OF_GROUPS } else { usize::MAX };
        Self { n_rows: self.n_rows.min(most), ..self }
    }

    /// The same rows, and as many iterations as a model needs that was learned on some of them.
    pub(crate) fn continued(self) -> Self {
        Self { settings: limits(CONTINUED, CONTINUED), ..self }
    }
}

/// Rows and iterations for the choice of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MethodSelectionPlan {
    /// Rows from which the full-scale likelihood learns.
    pub(crate) learning_rows: usize,
    /// Rows on which methods are compared.
    pub(crate) n_rows: usize,
    /// For each optimization.
    pub(crate) settings: MultiStartSettings,
    /// Multiplications up to which exact inference is used without a comparison.
    pub(crate) exact_operations: f64,
    /// Whether families are compared beyond their smoothness.
    pub(crate) tries_variants: bool,
}

impl MethodSelectionPlan {
    pub(crate) fn new(budget: Budget) -> Self {
        let (learning_rows, n_rows, iterations, exact_operations) = match budget {
            Budget::Quick => (150, 1000, 20, 3e9),
            Budget::Default => (300, 4000, 40, 5e10),
            Budget::Thorough => (800, 10_000, 80, 4e11),
        };
        let settings = short(iterations, iterations);
        let tries_variants = budget != Budget::Quick;
        Self { learning_rows, n_rows, settings, exact_operations, tries_variants }
    }
}

/// Rows and iterations with which the full-scale likelihood learns the chosen model, unless the user sets the rows.
pub(crate) fn full_scale_learning(budget: Budget, family: &Family, n_outputs: usize) -> (usize, usize) {
    let (operations, fewest, most, iterations) = match budget {
        Budget::Quick => (6e9, 150, 600, 30),
        Budget::Default => (8e10, 300, 2000, 100),
        Budget::Thorough => (8e11, 500, 10_000, 300),
    };
    let per_row = per_location(FullScaleSize::default(), family, n_outputs) * iterations as f64;
    (((operations / per_row) as usize).clamp(fewest, most), iterations)
}

/// Multiplications of one full-scale likelihood with gradient, per location.
fn per_location(size: FullScaleSize, family: &Family, n_outputs: usize) -> f64 {
    let n_latents = if family.n_shared == 0 { n_outputs } else { family.n_shared };
    size.cost_per_location(n_latents, channels_per_row(family, n_outputs))
}

/// Equations of a complete row.
fn channels_per_row(family: &Family, n_outputs: usize) -> usize {
    match family.private_kernel {
        Some(_) => n_outputs,
        None => n_outputs.min(family.n_shared),
    }
}

fn n_latents(family: &Family, n_outputs: usize) -> usize {
    family.n_shared + if family.private_kernel.is_some() { n_outputs } else { 0 }
}

/// Equations of a table under a family, at most.
pub(crate) fn n_equations(table: &Dataset, family: &Family) -> usize {
    let observations = table.observations();
    let per_row = channels_per_row(family, observations.n_outputs());
    table.inputs().rows().map(|row| observations.row(row).len().min(per_row)).sum()
}

/// Seconds of one core for the full-scale method to learn, condition and predict every row.
pub(crate) fn full_scale_seconds(
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

/// Seconds of one core for full-scale likelihoods with gradient of this many rows in all.
pub(crate) fn full_scale_work(family: &Family, n_outputs: usize, n_rows: usize) -> f64 {
    n_rows as f64 * per_location(FullScaleSize::default(), family, n_outputs) / NEIGHBORHOOD_RATE
}

/// Seconds of one core to learn by the full-scale likelihood with all iterations.
fn learning_seconds(size: FullScaleSize, family: &Family, budget: Budget, table: &Dataset) -> f64 {
    let n_outputs = table.observations().n_outputs();
    let (rows, iterations) = full_scale_learning(budget, family, n_outputs);
    let evaluations = (rows.min(table.n_rows()) * iterations) as f64;
    evaluations * per_location(size, family, n_outputs) / NEIGHBORHOOD_RATE
}

/// Multiplications of exact inference: the Cholesky factor, and a prediction of every row.
pub(crate) fn exact_operations(n_equations: usize, family: &Family, table: &Dataset) -> f64 {
    let n_outputs = table.observations().n_outputs();
    let targets = (table.n_rows() * n_outputs.min(n_latents(family, n_outputs))) as f64;
    let equations = n_equations as f64;
    equations * equations * (equations / 3.0 + targets)
}

/// Seconds of one core for exact inference, which learns by the full-scale likelihood.
pub(crate) fn exact_seconds(n_equations: usize, family: &Family, budget: Budget, table: &Dataset) -> f64 {
    learning_seconds(FullScaleSize::default(), family, budget, table)
        + exact_operations(n_equations, family, table) / DENSE_RATE
}

/// Seconds of one core for message passing on this many structures after learning with all iterations.
pub(crate) fn sweep_seconds(n_structures: usize, family: &Family, iterations: usize, table: &Dataset) -> f64 {
    let n_outputs = table.observations().n_outputs();
    let sweeps = (n_structures + iterations) as f64;
    let n_latents = n_latents(family, n_outputs);
    let per_row = RowSize { state_size: n_latents, n_latents, n_outputs }.microseconds();
    1e-6 * per_row * sweeps * table.n_rows() as f64
}

/// A duration as text.
pub(crate) fn duration_text(seconds: f64) -> String {
    match seconds {
        ..0.1 => "under 0.1 s".to_owned(),
        ..10.0 => format!("about {seconds:.1} s"),
        ..120.0 => format!("about {seconds:.0} s"),
        ..7200.0 => format!("about {:.0} min", seconds / 60.0),
        _ => format!("about {:.0} h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_tables_are_compared_with_less_work_each() {
        let row = RowSize { state_size: 24, n_latents: 15, n_outputs: 7 };
        let narrow = SelectionPlan::new(Budget::Default, 4000, row, 6);
        assert!(!narrow.is_reduced && narrow.n_folds == 4 && narrow.candidate.optimizer.max_iterations == 30);
        for n_outputs in [60, 120] {
            // With private latents.
            let n_latents = 8 + n_outputs;
            let row = RowSize { state_size: n_latents * 5 / 4, n_latents, n_outputs };
            let wide = SelectionPlan::new(Budget::Default, 4000, row, 6);
            assert!(wide.is_reduced && wide.n_rows >= FEWEST_ROWS && wide.n_folds == 1, "{wide:?}");
            assert_eq!(wide.candidate.optimizer.max_iterations, FEWEST_ITERATIONS);
        }
    }

    #[test]
    fn long_tables_are_learned_from_as_many_rows_as_the_budget_allows() {
        let row = RowSize { state_size: 12, n_latents: 8, n_outputs: 4 };
        let seconds = |plan: &FinalPlan, n_rows: usize| {
            let iterations = plan.settings.optimizer.max_iterations as f64;
            1e-6 * row.microseconds()
                * EVALUATIONS_PER_ITERATION
                * iterations
                * n_rows.min(plan.n_rows) as f64
        };
        for n_rows in [200, 4000, 100_000, 1_000_000] {
            let plan = FinalPlan::new(Budget::Default, n_rows, row);
            assert!(seconds(&plan, n_rows) < 9.0, "{n_rows}: {}", seconds(&plan, n_rows));
        }
        assert!(FinalPlan::new(Budget::Default, 1_000_000, row).n_rows >= FEWEST_FINAL_ROWS);
    }

    #[test]
    fn the_cost_of_a_row_without_private_latents_is_linear_in_its_outputs() {
        let cost = |n_outputs| RowSize { state_size: 16, n_latents: 8, n_outputs }.microseconds();
        assert!(cost(400) < 4.0 * cost(100) && cost(400) > cost(100));
    }
}
