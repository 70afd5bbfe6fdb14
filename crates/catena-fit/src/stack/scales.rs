//! The scales of a pool: a mixture of normal distributions with one center and several variances.

/// Factors on the variances of the components before they are learned.
const VARIANCES: [f64; 3] = [0.25, 1.0, 4.0];
/// The smallest factor on a variance.
const LEAST_VARIANCE: f64 = 0.02;
/// The strength of the prior on the components, in gaps.
const COMPONENT_PRIOR: f64 = 0.1;
/// Iterations of one improvement, and improvements of a fit.
const ITERATIONS: usize = 4;
const IMPROVEMENTS: usize = 60;

/// A component: its weight, and the factor on its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) weight: f64,
    pub(super) variance: f64,
}

/// The components before they are learned.
pub(super) fn first_scales() -> [Scale; 3] {
    VARIANCES.map(|variance| Scale { weight: 1.0 / VARIANCES.len() as f64, variance })
}

/// Weights and factors of the components for squared errors in variances of the pool.
pub(super) fn fitted_scales(squares: &[f64], per_gap: f64) -> Vec<Scale> {
    let mut scales = first_scales().to_vec();
    for _ in 0..IMPROVEMENTS {
        improve(&mut scales, squares, per_gap);
    }
    scales
}

/// A few iterations of expectation–maximization in weights and factors.
pub(super) fn improve(scales: &mut [Scale], squares: &[f64], per_gap: f64) {
    let prior = COMPONENT_PRIOR * per_gap;
    for _ in 0..ITERATIONS {
        let mut totals = vec![0.0; scales.len()];
        let mut sums = vec![0.0; scales.len()];
        for &square in squares {
            for (at, share) in shares_of(scales, square).into_iter().enumerate() {
                totals[at] += share;
                sums[at] += share * square;
            }
        }
        for (at, scale) in scales.iter_mut().enumerate() {
            let count = totals[at] + prior;
            scale.weight = count / (squares.len() as f64 + prior * VARIANCES.len() as f64);
            scale.variance = ((sums[at] + prior * VARIANCES[at]) / count).max(LEAST_VARIANCE);
        }
    }
}

/// The probability of each component, given a squared error.
pub(super) fn shares_of(scales: &[Scale], square: f64) -> Vec<f64> {
    let density =
        |scale: &Scale| scale.weight.ln() - 0.5 * scale.variance.ln() - 0.5 * square / scale.variance;
    let mut shares: Vec<f64> = scales.iter().map(density).collect();
    let largest = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    shares.iter_mut().for_each(|share| *share = (*share - largest).exp());
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= total);
    shares
}
