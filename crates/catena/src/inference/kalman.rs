//! The covariance form of the sweep, for chains: a Kalman filter forward, a modified Bryson–Frazier smoother backward.
//!
//! Forward, the filtered mean and covariance (m, P) of each state. The cells of a position enter one by one as scalar
//! observations h of unit noise: with innovation v, `S = 1 + hᵀPh` and gain `k = Ph/S`, m becomes `m + k v` and P becomes `P − k kᵀ S`.
//! Backward, the adjoint (r, N) of all later observations; the posterior is `m + P r` and `P − P N P`, and
//! no predicted covariance is inverted. Back over an observation, with `b = N k`, `u = v/S − kᵀr` and `d = 1/S + kᵀb`,
//!
//! ```text
//! r ← r + u h,   N ← N − h bᵀ − b hᵀ + d hhᵀ,     and over a step r ← Aᵀr, N ← AᵀNA
//! ```
//!
//! Gain and S are kept from the forward pass: recomputed from the filtered P they would lose digits. For an observed cell, u is
//! the posterior mean of the noise and `hᵀPh/S − kᵀb` the posterior variance of the noise, both in units of the noise.
//!
//! Cost per point: O(n²(K + cells)), no n³. Its variances are differences: [`super::form::Form`] states when it is used.

use super::cells::WhitenedCells;
use super::gaussian::{Adjoint, Gaussian, PackedGaussian};
use super::kalman_memory::{AdjointMemory, AdjointScratch, FilterMemory, SmallAdjoint};
use super::log_product::LogProduct;
use super::readout::Readout;
use super::state_space::StateSpace;
use crate::linalg::{AdjointUpdate, Arithmetic, Job, ReadoutRow, StateAlgebra, Update, add_scaled};
use std::ops::{Deref, Range};

/// After this many points P and N are made symmetric: the recursions do not damp the rounding difference between their triangles.
const SYMMETRIZE_EVERY: usize = 8;

/// The state-space model of a chain, with its cells as scalar observations.
#[derive(Clone, Copy)]
pub(super) struct Chain<'a> {
    pub(super) model: StateSpace<'a>,
    pub(super) whitened: &'a WhitenedCells,
}

impl<'a> Deref for Chain<'a> {
    type Target = StateSpace<'a>;

    #[inline(always)]
    fn deref(&self) -> &StateSpace<'a> {
        &self.model
    }
}

impl Chain<'_> {
    /// The readout row of a position's `at`-th observation.
    #[inline(always)]
    pub(super) fn row<'r, S: StateAlgebra>(
        &'r self,
        shape: S,
        weights: &'r [f64],
        position: usize,
        at: usize,
    ) -> ReadoutRow<'r> {
        // A rotated row mixes outputs. Private latents outnumber the outputs, so sparse rows are never rotated.
        let is_sparse = shape.skips_untouched() && self.readout.is_sparse();
        let touched =
            if is_sparse { self.readout.touched_by(self.cells.outputs(position)[at]) } else { None };
        ReadoutRow { weights, touched }
    }
}

/// Contiguous positions of a chain, and the range of their observations in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SegmentRange {
    pub(super) positions: Range<usize>,
    pub(super) observations: Range<usize>,
}

impl SegmentRange {
    /// A whole chain.
    pub(super) fn whole(chain: &Chain<'_>) -> Self {
        Self { positions: 0..chain.cells.n_positions(), observations: 0..chain.whitened.n_observations() }
    }
}

/// Observes the filter at each position, first to last.
pub(super) trait FilterObserver {
    /// The filtered Gaussian of a position.
    fn filtered<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        gaussian: PackedGaussian<'_>,
    );
}

impl FilterObserver for () {
    #[inline(always)]
    fn filtered<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        _: S,
        _: &Chain<'_>,
        _: usize,
        _: PackedGaussian<'_>,
    ) {
    }
}

