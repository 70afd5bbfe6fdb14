//! Successes among trials.
//!
//! `y ~ Binomial(n, 1/(1 + e^−f))`: `log p(y | f) = log (n over y) + y f − n log(1 + e^f)`, concave in f.

use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::observation::{LEAST_PRECISION, ObservationScale, OutputLikelihood};
use super::quadrature::expectations;
use super::special::{beta_cumulative, log_gamma, logistic, softplus};
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;

/// Successes among as many trials as the exposure says, each with the probability 1/(1 + e^−f). The noise of the output has no
/// meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binomial;

impl OutputLikelihood for Binomial {
    const NAME: &'static str = "binomial";
    const IS_WHOLE: bool = true;

    fn refusal(&self, value: f64, exposure: f64) -> Option<&'static str> {
        let is_count = value >= 0.0 && value.fract() == 0.0;
        if !is_count {
            Some("has whole numbers from 0 to the number of trials")
        } else if value > exposure || exposure.fract() != 0.0 {
            Some("has at most as many successes as trials; give the whole number of trials as its exposure")
        } else {
            None
        }
    }

    fn start(&self, cell: &ObservedCell) -> PseudoObservation {
        let (yes, no) = (cell.value + 0.5, cell.exposure - cell.value + 0.5);
        PseudoObservation { value: (yes / no).ln(), variance: (yes + no) / (yes * no) }
    }

    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation {
        let (yes, trials) = (cell.value, cell.exposure);
        let [soft, share, curvature] = expectations(marginal, (0.0, 1.0), |f| {
            let share = logistic(f);
            [softplus(f), share, share * (1.0 - share)]
        });
        let ways = log_gamma(trials + 1.0) - log_gamma(yes + 1.0) - log_gamma(trials - yes + 1.0);
        let found = Expectation {
            log_density: ways + yes * marginal.mean - trials * soft,
            slope: yes - trials * share,
            precision: trials * curvature,
            noise_slope: 0.0,
        };
        found.with_least_precision(LEAST_PRECISION, 0.0, marginal)
    }

    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64) {
        let share = logistic(function);
        (scale.exposure * share, scale.exposure * share * logistic(-function))
    }

    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64 {
        let yes = value.floor();
        beta_cumulative(scale.exposure - yes, yes + 1.0, logistic(-function))
    }

    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64) {
        let (yes, no) = (value.floor() + 1.0, (scale.exposure - value.floor()).max(0.5));
        ((yes / no).ln(), ((yes + no) / (yes * no)).sqrt().min(1.0))
    }

    fn support(&self, scale: ObservationScale) -> (f64, f64) {
        (0.0, scale.exposure)
    }

    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64 {
        match rand_distr::Binomial::new(scale.exposure as u64, logistic(function)) {
            Ok(binomial) => binomial.sample(generator) as f64,
            Err(_) => f64::NAN,
        }
    }
}
