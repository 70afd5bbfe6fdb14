//! The bound for a log density that is concave in the middle and convex in its tails.
//!
//! The log density is split at its inflections: `log p = ψ₁ + ψ₂`, where ψ₁ continues it beyond them by its tangents, and
//! ψ₂ is the rest, 0 in the middle. ψ₁ is concave and ψ₂ convex, so that by Jensen's inequality
//!
//! ```text
//! E[log p(y | f)] ≥ E[ψ₁(f)] + ψ₂(E f).
//! ```
//!
//! The two are equal in the middle; in the tails they differ by half the variance of f times the curvature there. The
//! precision `−E[ψ₁''(f)]` is positive, which the exact expectation does not guarantee: a cell far off would ask for a negative one.

use super::cell::{CellMarginal, Expectation};
use super::quadrature::between;
use super::special::{normal_cumulative, normal_density};

/// A log density and its derivatives at one value of the function.
#[derive(Clone, Copy)]
pub(super) struct Curve {
    pub(super) value: f64,
    pub(super) slope: f64,
    pub(super) curvature: f64,
    /// The derivatives of value and slope in the noise.
    pub(super) noise_slope: f64,
    pub(super) mixed: f64,
}

/// The bound of the log density `curve`, which is concave between its inflections and convex outside, and has no singularity
/// within half of `smooth` from the real axis.
pub(super) fn expected(
    marginal: CellMarginal,
    (low, high): (f64, f64),
    smooth: f64,
    curve: impl Fn(f64) -> Curve,
) -> Expectation {
    let [value, slope, curvature, noise_slope] = between(marginal, (low, high), smooth, |f| {
        let at = curve(f);
        [at.value, at.slope, at.curvature, at.noise_slope]
    });
    let mut sum = Expectation { log_density: value, slope, precision: -curvature, noise_slope };
    for (inflection, side) in [(low, -1.0), (high, 1.0)] {
        if !inflection.is_finite() {
            continue;
        }
        let at = curve(inflection);
        // The mass beyond the inflection and the mean distance from it, by the deviation of the marginal.
        let deviation = marginal.variance.sqrt();
        let beyond = side * (marginal.mean - inflection);
        let (mass, distance) = match beyond / deviation {
            z if z.is_finite() => {
                let mass = normal_cumulative(z);
                (mass, deviation * normal_density(z) + beyond * mass)
            }
            _ if beyond > 0.0 => (1.0, beyond),
            _ => (0.0, 0.0),
        };
        sum.log_density += mass * at.value + side * distance * at.slope;
        sum.slope += mass * at.slope;
        sum.noise_slope += mass * at.noise_slope + side * distance * at.mixed;
        if beyond > 0.0 {
            let mean = curve(marginal.mean);
            sum.log_density += mean.value - at.value - side * beyond * at.slope;
            sum.slope += mean.slope - at.slope;
            sum.noise_slope += mean.noise_slope - at.noise_slope - side * beyond * at.mixed;
        }
    }
    sum
}
