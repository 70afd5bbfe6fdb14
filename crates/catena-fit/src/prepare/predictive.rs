//! Predictive distributions in the user's units.

use crate::normal::{cumulative, log_density, quantile};

/// Predictive distributions of cells in the user's units: normal, or log-normal where the logarithm was modelled.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictive {
    pub(super) n_outputs: usize,
    /// Mean and standard deviation of the value or its logarithm, row-major.
    pub(super) centers: Vec<f64>,
    pub(super) deviations: Vec<f64>,
    pub(super) log: Vec<bool>,
}

impl Predictive {
    /// Normal distributions with these means and standard deviations, row-major.
    pub fn normal(n_outputs: usize, means: Vec<f64>, deviations: Vec<f64>) -> Self {
        Self { n_outputs, centers: means, deviations, log: vec![false; n_outputs] }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.centers.len() / self.n_outputs
    }

    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The mean of every cell, row-major.
    pub fn means(&self) -> Vec<f64> {
        (0..self.centers.len()).map(|at| self.mean(at)).collect()
    }

    /// Means and standard deviations of every cell, row-major.
    pub fn into_means_and_deviations(self) -> (Vec<f64>, Vec<f64>) {
        if self.log.contains(&true) {
            (self.means(), self.deviations())
        } else {
            (self.centers, self.deviations)
        }
    }

    /// The mean of one cell, by its row-major place.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn mean(&self, at: usize) -> f64 {
        let (center, deviation) = (self.centers[at], self.deviations[at]);
        if self.is_log(at) { (center + 0.5 * deviation * deviation).exp() } else { center }
    }

    /// The standard deviation of one cell.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn deviation(&self, at: usize) -> f64 {
        let deviation = self.deviations[at];
        if self.is_log(at) { self.mean(at) * (deviation * deviation).exp_m1().sqrt() } else { deviation }
    }

    /// The standard deviation of every cell, row-major.
    pub fn deviations(&self) -> Vec<f64> {
        (0..self.centers.len()).map(|at| self.deviation(at)).collect()
    }

    /// The value below which one cell lies with this probability.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn quantile(&self, at: usize, probability: f64) -> f64 {
        let value = self.centers[at] + quantile(probability) * self.deviations[at];
        if self.is_log(at) { value.exp() } else { value }
    }

    /// The log density of a value of one cell.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn log_density(&self, at: usize, value: f64) -> f64 {
        let (center, deviation) = (self.centers[at], self.deviations[at]);
        if self.is_log(at) {
            if value > 0.0 {
                log_density(value.ln(), center, deviation) - value.ln()
            } else {
                f64::NEG_INFINITY
            }
        } else {
            log_density(value, center, deviation)
        }
    }

    /// The probability that one cell lies below a value.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn probability_below(&self, at: usize, value: f64) -> f64 {
        let value = match self.is_log(at) {
            true if value <= 0.0 => return 0.0,
            true => value.ln(),
            false => value,
        };
        cumulative((value - self.centers[at]) / self.deviations[at])
    }

    fn is_log(&self, at: usize) -> bool {
        self.log[at % self.n_outputs]
    }
}
