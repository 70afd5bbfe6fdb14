//! Distributions of observations, and of their means, where the function is Gaussian and the likelihood is not.

use catena::likelihood::{CellMarginal, Likelihood, ObservationScale};

use crate::normal::{density, quantile};

/// The distribution of an output given a Gaussian marginal of its function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Law {
    pub(crate) likelihood: Likelihood,
    /// Noise in the user's units, and trials.
    pub(crate) scale: ObservationScale,
    /// Whether a new observation is predicted, not its mean given the function.
    pub(crate) is_observation: bool,
}

/// Nodes of the trapezoidal rule on each side of 0, and their distance in deviations.
const NODES: i32 = 32;
const STEP: f64 = 0.25;

/// Where quantiles of a standard normal are searched.
const FARTHEST: f64 = 38.0;

impl Law {
    fn marginal(center: f64, deviation: f64) -> CellMarginal {
        CellMarginal { mean: center, variance: deviation * deviation }
    }

    /// The mean of observations given the function.
    pub(crate) fn mean_given(&self, function: f64) -> f64 {
        self.likelihood.moments_given(function, self.scale).0
    }

    /// Mean and standard deviation.
    pub(super) fn moments(&self, center: f64, deviation: f64) -> (f64, f64) {
        if self.is_observation {
            let (mean, variance) = self.likelihood.moments(Self::marginal(center, deviation), self.scale);
            return (mean, variance.sqrt());
        }
        let nodes = || (-NODES..=NODES).map(|at| STEP * f64::from(at));
        let value = |z: f64| self.mean_given(center + deviation * z);
        let mean: f64 = nodes().map(|z| STEP * density(z) * value(z)).sum();
        let variance: f64 = nodes().map(|z| STEP * density(z) * (value(z) - mean).powi(2)).sum();
        (mean, variance.sqrt())
    }

    pub(super) fn quantile(&self, center: f64, deviation: f64, probability: f64) -> f64 {
        match self.is_observation {
            true => self.likelihood.quantile(probability, Self::marginal(center, deviation), self.scale),
            false => self.mean_given(center + quantile(probability) * deviation),
        }
    }

    /// The probability of at most this value.
    pub(super) fn probability_below(&self, center: f64, deviation: f64, value: f64) -> f64 {
        match self.is_observation {
            true => self.likelihood.cumulative(value, Self::marginal(center, deviation), self.scale),
            false => crate::normal::cumulative(self.standard(center, deviation, value)),
        }
    }

    pub(super) fn log_density(&self, center: f64, deviation: f64, value: f64) -> f64 {
        if self.is_observation {
            return self.likelihood.log_density(value, Self::marginal(center, deviation), self.scale);
        }
        let z = self.standard(center, deviation, value);
        if z.abs() >= FARTHEST {
            return f64::NEG_INFINITY;
        }
        let at = |z: f64| self.mean_given(center + deviation * z);
        let slope = (at(z + 1e-4) - at(z - 1e-4)) / 2e-4;
        density(z).ln() - slope.ln()
    }

    /// The z at which the mean of observations is this value: it grows with the function.
    fn standard(&self, center: f64, deviation: f64, value: f64) -> f64 {
        let (mut low, mut high) = (-FARTHEST, FARTHEST);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if self.mean_given(center + deviation * middle) < value {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::likelihood::Poisson;

    #[test]
    fn the_mean_of_counts_is_a_log_normal_variable() {
        let law = Law {
            likelihood: Poisson.into(),
            scale: ObservationScale { noise: 1.0, exposure: 1.0 },
            is_observation: false,
        };
        let (center, deviation) = (0.7_f64, 0.4_f64);
        let (mean, spread) = law.moments(center, deviation);
        let variance = deviation * deviation;
        let expected = (center + 0.5 * variance).exp();
        assert!((mean / expected - 1.0).abs() < 1e-12);
        assert!((spread / (expected * variance.exp_m1().sqrt()) - 1.0).abs() < 1e-10);
        for probability in [0.05, 0.5, 0.9] {
            let value = law.quantile(center, deviation, probability);
            assert!((value.ln() - center - quantile(probability) * deviation).abs() < 1e-12);
            assert!((law.probability_below(center, deviation, value) - probability).abs() < 1e-10);
            let normal = crate::normal::log_density(value.ln(), center, deviation) - value.ln();
            assert!((law.log_density(center, deviation, value) - normal).abs() < 1e-6);
        }
    }
}
