//! Positive values whose deviation grows with their mean.
//!
//! With the mean `μ = exp f` and the shape k = 1/r, `y ~ Gamma(shape k, rate k/μ)` has the variance `r μ²`. The expected log
//! density is a closed form, since `E[e^−f] = exp(−m + v/2)`.

use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::observation::{LEAST_PRECISION, ObservationScale, OutputLikelihood};
use super::special::{digamma, gamma_cumulative, log_gamma};
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;

/// Positive values with the mean exp(f) and the squared coefficient of variation r, the noise of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gamma;

impl OutputLikelihood for Gamma {
    const NAME: &'static str = "gamma";

    fn refusal(&self, value: f64, _: f64) -> Option<&'static str> {
        (value <= 0.0).then_some("has positive values; use censored for values that can be 0")
    }

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        PseudoObservation { value: cell.value.ln(), variance: cell.noise }
    }

    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        let shape = cell.noise.recip();
        let logarithm = cell.value.ln();
        let ratio = (logarithm - marginal.mean + 0.5 * marginal.variance).exp();
        let per_shape = shape.ln() - marginal.mean + logarithm - ratio;
        let found = Expectation {
            log_density: shape * per_shape - log_gamma(shape) - logarithm,
            slope: shape * (ratio - 1.0),
            precision: shape * ratio,
            noise_slope: -shape * shape * (per_shape + 1.0 - digamma(shape)),
        };
        found.with_least_precision(LEAST_PRECISION, 0.0, marginal)
    }

    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
        let mean = function.exp();
        (mean, scale.noise * mean * mean)
    }

    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64 {
        let shape = scale.noise.recip();
        gamma_cumulative(shape, shape * value * (-function).exp())
    }

    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64) {
        (value.ln(), scale.noise.sqrt().min(1.0))
    }

    fn support(&self, _: ObservationScale) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
        match rand_distr::Gamma::new(scale.noise.recip(), scale.noise * function.exp()) {
            Ok(gamma) => gamma.sample(generator),
            Err(_) => f64::NAN,
        }
    }

    fn moments(&self, marginal: CellMarginal, scale: ObservationScale) -> (f64, f64) {
        let mean = (marginal.mean + 0.5 * marginal.variance).exp();
        let grown = marginal.variance.exp_m1();
        (mean, mean * mean * (grown + scale.noise * (grown + 1.0)))
    }
}
