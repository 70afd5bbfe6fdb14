//! The Bryson–Frazier smoother of several models at once, with the gradient of their log evidences.
//!
//! The equations are those of [`super::super::kalman`] and [`super::super::gradient`].

use super::filter::BatchMemory;
use super::readout::BatchReadout;
use super::steps::{BatchStep, BatchSteps};
use crate::graph::StepLengths;
use crate::linalg::{
    Arithmetic, Job, PerModel, SparseRow, StateAlgebra, Unpadded, add_multiple, add_noise_derivative,
    add_transition_derivative, inner, retreat, subtract_symmetric, times_vector, touched_entries,
    transition_times, triangle_len,
};

/// Covariances of at least this many numbers are prefetched: the processor does not predict the backward pass.
const SMALLEST_PREFETCHED: usize = 64;

/// The gradients summed over positions.
#[derive(Debug)]
pub(super) struct BatchSums {
    /// By output and entry that it reads.
    pub(super) weights: Vec<PerModel>,
    pub(super) noise: Vec<PerModel>,
    /// By slot, the derivative in the logarithm of the length-scale.
    pub(super) log_lengths: Vec<PerModel>,
    /// The sum over observations of the difference between two computations of their posterior variance.
    pub(super) mismatch: PerModel,
    /// −c of the rotated observations, summed over consecutive positions with the same mask.
    explained: Vec<PerModel>,
    /// −c of one cell.
    own: Vec<PerModel>,
}

/// The adjoint of all later observations, the posterior mean, and scratch.
struct Adjoint {
    vector: Vec<PerModel>,
    matrix: Vec<PerModel>,
    smoothed: Vec<PerModel>,
    projected: Vec<PerModel>,
    loss: Vec<PerModel>,
    before: Vec<PerModel>,
    losses: Vec<PerModel>,
    explained: Vec<PerModel>,
}

/// Smooths a chain after [`super::filter::BatchForward`].
pub(super) struct BatchBackward<'a, 'b> {
    pub(super) shape: Unpadded,
    pub(super) edges: &'a StepLengths,
    pub(super) steps: &'a mut BatchSteps<'b>,
    pub(super) readout: &'a mut BatchReadout<'b>,
    pub(super) memory: &'a BatchMemory,
}

