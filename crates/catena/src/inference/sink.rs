//! Where a sweep delivers what it finds: predictions, or the gradient of the evidence.

use super::buffers::{Dual, Moments};
use super::covariance::{Chain, Observed, posterior_of_output};
use super::gradient::{GradientSums, Values};
use super::readout::Readout;
use crate::linalg::{Arithmetic, Innovation, StateAlgebra, StepSlopes};
use crate::structure::Tree;

/// Takes what the covariance form finds at each position, on the way back.
pub(super) trait Sink {
    /// Whether the slopes of steps are collected, so that the posterior mean of each whole state is at hand.
    const WITH_SLOPES: bool;
    /// A position before its observations are taken out of the dual; `moments` are the filtered ones.
    fn position<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        moments: Moments<'_>,
        dual: &mut Dual,
    );
    /// An observation that was just taken out; `later` are gains and innovations from this one to the position's last.
    fn observation<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        observed: Observed,
        later: (&[f64], &[Innovation]),
        moments: Moments<'_>,
        dual: &mut Dual,
    );
    /// Takes the dual back over the step into a position; `before` are the filtered moments at its near end.
    fn step<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        before: Moments<'_>,
        dual: &mut Dual,
    );
}

/// The posterior of the latents' values, left in the dual's own memory.
#[inline(always)]
fn find_values<A: Arithmetic, S: StateAlgebra>(
    shape: S,
    n_latents: usize,
    moments: Moments<'_>,
    dual: &mut Dual,
) {
    let Dual { vector, matrix, products, value_mean, value_covariance, .. } = dual;
    let (moments, dual) = ((moments.mean, moments.covariance), (&vector[..], &matrix[..]));
    shape.posterior_of_values::<A>(n_latents, moments, dual, products, (value_mean, value_covariance));
}

/// Means and variances of all outputs, in row order.
pub(super) struct Predictions<'a> {
    tree: &'a Tree,
    n_outputs: usize,
    pub(super) means: Vec<f64>,
    pub(super) variances: Vec<f64>,
}

impl<'a> Predictions<'a> {
    /// Room for every row of a structure, in memory that may have been used before.
    pub(super) fn new(
        tree: &'a Tree,
        n_outputs: usize,
        (mut means, mut variances): (Vec<f64>, Vec<f64>),
    ) -> Self {
        means.resize(tree.len() * n_outputs, 0.0);
        variances.resize(tree.len() * n_outputs, 0.0);
        Self { tree, n_outputs, means, variances }
    }

    /// Where the outputs of a position stand.
    #[inline(always)]
    fn place(&self, position: usize) -> usize {
        self.tree.row_at(crate::index::Position::new(position)).get() * self.n_outputs
    }

    /// The outputs at a position from the moments of the values there: `Hm` and the diagonal of `H V Hᵀ`.
    #[inline(always)]
    pub(super) fn set_from_values<A: Arithmetic>(
        &mut self,
        readout: &Readout,
        n_latents: usize,
        position: usize,
        values: Values<'_>,
    ) {
        let Values { mean, covariance, stride } = values;
        let place = self.place(position);
        for first in (0..self.n_outputs).step_by(4) {
            let (mut means, mut variances) = (A::splat(0.0), A::splat(0.0));
            for i in 0..n_latents {
                let weights = A::load(readout.column_lanes(i, first));
                let mut with_output = A::splat(0.0);
                for j in 0..n_latents {
                    let covariance = A::splat(covariance[i * stride + j]);
                    with_output =
                        A::mul_add_lanes(covariance, A::load(readout.column_lanes(j, first)), with_output);
                }
                means = A::mul_add_lanes(A::splat(mean[i]), weights, means);
                variances = A::mul_add_lanes(weights, with_output, variances);
            }
            let count = (self.n_outputs - first).min(4);
            let mut lane = [0.0; 4];
            A::store(means, &mut lane);
            self.means[place + first..][..count].copy_from_slice(&lane[..count]);
            A::store(variances, &mut lane);
            self.variances[place + first..][..count].copy_from_slice(&lane[..count]);
        }
    }

