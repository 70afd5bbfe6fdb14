//! Mean and variance of every output, written as a sweep computes them.

use super::gaussian::PackedGaussian;
use super::kalman::{Chain, Observed, SmootherObserver, posterior_of_output};
use super::kalman_memory::AdjointScratch;
use super::readout::{Readout, Values};
use crate::linalg::{Arithmetic, ReadoutRow, StateAlgebra, Update};
use crate::structure::Tree;

/// Computes the posterior of the entries that outputs read, in the adjoint's memory.
#[inline(always)]
fn find_values<A: Arithmetic, S: StateAlgebra>(
    shape: S,
    n_values: usize,
    gaussian: PackedGaussian<'_>,
    adjoint: &mut AdjointScratch<'_>,
) {
    let AdjointScratch { vector, matrix, products, value_mean, value_covariance, .. } = adjoint;
    let (gaussian, adjoint) = ((gaussian.mean, gaussian.covariance), (&**vector, &**matrix));
    shape.posterior_of_values::<A>(n_values, gaussian, adjoint, products, (value_mean, value_covariance));
}

/// Writes the first numbers of a lane.
#[inline(always)]
fn put<A: Arithmetic>(lane: A::Lane, numbers: &mut [f64]) {
    if let Ok(four) = numbers.try_into() {
        A::store(lane, four);
        return;
    }
    let mut four = [0.0; 4];
    A::store(lane, &mut four);
    match numbers {
        [a] => [*a, ..] = four,
        [a, b] => [*a, *b, ..] = four,
        [a, b, c] => [*a, *b, *c, _] = four,
        _ => {}
    }
}

/// Means and variances of all outputs.
pub(super) struct Predictions<'a> {
    order: Order<'a>,
    n_outputs: usize,
    means: &'a mut [f64],
    variances: &'a mut [f64],
    statistics: Statistics,
}

/// Running statistics of the predictions.
#[derive(Clone, Debug, Default)]
pub(super) struct Statistics {
    /// By output, padded to whole lanes, the largest variance.
    pub(super) largest: Vec<f64>,
    /// Zero as long as all means and variances are finite, else NaN.
    zeros: [f64; 4],
}

impl Statistics {
    /// Merges the statistics of other predictions.
    pub(super) fn add(&mut self, other: &Self) {
        self.largest.resize(other.largest.len(), 0.0);
        self.largest
            .iter_mut()
            .zip(&other.largest)
            .for_each(|(largest, &other)| *largest = largest.max(other));
        self.zeros.iter_mut().zip(other.zeros).for_each(|(zero, other)| *zero += other);
    }

    /// The index of the first prediction that is not finite.
    pub(super) fn first_not_finite(&self, means: &[f64], variances: &[f64]) -> Option<usize> {
        if self.zeros == [0.0; 4] {
            return None;
        }
        means.iter().zip(variances).position(|(mean, variance)| !(mean.is_finite() && variance.is_finite()))
    }
}

/// The order in which predictions are written.
#[derive(Clone, Copy)]
pub(super) enum Order<'a> {
    /// By row.
    Rows(&'a Tree),
    /// By position, from this one on.
    PositionsFrom(usize),
}

impl<'a> Predictions<'a> {
    /// Predictions written to `means` and `variances`.
    pub(super) fn new(
        order: Order<'a>,
        n_outputs: usize,
        (means, variances): (&'a mut [f64], &'a mut [f64]),
    ) -> Self {
        let statistics = Statistics { largest: vec![0.0; n_outputs.next_multiple_of(4)], zeros: [0.0; 4] };
        Self { order, n_outputs, means, variances, statistics }
    }

    /// The statistics of all predictions.
    pub(super) fn statistics(self) -> Statistics {
        self.statistics
    }

    /// The index of a position's first output.
    #[inline(always)]
    fn place(&self, position: usize) -> usize {
        let row = match self.order {
            Order::Rows(tree) => tree.row_at(crate::index::Position::new(position)).get(),
            Order::PositionsFrom(first) => position - first,
        };
        row * self.n_outputs
    }

