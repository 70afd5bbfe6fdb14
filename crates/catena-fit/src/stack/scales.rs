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
        let mut shares = Shares::of(scales);
        for &square in squares {
            for (at, share) in shares.at(square).iter().enumerate() {
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

/// The probabilities of the components, given squared errors.
pub(super) struct Shares {
    /// By component, the logarithm of its density at 0, and its variance.
    components: Vec<(f64, f64)>,
    shares: Vec<f64>,
}

impl Shares {
    pub(super) fn of(scales: &[Scale]) -> Self {
        let component = |scale: &Scale| (scale.weight.ln() - 0.5 * scale.variance.ln(), scale.variance);
        Self { components: scales.iter().map(component).collect(), shares: vec![0.0; scales.len()] }
    }

    /// The probability of each component, given a squared error.
    pub(super) fn at(&mut self, square: f64) -> &[f64] {
        let mut largest = f64::NEG_INFINITY;
        for (share, (at_zero, variance)) in self.shares.iter_mut().zip(&self.components) {
            *share = at_zero - 0.5 * square / variance;
            largest = largest.max(*share);
        }
        let mut total = 0.0;
        for share in &mut self.shares {
            *share = (*share - largest).exp();
            total += *share;
        }
        self.shares.iter_mut().for_each(|share| *share /= total);
        &self.shares
    }
}
