//! How many times and iterations a budget allows for a model of space and time.

use catena::learning::MultiStartSettings;

use crate::cost::{EVALUATIONS_PER_ITERATION, RowSize, limits, short};
use crate::options::Budget;

/// Times and iterations for a model of space and time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpacePlan {
    /// Times on which kernels and numbers of fields are compared, at most.
    pub(crate) compared_times: usize,
    pub(crate) compared: MultiStartSettings,
    /// Times from which the chosen fields are learned, at most.
    pub(crate) learned_times: usize,
    pub(crate) learned: MultiStartSettings,
}

/// The fewest times that can tell a length-scale.
const FEWEST_TIMES: usize = 60;

impl SpacePlan {
    /// Seconds of one core for the comparison, and again for learning.
    pub(crate) fn seconds(budget: Budget) -> f64 {
        match budget {
            Budget::Quick => 2.0,
            Budget::Default => 15.0,
            Budget::Thorough => 250.0,
        }
    }

    /// For a table of `n_times` times; `row` is the size of a row of the largest of `n_candidates` candidates.
    pub(crate) fn new(budget: Budget, n_times: usize, row: RowSize, n_candidates: usize) -> Self {
        let (iterations, last) = match budget {
            Budget::Quick => (15, 25),
            Budget::Default => (20, 60),
            Budget::Thorough => (40, 200),
        };
        let affordable = |evaluations: f64| {
            let times =
                Self::seconds(budget) * 1e6 / (row.microseconds() * EVALUATIONS_PER_ITERATION * evaluations);
            (times as usize).max(FEWEST_TIMES).min(n_times)
        };
        Self {
            compared_times: affordable((iterations * n_candidates.max(1)) as f64),
            compared: short(iterations, iterations),
            learned_times: affordable(last as f64),
            learned: limits(last, last),
        }
    }
}
