//! What a budget buys for a time model.

use catena::learning::MultiStartSettings;

use crate::cost::limits;
use crate::options::{Budget, MOST_WITH_OWN_SEASONS};

/// Rows and iterations of a time model.
pub(crate) struct TimePlan {
    /// The latest rows, from which it learns.
    pub(crate) n_rows: usize,
    /// For single outputs while sums are compared.
    pub(crate) comparison: MultiStartSettings,
    /// For single outputs as starts of the joint model.
    pub(crate) single: MultiStartSettings,
    /// Iterations of the joint model.
    pub(crate) joint_iterations: usize,
    /// Numbers of harmonics to choose from; the first is used while periods are compared.
    pub(crate) harmonics: &'static [usize],
}

impl TimePlan {
    pub(crate) fn new(budget: Budget, n_outputs: usize) -> Self {
        let plan = match budget {
            Budget::Quick => Self {
                n_rows: 2000,
                comparison: limits(8, 8),
                single: limits(12, 30),
                joint_iterations: 10,
                harmonics: &[3],
            },
            Budget::Default => Self {
                n_rows: 4000,
                comparison: limits(12, 20),
                single: limits(15, 60),
                joint_iterations: 40,
                harmonics: &[3, 2, 4],
            },
            Budget::Thorough => Self {
                n_rows: usize::MAX,
                comparison: limits(15, 40),
                single: limits(20, 150),
                joint_iterations: 150,
                harmonics: &[3, 2, 4, 1, 6],
            },
        };
        // The cost of a row grows with the cube of the number of outputs.
        let n_rows = match n_outputs > MOST_WITH_OWN_SEASONS && budget != Budget::Thorough {
            true => plan.n_rows * MOST_WITH_OWN_SEASONS / n_outputs,
            false => plan.n_rows,
        };
        Self { n_rows, ..plan }
    }
}