    /// The outputs at a position from the moments of the values there, when each output reads few of them.
    #[inline(always)]
    pub(super) fn set_from_touched_values(&mut self, readout: &Readout, position: usize, values: Values<'_>) {
        for output in 0..self.n_outputs {
            let (mean, variance) = readout.read_output(output, values);
            self.set(position, output, mean, variance);
        }
    }

    /// One output at a position.
    #[inline(always)]
    pub(super) fn set(&mut self, position: usize, output: usize, mean: f64, variance: f64) {
        let place = self.place(position) + output;
        self.means[place] = mean;
        self.variances[place] = variance;
    }
}

impl Sink for Predictions<'_> {
    const WITH_SLOPES: bool = false;

    #[inline(always)]
    fn position<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        moments: Moments<'_>,
        dual: &mut Dual,
    ) {
        if chain.reads_values() {
            find_values::<A, S>(shape, chain.n_latents, moments, dual);
            let (mean, covariance) = (&dual.value_mean[..], &dual.value_covariance[..]);
            let values = Values { mean, covariance, stride: shape.width() };
            self.set_from_values::<A>(chain.readout, chain.n_latents, position, values);
        } else {
            // Observed outputs follow with their observations.
            let mut observed = chain.cells.outputs(position).iter().copied().peekable();
            for output in 0..self.n_outputs {
                if observed.next_if_eq(&output).is_none() {
                    let (mean, variance) =
                        posterior_of_output::<A, S>(shape, chain.readout, output, moments, dual);
                    self.set(position, output, mean, variance);
                }
            }
        }
    }

    #[inline(always)]
    fn observation<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        _shape: S,
        chain: &Chain<'_>,
        observed: Observed,
        _later: (&[f64], &[Innovation]),
        _moments: Moments<'_>,
        _dual: &mut Dual,
    ) {
        if !chain.reads_values() {
            let Observed { position, at, filtered_variance, reduction } = observed;
            let output = chain.cells.outputs(position)[at];
            let deviation = chain.whitened.at(chain.cells, position).deviation(at);
            let mean = chain.cells.values(position)[at] - deviation * reduction.residual;
            let variance = deviation * deviation * (filtered_variance - reduction.explained);
            self.set(position, output, mean, variance);
        }
    }

    #[inline(always)]
    fn step<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        _before: Moments<'_>,
        dual: &mut Dual,
    ) {
        let transition = chain.steps.step(chain.edges.step_of(position)).transition;
        let Dual { vector, matrix, scratch, .. } = dual;
        shape.retreat::<A>(transition, (vector, matrix), scratch);
    }
}

impl Sink for &mut GradientSums {
    const WITH_SLOPES: bool = true;

    #[inline(always)]
    fn position<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        _shape: S,
        chain: &Chain<'_>,
        position: usize,
        _moments: Moments<'_>,
        dual: &mut Dual,
    ) {
        if chain.whitened.at(chain.cells, position).rotation(0).is_some() {
            self.add_rotated_means::<A>(chain, position, &dual.smoothed);
        }
    }

    #[inline(always)]
    fn observation<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        observed: Observed,
        later: (&[f64], &[Innovation]),
        moments: Moments<'_>,
        dual: &mut Dual,
    ) {
        self.add_observation::<A, S>(shape, chain, observed, later, moments, dual);
    }

    #[inline(always)]
    fn step<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        before: Moments<'_>,
        dual: &mut Dual,
    ) {
        let step = chain.edges.step_of(position);
        let slopes = chain.steps.slopes(step);
        let step = StepSlopes {
            transition: chain.steps.step(step).transition,
            transition_slopes: slopes.transition,
            noise_slopes: slopes.noise,
        };
        let Dual { vector, matrix, smoothed, scratch, .. } = dual;
        let moments = (before.mean, before.covariance);
        let sums = self.by_slot();
        shape.retreat_with_slopes::<A>(step, (vector, matrix), moments, (smoothed, sums), scratch);
        self.end_edge(position);
    }
}
