//! The memory of the Kalman filter and of the smoother's adjoint, kept between sweeps.

use super::gaussian::{Adjoint, Gaussian, PackedGaussian};
use crate::linalg::{Arithmetic, Shape, StateAlgebra, Update};
use std::ops::Range;

/// Filtered Gaussians of all positions, with the gain and update of every observation.
#[derive(Debug, Default)]
pub(super) struct FilterMemory {
    means: Vec<f64>,
    covariances: Vec<f64>,
    /// In the order of the sweep.
    gains: Vec<f64>,
    updates: Vec<Update>,
    /// The values of one position's observations.
    values: Vec<f64>,
    scratch: Vec<f64>,
    room: Capacity,
}

/// How much of a segment is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Capacity {
    /// The position of the second state; the first state is the one before it.
    pub(super) first_position: usize,
    pub(super) states: usize,
    pub(super) observations: usize,
}

/// States of at most this many numbers are computed in an array of their own and then copied to memory: the compiler holds them in
/// registers.
const FEW: usize = 12;

/// Reads the state before and writes the next one; if states are not kept, two alternate. The length `len` of a state is passed to
/// every call because the compiler may know it.
pub(super) struct StateCursor<'a> {
    /// The state written last.
    last: &'a mut [f64],
    rest: &'a mut [f64],
    few_last: [f64; FEW],
    few: [f64; FEW],
}

impl<'a> StateCursor<'a> {
    /// Writes the first state.
    #[inline(always)]
    fn new(states: &'a mut [f64], len: usize, write: impl FnOnce(&mut [f64])) -> Self {
        let (last, rest) = states.split_at_mut(len);
        write(last);
        let mut few_last = [0.0; FEW];
        if len <= FEW {
            few_last[..len].copy_from_slice(last);
        }
        Self { last, rest, few_last, few: [0.0; FEW] }
    }

    /// The state written last.
    #[inline(always)]
    pub(super) fn last(&self, len: usize) -> &[f64] {
        if len <= FEW { &self.few_last[..len] } else { &self.last[..len] }
    }

    /// The state written last, and the next one.
    #[inline(always)]
    pub(super) fn next<const KEEP: bool>(&mut self, len: usize) -> (&[f64], &mut [f64]) {
        if len <= FEW {
            return (&self.few_last[..len], &mut self.few[..len]);
        }
        let (next, rest) = std::mem::take(&mut self.rest).split_at_mut(len);
        let before = std::mem::replace(&mut self.last, next);
        if KEEP {
            self.rest = rest;
            (before, self.last)
        } else {
            self.rest = before;
            (&self.rest[..len], self.last)
        }
    }

    /// Completes the next state.
    #[inline(always)]
    pub(super) fn keep<const KEEP: bool>(&mut self, len: usize) {
        if len > FEW {
            return;
        }
        self.few_last[..len].copy_from_slice(&self.few[..len]);
        if KEEP {
            let (next, rest) = std::mem::take(&mut self.rest).split_at_mut(len);
            next.copy_from_slice(&self.few[..len]);
            self.rest = rest;
        }
    }
}

/// Writes gains and updates of consecutive observations.
pub(super) struct UpdateCursor<'a> {
    gains: &'a mut [f64],
    updates: &'a mut [Update],
}

impl UpdateCursor<'_> {
    /// Memory for the next gain and update; the same each time if they are not kept.
    #[inline(always)]
    pub(super) fn next<const KEEP: bool>(&mut self, size: usize) -> (&mut [f64], &mut Update) {
        if KEEP {
            let (gain, gains) = std::mem::take(&mut self.gains).split_at_mut(size);
            let (update, updates) = std::mem::take(&mut self.updates).split_at_mut(1);
            (self.gains, self.updates) = (gains, updates);
            (gain, &mut update[0])
        } else {
            (&mut self.gains[..size], &mut self.updates[0])
        }
    }
}

/// The memory that the filter writes.
pub(super) struct FilterCursor<'a> {
    pub(super) means: StateCursor<'a>,
    pub(super) covariances: StateCursor<'a>,
    pub(super) observations: UpdateCursor<'a>,
    pub(super) values: &'a mut [f64],
    pub(super) scratch: &'a mut [f64],
}

impl FilterMemory {
    /// Sets what the next pass keeps.
    pub(super) fn reset(&mut self, room: Capacity) {
        self.room = room;
    }