/// Observes the smoother at each position, last to first.
pub(super) trait SmootherObserver {
    /// Whether the gradient of steps is computed, which needs the posterior mean of each state.
    const WITH_GRADIENT: bool;
    /// A position before its observations are removed from the adjoint, with its filtered Gaussian.
    #[inline(always)]
    fn position<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        _shape: S,
        _chain: &Chain<'_>,
        _position: usize,
        _gaussian: PackedGaussian<'_>,
        _adjoint: &mut AdjointScratch<'_>,
    ) {
    }
    /// An observation just removed, and its row; `later` are gains and updates from this one to the position's last.
    #[inline(always)]
    fn observation<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        _shape: S,
        _chain: &Chain<'_>,
        _observed: (Observed, ReadoutRow<'_>),
        _later: (&[f64], &[Update]),
        _gaussian: PackedGaussian<'_>,
        _adjoint: &mut AdjointScratch<'_>,
    ) {
    }
    /// Carries the adjoint back over the step into a position; `before` is the filtered Gaussian before the step.
    #[inline(always)]
    fn step<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        _before: PackedGaussian<'_>,
        adjoint: &mut AdjointScratch<'_>,
    ) {
        retreat::<A, S>(shape, chain, position, adjoint);
    }
}

/// Carries the adjoint back over the step into a position.
#[inline(always)]
pub(super) fn retreat<A: Arithmetic, S: StateAlgebra>(
    shape: S,
    chain: &Chain<'_>,
    position: usize,
    adjoint: &mut AdjointScratch<'_>,
) {
    let transition = chain.steps.step_of_shape(shape, chain.edges.step_of(position)).transition;
    let AdjointScratch { vector, matrix, scratch, .. } = adjoint;
    shape.retreat::<A>(transition, (vector, matrix), scratch);
}

impl SmootherObserver for () {
    const WITH_GRADIENT: bool = false;
}

/// The filter over a segment; keeps all filtered Gaussians if `KEEP`. Returns the log evidence without its constants `−½ Σ log 2πr`.
pub(super) struct Forward<'a, const KEEP: bool, O = ()> {
    pub(super) chain: Chain<'a>,
    pub(super) range: SegmentRange,
    pub(super) memory: &'a mut FilterMemory,
    /// The Gaussian before the segment.
    pub(super) before: &'a Gaussian,
    /// Receives the filtered Gaussian of the last position.
    pub(super) after: Option<&'a mut Gaussian>,
    pub(super) observer: O,
}

impl<const KEEP: bool, O: FilterObserver> Job for Forward<'_, KEEP, O> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) -> f64 {
        let Self {
            chain,
            range: SegmentRange { positions, observations },
            memory,
            before,
            after,
            mut observer,
        } = self;
        let (size, width, covariance_len) = (shape.size(), shape.readable(), shape.covariance_len());
        let first = (positions.start, observations.start);
        let mut cursor = memory.begin::<KEEP, S>(shape, first, chain.readout.n_outputs(), before);
        let mut scale = LogProduct::ONE;
        let mut squares = 0.0;
        for (position, &step) in positions.clone().zip(&chain.edges.steps()[positions]) {
            let step = chain.steps.step_of_shape(shape, step as usize);
            let whitened = chain.whitened.at(chain.cells, position);
            squares += whitened.find_values::<A>(chain.cells.values(position), cursor.values);
            let (mean_before, mean) = cursor.means.next::<KEEP>(size);
            let (covariance_before, covariance) = cursor.covariances.next::<KEEP>(covariance_len);
            shape.advance::<A>(step.transition, mean_before, mean);
            let dynamics = (step.transition, step.noise);
            shape.predict::<A>(dynamics, covariance_before, covariance, cursor.scratch);
            let mut later = whitened.weights(width);
            for at in 0..whitened.count() {
                let (weights, rest) = later.split_at(width);
                later = rest;
                let row = chain.row(shape, weights, position, at);
                let (gain, kept) = cursor.observations.next::<KEEP>(size);
                let update = shape.condition::<A>(row, cursor.values[at], (mean, covariance), gain);
                *kept = update;
                scale.multiply(1.0 + update.signal);
                squares += update.innovation * update.innovation * update.inverse;
            }
            if position % SYMMETRIZE_EVERY == SYMMETRIZE_EVERY - 1 {
                shape.symmetrize_covariance(covariance);
            }
            observer.filtered::<A, S>(shape, &chain, position, PackedGaussian { mean, covariance });
            cursor.means.keep::<KEEP>(size);
            cursor.covariances.keep::<KEEP>(covariance_len);
        }
        if let Some(after) = after {
            let (mean, covariance) = (cursor.means.last(size), cursor.covariances.last(covariance_len));
            after.set(shape, PackedGaussian { mean, covariance });
        }
        -0.5 * (scale.ln() + squares)
    }
}

