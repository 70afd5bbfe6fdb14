//! Moments of an output whose transform is normal.
//!
//! Those of a logarithm have closed forms. Others are integrals over the normal density by Gauss–Legendre quadrature on panels of
//! at most nine standard deviations. Panels begin where the inverse is not smooth. The range ends nine standard deviations beyond
//! the largest contribution to the second moment. Relative errors are below 10⁻⁸.

use std::sync::OnceLock;

use super::transform::PowerTransform;
use crate::normal::{cumulative, density};

/// Nodes of one panel.
const NODES: usize = 24;
/// The longest panel, and the distance from the largest contributions to the ends of the range, in standard deviations.
const REACH: f64 = 9.0;
/// The farthest largest contribution; beyond it a density is not representable.
const FARTHEST: f64 = 60.0;

impl PowerTransform {
    /// Mean and standard deviation of an output whose transform has this mean and standard deviation.
    pub(crate) fn moments(&self, center: f64, deviation: f64) -> (f64, f64) {
        match self {
            Self::None => (center, deviation),
            Self::Log => {
                let mean = (center + 0.5 * deviation * deviation).exp();
                (mean, mean * (deviation * deviation).exp_m1().sqrt())
            }
            _ if deviation == 0.0 => (self.inverse(center), 0.0),
            _ => {
                let nodes = self.nodes(center, deviation);
                let total: f64 = nodes.iter().map(|(_, weight)| weight).sum();
                let value = |(t, weight): &(f64, f64)| (self.inverse(center + deviation * t), *weight);
                let values: Vec<(f64, f64)> = nodes.iter().map(value).collect();
                let mean = values.iter().map(|(value, weight)| value * weight).sum::<f64>() / total;
                let squares = values.iter().map(|(value, weight)| (value - mean).powi(2) * weight);
                (mean, (squares.sum::<f64>() / total).sqrt())
            }
        }
    }

    /// The mean of [`PowerTransform::moments`].
    pub(crate) fn mean(&self, center: f64, deviation: f64) -> f64 {
        match self {
            Self::None => center,
            Self::Log => (center + 0.5 * deviation * deviation).exp(),
            _ => self.moments(center, deviation).0,
        }
    }

    /// The same of an output that is put at `lower` or `upper` where it is beyond them.
    pub(crate) fn moments_within(
        &self,
        (center, deviation): (f64, f64),
        (lower, upper): (f64, f64),
    ) -> (f64, f64) {
        let nearest = |value: f64| value.max(lower).min(upper);
        if deviation == 0.0 {
            return (nearest(self.inverse(center)), 0.0);
        }
        let standard = |bound: f64| match bound {
            bound if bound.is_infinite() => bound,
            bound if self.needs_positive() && bound <= 0.0 => f64::NEG_INFINITY,
            bound => (self.forward(bound) - center) / deviation,
        };
        let (low, high) = (standard(lower), standard(upper));
        let (below, above) = (cumulative(low), cumulative(-high));
        if below == 0.0 && above == 0.0 {
            return self.moments(center, deviation);
        }
        let inside = self.nodes_between((center, deviation), (low, high)).into_iter();
        let inside = inside.map(|(t, weight)| (nearest(self.inverse(center + deviation * t)), weight));
        let at_bounds = [(lower, below), (upper, above)].into_iter().filter(|(_, mass)| *mass > 0.0);
        let values: Vec<(f64, f64)> = inside.chain(at_bounds).collect();
        let total: f64 = values.iter().map(|(_, weight)| weight).sum();
        let mean = values.iter().map(|(value, weight)| value * weight).sum::<f64>() / total;
        let squares = values.iter().map(|(value, weight)| (value - mean).powi(2) * weight);
        (mean, (squares.sum::<f64>() / total).sqrt())
    }

    /// Standard normal numbers with weights, for integrals of functions of the output.
    fn nodes(&self, center: f64, deviation: f64) -> Vec<(f64, f64)> {
        self.nodes_between((center, deviation), (f64::NEG_INFINITY, f64::INFINITY))
    }

