//! The distribution of ordinary errors: Student's t, fitted to standardized errors of which some belong to bad cells.

use super::discovery::threshold;
use crate::student::{log_constant, two_sided_quantile, two_sided_tail};

/// Candidates for the degrees of freedom. With three, errors just have a variance, as those of the model do.
const DEGREES: [f64; 10] = [3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0, 14.0, 20.0, 30.0];
/// The prior of the degrees of freedom is a Gamma distribution of shape 2 and this rate.
const DEGREES_RATE: f64 = 0.1;
/// Errors below this many scales are taken for ordinary at first.
const CENTER: f64 = 4.0;
/// The median of the absolute value of a standard normal.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;
/// More errors than this are represented by as many equally spaced ones in their order.
const MOST: usize = 4000;
/// Rounds of the search, and steps of the golden section in the log of the scale.
const ROUNDS: usize = 20;
const SECTIONS: usize = 30;
/// The range of the scale around that of the median, in logs.
const RANGE: (f64, f64) = (-1.0, 0.7);

/// Ordinary errors are `scale` times Student's t with `degrees` degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OrdinaryErrors {
    pub(crate) scale: f64,
    pub(crate) degrees: f64,
}

impl OrdinaryErrors {
    /// Errors in standard deviations as the model has them, with a heavy tail.
    pub(crate) const AS_MODELLED: Self = Self { scale: 1.0, degrees: 4.0 };

    /// Fits scale and degrees of freedom to errors in standard deviations.
    ///
    /// The search goes forward: the truncated likelihood of the errors near 0 gives a distribution, under which those that are
    /// surprising, as in [`threshold`], bound the errors of the next round. So a few percent of errors of any size change
    /// nothing, and a tail that is heavy but continuous is part of the distribution.
    ///
    /// `None` if half of the errors are zero or beyond any size, so that they have no scale.
    pub(crate) fn fitted(errors: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sizes: Vec<f64> = errors.into_iter().filter(|error| !error.is_nan()).map(f64::abs).collect();
        sizes.sort_by(f64::total_cmp);
        let median = sizes.get(sizes.len() / 2).copied().unwrap_or(0.0);
        if !(median > 0.0 && median < f64::INFINITY) {
            return None;
        }
        let about = median / NORMAL_MEDIAN;
        let mut bound = CENTER * about;
        let mut found = Self::truncated(&sizes, bound, about);
        for _ in 0..ROUNDS {
            let mut tails: Vec<f64> = sizes.iter().map(|size| found.tail(*size)).collect();
            let least = threshold(&mut tails, sizes.len());
            let next = sizes.iter().copied().find(|size| found.tail(*size) <= least).unwrap_or(f64::INFINITY);
            if next <= bound {
                break;
            }
            bound = next;
            found = Self::truncated(&sizes, bound, about);
            if bound == f64::INFINITY {
                break;
            }
        }
        Some(found)
    }

    /// The distribution with the largest posterior density given the sizes below a bound.
    fn truncated(sizes: &[f64], bound: f64, about: f64) -> Self {
        let inside = &sizes[..sizes.partition_point(|size| *size < bound)];
        let step = inside.len().div_ceil(MOST).max(1);
        let inside: Vec<f64> = inside.iter().copied().step_by(step).collect();
        let weight = step as f64;
        let log_density = |degrees: f64, log_scale: f64| {
            let scale = log_scale.exp();
            let each = log_constant(degrees) - log_scale - (1.0 - tail(bound / scale, degrees)).ln();
            let of_size = |size: &f64| -0.5 * (degrees + 1.0) * ((size / scale).powi(2) / degrees).ln_1p();
            weight * (inside.iter().map(of_size).sum::<f64>() + inside.len() as f64 * each)
        };
        let center = about.ln();
        let mut best = (f64::NEG_INFINITY, Self { scale: about, ..Self::AS_MODELLED });
        for degrees in DEGREES {
            let (log_scale, value) =
                golden_section((center + RANGE.0, center + RANGE.1), |at| log_density(degrees, at));
            let value = value + degrees.ln() - DEGREES_RATE * degrees;
            if value > best.0 {
                best = (value, Self { scale: log_scale.exp(), degrees });
            }
        }
        best.1
    }

    /// The probability of an ordinary error at least as far from 0.
    pub(crate) fn tail(self, error: f64) -> f64 {
        tail(error.abs() / self.scale, self.degrees)
    }

    /// The half-width of the central interval of this probability, in standard deviations.
    pub(crate) fn half_width(self, probability: f64) -> f64 {
        self.scale * two_sided_quantile(1.0 - probability, self.degrees)
    }
}

fn tail(size: f64, degrees: f64) -> f64 {
    two_sided_tail(size, degrees)
}

/// The largest value of a function with one maximum in an interval, and its place.
fn golden_section((mut low, mut high): (f64, f64), value: impl Fn(f64) -> f64) -> (f64, f64) {
    let share = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut left, mut right) = (high - share * (high - low), low + share * (high - low));
    let (mut of_left, mut of_right) = (value(left), value(right));
    for _ in 0..SECTIONS {
        if of_left > of_right {
            (high, right, of_right) = (right, left, of_left);
            left = high - share * (high - low);
            of_left = value(left);
        } else {
            (low, left, of_left) = (left, right, of_right);
            right = low + share * (high - low);
            of_right = value(right);
        }
    }
    if of_left > of_right { (left, of_left) } else { (right, of_right) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use rand_distr::{Distribution, StandardNormal, StudentT};

    fn drawn(count: usize, degrees: Option<f64>) -> Vec<f64> {
        let mut generator = ChaCha8Rng::seed_from_u64(5);
        let mut draw = || match degrees.and_then(|degrees| StudentT::new(degrees).ok()) {
            Some(student) => student.sample(&mut generator),
            None => StandardNormal.sample(&mut generator),
        };
        (0..count).map(|_| 0.7 * draw()).collect()
    }

    #[test]
    fn scale_and_tail_are_those_of_the_errors_whatever_a_few_of_them_are() {
        for (degrees, n_bad, range) in [
            (None, 0, 10.0..31.0),
            (None, 250, 10.0..31.0),
            (Some(4.0), 0, 2.9..5.1),
            (Some(4.0), 250, 2.9..5.1),
        ] {
            let mut errors = drawn(5000, degrees);
            errors[..n_bad].iter_mut().enumerate().for_each(|(at, error)| *error = 40.0 + at as f64);
            let found = OrdinaryErrors::fitted(errors).unwrap();
            assert!(range.contains(&found.degrees), "{degrees:?} {n_bad}: {found:?}");
            assert!((found.scale / 0.7 - 1.0).abs() < 0.08, "{degrees:?} {n_bad}: {found:?}");
        }
    }

    #[test]
    fn few_errors_have_a_distribution_and_equal_ones_have_none() {
        assert_eq!(OrdinaryErrors::fitted([]), None);
        assert_eq!(OrdinaryErrors::fitted([0.0, 0.0, 0.0, 5.0]), None);
        let few = OrdinaryErrors::fitted([0.5, -1.0, 0.2, f64::INFINITY]).unwrap();
        assert!(few.tail(f64::INFINITY) == 0.0 && few.tail(0.0) == 1.0);
        assert!((few.tail(few.half_width(0.95)) - 0.05).abs() < 1e-9);
    }
}