/// The smoother over a segment, last position to first. Returns the observer and the adjoint before the segment.
pub(super) struct Backward<'a, O> {
    pub(super) chain: Chain<'a>,
    pub(super) range: SegmentRange,
    pub(super) memory: &'a FilterMemory,
    /// The adjoint after the segment.
    pub(super) after: &'a Adjoint,
    pub(super) adjoint: &'a mut AdjointMemory,
    pub(super) observer: O,
}

/// An observation in the backward pass.
#[derive(Clone, Copy)]
pub(super) struct Observed {
    pub(super) position: usize,
    /// Its index among the position's observations.
    pub(super) at: usize,
    /// hᵀPh/S, its filtered variance.
    pub(super) filtered_variance: f64,
    pub(super) adjoint_update: AdjointUpdate,
}

impl<O: SmootherObserver> Job for Backward<'_, O> {
    type Output = (O, Adjoint);

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) -> (O, Adjoint) {
        let Self {
            chain,
            range: SegmentRange { positions, observations },
            memory,
            after,
            adjoint,
            mut observer,
        } = self;
        let (size, width) = (shape.size(), shape.readable());
        let zeroth = memory.first_position();
        let mut few = SmallAdjoint::ZERO;
        let adjoint = &mut adjoint.reset(shape, &mut few, after);
        let mut gaussian = memory.at(shape, positions.end - zeroth);
        if O::WITH_GRADIENT {
            shape.covariance_times::<A>(adjoint.vector, gaussian.covariance, adjoint.smoothed);
            add_scaled::<A>(1.0, &gaussian.mean[..size], &mut adjoint.smoothed[..size]);
        }
        let (mut gains, mut updates) = memory.observations(size, 0..observations.end);
        for position in positions.rev() {
            let state_before = position - zeroth;
            let before = memory.at(shape, state_before);
            memory.prefetch::<A, S>(shape, state_before.saturating_sub(1));
            let whitened = chain.whitened.at(chain.cells, position);
            // The gains and updates of this position and those before it.
            let kept = (gains, updates);
            observer.position::<A, S>(shape, &chain, position, gaussian, adjoint);
            let mut earlier = whitened.weights(width);
            for at in (0..whitened.count()).rev() {
                let (rest, weights) = earlier.split_at(earlier.len() - width);
                earlier = rest;
                let (rest, gain) = gains.split_at(gains.len() - size);
                gains = rest;
                let (rest, update) = updates.split_at(updates.len() - 1);
                updates = rest;
                let update = update[0];
                let row = chain.row(shape, weights, position, at);
                let AdjointScratch { vector, matrix, projected, scratch, .. } = &mut *adjoint;
                let adjoint_update =
                    shape.update_adjoint::<A>(row, (gain, update), (vector, matrix), projected, scratch);
                let filtered_variance = update.signal * update.inverse;
                let observed = Observed { position, at, filtered_variance, adjoint_update };
                let later = if O::WITH_GRADIENT {
                    (&kept.0[gains.len()..], &kept.1[updates.len()..])
                } else {
                    (&[][..], &[][..])
                };
                observer.observation::<A, S>(shape, &chain, (observed, row), later, gaussian, adjoint);
            }
            if position % SYMMETRIZE_EVERY == 0 {
                shape.symmetrize_adjoint(adjoint.matrix);
            }
            if position > 0 {
                observer.step::<A, S>(shape, &chain, position, before, adjoint);
            }
            gaussian = before;
        }
        let before = adjoint.keep(shape);
        (observer, before)
    }
}

/// The posterior mean and variance of an output: with `x = P h`, `hᵀm + xᵀr` and `hᵀx − xᵀNx`.
#[inline(always)]
pub(super) fn posterior_of_output<A: Arithmetic, S: StateAlgebra>(
    shape: S,
    readout: &Readout,
    output: usize,
    gaussian: PackedGaussian<'_>,
    adjoint: &mut AdjointScratch<'_>,
) -> (f64, f64) {
    let row = readout.row(output);
    let AdjointScratch { vector, matrix, projected, scratch, .. } = adjoint;
    shape.read::<A>(row, gaussian.covariance, scratch);
    shape.product::<A>(scratch, matrix, projected);
    let mean = shape.read_vector::<A>(row, gaussian.mean) + shape.inner::<A>(scratch, vector);
    let variance = shape.read_vector::<A>(row, scratch) - shape.inner::<A>(scratch, projected);
    (mean, variance)
}
