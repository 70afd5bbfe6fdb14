//! The likelihood of one cell, and the Gaussian pseudo-observation that replaces it in a sweep.

use std::f64::consts::TAU;

/// The density p(y | f) of a cell's value given the function, as far as a Gaussian approximation needs it.
///
/// `noise` is the squared scale of the noise: the cell's own known noise variance, else that of its output.
///
/// # Laws
/// 1. [`expected_log_density`](Self::expected_log_density) is at most `E_q[log p(y | f)]`, so that the result is a lower bound.
/// 2. With the pseudo-observation computed at a marginal q, the expected log density less
///    [`PseudoObservation::expected_log_density`] is, over all marginals, smallest at q. Then no round lowers the bound: the
///    next sweep maximizes a function that lies below it and touches it at q.
pub trait CellLikelihood {
    /// The Gaussian that replaces a cell in the next sweep, given its marginal in the last.
    fn pseudo_observation(&self, value: f64, noise: f64, marginal: CellMarginal) -> PseudoObservation;

    /// The cell's term of the bound: the expected log density of its value, or a lower bound of it.
    fn expected_log_density(&self, value: f64, noise: f64, marginal: CellMarginal) -> f64;
}

/// The posterior marginal of the function at a cell, without noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellMarginal {
    /// The mean.
    pub mean: f64,
    /// The variance.
    pub variance: f64,
}

impl CellMarginal {
    /// `E[(value − f)²]`.
    pub fn square_about(&self, value: f64) -> f64 {
        (value - self.mean).powi(2) + self.variance
    }
}

/// A Gaussian observation that replaces a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PseudoObservation {
    /// Its value; that of the cell if the noise is symmetric.
    pub value: f64,
    /// Its noise variance.
    pub variance: f64,
}

impl PseudoObservation {
    /// The expected log density of the Gaussian observation under a marginal.
    pub fn expected_log_density(&self, marginal: CellMarginal) -> f64 {
        -0.5 * (TAU.ln() + self.variance.ln() + marginal.square_about(self.value) / self.variance)
    }

    pub(super) fn is_valid(&self) -> bool {
        self.value.is_finite() && self.variance > 0.0 && self.variance.is_finite()
    }
}