impl Job for BatchBackward<'_, '_> {
    type Output = BatchSums;

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, _shape: S) -> BatchSums {
        let Self { shape, edges, steps, readout, memory } = self;
        let (size, n_slots, n_outputs) = (shape.size(), shape.n_slots(), readout.cells.n_outputs());
        let len = triangle_len(size);
        let zeros = |count: usize| vec![PerModel::ZERO; count];
        let mut sums = BatchSums {
            weights: zeros(n_outputs * readout.per_row),
            noise: zeros(n_outputs),
            log_lengths: zeros(n_slots),
            mismatch: PerModel::ZERO,
            explained: zeros(n_slots * n_slots),
            own: zeros(n_slots),
        };
        let mut adjoint = Adjoint {
            vector: zeros(size),
            matrix: zeros(len),
            smoothed: zeros(size),
            projected: zeros(size),
            loss: zeros(size),
            before: zeros(size),
            losses: zeros(shape.transition_len()),
            explained: zeros(n_slots),
        };
        let n_positions = readout.cells.n_positions();
        adjoint.smoothed.copy_from_slice(&memory.means[n_positions * size..]);
        let mut end = memory.updates.len();
        for position in (0..n_positions).rev() {
            let covariance = &memory.covariances[(position + 1) * len..][..len];
            let count = readout.count(position);
            if len >= SMALLEST_PREFETCHED {
                memory.prefetch::<A>(size, position.saturating_sub(1), end - count);
            }
            let gains = &memory.gains[(end - count) * size..end * size];
            let updates = &memory.updates[end - count..end];
            end -= count;
            for (at, update) in updates.iter().enumerate().rev() {
                let row = readout.row(position, at);
                let (gain, later_gains) = gains[at * size..].split_at(size);
                let (inverse, signal) = (update.inverse.lane::<A>(), update.signal.lane::<A>());
                times_vector::<A>(&adjoint.matrix, gain, &mut adjoint.projected);
                let projected = &adjoint.projected[..];
                let reduction = inner::<A>(gain, projected);
                let residual = A::minus(
                    A::times(update.innovation.lane::<A>(), inverse),
                    inner::<A>(gain, &adjoint.vector),
                );
                // −c = P⁺b − k, with P⁺ the covariance just after this observation.
                let explained = &mut adjoint.explained[..row.touched.len()];
                touched_entries::<A>(covariance, row.touched, projected, explained);
                for (explained, &entry) in explained.iter_mut().zip(row.touched) {
                    explained.set::<A>(A::minus(explained.lane::<A>(), gain[entry].lane::<A>()));
                }
                for (later, update) in later_gains.chunks_exact(size).zip(&updates[at + 1..]) {
                    let total = A::plus(A::splat(1.0), update.signal.lane::<A>());
                    let factor = A::times(total, inner::<A>(later, projected));
                    for (explained, &entry) in explained.iter_mut().zip(row.touched) {
                        let gain = later[entry].lane::<A>();
                        explained.set::<A>(A::mul_add_lanes(factor, gain, explained.lane::<A>()));
                    }
                }
                let variance = A::minus(A::times(signal, inverse), reduction);
                let mut again = variance;
                for (explained, weight) in explained.iter().zip(row.weights) {
                    again = A::mul_add_lanes(explained.lane::<A>(), weight.lane::<A>(), again);
                }
                let negative = A::minus(A::splat(0.0), again);
                let size_of_mismatch = A::where_less(again, negative, negative, again);
                sums.mismatch.set::<A>(A::plus(sums.mismatch.lane::<A>(), size_of_mismatch));
                let half = A::times(A::splat(-0.5), A::plus(inverse, reduction));
                adjoint.loss.copy_from_slice(projected);
                row.add_multiple_to::<A>(half, &mut adjoint.loss);
                row.add_multiple_to::<A>(residual, &mut adjoint.vector);
                subtract_symmetric::<A>(&mut adjoint.matrix, row, &adjoint.loss);
                if readout.is_rotated(position) {
                    let sums = &mut sums.explained[at * n_slots..][..n_slots];
                    add_multiple::<A>(A::splat(1.0), explained, sums);
                } else {
                    let output = readout.cells.outputs(position)[at];
                    let excess = A::minus(A::times(residual, residual), A::plus(inverse, reduction));
                    sums.add_cell::<A>(
                        (output, readout.precision(output)),
                        row,
                        (residual, excess),
                        (explained, &adjoint.smoothed),
                    );
                }
            }
            if readout.is_rotated(position) {
                sums.add_rotated::<A>(readout, position, &adjoint.smoothed);
            }
            if position > 0 {
                let step = steps.get::<A, true>(edges.step_of(position));
                let mean = &memory.means[position * size..][..size];
                let covariance = &memory.covariances[position * len..][..len];
                adjoint.step_back::<A>(shape, step, (mean, covariance), &mut sums.log_lengths);
            }
        }
        sums
    }
}

impl BatchSums {
    /// Adds a cell: `u·mean − c` to its weights, `½(u² − 1/S − kᵀb)` to its noise, in units of the noise.
    #[inline(always)]
    fn add_cell<A: Arithmetic>(
        &mut self,
        (output, precision): (usize, &PerModel),
        row: SparseRow<'_>,
        (residual, excess): (A::Lane, A::Lane),
        (explained, mean): (&[PerModel], &[PerModel]),
    ) {
        let precision = precision.lane::<A>();
        let per_row = row.touched.len();
        let sums = &mut self.weights[output * per_row..][..per_row];
        for ((sum, &entry), explained) in sums.iter_mut().zip(row.touched).zip(explained) {
            let derivative = A::mul_add_lanes(residual, mean[entry].lane::<A>(), explained.lane::<A>());
            sum.set::<A>(A::mul_add_lanes(precision, derivative, sum.lane::<A>()));
        }
        let factor = A::times(A::splat(0.5), A::times(precision, precision));
        let noise = &mut self.noise[output];
        noise.set::<A>(A::mul_add_lanes(factor, excess, noise.lane::<A>()));
    }

