//! Proportions between 0 and 1.
//!
//! With the mean `μ = 1/(1 + e^−f)` and φ = 1/r, `y ~ Beta(μφ, (1 − μ)φ)` has the variance `μ(1 − μ) r/(1 + r)`. Its log
//! density is concave in f about its mode and convex in the tails: `straight_tails.rs` has the bound.

use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::observation::{LEAST_PRECISION, ObservationScale, OutputLikelihood};
use super::special::{beta_cumulative, digamma, log_gamma, logistic, trigamma};
use super::straight_tails::{Curve, expected};
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;

/// Proportions with the mean 1/(1 + e^−f) and the variance `μ(1 − μ) r/(1 + r)`, with r the noise of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beta;

/// Twice the distance of the singularities of the mean, ±πi, from the real axis, rounded down.
const SMOOTH: f64 = 6.0;

/// The farthest inflection that is searched for, from the mode and from 0.
const FARTHEST: f64 = 64.0;

/// The log density as a function of f, given the logarithms of a value and of its complement.
fn curve(logarithms: (f64, f64), size: f64, f: f64) -> Curve {
    let (of_value, of_rest) = logarithms;
    let (mean, rest) = (logistic(f), logistic(-f));
    let (a, b) = (mean * size, rest * size);
    let (at_a, at_b) = (digamma(a), digamma(b));
    let value = log_gamma(size) - log_gamma(a) - log_gamma(b) + (a - 1.0) * of_value + (b - 1.0) * of_rest;
    // The derivative in μφ at constant φ.
    let pull = of_value - of_rest - at_a + at_b;
    let spread = mean * rest;
    let (slope_a, slope_b) = (trigamma(a), trigamma(b));
    let curvature = spread * size * ((rest - mean) * pull - spread * size * (slope_a + slope_b));
    let size_slope = digamma(size) + mean * (of_value - at_a) + rest * (of_rest - at_b);
    let mixed = spread * (pull + size * (rest * slope_b - mean * slope_a));
    let by_noise = -size * size;
    Curve {
        value,
        slope: spread * size * pull,
        curvature,
        noise_slope: by_noise * size_slope,
        mixed: by_noise * mixed,
    }
}

/// Where the log density stops to be concave on one side of its mode; infinite if it does not within [`FARTHEST`].
fn inflection(logarithms: (f64, f64), size: f64, mode: f64, side: f64) -> f64 {
    // On its own side of 0 both terms of the curvature are negative.
    let mut inside = if side * mode > 0.0 { mode } else { 0.0 };
    let mut step = 0.25;
    let mut outside = loop {
        let next = inside + side * step;
        if curve(logarithms, size, next).curvature > 0.0 {
            break next;
        }
        if step > FARTHEST {
            return side * f64::INFINITY;
        }
        inside = next;
        step *= 2.0;
    };
    for _ in 0..32 {
        let middle = 0.5 * (inside + outside);
        if curve(logarithms, size, middle).curvature > 0.0 {
            outside = middle;
        } else {
            inside = middle;
        }
    }
    inside
}

/// The f at which the log density is largest: where ψ(a) − ψ(b) is the log odds of the value.
fn mode(logarithms: (f64, f64), size: f64) -> f64 {
    let (mut low, mut high) = (-FARTHEST, FARTHEST);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if curve(logarithms, size, middle).slope > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

impl OutputLikelihood for Beta {
    const NAME: &'static str = "beta";

    fn refusal(&self, value: f64, _: f64) -> Option<&'static str> {
        (value <= 0.0 || value >= 1.0).then_some("has proportions between 0 and 1, both excluded")
    }

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        let (value, rest) = (cell.value, 1.0 - cell.value);
        // The variance of the log odds of a value about its mean, to first order.
        let variance = cell.noise / (1.0 + cell.noise) / (value * rest).max(1e-3);
        PseudoObservation { value: (value / rest).ln(), variance }
    }

    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        let size = cell.noise.recip();
        let logarithms = (cell.value.ln(), (-cell.value).ln_1p());
        let mode = mode(logarithms, size);
        let low = inflection(logarithms, size, mode, -1.0);
        let high = inflection(logarithms, size, mode, 1.0);
        expected(marginal, (low, high), SMOOTH, |f| curve(logarithms, size, f)).with_least_precision(
            LEAST_PRECISION,
            0.0,
            marginal,
        )
    }

    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
        let (mean, rest) = (logistic(function), logistic(-function));
        (mean, mean * rest * scale.noise / (1.0 + scale.noise))
    }

    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64 {
        let size = scale.noise.recip();
        beta_cumulative(logistic(function) * size, logistic(-function) * size, value)
    }

    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64) {
        ((value / (1.0 - value)).ln(), scale.noise.sqrt().min(1.0))
    }

    fn support(&self, _: ObservationScale) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
        let size = scale.noise.recip();
        match rand_distr::Beta::new(logistic(function) * size, logistic(-function) * size) {
            Ok(beta) => beta.sample(generator),
            Err(_) => f64::NAN,
        }
    }
}
