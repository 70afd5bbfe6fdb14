//! Log-normal noise: Gaussian in the logarithm of the value, so that one sweep is exact.

use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::gaussian::Gaussian;
use super::observation::{ObservationScale, OutputLikelihood};
use rand_chacha::ChaCha8Rng;

/// `log y = f + N(0, r)`, for positive values. The mean of y given f is `exp(f + r/2)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogNormal;

impl LogNormal {
    fn logarithm(cell: &ObservedCell) -> ObservedCell {
        ObservedCell { value: cell.value.ln(), ..*cell }
    }
}

impl OutputLikelihood for LogNormal {
    const NAME: &'static str = "log-normal";

    fn refusal(&self, value: f64, _: f64) -> Option<&'static str> {
        (value <= 0.0).then_some("has positive values; use censored for values that can be 0")
    }

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        Gaussian.start(&Self::logarithm(cell))
    }

    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        let of_logarithm = Gaussian.expectation(&Self::logarithm(cell), marginal);
        Expectation { log_density: of_logarithm.log_density - cell.value.ln(), ..of_logarithm }
    }

    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
        let mean = (function + 0.5 * scale.noise).exp();
        (mean, mean * mean * scale.noise.exp_m1())
    }

    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64 {
        Gaussian.cumulative_given(value.ln(), function, scale)
    }

    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64) {
        (value.ln(), scale.noise.sqrt())
    }

    fn support(&self, _: ObservationScale) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
        Gaussian.draw(function, scale, generator).exp()
    }

    fn moments(&self, marginal: CellMarginal, scale: ObservationScale) -> (f64, f64) {
        self.moments_given(
            marginal.mean,
            ObservationScale { noise: scale.noise + marginal.variance, ..scale },
        )
    }

    fn cumulative(&self, value: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
        if value > 0.0 { Gaussian.cumulative(value.ln(), marginal, scale) } else { 0.0 }
    }

    fn quantile(&self, probability: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
        Gaussian.quantile(probability, marginal, scale).exp()
    }
}
