//! Where a sweep delivers what it finds: predictions, or the gradient of the evidence.

use super::buffers::{Dual, Moments};
use super::covariance::Chain;
use super::gradient::{GradientSums, Values};
use super::readout::Readout;
use crate::linalg::{Arithmetic, StateAlgebra, dot};
use crate::structure::Tree;

/// Takes what the covariance form finds at each position.
pub(super) trait Sink {
    /// The posterior of the latents' values.
    fn values<A: Arithmetic>(&mut self, chain: &Chain<'_>, position: usize, values: Values<'_>);
    /// The posterior of the outputs, as it stands in the dual; `moments` are the filtered ones.
    fn outputs<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        moments: Moments<'_>,
        dual: &Dual,
    );
    /// The dual at the far end of a step, and the filtered moments at its near end.
    fn step<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        step: usize,
        dual: &Dual,
        before: Moments<'_>,
    );
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
    #[inline(always)]
    fn values<A: Arithmetic>(&mut self, chain: &Chain<'_>, position: usize, values: Values<'_>) {
        self.set_from_values::<A>(chain.readout, chain.n_latents, position, values);
    }

    #[inline(always)]
    fn outputs<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        _shape: S,
        chain: &Chain<'_>,
        position: usize,
        _moments: Moments<'_>,
        dual: &Dual,
    ) {
        let n_outputs = chain.readout.n_outputs();
        for d in 0..n_outputs {
            self.set(position, d, dual.basis_mean[d], dual.basis_covariance[d * n_outputs + d]);
        }
    }

    #[inline(always)]
    fn step<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        _shape: S,
        _chain: &Chain<'_>,
        _step: usize,
        _dual: &Dual,
        _before: Moments<'_>,
    ) {
    }
}

impl Sink for &mut GradientSums {
    #[inline(always)]
    fn values<A: Arithmetic>(&mut self, chain: &Chain<'_>, position: usize, values: Values<'_>) {
        self.add_cells_from_values::<A>(chain.cells, chain.readout, position, values);
    }

    #[inline(always)]
    fn outputs<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        moments: Moments<'_>,
        dual: &Dual,
    ) {
        let (size, n_outputs) = (shape.size(), chain.readout.n_outputs());
        let outputs = chain.cells.outputs(position);
        for (at, (&output, &value)) in outputs.iter().zip(chain.cells.values(position)).enumerate() {
            let noise = chain.readout.cell_noise(chain.cells, position, at, output);
            let residual = value - dual.basis_mean[output];
            let variance = dual.basis_covariance[output * n_outputs + output];
            self.add_noise_slope(chain.cells, output, residual, variance, noise);
            let column = &dual.columns[output * size..][..size];
            let product = &dual.products[output * size..][..size];
            let touched = chain.readout.touched_by(output);
            for k in 0..touched.map_or(chain.n_latents, <[u32]>::len) {
                let slot = touched.map_or(k, |slots| slots[k] as usize);
                let row = &moments.covariance[slot * size..][..size];
                let mean = moments.mean[slot] + dot::<A>(row, &dual.vector);
                let with_output = column[slot] - dot::<A>(row, product);
                self.add_weight_slope(output, slot, (residual * mean - with_output) / noise);
            }
        }
    }

    #[inline(always)]
    fn step<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        step: usize,
        dual: &Dual,
        before: Moments<'_>,
    ) {
        let (transition, slopes) = (chain.steps.step(step).transition, chain.steps.slopes(step));
        self.add_filtered_step::<A, S>(shape, transition, slopes, dual, before);
    }
}
