//! Gaussian noise, which stands for itself: one round is exact, and the bound is the evidence.

use super::{CellBelief, CellLikelihood, ObservedCell, StandIn};

/// `y = f + N(0, r)`, with r the model's noise variance of the output or the cell's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaussian;

impl CellLikelihood for Gaussian {
    fn stand_in(&self, cell: &ObservedCell, _belief: CellBelief) -> StandIn {
        StandIn { value: cell.value, variance: cell.noise }
    }

    fn expected_log_density(&self, cell: &ObservedCell, belief: CellBelief) -> f64 {
        self.stand_in(cell, belief).expected_log_density(belief)
    }
}
