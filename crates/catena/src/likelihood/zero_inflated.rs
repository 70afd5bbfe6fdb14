//! Gaussian values with exact zeros among them.
//!
//! A value is not 0 with the probability `1/(1 + e^−(a + b f))`, and then it is `f + N(0, r)`. The larger the slope b, the
//! more a zero says of the function; at b = 0 zeros come at random. Both cases are concave in f.

use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::gaussian::Gaussian;
use super::observation::{ObservationScale, OutputLikelihood, search_quantile};
use super::quadrature::expectations;
use super::special::{logistic, softplus};
use crate::units::UnitError;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardUniform};

/// Gaussian noise, with exact zeros of the probability `1/(1 + e^(a + b f))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZeroInflated {
    offset: f64,
    slope: f64,
}

/// The precision that a zero keeps where it says nothing, times the noise.
const LEAST_PRECISION: f64 = 1e-8;

impl ZeroInflated {
    /// The log odds of a value that is not 0 are `offset + slope·f`.
    ///
    /// # Errors
    /// When a number is not finite.
    pub fn new(offset: f64, slope: f64) -> Result<Self, UnitError> {
        let is_valid = offset.is_finite() && slope.is_finite();
        if is_valid { Ok(Self { offset, slope }) } else { Err(UnitError::LogOdds { offset, slope }) }
    }

    /// The log odds of a value that is not 0 where the function is 0.
    pub const fn offset(&self) -> f64 {
        self.offset
    }

    /// How much these log odds grow with the function.
    pub const fn slope(&self) -> f64 {
        self.slope
    }

    fn log_odds(&self, function: f64) -> f64 {
        self.offset + self.slope * function
    }

    /// Where the log odds change, and how fast.
    fn odds_change(&self) -> (f64, f64) {
        if self.slope == 0.0 { (0.0, 1.0) } else { (-self.offset / self.slope, self.slope.recip().abs()) }
    }
}

impl OutputLikelihood for ZeroInflated {
    const NAME: &'static str = "zero-inflated";

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        if cell.value == 0.0 {
            PseudoObservation { value: 0.0, variance: cell.noise + 4.0 / (self.slope * self.slope + 1e-3) }
        } else {
            Gaussian.start(cell)
        }
    }

    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        let is_zero = cell.value == 0.0;
        // The side of the log odds that speaks for the value.
        let side = if is_zero { -1.0 } else { 1.0 };
        let [soft, share, curvature] = expectations(marginal, self.odds_change(), |f| {
            let odds = side * self.log_odds(f);
            let share = logistic(-odds);
            [softplus(-odds), share, share * (1.0 - share)]
        });
        let of_odds = Expectation {
            log_density: -soft,
            slope: side * self.slope * share,
            precision: self.slope * self.slope * curvature,
            noise_slope: 0.0,
        };
        if is_zero {
            let least = LEAST_PRECISION / cell.noise;
            return of_odds.with_least_precision(least, -least / cell.noise, marginal);
        }
        let of_value = Gaussian.expectation(cell, marginal);
        Expectation {
            log_density: of_odds.log_density + of_value.log_density,
            slope: of_odds.slope + of_value.slope,
            precision: of_odds.precision + of_value.precision,
            noise_slope: of_value.noise_slope,
        }
    }

    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
        let share = logistic(self.log_odds(function));
        (share * function, share * (scale.noise + (1.0 - share) * function * function))
    }

    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64 {
        let share = logistic(self.log_odds(function));
        let zeros = if value >= 0.0 { 1.0 - share } else { 0.0 };
        share * Gaussian.cumulative_given(value, function, scale) + zeros
    }

    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64) {
        (value, scale.noise.sqrt().min(self.odds_change().1))
    }

    fn support(&self, _: ObservationScale) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
        let uniform: f64 = StandardUniform.sample(generator);
        if uniform < logistic(self.log_odds(function)) {
            Gaussian.draw(function, scale, generator)
        } else {
            0.0
        }
    }

    fn moments(&self, marginal: CellMarginal, scale: ObservationScale) -> (f64, f64) {
        let [mean, square] = expectations(marginal, self.odds_change(), |function| {
            let (mean, variance) = self.moments_given(function, scale);
            [mean, mean * mean + variance]
        });
        (mean, square - mean * mean)
    }

    fn quantile(&self, probability: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
        let to_zero = self.cumulative(0.0, marginal, scale);
        let [zeros] =
            expectations(marginal, self.odds_change(), |function| [logistic(-self.log_odds(function))]);
        if (to_zero - zeros..=to_zero).contains(&probability) {
            return 0.0;
        }
        search_quantile(self, probability, marginal, scale)
    }
}