    /// Sets the outputs at a position from the values that they read: `Hm` and the diagonal of `H V Hᵀ`.
    #[inline(always)]
    pub(super) fn set_from_values<A: Arithmetic>(
        &mut self,
        readout: &Readout,
        n_values: usize,
        position: usize,
        values: Values<'_>,
    ) {
        let Values { mean, covariance, stride } = values;
        let (mean, covariance) = (&mean[..n_values], &covariance[..n_values * stride]);
        if self.n_outputs == 1 {
            let weights = &readout.row(0).weights[..n_values];
            let (mut output_mean, mut half) = (0.0, 0.0);
            for i in 0..n_values {
                let mut with_output = 0.5 * covariance[i * stride + i] * weights[i];
                for j in i + 1..n_values {
                    with_output = A::mul_add(covariance[i * stride + j], weights[j], with_output);
                }
                output_mean = A::mul_add(mean[i], weights[i], output_mean);
                half = A::mul_add(weights[i], with_output, half);
            }
            self.set(position, 0, output_mean, 2.0 * half);
            return;
        }
        let place = self.place(position);
        for first in (0..self.n_outputs).step_by(4) {
            // The upper triangle of V with half its diagonal: half the variance.
            let (mut means, mut halves) = (A::splat(0.0), A::splat(0.0));
            for i in 0..n_values {
                let weights = A::load(readout.column_lanes(i, first));
                let mut with_output = A::times(A::splat(0.5 * covariance[i * stride + i]), weights);
                for j in i + 1..n_values {
                    let covariance = A::splat(covariance[i * stride + j]);
                    with_output =
                        A::mul_add_lanes(covariance, A::load(readout.column_lanes(j, first)), with_output);
                }
                means = A::mul_add_lanes(A::splat(mean[i]), weights, means);
                halves = A::mul_add_lanes(weights, with_output, halves);
            }
            let variances = A::plus(halves, halves);
            let largest = &mut self.statistics.largest.as_chunks_mut::<4>().0[first / 4];
            let so_far = A::load(largest);
            A::store(A::where_less(so_far, variances, variances, so_far), largest);
            let zero = A::times(A::plus(means, variances), A::splat(0.0));
            A::store(A::plus(A::load(&self.statistics.zeros), zero), &mut self.statistics.zeros);
            let count = (self.n_outputs - first).min(4);
            put::<A>(means, &mut self.means[place + first..][..count]);
            put::<A>(variances, &mut self.variances[place + first..][..count]);
        }
    }

    /// The same if each output reads few values.
    #[inline(always)]
    pub(super) fn set_from_touched_values(&mut self, readout: &Readout, position: usize, values: Values<'_>) {
        for output in 0..self.n_outputs {
            let (mean, variance) = readout.read_output(output, values);
            self.set(position, output, mean, variance);
        }
    }

    /// Sets one output at a position.
    #[inline(always)]
    pub(super) fn set(&mut self, position: usize, output: usize, mean: f64, variance: f64) {
        let place = self.place(position) + output;
        self.means[place] = mean;
        self.variances[place] = variance;
        if variance > self.statistics.largest[output] {
            self.statistics.largest[output] = variance;
        }
        self.statistics.zeros[0] += 0.0 * (mean + variance);
    }
}

impl SmootherObserver for Predictions<'_> {
    const WITH_GRADIENT: bool = false;

    #[inline(always)]
    fn position<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        gaussian: PackedGaussian<'_>,
        adjoint: &mut AdjointScratch<'_>,
    ) {
        if chain.readout.reads_values() {
            let n_values = shape.n_values(chain.readout.n_values());
            find_values::<A, S>(shape, n_values, gaussian, adjoint);
            let (mean, covariance) = (&adjoint.value_mean[..], &adjoint.value_covariance[..]);
            let values = Values { mean, covariance, stride: shape.readable() };
            self.set_from_values::<A>(chain.readout, n_values, position, values);
        } else {
            // Observed outputs are set with their observations.
            let mut observed = chain.cells.outputs(position).iter().copied().peekable();
            for output in 0..self.n_outputs {
                if observed.next_if_eq(&output).is_none() {
                    let (mean, variance) =
                        posterior_of_output::<A, S>(shape, chain.readout, output, gaussian, adjoint);
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
        (observed, _): (Observed, ReadoutRow<'_>),
        _later: (&[f64], &[Update]),
        _gaussian: PackedGaussian<'_>,
        _adjoint: &mut AdjointScratch<'_>,
    ) {
        if !chain.readout.reads_values() {
            let Observed { position, at, filtered_variance, adjoint_update } = observed;
            let output = chain.cells.outputs(position)[at];
            let deviation = chain.whitened.at(chain.cells, position).deviation(at);
            let mean = chain.cells.values(position)[at] - deviation * adjoint_update.residual;
            let variance = deviation * deviation * (filtered_variance - adjoint_update.explained);
            self.set(position, output, mean, variance);
        }
    }
}
