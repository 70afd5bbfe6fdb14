//! Gaussian noise: one sweep is exact, and the bound is the log evidence.

use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::observation::{ObservationScale, OutputLikelihood};
use super::special::{normal_cumulative, normal_quantile};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// `y = f + N(0, r)`, with r the model's noise variance of the output or the cell's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaussian;

impl OutputLikelihood for Gaussian {
    const NAME: &'static str = "gaussian";

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        PseudoObservation { value: cell.value, variance: cell.noise }
    }

    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        let noise = cell.noise;
        Expectation {
            log_density: self.start(cell).expected_log_density(marginal),
            slope: (cell.value - marginal.mean) / noise,
            precision: noise.recip(),
            noise_slope: 0.5 * (marginal.square_about(cell.value) / noise - 1.0) / noise,
        }
    }

    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
        (function, scale.noise)
    }

    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64 {
        normal_cumulative((value - function) / scale.noise.sqrt())
    }

    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64) {
        (value, scale.noise.sqrt())
    }

    fn support(&self, _: ObservationScale) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
        let normal: f64 = StandardNormal.sample(generator);
        function + scale.noise.sqrt() * normal
    }

    fn moments(&self, marginal: CellMarginal, scale: ObservationScale) -> (f64, f64) {
        (marginal.mean, marginal.variance + scale.noise)
    }

    fn cumulative(&self, value: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
        normal_cumulative((value - marginal.mean) / (marginal.variance + scale.noise).sqrt())
    }

    fn quantile(&self, probability: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
        marginal.mean + (marginal.variance + scale.noise).sqrt() * normal_quantile(probability)
    }
}