    /// The same between two standard normal numbers.
    fn nodes_between(&self, (center, deviation): (f64, f64), (from, to): (f64, f64)) -> Vec<(f64, f64)> {
        // Where the inverse is not smooth, and its growth above and below.
        let (corner, above, below) = match *self {
            Self::None => (None, 0.0, 0.0),
            // The square of e^{σt} is largest at 2σ.
            Self::Log => (None, (2.0 * deviation).min(FARTHEST), 0.0),
            Self::BoxCox { exponent } => {
                let corner = (exponent > 0.0).then_some(-1.0 / exponent);
                (corner, largest_contribution(exponent, center, deviation), 0.0)
            }
            Self::YeoJohnson { exponent, .. } => {
                let above = largest_contribution(exponent, center.max(0.0), deviation);
                (Some(0.0), above, largest_contribution(2.0 - exponent, (-center).max(0.0), deviation))
            }
        };
        let (low, high) = ((-REACH - below).max(from), (REACH + above).min(to));
        if low >= high {
            return vec![];
        }
        let corner = corner.map(|corner| (corner - center) / deviation);
        let corner = corner.filter(|corner| low < *corner && *corner < high);
        let mut nodes = vec![];
        add_panels(&mut nodes, low, corner.unwrap_or(high), false);
        if let Some(corner) = corner {
            add_panels(&mut nodes, corner, high, matches!(self, Self::BoxCox { .. }));
        }
        nodes
    }
}

/// The covariance of two outputs whose transforms are normal with this covariance.
pub(crate) fn covariance(
    (first, of_first): (&PowerTransform, (f64, f64)),
    (second, of_second): (&PowerTransform, (f64, f64)),
    covariance: f64,
) -> f64 {
    use PowerTransform::{Log, None};
    let mean = |power: &PowerTransform, (center, deviation): (f64, f64)| power.mean(center, deviation);
    // Cov(eᵃ, eᵇ) = E eᵃ · E eᵇ · (e^Cov(a,b) − 1), and Cov(eᵃ, b) = E eᵃ · Cov(a, b).
    match (first, second) {
        (None, None) => return covariance,
        (Log, Log) => return mean(first, of_first) * mean(second, of_second) * covariance.exp_m1(),
        (Log, None) => return mean(first, of_first) * covariance,
        (None, Log) => return mean(second, of_second) * covariance,
        // The outer integral is over the output without a closed form.
        (None | Log, _) => return self::covariance((second, of_second), (first, of_first), covariance),
        _ => {}
    }
    let ((center, deviation), (other, of_other)) = (of_first, of_second);
    if deviation == 0.0 || of_other == 0.0 {
        return 0.0;
    }
    let slope = covariance / deviation;
    let left = (of_other * of_other - slope * slope).max(0.0).sqrt();
    let nodes = first.nodes(center, deviation);
    let total: f64 = nodes.iter().map(|(_, weight)| weight).sum();
    let (mean_of_first, mean_of_second) = (mean(first, of_first), mean(second, of_second));
    let term = |(t, weight): &(f64, f64)| {
        let given = second.mean(other + slope * t, left);
        weight * (first.inverse(center + deviation * t) - mean_of_first) * (given - mean_of_second)
    };
    nodes.iter().map(term).sum::<f64>() / total
}

/// Where (1 + λ(c + σt))^{2/λ} e^{−t²/2} is largest.
fn largest_contribution(exponent: f64, center: f64, deviation: f64) -> f64 {
    let offset = 1.0 + exponent * center;
    let found =
        4.0 * deviation / (offset + (offset * offset + 8.0 * exponent * deviation * deviation).sqrt());
    if found.is_nan() { FARTHEST } else { found.min(FARTHEST) }
}

/// Adds the nodes of panels from `low` to `high`. If the integrand has a root there, the first panel is over the square root of
/// the distance.
fn add_panels(nodes: &mut Vec<(f64, f64)>, low: f64, high: f64, has_root: bool) {
    let count = ((high - low) / REACH).ceil().max(1.0);
    let width = (high - low) / count;
    for panel in 0..count as usize {
        let start = low + panel as f64 * width;
        for &(place, weight) in rule() {
            let (t, weight) = match has_root && panel == 0 {
                true => (start + width * place * place, 2.0 * place * weight),
                false => (start + width * place, weight),
            };
            nodes.push((t, weight * width * density(t)));
        }
    }
}

