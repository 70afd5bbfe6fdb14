//! A chain in segments: the filter over each from the moments at its near end, the pass back from the adjoint at its far end.
//!
//! What a segment has to know of the rest of the chain are those two, moments (m, P) and adjoint (r, N). A sweep in blocks hands
//! them from one segment to the next; a sweep on several threads finds them without waiting, because a filter forgets:
//!
//! 1. Side by side, each segment filters from a state that is *unknown but fixed*, with mean and covariance zero, and carries
//!    along by how much what it finds depends on that state ([`merge`]). Where that has fallen below rounding, the segment has
//!    merged with the filter of the whole chain: from there on its moments are final.
//! 2. Segments that do not merge follow the one before them.
//! 3. Side by side, the beginning of each segment up to where it merges is filtered again, from the true moments.
//! 4. The adjoint is carried back by the same matrices that the filter forgets by: at the near end of a segment it does not depend
//!    on anything beyond the place where it merges. From there each segment finds what the one before it has to know.
//! 5. Side by side, all segments are passed backward.
//!
//! How a chain is cut depends on its length alone, never on the number of threads, and sums are taken in the order of the
//! segments: results are the same to the bit on any number of threads.

mod merge;
mod predictions;
mod side_by_side;

pub(super) use predictions::predict_segments;
pub(super) use side_by_side::{Cut, Segments};

use super::kalman::{Backward, Chain, FilterObserver, Forward, SegmentRange};
use super::kalman_memory::{Adjoint, AdjointMemory, Capacity, FilterMemory, Gaussian};
use super::predictions::SmootherObserver;
use crate::linalg::{Layout, Shape, dispatch, dispatch_once};
use std::ops::Range;

/// Positions in a row, and the memory of the passes over them.
#[derive(Debug, Default)]
pub(super) struct Segment {
    part: SegmentRange,
    filtered: FilterMemory,
    adjoint: AdjointMemory,
    far: Gaussian,
}

impl Segment {
    /// Takes these positions of a chain; keeps their filtered moments if `KEEP`.
    pub(super) fn take<const KEEP: bool>(&mut self, chain: &Chain<'_>, positions: Range<usize>) {
        let whole = SegmentRange::whole(chain);
        self.part = if positions == whole.positions {
            whole
        } else {
            let count = chain.whitened.count(chain.cells, positions.clone());
            SegmentRange { positions, observations: 0..count }
        };
        let first_position = self.part.positions.start;
        let room = match KEEP {
            // One state more than positions: the one before the first.
            true => Capacity {
                first_position,
                states: self.part.positions.len() + 1,
                observations: self.part.observations.len(),
            },
            false => Capacity { first_position, states: 2, observations: 1 },
        };
        self.filtered.reset(room);
    }

    /// All of its positions.
    pub(super) fn whole(&self) -> SegmentRange {
        self.part.clone()
    }

    /// The filtered moments of its last position, once its end was filtered.
    pub(super) fn far(&self) -> &Gaussian {
        &self.far
    }

    /// Filters some of its positions from the moments before them. Returns their log evidence, without constants.
    pub(super) fn forward<const KEEP: bool>(
        &mut self,
        layout: &Layout,
        chain: Chain<'_>,
        part: SegmentRange,
        before: &Gaussian,
    ) -> f64 {
        let Self { part: whole, filtered, far, .. } = self;
        let after = (part.positions.end == whole.positions.end).then_some(far);
        dispatch(layout, Forward::<KEEP> { chain, part, filtered, before, after, observer: () })
    }

    /// Passes backward over all of its positions from what lies after them. Returns the observer, and what lies after the
    /// position before them.
    pub(super) fn backward<K: SmootherObserver>(
        &mut self,
        layout: &Layout,
        chain: Chain<'_>,
        after: &Adjoint,
        observer: K,
    ) -> (K, Adjoint) {
        let Self { part, filtered, adjoint, .. } = self;
        dispatch(layout, Backward { chain, part: part.clone(), filtered, after, adjoint, observer })
    }

    /// Filters all of it from nothing, while somebody looks; compiled for few shapes, for what is done once.
    fn filter_once<W: FilterObserver>(&mut self, layout: &Layout, chain: Chain<'_>, observer: W) {
        let before = &Gaussian::zero(layout.dynamic().size());
        let Self { part, filtered, .. } = self;
        let part = part.clone();
        dispatch_once(layout, Forward::<false, W> { chain, part, filtered, before, after: None, observer });
    }

    /// Both passes over all of it between nothing and nothing, compiled for few shapes.
    fn smooth_once<K: SmootherObserver>(&mut self, layout: &Layout, chain: Chain<'_>, observer: K) {
        let size = layout.dynamic().size();
        let (before, after) = (&Gaussian::zero(size), &Adjoint::zero(size));
        let Self { part, filtered, adjoint, .. } = self;
        let cursor = part.clone();
        dispatch_once(
            layout,
            Forward::<true> { chain, part: cursor, filtered, before, after: None, observer: () },
        );
        dispatch_once(layout, Backward { chain, part: part.clone(), filtered, after, adjoint, observer });
    }

    /// The adjoint after the position before its first, from nothing but a part at its beginning.
    fn adjoint_before(&mut self, layout: &Layout, chain: Chain<'_>, part: SegmentRange) -> Adjoint {
        let after = &Adjoint::zero(layout.dynamic().size());
        let Self { filtered, adjoint, .. } = self;
        // As the filter was: only then do its covariances lie as they are read here.
        dispatch(layout, Backward { chain, part, filtered, after, adjoint, observer: merge::Unseen }).1
    }
}
