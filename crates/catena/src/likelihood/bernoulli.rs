//! Yes or no: one trial.

use super::binomial::Binomial;
use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::observation::{ObservationScale, OutputLikelihood};
use rand_chacha::ChaCha8Rng;

/// Yes (1) with the probability 1/(1 + e^−f), else no (0). The noise of the output has no meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bernoulli;

fn one_trial(cell: &ObservedCell) -> ObservedCell {
    ObservedCell { exposure: 1.0, ..*cell }
}

fn once(scale: ObservationScale) -> ObservationScale {
    ObservationScale { exposure: 1.0, ..scale }
}

impl OutputLikelihood for Bernoulli {
    const NAME: &'static str = "bernoulli";
    const IS_WHOLE: bool = true;

    fn refusal(&self, value: f64, _: f64) -> Option<&'static str> {
        (value != 0.0 && value != 1.0).then_some("has the values 0 and 1")
    }

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        Binomial.start(&one_trial(cell))
    }

    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        Binomial.expectation(&one_trial(cell), marginal)
    }

    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
        Binomial.moments_given(function, once(scale))
    }

    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64 {
        Binomial.cumulative_given(value, function, once(scale))
    }

    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64) {
        Binomial.change(value, once(scale))
    }

    fn support(&self, _: ObservationScale) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
        Binomial.draw(function, once(scale), generator)
    }
}
