//! The likelihood of an output: its cells and its new observations.

use super::cell::{CellMarginal, Expectation, ObservedCell, PseudoObservation};
use super::quadrature::expectations;
use crate::index::{OutputIndex, RowIndex};
use rand_chacha::ChaCha8Rng;

/// The precision that a cell keeps where its density does not curve, in the units of a logarithm of a rate or of odds.
pub(super) const LEAST_PRECISION: f64 = 1e-8;

/// The scale and the size of an observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservationScale {
    /// The squared scale of the noise; each likelihood says what it means.
    pub noise: f64,
    /// What the mean of a count is proportional to, or the number of trials.
    pub exposure: f64,
}

/// What each likelihood of an output defines; [`Likelihood`](super::Likelihood) lists them.
pub(super) trait OutputLikelihood {
    /// The name on the command line and in Python.
    const NAME: &'static str;

    /// Whether observations are whole numbers.
    const IS_WHOLE: bool = false;

    /// The values that are allowed, as the end of a sentence, if this one is not.
    fn refusal(&self, _value: f64, _exposure: f64) -> Option<&'static str> {
        None
    }

    /// See [`CellLikelihood::start`](super::CellLikelihood::start).
    fn start(&self, cell: &ObservedCell) -> PseudoObservation;

    /// See [`CellLikelihood::expectation`](super::CellLikelihood::expectation).
    fn expectation(&self, cell: &ObservedCell, marginal: CellMarginal) -> Expectation;

    /// Mean and variance of an observation given the function.
    fn moments_given(&self, function: f64, scale: ObservationScale) -> (f64, f64);

    /// The probability that an observation is at most `value` given the function.
    fn cumulative_given(&self, value: f64, function: f64, scale: ObservationScale) -> f64;

    /// About which value of the function `cumulative_given` changes, and within which width.
    fn change(&self, value: f64, scale: ObservationScale) -> (f64, f64);

    /// The smallest and the largest observation.
    fn support(&self, scale: ObservationScale) -> (f64, f64);

    /// An observation given the function.
    fn draw(&self, function: f64, scale: ObservationScale, generator: &mut ChaCha8Rng) -> f64;

    /// Mean and variance of an observation under a marginal of the function.
    fn moments(&self, marginal: CellMarginal, scale: ObservationScale) -> (f64, f64) {
        let [mean, square] = expectations(marginal, (0.0, 1.0), |function| {
            let (mean, variance) = self.moments_given(function, scale);
            [mean, mean * mean + variance]
        });
        (mean, square - mean * mean)
    }

    /// The probability that an observation is at most `value` under a marginal of the function.
    fn cumulative(&self, value: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
        let (low, high) = self.support(scale);
        if value < low {
            return 0.0;
        }
        if value >= high {
            return 1.0;
        }
        let [mass] = expectations(marginal, self.change(value, scale), |function| {
            [self.cumulative_given(value, function, scale)]
        });
        mass
    }

    /// The log density of an observation under a marginal of the function; of a count, the log probability.
    fn log_density(&self, value: f64, marginal: CellMarginal, scale: ObservationScale) -> f64 {
        if self.refusal(value, scale.exposure).is_some() {
            return f64::NEG_INFINITY;
        }
        let (row, output) = (RowIndex::new(0), OutputIndex::new(0));
        let cell = ObservedCell { row, output, value, noise: scale.noise, exposure: scale.exposure };
        let given = |mean: f64| self.expectation(&cell, CellMarginal { mean, variance: 0.0 }).log_density;
        // Relative to the density where it is largest or the function is most probable.
        let (center, width) = self.change(value, scale);
        let level =
            given(marginal.mean).max(if center.is_finite() { given(center) } else { f64::NEG_INFINITY });
        let [ratio] = expectations(marginal, (center, width), |function| [(given(function) - level).exp()]);
        level + ratio.ln()
    }

    /// The smallest value that an observation does not exceed with at least this probability.
    fn quantile(&self, probability: f64, marginal: CellMarginal, scale: ObservationScale) -> f64
    where
        Self: Sized,
    {
        search_quantile(self, probability, marginal, scale)
    }
}

/// The quantile by a search on the cumulative probability.
pub(super) fn search_quantile<L: OutputLikelihood>(
    likelihood: &L,
    probability: f64,
    marginal: CellMarginal,
    scale: ObservationScale,
) -> f64 {
    let is_whole = L::IS_WHOLE;
    let (least, most) = likelihood.support(scale);
    if probability <= 0.0 || probability >= 1.0 {
        return if probability <= 0.0 { least } else { most };
    }
    let below = |value: f64| likelihood.cumulative(value, marginal, scale) - probability;
    let (mean, variance) = likelihood.moments(marginal, scale);
    let width = if variance.is_finite() { variance.sqrt() } else { 1.0 + mean.abs() };
    let mean = if mean.is_finite() { mean } else { 0.5 * (least.max(-1e6) + most.min(1e6)) };
    // A bracket: `low` is below the quantile, `high` is not.
    let (mut low, mut high) = (mean - width, mean + width);
    let mut step = width.max(f64::MIN_POSITIVE);
    while low > least && below(low) >= 0.0 {
        high = low;
        low -= step;
        step *= 2.0;
    }
    if low <= least {
        if below(least) >= 0.0 {
            return least;
        }
        low = least;
    }
    step = width.max(f64::MIN_POSITIVE);
    while high < most && below(high) < 0.0 {
        low = high;
        high += step;
        step *= 2.0;
        if !high.is_finite() {
            return most;
        }
    }
    high = high.min(most);
    if is_whole {
        (low, high) = (low.floor(), high.ceil());
    }
    bisect(low, high, is_whole, below)
}

/// The right end of a bracket that is halved until it is one value wide.
fn bisect(mut low: f64, mut high: f64, is_whole: bool, below: impl Fn(f64) -> f64) -> f64 {
    let (mut at_low, mut at_high) = (below(low), below(high));
    for round in 0..200 {
        let gap = high - low;
        if (is_whole && gap <= 1.0) || gap <= 1e-10 * (low.abs().max(high.abs())) || gap < f64::MIN_POSITIVE {
            break;
        }
        // The secant is exact near the end, halving is safe: in turn.
        let secant = low - at_low * gap / (at_high - at_low);
        let inside = secant.is_finite() && secant > low && secant < high;
        let mut middle = if round % 3 != 2 && inside { secant } else { 0.5 * (low + high) };
        if is_whole {
            middle = middle.floor().clamp(low + 1.0, high - 1.0);
        } else {
            // A secant that always lands on one side would not shrink the bracket.
            let edge = 1e-3 * gap;
            middle = if gap > 1e-6 * high.abs() { middle.clamp(low + edge, high - edge) } else { middle };
        }
        let value = below(middle);
        if value >= 0.0 {
            (high, at_high) = (middle, value);
        } else {
            (low, at_low) = (middle, value);
        }
    }
    high
}