/// Nodes and weights on the unit interval: roots of the Legendre polynomial by Newton's method.
fn rule() -> &'static [(f64, f64)] {
    static RULE: OnceLock<Vec<(f64, f64)>> = OnceLock::new();
    RULE.get_or_init(|| {
        let node = |at: usize| {
            let mut x = (std::f64::consts::PI * (at as f64 + 0.75) / (NODES as f64 + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..20 {
                let (mut before, mut value) = (1.0, x);
                for degree in 2..=NODES {
                    let n = degree as f64;
                    (before, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n);
                }
                slope = NODES as f64 * (x * value - before) / (x * x - 1.0);
                x -= value / slope;
            }
            (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * slope * slope))
        };
        (0..NODES).map(node).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn moments_within_bounds_are_those_of_values_put_at_them() {
        let powers = [
            PowerTransform::None,
            PowerTransform::Log,
            PowerTransform::BoxCox { exponent: 0.4 },
            PowerTransform::YeoJohnson { exponent: 1.3, center: 0.0, unit: 1.0 },
        ];
        for power in powers {
            for (center, deviation) in [(0.3, 0.5), (-0.4, 1.0), (3.0, 0.2), (-9.0, 1.0)] {
                for (lower, upper) in [(0.0, 1.0), (0.5, f64::INFINITY), (f64::NEG_INFINITY, 1.2)] {
                    let (mean, spread) = power.moments_within((center, deviation), (lower, upper));
                    let step = 1e-4;
                    let points = (-120_000..120_000).map(|at| step * (f64::from(at) + 0.5));
                    let value = |t: f64| power.inverse(center + deviation * t).max(lower).min(upper);
                    let of = |f: &dyn Fn(f64) -> f64| -> f64 {
                        points.clone().map(|t| step * density(t) * f(value(t))).sum()
                    };
                    let expected = of(&|value| value);
                    let square = of(&|value| (value - expected).powi(2));
                    let scale = 1.0 + expected.abs();
                    assert!((mean - expected).abs() < 1e-6 * scale, "{power:?} {center}: {mean} {expected}");
                    assert!((spread * spread - square).abs() < 1e-6 * scale * scale, "{power:?} {center}");
                    assert!((lower..=upper).contains(&mean));
                }
            }
        }
        // Bounds without mass change nothing, to the bit.
        let power = PowerTransform::None;
        assert_eq!(power.moments_within((1.0, 1e-3), (0.0, 2.0)), (1.0, 1e-3));
        assert_eq!(power.moments_within((1.0, 0.0), (2.0, 3.0)), (2.0, 0.0));
    }

    /// ∫ f(t) φ(t) dt by adaptive Simpson's rule on intervals that begin at multiples of 1/8 and at the corner.
    fn integral(f: &dyn Fn(f64) -> f64, corner: f64, tolerance: f64) -> f64 {
        fn simpson(
            f: &dyn Fn(f64) -> f64,
            a: f64,
            b: f64,
            ends: (f64, f64, f64),
            tolerance: f64,
            depth: u32,
        ) -> f64 {
            let (middle, (fa, fm, fb)) = (0.5 * (a + b), ends);
            let (left, right) = (f(0.5 * (a + middle)), f(0.5 * (middle + b)));
            let whole = (b - a) / 6.0 * (fa + 4.0 * fm + fb);
            let halves = (b - a) / 12.0 * (fa + 4.0 * left + 2.0 * fm + 4.0 * right + fb);
            if depth == 0 || (halves - whole).abs() <= 15.0 * tolerance {
                return halves + (halves - whole) / 15.0;
            }
            simpson(f, a, middle, (fa, left, fm), 0.5 * tolerance, depth - 1)
                + simpson(f, middle, b, (fm, right, fb), 0.5 * tolerance, depth - 1)
        }
        let g = |t: f64| f(t) * (-0.5 * t * t).exp() / TAU.sqrt();
        let mut ends: Vec<f64> = (-160..=240).map(|at| f64::from(at) / 8.0).collect();
        ends.push(corner.clamp(-20.0, 30.0));
        ends.sort_by(f64::total_cmp);
        ends.windows(2)
            .map(|pair| {
                let (a, b) = (pair[0], pair[1]);
                simpson(&g, a, b, (g(a), g(0.5 * (a + b)), g(b)), tolerance * (b - a), 40)
            })
            .sum()
    }

    fn powers() -> Vec<PowerTransform> {
        let exponents = [0.0, 1e-6, 0.05, 0.3, 0.5, 0.9, 1.0, 1.3, 1.7, 2.0];
        let box_cox = exponents.map(|exponent| PowerTransform::BoxCox { exponent });
        let yeo_johnson =
            exponents.map(|exponent| PowerTransform::YeoJohnson { exponent, center: 0.4, unit: 1.5 });
        box_cox.into_iter().chain(yeo_johnson).collect()
    }

    #[test]
    fn moments_are_those_of_adaptive_integration() {
        for power in powers() {
            for (center, deviation) in [(1.2, 0.3), (0.0, 1.0), (-1.5, 0.8), (3.0, 2.0), (0.2, 1e-3)] {
                let corner = match power {
                    PowerTransform::BoxCox { exponent } if exponent > 0.0 => {
                        (-1.0 / exponent - center) / deviation
                    }
                    _ => -center / deviation,
                };
                let value = |t: f64| power.inverse(center + deviation * t);
                let size = power.moments(center, deviation).0.abs().max(1e-3);
                let mean = integral(&value, corner, 1e-12 * size);
                let square = integral(
                    &|t| (value(t) - mean).powi(2),
                    corner,
                    1e-13 * size * size * deviation * deviation,
                );
                let (found, spread) = power.moments(center, deviation);
                let expected = square.sqrt();
                assert!(
                    (found - mean).abs() < 1e-8 * expected.max(mean.abs()),
                    "{power:?} {center} {deviation}: {found} {mean}"
                );
                assert!(
                    (spread / expected - 1.0).abs() < 1e-7,
                    "{power:?} {center} {deviation}: {spread} {expected}"
                );
            }
        }
    }

    #[test]
    fn box_cox_without_exponent_has_the_moments_of_a_log_normal() {
        let zero = PowerTransform::BoxCox { exponent: 0.0 };
        for (center, deviation) in [(0.3, 0.2), (-2.0, 1.5), (1.0, 3.0)] {
            let (found, expected) =
                (zero.moments(center, deviation), PowerTransform::Log.moments(center, deviation));
            assert!(
                (found.0 / expected.0 - 1.0).abs() < 1e-10 && (found.1 / expected.1 - 1.0).abs() < 1e-8,
                "{found:?} {expected:?}"
            );
        }
    }

    #[test]
    fn covariances_are_those_of_a_double_integral() {
        let box_cox = PowerTransform::BoxCox { exponent: 0.4 };
        let yeo_johnson = PowerTransform::YeoJohnson { exponent: 1.6, center: 0.0, unit: 2.0 };
        let pairs = [
            (box_cox, yeo_johnson),
            (box_cox, PowerTransform::Log),
            (PowerTransform::None, yeo_johnson),
            (PowerTransform::Log, PowerTransform::None),
            (box_cox, box_cox),
        ];
        for (first, second) in pairs {
            let (one, other, correlation) = ((0.5, 0.6), (0.2, 0.4), -0.7);
            let found = covariance((&first, one), (&second, other), correlation * one.1 * other.1);
            // A midpoint rule in two dimensions.
            let step = 0.02;
            let places = || (-450..450).map(|at| (f64::from(at) + 0.5) * step);
            let (mut mean, mut products) = ([0.0, 0.0], 0.0);
            for t in places() {
                let a = first.inverse(one.0 + one.1 * t);
                let (mut inner, mut mass) = (0.0, 0.0);
                for s in places() {
                    let own = correlation * t + (1.0_f64 - correlation * correlation).sqrt() * s;
                    let weight = density(s) * step;
                    inner += weight * second.inverse(other.0 + other.1 * own);
                    mass += weight;
                }
                let weight = density(t) * step;
                mean[0] += weight * a;
                mean[1] += weight * inner / mass;
                products += weight * a * inner / mass;
            }
            let expected = products - mean[0] * mean[1];
            // The error of the rule is step²/24 at a kink of a second derivative, and smaller elsewhere.
            assert!(
                (found - expected).abs() < 1e-5 * expected.abs(),
                "{first:?} {second:?}: {found} {expected}"
            );
        }
    }
}
