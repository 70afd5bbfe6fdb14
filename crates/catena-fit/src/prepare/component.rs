//! One component of a predictive distribution: normal after a transform, or by a likelihood.

use super::observed::Law;
use crate::normal::{cumulative, log_density, quantile};
use crate::options::Bounds;
use crate::power::PowerTransform;

/// One component of a mixture, at all cells.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Component {
    pub(super) weight: f64,
    /// Mean and standard deviation of the transformed value, row-major.
    pub(super) centers: Vec<f64>,
    pub(super) deviations: Vec<f64>,
    /// The transform of each output.
    pub(super) powers: Vec<PowerTransform>,
    /// The likelihood of each output, if one is not Gaussian: centers and deviations are then those of the function.
    pub(super) laws: Vec<Law>,
}

impl Component {
    /// Adds shifts and further variances to the transformed values, which are those of other transforms from here on.
    pub(super) fn shift(&mut self, shifts: &[f64], variances: &[f64], powers: &[PowerTransform]) {
        self.powers = powers.to_vec();
        for (at, center) in self.centers.iter_mut().enumerate() {
            *center += shifts[at];
            self.deviations[at] = self.deviations[at].hypot(variances[at].sqrt());
        }
    }

    pub(super) fn power(&self, at: usize) -> &PowerTransform {
        &self.powers[at % self.powers.len()]
    }

    pub(super) fn law(&self, at: usize) -> Option<&Law> {
        self.laws.get(at % self.powers.len())
    }

    pub(super) fn mean(&self, at: usize) -> f64 {
        if let Some(law) = self.law(at) {
            return law.moments(self.centers[at], self.deviations[at]).0;
        }
        self.power(at).mean(self.centers[at], self.deviations[at])
    }

    /// Mean and standard deviation of the value that is put at the nearest bound where it is beyond. Outputs with a likelihood have no
    /// bounds.
    pub(super) fn moments_within(&self, at: usize, bounds: Bounds) -> (f64, f64) {
        let center = (self.centers[at], self.deviations[at]);
        self.power(at).moments_within(center, (bounds.lower(), bounds.upper()))
    }

    /// Mean and standard deviation.
    pub(super) fn moments(&self, at: usize) -> (f64, f64) {
        if let Some(law) = self.law(at) {
            return law.moments(self.centers[at], self.deviations[at]);
        }
        self.power(at).moments(self.centers[at], self.deviations[at])
    }

    pub(super) fn quantile(&self, at: usize, probability: f64) -> f64 {
        if let Some(law) = self.law(at) {
            return law.quantile(self.centers[at], self.deviations[at], probability);
        }
        let value = self.centers[at] + quantile(probability) * self.deviations[at];
        self.power(at).inverse(value)
    }

    pub(super) fn log_density(&self, at: usize, value: f64) -> f64 {
        let (center, deviation, power) = (self.centers[at], self.deviations[at], self.power(at));
        if let Some(law) = self.law(at) {
            return law.log_density(center, deviation, value);
        }
        if power.needs_positive() && value <= 0.0 {
            return f64::NEG_INFINITY;
        }
        log_density(power.forward(value), center, deviation) + power.log_derivative(value)
    }

    pub(super) fn probability_below(&self, at: usize, value: f64) -> f64 {
        if let Some(law) = self.law(at) {
            return law.probability_below(self.centers[at], self.deviations[at], value);
        }
        let power = self.power(at);
        if power.needs_positive() && value <= 0.0 {
            return 0.0;
        }
        cumulative((power.forward(value) - self.centers[at]) / self.deviations[at])
    }
}
