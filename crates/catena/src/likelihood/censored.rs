//! Gaussian values that a gauge cuts off: rain, detection limits, saturation.
//!
//! The value is `min(max(f + N(0, r), lower), upper)`. At a limit a cell only says that the value lies beyond it:
//! `log Φ((lower − f)/√r)`, concave in f. A new observation is a Gaussian that is cut off, in closed form.

use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::gaussian::Gaussian;
use super::observation::{ObservationScale, OutputLikelihood};
use super::quadrature::expectations;
use super::special::{log_normal_cumulative, normal_cumulative, normal_density, normal_quantile};
use crate::units::UnitError;
use rand_chacha::ChaCha8Rng;

/// Gaussian noise, the sum cut off at one or two limits: an observation at a limit may lie beyond it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Censored {
    lower: f64,
    upper: f64,
}

/// The precision that a cell at a limit keeps where it says nothing, times the noise.
const LEAST_PRECISION: f64 = 1e-8;

impl Censored {
    /// A likelihood whose values are cut off at these limits. An infinite limit cuts nothing off.
    ///
    /// # Errors
    /// When `lower` is not below `upper`, or neither is finite.
    pub fn new(lower: f64, upper: f64) -> Result<Self, UnitError> {
        let is_valid = lower < upper && (lower.is_finite() || upper.is_finite());
        if is_valid { Ok(Self { lower, upper }) } else { Err(UnitError::Limits { lower, upper }) }
    }

    /// The lower limit. −∞ if small values are not cut off.
    pub const fn lower(&self) -> f64 {
        self.lower
    }

    /// The upper limit. ∞ if large values are not cut off.
    pub const fn upper(&self) -> f64 {
        self.upper
    }

    /// The limit at which a value lies, and the side that is cut off: −1 below, 1 above.
    fn limit_of(&self, value: f64) -> Option<(f64, f64)> {
        if value <= self.lower {
            Some((self.lower, -1.0))
        } else if value >= self.upper {
            Some((self.upper, 1.0))
        } else {
            None
        }
    }
}

impl OutputLikelihood for Censored {
    const NAME: &'static str = "censored";

    fn refusal(&self, value: f64, _: f64) -> Option<&'static str> {
        (value < self.lower || value > self.upper).then_some("has values within its limits")
    }

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        match self.limit_of(cell.value) {
            None => Gaussian.start(cell),
            Some((limit, side)) => {
                PseudoObservation { value: limit + side * cell.noise.sqrt(), variance: 2.0 * cell.noise }
            }
        }
    }

    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        let Some((limit, side)) = self.limit_of(cell.value) else {
            return Gaussian.expectation(cell, marginal);
        };
        let deviation = cell.noise.sqrt();
        let [log_density, slope, precision, noise_slope] = expectations(marginal, (limit, deviation), |f| {
            let z = side * (f - limit) / deviation;
            let (logarithm, ratio) = log_normal_cumulative(z);
            [logarithm, ratio, ratio * (z + ratio), ratio * z]
        });
        let found = Expectation {
            log_density,
            slope: side * slope / deviation,
            precision: precision / cell.noise,
            noise_slope: -0.5 * noise_slope / cell.noise,
        };
        let least = LEAST_PRECISION / cell.noise;
        found.with_least_precision(least, -least / cell.noise, marginal)
    }

    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
        let deviation = scale.noise.sqrt();
        let standard = |limit: f64| (limit - function) / deviation;
        let (low, high) = (standard(self.lower), standard(self.upper));
        // Integrals of 1, z and z² between the limits; at an infinite limit z φ(z) is 0.
        let (below, above) = (normal_cumulative(low), normal_cumulative(-high));
        let inside = 1.0 - below - above;
        let edge = |z: f64| if z.is_finite() { z * normal_density(z) } else { 0.0 };
        let first = normal_density(low) - normal_density(high);
        let second = inside + edge(low) - edge(high);
        let at = |z: f64, mass: f64, power: i32| if z.is_finite() { mass * z.powi(power) } else { 0.0 };
        let mean = first + at(low, below, 1) + at(high, above, 1);
        let square = second + at(low, below, 2) + at(high, above, 2);
        (function + deviation * mean, scale.noise * (square - mean * mean))
    }

    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64 {
        if value < self.lower {
            0.0
        } else if value >= self.upper {
            1.0
        } else {
            Gaussian.cumulative_given(value, function, scale)
        }
    }

    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64) {
        (value, scale.noise.sqrt())
    }

    fn support(&self, _: ObservationScale) -> (f64, f64) {
        (self.lower, self.upper)
    }

    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
        Gaussian.draw(function, scale, generator).max(self.lower).min(self.upper)
    }

    fn moments(&self, marginal: CellMarginal, scale: ObservationScale) -> (f64, f64) {
        self.moments_given(
            marginal.mean,
            ObservationScale { noise: scale.noise + marginal.variance, ..scale },
        )
    }

    fn cumulative(&self, value: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
        let both = ObservationScale { noise: scale.noise + marginal.variance, ..scale };
        self.cumulative_given(value, marginal.mean, both)
    }

    fn quantile(&self, probability: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
        let deviation = (scale.noise + marginal.variance).sqrt();
        (marginal.mean + deviation * normal_quantile(probability)).max(self.lower).min(self.upper)
    }
}