    /// The memory of a filter that starts from the Gaussian before this position, with this observation first.
    #[inline(always)]
    pub(super) fn begin<const KEEP: bool, S: StateAlgebra>(
        &mut self,
        shape: S,
        (position, observation): (usize, usize),
        n_outputs: usize,
        before: &Gaussian,
    ) -> FilterCursor<'_> {
        let (size, covariance_len) = (shape.size(), shape.covariance_len());
        let Capacity { first_position, states, observations } = self.room;
        self.means.resize(states * size, 0.0);
        self.covariances.resize(states * covariance_len, 0.0);
        self.gains.resize(observations * size, 0.0);
        self.updates.resize(observations, Update { innovation: 0.0, signal: 0.0, inverse: 1.0 });
        self.values.resize(n_outputs.next_multiple_of(4), 0.0);
        self.scratch.clear();
        self.scratch.resize(shape.n_parts().max(2) * size, 0.0);
        let (state, first) = if KEEP { (position - first_position, observation) } else { (0, 0) };
        let means = &mut self.means[state * size..];
        let covariances = &mut self.covariances[state * covariance_len..];
        FilterCursor {
            means: StateCursor::new(means, size, |mean| mean.copy_from_slice(&before.mean)),
            covariances: StateCursor::new(covariances, covariance_len, |covariance| {
                shape.pack_covariance(&before.full_covariance(), covariance);
            }),
            observations: UpdateCursor {
                gains: &mut self.gains[first * size..],
                updates: &mut self.updates[first..],
            },
            values: &mut self.values,
            scratch: &mut self.scratch,
        }
    }

    /// The first position that is kept.
    #[inline(always)]
    pub(super) fn first_position(&self) -> usize {
        self.room.first_position
    }

    /// A filtered Gaussian; the first is the one before the first position.
    #[inline(always)]
    pub(super) fn at<S: StateAlgebra>(&self, shape: S, state: usize) -> PackedGaussian<'_> {
        let (size, covariance_len) = (shape.size(), shape.covariance_len());
        PackedGaussian {
            mean: &self.means[state * size..][..size],
            covariance: &self.covariances[state * covariance_len..][..covariance_len],
        }
    }

    /// The gains and updates of these observations.
    #[inline(always)]
    pub(super) fn observations(&self, size: usize, these: Range<usize>) -> (&[f64], &[Update]) {
        (&self.gains[these.start * size..these.end * size], &self.updates[these])
    }

    /// Prefetches a state: the processor does not predict the backward pass.
    #[inline(always)]
    pub(super) fn prefetch<A: Arithmetic, S: StateAlgebra>(&self, shape: S, state: usize) {
        if shape.size() >= 8 {
            A::prefetch(self.at(shape, state).covariance);
        }
    }
}

/// The adjoint of all later observations, and scratch for a position.
pub(super) struct AdjointScratch<'a> {
    /// r.
    pub(super) vector: &'a mut [f64],
    /// N.
    pub(super) matrix: &'a mut [f64],
    /// N k of the last observation, or another product with N.
    pub(super) projected: &'a mut [f64],
    /// The posterior mean of the state, for the gradient.
    pub(super) smoothed: &'a mut [f64],
    /// The posterior mean and covariance of the entries that outputs read, and scratch for them.
    pub(super) value_mean: &'a mut [f64],
    pub(super) value_covariance: &'a mut [f64],
    pub(super) products: &'a mut [f64],
    pub(super) scratch: &'a mut [f64],
}

/// How many numbers an adjoint of this shape takes.
#[inline(always)]
fn adjoint_len<S: Shape>(shape: S) -> usize {
    let (size, width) = (shape.size(), shape.readable());
    (size + 9 + shape.n_parts()) * size + (width + 1) * width
}

impl<'a> AdjointScratch<'a> {
    /// The parts of an adjoint.
    #[inline(always)]
    fn new<S: Shape>(shape: S, numbers: &'a mut [f64]) -> Self {
        let (size, width) = (shape.size(), shape.readable());
        let (vector, rest) = numbers.split_at_mut(size);
        let (matrix, rest) = rest.split_at_mut(size * size);
        let (projected, rest) = rest.split_at_mut(size);
        let (smoothed, rest) = rest.split_at_mut(size);
        let (value_mean, rest) = rest.split_at_mut(width);
        let (value_covariance, rest) = rest.split_at_mut(width * width);
        let (products, rest) = rest.split_at_mut(4 * size);
        let scratch = &mut rest[..(shape.n_parts() + 2) * size];
        AdjointScratch {
            vector,
            matrix,
            projected,
            smoothed,
            value_mean,
            value_covariance,
            products,
            scratch,
        }
    }

    /// Copies (r, N).
    #[inline(always)]
    pub(super) fn keep<S: StateAlgebra>(&self, shape: S) -> Adjoint {
        let mut kept = Adjoint::zero(shape.size());
        kept.vector.copy_from_slice(self.vector);
        shape.unpack_adjoint(self.matrix, &mut kept.matrix);
        kept
    }
}

/// Memory for an adjoint of few numbers, which the compiler can hold in registers.
pub(super) struct SmallAdjoint([f64; 68]);

impl SmallAdjoint {
    pub(super) const ZERO: Self = Self([0.0; 68]);
}

/// Memory of an adjoint.
#[derive(Debug, Default)]
pub(super) struct AdjointMemory(Vec<f64>);

impl AdjointMemory {
    /// The adjoint set to `after`: in this memory, or in `few` if it fits.
    #[inline(always)]
    pub(super) fn reset<'a, S: StateAlgebra>(
        &'a mut self,
        shape: S,
        few: &'a mut SmallAdjoint,
        after: &Adjoint,
    ) -> AdjointScratch<'a> {
        let len = adjoint_len(shape);
        let adjoint = if len <= few.0.len() {
            AdjointScratch::new(shape, &mut few.0)
        } else {
            self.0.clear();
            self.0.resize(len, 0.0);
            self.adjoint(shape)
        };
        adjoint.vector.copy_from_slice(&after.vector);
        shape.pack_adjoint(&after.matrix, adjoint.matrix);
        adjoint
    }

    /// Memory for an adjoint of this shape.
    pub(super) fn for_shape<S: Shape>(shape: S) -> Self {
        Self(vec![0.0; adjoint_len(shape)])
    }

    /// The adjoint as it was left.
    #[inline(always)]
    pub(super) fn adjoint<S: Shape>(&mut self, shape: S) -> AdjointScratch<'_> {
        AdjointScratch::new(shape, &mut self.0)
    }
}
