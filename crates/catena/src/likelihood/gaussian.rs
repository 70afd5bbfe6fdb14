//! Gaussian noise: one round is exact, and the bound is the log evidence.

use super::cell::{CellLikelihood, CellMarginal, PseudoObservation};

/// `y = f + N(0, r)`, with r the model's noise variance of the output or the cell's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaussian;

impl CellLikelihood for Gaussian {
    fn pseudo_observation(&self, value: f64, noise: f64, _: CellMarginal) -> PseudoObservation {
        PseudoObservation { value, variance: noise }
    }

    fn expected_log_density(&self, value: f64, noise: f64, marginal: CellMarginal) -> f64 {
        self.pseudo_observation(value, noise, marginal).expected_log_density(marginal)
    }
}
