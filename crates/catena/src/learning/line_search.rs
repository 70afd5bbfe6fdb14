//! Line search for a maximum: strong Wolfe conditions by bracketing and cubic interpolation.

/// A point on the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probe {
    pub(super) length: f64,
    pub(super) value: f64,
    /// The derivative along the line.
    pub(super) slope: f64,
}

/// The result of a search.
pub(super) enum Search<T> {
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

/// Searches from `start`, beginning with a step of `first`. `along` evaluates a step; `None` where the value is not finite.
pub(super) fn search<T>(
    start: Probe,
    first: f64,
    mut along: impl FnMut(f64) -> Option<(Probe, T)>,
) -> Search<T> {
    if start.slope.is_nan() || start.slope <= 0.0 {
        return Search::NothingBetter;
    }
    // The best step so far; without one, the start.
    let mut low = start;
    let mut kept: Option<(Probe, T)> = None;
    // The other end of the bracket, once known; its value and slope if finite.
    let mut high: Option<(f64, Option<Probe>)> = None;
    let mut length = first;
    for _ in 0..MOST_TRIALS {
        match along(length) {
            None => high = Some((length, None)),
            Some((probe, found)) => {
                let gains = probe.value >= start.value + ENOUGH_GAIN * length * start.slope;
                if !gains || probe.value < low.value {
                    high = Some((length, Some(probe)));
                } else if probe.slope.abs() <= ENOUGH_FLATNESS * start.slope {
                    return Search::Found(probe, found);
                } else {
                    // The maximum lies between the two best steps if the new slope points back.
                    let ahead = high.map_or(1.0, |(end, _)| end - low.length);
                    if probe.slope * ahead <= 0.0 {
                        high = Some((low.length, Some(low)));
                    }
                    low = probe;
                    kept = Some((probe, found));
                }
            }
        }
        length = match high {
            None => 4.0 * length,
            Some((end, Some(probe))) => between(low, probe, end),
            Some((end, None)) => low.length + 0.2 * (end - low.length),
        };
        let width = high.map_or(f64::INFINITY, |(end, _)| (end - low.length).abs());
        if width <= 1e-12 * first.max(low.length) {
            break;
        }
    }
    match kept {
        Some((probe, found)) if probe.value > start.value => Search::Found(probe, found),
        _ => Search::NothingBetter,
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
            let found = search(probe(0.0), first, |length| {
                trials += 1;
                (length < 40.0).then(|| (probe(length), length))
            });
            let Search::Found(found, length) = found else { panic!("nothing found from {first}") };
            assert_eq!(found, probe(length));
            assert!(found.slope.abs() <= 0.9 * 12.0 && found.value > 0.0, "{first}: {found:?}");
            assert!(trials < 15, "{first}: {trials}");
        }
    }
}
