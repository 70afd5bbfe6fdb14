//! How much work a budget buys, in rows and iterations, so that the same table gives the same answer on any machine.

use catena::learning::{MultiStartSettings, OptimizerSettings};

use crate::fit::Budget;

/// Rows, masks and iterations of every stage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// At most this many rows are used to choose.
    pub(crate) selection_rows: usize,
    /// Iterations for each smoothness.
    pub(crate) smoothness_iterations: usize,
    /// Iterations for each candidate on each mask.
    pub(crate) candidate_iterations: usize,
    /// Masks of hidden cells; 0 to choose by parsimony.
    pub(crate) n_masks: u64,
    /// Whether so many states are so dear that masks, iterations and candidates were saved.
    pub(crate) is_frugal: bool,
    /// Starts of each candidate.
    pub(crate) candidate_multipliers: &'static [f64],
    /// Starts of the chosen model beside the one that was learned to compare it.
    pub(crate) final_multipliers: &'static [f64],
    /// The race of the chosen model.
    pub(crate) race: MultiStartSettings,
}

/// Fewest rows, and fewest steps of a climb, by which models can be told apart.
const FEWEST_ROWS: usize = 200;
const FEWEST_ITERATIONS: usize = 15;

/// Microseconds of one evidence with gradient per row, on one core: from instruction counts at 8, 13 and 26 states.
pub(crate) fn cost_per_row(state_size: usize, n_outputs: usize) -> f64 {
    let size = state_size as f64;
    0.1 * size + 5e-4 * size * size * (n_outputs + 3) as f64
}

impl Plan {
    /// The plan for choosing; `state_size` is that of the largest model to be tried.
    pub(crate) fn new(budget: Budget, n_rows: usize, n_outputs: usize, state_size: usize) -> Self {
        let (mut n_masks, mut smoothness_iterations, mut candidate_iterations) = match budget {
            Budget::Quick => (0, 15, 30),
            Budget::Default => (2, 30, 60),
            Budget::Thorough => (3, 60, 150),
        };
        // Seconds of one core for all candidates, and the most rows they are worth.
        let (seconds, rows) = match budget {
            Budget::Quick => (4.0, 2000),
            Budget::Default => (50.0, 4000),
            Budget::Thorough => (500.0, 10_000),
        };
        // About ten candidates on every mask.
        let affordable = |n_masks: u64, iterations: usize| {
            let evaluations = 10.0 * (n_masks.max(1) * iterations as u64) as f64;
            seconds * 1e6 / (cost_per_row(state_size, n_outputs) * evaluations)
        };
        // What even the fewest rows are too dear for is saved on masks, then on iterations.
        let fewest = FEWEST_ROWS.min(n_rows) as f64;
        let is_frugal = affordable(n_masks, candidate_iterations) < fewest;
        if is_frugal {
            n_masks = n_masks.min(1);
            let share = (affordable(n_masks, candidate_iterations) / fewest).min(1.0);
            let saved = |iterations: usize| ((share * iterations as f64) as usize).max(FEWEST_ITERATIONS);
            smoothness_iterations = saved(smoothness_iterations);
            candidate_iterations = saved(candidate_iterations);
        }
        let affordable = affordable(n_masks, candidate_iterations) as usize;
        Self {
            selection_rows: affordable.clamp(FEWEST_ROWS, rows).min(n_rows),
            smoothness_iterations,
            candidate_iterations,
            n_masks,
            is_frugal,
            candidate_multipliers: if budget == Budget::Thorough { &[1.0, 0.3, 3.0] } else { &[1.0] },
            final_multipliers: match budget {
                _ if is_frugal => &[],
                Budget::Quick => &[],
                Budget::Default => &[1.0, 0.3, 3.0],
                Budget::Thorough => &[1.0, 0.3, 3.0, 0.1, 10.0],
            },
            race: MultiStartSettings::default(),
        }
    }

    /// The race that the budget allows for the chosen model on the whole table.
    pub(crate) fn with_final_race(
        self,
        budget: Budget,
        n_rows: usize,
        n_outputs: usize,
        state_size: usize,
    ) -> Self {
        let (seconds, fewest, most) = match budget {
            Budget::Quick => (2.0, 25, 150),
            Budget::Default => (25.0, 30, 300),
            Budget::Thorough => (250.0, 50, 1000),
        };
        let cost = cost_per_row(state_size, n_outputs) * n_rows as f64;
        let max_iterations = ((seconds * 1e6 / cost) as usize).clamp(fewest, most);
        let optimizer = OptimizerSettings { max_iterations, ..OptimizerSettings::default() };
        Self {
            race: MultiStartSettings { trial_iterations: (max_iterations / 4).max(10), optimizer },
            ..self
        }
    }

    /// The race of a short fit.
    pub(crate) fn short(&self, max_iterations: usize) -> MultiStartSettings {
        let optimizer = OptimizerSettings { max_iterations, tolerance: 0.1, ..self.race.optimizer };
        MultiStartSettings { trial_iterations: max_iterations / 3, optimizer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds of one core for ten candidates, by the plan's own formula.
    fn seconds(plan: &Plan, state_size: usize, n_outputs: usize) -> f64 {
        let evaluations = 10.0 * (plan.n_masks.max(1) * plan.candidate_iterations as u64) as f64;
        plan.selection_rows as f64 * cost_per_row(state_size, n_outputs) * evaluations / 1e6
    }

    #[test]
    fn wide_tables_are_compared_with_less_work_each() {
        let narrow = Plan::new(Budget::Default, 4000, 7, 24);
        assert!(!narrow.is_frugal && narrow.n_masks == 2 && narrow.candidate_iterations == 60);
        for n_outputs in [60, 120] {
            let state_size = (12 + n_outputs) * 5 / 4;
            let wide = Plan::new(Budget::Default, 4000, n_outputs, state_size);
            assert!(wide.is_frugal && wide.selection_rows >= FEWEST_ROWS && wide.n_masks == 1, "{wide:?}");
            let seconds = seconds(&wide, state_size, n_outputs);
            assert!(seconds < 55.0, "{n_outputs} outputs: {seconds} s, {wide:?}");
        }
    }
}
