//! Counts that vary more than at a given rate.
//!
//! With the mean `μ = e·exp f` the variance is `μ + r μ²`, and with the shape k = 1/r and `t = log(μ/k)`
//!
//! ```text
//! log p(y | f) = log Γ(y + k)/Γ(k) − log y! + y t − (y + k) log(1 + e^t),
//! ```
//!
//! which is concave in f. As r goes to 0 it becomes the Poisson distribution.

use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::observation::{LEAST_PRECISION, ObservationScale, OutputLikelihood};
use super::poisson::{draw_count, refuse_count};
use super::quadrature::expectations;
use super::special::{beta_cumulative, log_gamma, logistic, rising_step, softplus};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma};

/// Counts with the mean exp(f) per unit of exposure and the variance `μ + r μ²`, with r the noise of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NegativeBinomial;

impl OutputLikelihood for NegativeBinomial {
    const NAME: &'static str = "negative-binomial";
    const IS_WHOLE: bool = true;

    fn refusal(&self, value: f64, _: f64) -> Option<&'static str> {
        refuse_count(value)
    }

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        let count = cell.value + 0.5;
        PseudoObservation { value: (count / cell.exposure).ln(), variance: count.recip() + cell.noise }
    }

    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        let (count, shape) = (cell.value, cell.noise.recip());
        let log_exposure = cell.exposure.ln();
        // t = f + offset.
        let offset = log_exposure + cell.noise.ln();
        let [soft, share, curvature] = expectations(marginal, (-offset, 1.0), |f| {
            let share = logistic(f + offset);
            [softplus(f + offset), share, share * (1.0 - share)]
        });
        let (step, step_slope) = rising_step(shape, count);
        let log_density =
            step - log_gamma(count + 1.0) + count * (marginal.mean + log_exposure) - (count + shape) * soft;
        // In the shape; t falls by 1/k per unit of it, which the term y log(e/k) cancels with that of the step.
        let shape_slope = step_slope - soft + (count + shape) * share / shape;
        let found = Expectation {
            log_density,
            slope: count - (count + shape) * share,
            precision: (count + shape) * curvature,
            noise_slope: -shape_slope * shape * shape,
        };
        found.with_least_precision(LEAST_PRECISION, 0.0, marginal)
    }

    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
        let mean = scale.exposure * function.exp();
        (mean, mean + scale.noise * mean * mean)
    }

    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64 {
        let mean = scale.exposure * function.exp();
        let shape = scale.noise.recip();
        beta_cumulative(shape, value.floor() + 1.0, shape / (shape + mean))
    }

    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64) {
        let count = value.floor() + 1.0;
        ((count / scale.exposure).ln(), (count.recip() + scale.noise).sqrt().min(1.0))
    }

    fn support(&self, _: ObservationScale) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
        let mean = scale.exposure * function.exp();
        match Gamma::new(scale.noise.recip(), scale.noise * mean) {
            Ok(rate) => draw_count(rate.sample(generator), generator),
            Err(_) => draw_count(mean, generator),
        }
    }

    fn moments(&self, marginal: CellMarginal, scale: ObservationScale) -> (f64, f64) {
        let mean = scale.exposure * (marginal.mean + 0.5 * marginal.variance).exp();
        let square = mean * mean * marginal.variance.exp();
        (mean, mean + mean * mean * marginal.variance.exp_m1() + scale.noise * square)
    }
}