    /// Adds the cells of a position with rotated observations; the part that is linear in −c once for consecutive positions with
    /// the same mask.
    #[inline(always)]
    fn add_rotated<A: Arithmetic>(&mut self, readout: &BatchReadout<'_>, position: usize, mean: &[PerModel]) {
        let cells = readout.cells;
        let outputs = cells.outputs(position);
        let half = A::splat(0.5);
        for (&output, &value) in outputs.iter().zip(cells.values(position)) {
            let row = readout.row_of_output(output);
            let precision = readout.precision(output).lane::<A>();
            let precision = A::times(precision, precision);
            let residual = A::minus(A::splat(value), row.inner::<A>(mean));
            let scaled = A::times(residual, precision);
            let sums = &mut self.weights[output * row.touched.len()..][..row.touched.len()];
            add_multiple::<A>(scaled, &mean[..row.touched.len()], sums);
            let excess = A::minus(A::times(residual, scaled), A::splat(1.0));
            let noise = &mut self.noise[output];
            noise.set::<A>(A::mul_add_lanes(A::times(half, precision), excess, noise.lane::<A>()));
        }
        if position > 0 && cells.mask_of(position - 1) == cells.mask_of(position) {
            return;
        }
        let n_values = readout.count(position);
        let own = &mut self.own[..n_values];
        for (&output, factors) in outputs.iter().zip(readout.rotation(position).1.chunks_exact(n_values)) {
            own.fill(PerModel::ZERO);
            for (factor, explained) in factors.iter().zip(self.explained.chunks_exact(n_values)) {
                add_multiple::<A>(factor.lane::<A>(), explained, own);
            }
            let row = readout.row_of_output(output);
            add_multiple::<A>(A::splat(1.0), own, &mut self.weights[output * n_values..][..n_values]);
            let precision = readout.precision(output).lane::<A>();
            let factor = A::times(half, A::times(precision, precision));
            let noise = &mut self.noise[output];
            noise.set::<A>(A::minus_product(noise.lane::<A>(), factor, row.inner::<A>(own)));
        }
        self.explained.fill(PerModel::ZERO);
    }
}

impl Adjoint {
    /// Carries the adjoint back over a step, and adds the derivatives in the length-scales: with (m, P) the filtered Gaussian before
    /// the step and `mean = m + P Aᵀr`, `½(rrᵀ − N)` contracted with the derivative of Q and `r·meanᵀ − N A P` with that of A.
    #[inline(always)]
    fn step_back<A: Arithmetic>(
        &mut self,
        shape: Unpadded,
        step: BatchStep<'_>,
        (mean, covariance): (&[PerModel], &[PerModel]),
        log_lengths: &mut [PerModel],
    ) {
        let Self { vector, matrix, smoothed, before, losses, .. } = self;
        add_noise_derivative::<A>(shape, step.noise_derivative, (vector, matrix), log_lengths);
        transition_times::<A, true>(shape, step.transition, vector, before);
        times_vector::<A>(covariance, before, smoothed);
        add_multiple::<A>(A::splat(1.0), mean, smoothed);
        losses.fill(PerModel::ZERO);
        retreat::<A>(shape, step.transition, matrix, covariance, losses);
        let numbers = (&vector[..], &smoothed[..], &losses[..]);
        add_transition_derivative::<A>(shape, step.transition_derivative, numbers, log_lengths);
        std::mem::swap(vector, before);
    }
}
