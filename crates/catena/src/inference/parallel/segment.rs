//! A segment of a chain: the filter from the Gaussian before it, the smoother from the adjoint after it.

use super::super::gaussian::{Adjoint, Gaussian};
use super::super::kalman::{Backward, Chain, FilterObserver, Forward, SegmentRange, SmootherObserver};
use super::super::kalman_memory::{AdjointMemory, Capacity, FilterMemory};
use crate::linalg::{Shape, dispatch, dispatch_once};
use std::ops::Range;

/// A segment and the memory of the passes over it.
#[derive(Debug, Default)]
pub(in super::super) struct Segment {
    range: SegmentRange,
    memory: FilterMemory,
    adjoint: AdjointMemory,
    last: Gaussian,
}

impl Segment {
    /// Selects these positions of a chain; keeps their filtered Gaussians if `KEEP`.
    pub(in super::super) fn set<const KEEP: bool>(&mut self, chain: &Chain<'_>, positions: Range<usize>) {
        let whole = SegmentRange::whole(chain);
        self.range = if positions == whole.positions {
            whole
        } else {
            let count = chain.whitened.count(chain.cells, positions.clone());
            SegmentRange { positions, observations: 0..count }
        };
        let SegmentRange { positions, observations } = &self.range;
        // One state more than positions: the one before the first.
        let (states, observations) = if KEEP { (positions.len() + 1, observations.len()) } else { (2, 1) };
        self.memory.reset(Capacity { first_position: positions.start, states, observations });
    }

    /// All of its positions.
    pub(in super::super) fn range(&self) -> SegmentRange {
        self.range.clone()
    }

    /// The filtered Gaussian of its last position.
    pub(in super::super) fn last(&self) -> &Gaussian {
        &self.last
    }

    /// Filters some of its positions from the Gaussian before them. Returns their log evidence, without constants.
    pub(in super::super) fn forward<const KEEP: bool>(
        &mut self,
        chain: Chain<'_>,
        range: SegmentRange,
        before: &Gaussian,
    ) -> f64 {
        let Self { range: whole, memory, last, .. } = self;
        let after = (range.positions.end == whole.positions.end).then_some(last);
        dispatch(chain.layout, Forward::<KEEP> { chain, range, memory, before, after, observer: () })
    }

    /// Smooths all of its positions from the adjoint after them. Returns the observer and the adjoint before them.
    pub(in super::super) fn backward<O: SmootherObserver>(
        &mut self,
        chain: Chain<'_>,
        after: &Adjoint,
        observer: O,
    ) -> (O, Adjoint) {
        let Self { range, memory, adjoint, .. } = self;
        dispatch(chain.layout, Backward { chain, range: range.clone(), memory, after, adjoint, observer })
    }

    /// Filters a whole chain with an observer; compiled for few shapes.
    pub(super) fn filter_once<O: FilterObserver>(&mut self, chain: Chain<'_>, observer: O) {
        let before = &Gaussian::zero(chain.layout.dynamic().size());
        let Self { range, memory, last, .. } = self;
        let (range, after) = (range.clone(), Some(last));
        dispatch_once(chain.layout, Forward::<false, O> { chain, range, memory, before, after, observer });
    }

    /// Filters and smooths a whole chain with an observer; compiled for few shapes.
    pub(super) fn smooth_once<O: SmootherObserver>(&mut self, chain: Chain<'_>, observer: O) {
        let size = chain.layout.dynamic().size();
        let (before, after) = (&Gaussian::zero(size), &Adjoint::zero(size));
        let Self { range, memory, adjoint, .. } = self;
        let forward =
            Forward::<true> { chain, range: range.clone(), memory, before, after: None, observer: () };
        dispatch_once(chain.layout, forward);
        let range = range.clone();
        dispatch_once(chain.layout, Backward { chain, range, memory, after, adjoint, observer });
    }

    /// The adjoint before its first position, from a range at its beginning alone.
    pub(super) fn adjoint_before(&mut self, chain: Chain<'_>, range: SegmentRange) -> Adjoint {
        let after = &Adjoint::zero(chain.layout.dynamic().size());
        let Self { memory, adjoint, .. } = self;
        // Dispatched as the filter was: both must lay covariances out alike.
        dispatch(chain.layout, Backward { chain, range, memory, after, adjoint, observer: () }).1
    }
}
