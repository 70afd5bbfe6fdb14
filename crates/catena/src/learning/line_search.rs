//! Line search for a maximum: strong Wolfe conditions by bracketing and cubic interpolation.

/// A point on the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probe {
    pub(super) length: f64,
    pub(super) value: f64,
    /// The derivative along the line.
    pub(super) slope: f64,
}

/// What follows a trial.
pub(super) enum Outcome<T> {
    /// Another trial, at [`LineSearch::length`].
    Continue(LineSearch<T>),
    /// A step that satisfies the conditions or improves on the start, with the data of its evaluation.
    Found(Probe, T),
    /// No trial improved on the start.
    NothingBetter,
}

/// Sufficient increase: the gain is at least this share of the linear prediction.
const ENOUGH_GAIN: f64 = 1e-4;
/// Curvature condition: the slope has fallen to this share of the one at the start.
const ENOUGH_FLATNESS: f64 = 0.9;
const MOST_TRIALS: usize = 30;

/// A search along a line. It proposes a step and is told its evaluation, so that several searches can be evaluated together.
#[derive(Clone, Debug)]
pub(super) struct LineSearch<T> {
    start: Probe,
    first: f64,
    /// The best step so far; without one, the start.
    low: Probe,
    kept: Option<(Probe, T)>,
    /// The other end of the bracket, once known; its value and slope if finite.
    high: Option<(f64, Option<Probe>)>,
    length: f64,
    n_trials: usize,
}

impl<T> LineSearch<T> {
    /// A search from `start`, beginning with a step of `first`; `None` if the value does not increase there.
    pub(super) fn new(start: Probe, first: f64) -> Option<Self> {
        let ascends = start.slope > 0.0;
        let search = Self { start, first, low: start, kept: None, high: None, length: first, n_trials: 0 };
        ascends.then_some(search)
    }

    /// The step to be evaluated next.
    pub(super) fn length(&self) -> f64 {
        self.length
    }

    /// Takes the evaluation of the step; `None` if its value is not finite.
    pub(super) fn tell(mut self, evaluation: Option<(Probe, T)>) -> Outcome<T> {
        let Self { start, first, length, .. } = self;
        match evaluation {
            None => self.high = Some((length, None)),
            Some((probe, found)) => {
                let gains = probe.value >= start.value + ENOUGH_GAIN * length * start.slope;
                if !gains || probe.value < self.low.value {
                    self.high = Some((length, Some(probe)));
                } else if probe.slope.abs() <= ENOUGH_FLATNESS * start.slope {
                    return Outcome::Found(probe, found);
                } else {
                    // The maximum lies between the two best steps if the new slope points back.
                    let ahead = self.high.map_or(1.0, |(end, _)| end - self.low.length);
                    if probe.slope * ahead <= 0.0 {
                        self.high = Some((self.low.length, Some(self.low)));
                    }
                    self.low = probe;
                    self.kept = Some((probe, found));
                }
            }
        }
        let low = self.low;
        self.length = match self.high {
            None => 4.0 * length,
            Some((end, Some(probe))) => between(low, probe, end),
            Some((end, None)) => low.length + 0.2 * (end - low.length),
        };
        let width = self.high.map_or(f64::INFINITY, |(end, _)| (end - low.length).abs());
        self.n_trials += 1;
        if width > 1e-12 * first.max(low.length) && self.n_trials < MOST_TRIALS {
            return Outcome::Continue(self);
        }
        match self.kept {
            Some((probe, found)) if probe.value > start.value => Outcome::Found(probe, found),
            _ => Outcome::NothingBetter,
        }
    }
}

/// The maximum of the cubic through two probes, kept well inside them.
fn between(low: Probe, high: Probe, end: f64) -> f64 {
    let width = end - low.length;
    let inside = 0.1 * width.abs();
    let (near, far) = (low.length.min(end) + inside, low.length.max(end) - inside);
    let chord = 3.0 * (high.value - low.value) / width - low.slope - high.slope;
    let radicand = chord * chord - low.slope * high.slope;
    if radicand >= 0.0 {
        let root = radicand.sqrt() * width.signum();
        let length = end - width * ((root - high.slope - chord) / (low.slope - high.slope + 2.0 * root));
        if length.is_finite() {
            return length.clamp(near, far);
        }
    }
    low.length + 0.5 * width
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(length: f64) -> Probe {
        // A cubic with its maximum at 2.
        Probe { length, value: 12.0 * length - length.powi(3), slope: 12.0 - 3.0 * length * length }
    }

    #[test]
    fn the_maximum_of_a_cubic_is_found_from_either_side() {
        assert!((between(probe(0.5), probe(3.0), 3.0) - 2.0).abs() < 1e-12);
        assert!((between(probe(3.0), probe(0.5), 0.5) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn steps_too_short_and_too_long_end_where_the_conditions_hold() {
        for first in [1e-6, 1e-2, 1.0, 3.4, 50.0] {
            let mut trials = 0;
            let mut search = LineSearch::new(probe(0.0), first).unwrap();
            let (found, length) = loop {
                let length = search.length();
                trials += 1;
                match search.tell((length < 40.0).then(|| (probe(length), length))) {
                    Outcome::Continue(next) => search = next,
                    Outcome::Found(probe, length) => break (probe, length),
                    Outcome::NothingBetter => panic!("nothing found from {first}"),
                }
            };
            assert_eq!(found, probe(length));
            assert!(found.slope.abs() <= 0.9 * 12.0 && found.value > 0.0, "{first}: {found:?}");
            assert!(trials < 15, "{first}: {trials}");
        }
    }
}
