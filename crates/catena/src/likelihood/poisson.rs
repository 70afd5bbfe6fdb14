//! Counts at a rate.
//!
//! `y ~ Poisson(e·exp f)` with the exposure e. The expected log density is a closed form:
//! `y (m + log e) − e·exp(m + v/2) − log y!`.

use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::observation::{LEAST_PRECISION, ObservationScale, OutputLikelihood};
use super::special::{gamma_cumulative, log_gamma};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};

/// Counts with the rate exp(f) per unit of exposure. The noise of the output has no meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Poisson;

/// What a count has to be.
pub(super) fn refuse_count(value: f64) -> Option<&'static str> {
    (value < 0.0 || value.fract() != 0.0).then_some("has whole numbers of at least 0")
}

/// A rate from which the normal distribution is drawn instead, off by less than one in a million.
const LARGE_RATE: f64 = 1e12;

/// A Poisson draw.
pub(super) fn draw_count(rate: f64, generator: &mut ChaCha8Rng) -> f64 {
    if rate < LARGE_RATE
        && let Ok(poisson) = rand_distr::Poisson::new(rate)
    {
        return poisson.sample(generator);
    }
    match Normal::new(rate, rate.sqrt()) {
        Ok(normal) if rate >= LARGE_RATE => normal.sample(generator).round(),
        // A rate that underflows.
        _ => rate.max(0.0).round(),
    }
}

impl OutputLikelihood for Poisson {
    const NAME: &'static str = "poisson";
    const IS_WHOLE: bool = true;

    fn refusal(&self, value: f64, _: f64) -> Option<&'static str> {
        refuse_count(value)
    }

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        let count = cell.value + 0.5;
        PseudoObservation { value: (count / cell.exposure).ln(), variance: count.recip() }
    }

    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        let (count, exposure) = (cell.value, cell.exposure);
        let rate = exposure * (marginal.mean + 0.5 * marginal.variance).exp();
        let log_density = count * (marginal.mean + exposure.ln()) - rate - log_gamma(count + 1.0);
        let found = Expectation { log_density, slope: count - rate, precision: rate, noise_slope: 0.0 };
        found.with_least_precision(LEAST_PRECISION, 0.0, marginal)
    }

    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
        let rate = scale.exposure * function.exp();
        (rate, rate)
    }

    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64 {
        1.0 - gamma_cumulative(value.floor() + 1.0, scale.exposure * function.exp())
    }

    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64) {
        let count = value.floor() + 1.0;
        ((count / scale.exposure).ln(), count.sqrt().recip())
    }

    fn support(&self, _: ObservationScale) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
        draw_count(scale.exposure * function.exp(), generator)
    }

    fn moments(&self, marginal: CellMarginal, scale: ObservationScale) -> (f64, f64) {
        let mean = scale.exposure * (marginal.mean + 0.5 * marginal.variance).exp();
        (mean, mean + mean * mean * marginal.variance.exp_m1())
    }
}
