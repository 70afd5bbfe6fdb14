//! Expectations under a Gaussian of functions that change within a short stretch.

use super::cell::CellMarginal;
use super::special::{gauss_hermite, gauss_legendre, normal_density};
use std::sync::LazyLock;

const N_NODES: usize = 32;

/// Where a standard normal is cut off; beyond lies 1e-16 of its mass.
const REACH: f64 = 8.3;

/// Up to this ratio of the Gaussian's deviation to the width of the change, one rule over all of it is exact to ten digits.
const NARROW: f64 = 1.2;

/// Borders of the stretches that are integrated one by one, in widths from the center of the change.
const BORDERS: [f64; 4] = [-36.0, -6.0, 6.0, 36.0];

static HERMITE: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| gauss_hermite(N_NODES));
static LEGENDRE: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| gauss_legendre(N_NODES));

/// The expectations of several functions that change about `center` within `width` and are smooth elsewhere.
pub(super) fn expectations<const K: usize>(
    marginal: CellMarginal,
    (center, width): (f64, f64),
    mut functions: impl FnMut(f64) -> [f64; K],
) -> [f64; K] {
    let deviation = marginal.variance.sqrt();
    let mut sums = [0.0; K];
    let mut add = |weight: f64, place: f64| {
        for (sum, value) in sums.iter_mut().zip(functions(place)) {
            *sum += weight * value;
        }
    };
    if deviation <= NARROW * width {
        for (node, weight) in HERMITE.iter() {
            add(*weight, marginal.mean + deviation * node);
        }
        return sums;
    }
    let border = |at: f64| ((center + at * width - marginal.mean) / deviation).clamp(-REACH, REACH);
    let mut from = -REACH;
    for to in BORDERS.into_iter().map(border).chain([REACH]) {
        let (half, middle) = (0.5 * (to - from), 0.5 * (to + from));
        if half > 0.0 {
            for (node, weight) in LEGENDRE.iter() {
                let z = middle + half * node;
                add(half * weight * normal_density(z), marginal.mean + deviation * z);
            }
        }
        from = to;
    }
    sums
}

/// The integrals of several functions times the density of a Gaussian between two places. Stretches of length `smooth` are
/// integrated one by one: no function has a singularity within half of it from the real axis.
pub(super) fn between<const K: usize>(
    marginal: CellMarginal,
    (low, high): (f64, f64),
    smooth: f64,
    mut functions: impl FnMut(f64) -> [f64; K],
) -> [f64; K] {
    let deviation = marginal.variance.sqrt();
    let border = |place: f64| (place - marginal.mean) / deviation;
    let (from, to) = (border(low).max(-REACH), border(high).min(REACH));
    let mut sums = [0.0; K];
    if to > from {
        // A Gaussian over more than nine deviations takes two rules for twelve digits.
        let n_stretches = ((to - from) * (deviation / smooth).max(1.0 / 9.0)).ceil();
        let half = 0.5 * (to - from) / n_stretches;
        for stretch in 0..n_stretches as usize {
            let middle = from + half * (2 * stretch + 1) as f64;
            for (node, weight) in LEGENDRE.iter() {
                let z = middle + half * node;
                let mass = half * weight * normal_density(z);
                for (sum, value) in sums.iter_mut().zip(functions(marginal.mean + deviation * z)) {
                    *sum += mass * value;
                }
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::special::softplus;

    #[test]
    fn a_change_of_any_width_is_integrated_as_by_many_small_steps() {
        for (mean, deviation, center, width) in
            [(0.3, 0.1, 0.0, 1.0), (0.3, 1.1, 0.5, 1.0), (2.0, 5.0, -1.0, 1.0), (0.0, 1.0, 0.2, 0.01)]
        {
            let marginal = CellMarginal { mean, variance: deviation * deviation };
            let function = |f: f64| softplus((f - center) / width);
            let found = expectations(marginal, (center, width), |f| [1.0, function(f)]);
            let step = 1e-4;
            let exact: f64 = (-90_000..=90_000)
                .map(|at| step * f64::from(at))
                .map(|z| step * normal_density(z) * function(mean + deviation * z))
                .sum();
            assert!((found[0] - 1.0).abs() < 1e-12, "{found:?}");
            assert!((found[1] / exact - 1.0).abs() < 1e-9, "{found:?} {exact}");
        }
    }
}
