//! The likelihood of one cell, and the Gaussian pseudo-observation that replaces it in a sweep.

use super::error::LikelihoodError;
use crate::index::{OutputIndex, RowIndex};
use std::f64::consts::TAU;

/// An observed cell as its likelihood sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedCell {
    /// The row.
    pub row: RowIndex,
    /// The output.
    pub output: OutputIndex,
    /// The observed value.
    pub value: f64,
    /// The squared scale of the noise: the cell's own known noise variance, else that of its output.
    pub noise: f64,
    /// What the mean of a count is proportional to, or the number of trials: 1 unless it is given.
    pub exposure: f64,
}

/// The density p(y | f) of a cell's value given the function, as far as a Gaussian approximation needs it.
///
/// # Laws
/// 1. [`Expectation::log_density`] is at most `E_q[log p(y | f)]` under the marginal, so that the result is a lower bound.
/// 2. [`Expectation::slope`] is its derivative in the mean, and [`Expectation::precision`], which is positive, minus twice its
///    derivative in the variance. Then the direction of a round raises the bound.
pub trait CellLikelihood {
    /// The expected log density of a cell's value under a marginal, or a lower bound of it, with its derivatives.
    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation;

    /// The Gaussian that replaces a cell in the first sweep: the value and its noise variance, as if the noise were Gaussian.
    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        PseudoObservation { value: cell.value, variance: cell.noise }
    }

    /// Checks that the likelihood allows the value of a cell.
    ///
    /// # Errors
    /// When it does not.
    fn check(&self, _cell: &ObservedCell) -> Result<(), LikelihoodError> {
        Ok(())
    }
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

/// The expected log density of a cell under a marginal, or a lower bound of it, with its derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// The cell's term of the bound.
    pub log_density: f64,
    /// Its derivative in the mean of the marginal.
    pub slope: f64,
    /// Minus twice its derivative in the variance of the marginal: the expected curvature of −log p.
    pub precision: f64,
    /// Its derivative in [`ObservedCell::noise`]; 0 if the likelihood has no such parameter.
    pub noise_slope: f64,
}

impl Expectation {
    /// The same with `least/2` times the variance subtracted: a cell that hardly curves keeps a precision of at least
    /// `least`, and the result is still a lower bound. `least_slope` is the derivative of `least` in the noise.
    pub(super) fn with_least_precision(self, least: f64, least_slope: f64, marginal: CellMarginal) -> Self {
        Self {
            log_density: self.log_density - 0.5 * least * marginal.variance,
            slope: self.slope,
            precision: self.precision + least,
            noise_slope: self.noise_slope - 0.5 * least_slope * marginal.variance,
        }
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
