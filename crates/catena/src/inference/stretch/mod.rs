//! A chain in stretches: the filter over each from the moments at its near end, the pass back from the dual at its far end.
//!
//! What a stretch has to know of the rest of the chain are those two, moments (m, P) and dual (r, N). A sweep in blocks hands
//! them from one stretch to the next; a sweep on several threads finds them without waiting, because a filter forgets:
//!
//! 1. Side by side, each stretch filters from a state that is *unknown but fixed*, with mean and covariance zero, and carries
//!    along by how much what it finds depends on that state ([`merge`]). Where that has fallen below rounding, the stretch has
//!    merged with the filter of the whole chain: from there on its moments are final.
//! 2. Stretches that do not merge follow the one before them.
//! 3. Side by side, the beginning of each stretch up to where it merges is filtered again, from the true moments.
//! 4. The dual is carried back by the same matrices that the filter forgets by: at the near end of a stretch it does not depend
//!    on anything beyond the place where it merges. From there each stretch finds what the one before it has to know.
//! 5. Side by side, all stretches are passed backward.
//!
//! How a chain is cut depends on its length alone, never on the number of threads, and sums are taken in the order of the
//! stretches: results are the same to the bit on any number of threads.

mod merge;
mod predictions;
mod side_by_side;

pub(super) use predictions::predict_stretches;
pub(super) use side_by_side::{Cut, Stretches};

use super::buffers::{DualMemory, Filtered, KeptDual, KeptMoments, Room};
use super::covariance::{Backward, Chain, Forward, Part, Watch};
use super::sink::Sink;
use crate::linalg::{Layout, Shape, dispatch, dispatch_once};
use std::ops::Range;

/// Positions in a row, and the memory of the passes over them.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    part: Part,
    filtered: Filtered,
    dual: DualMemory,
    far: KeptMoments,
}

impl Stretch {
    /// Takes these positions of a chain; keeps their filtered moments if `KEEP`.
    pub(super) fn take<const KEEP: bool>(&mut self, chain: &Chain<'_>, positions: Range<usize>) {
        let whole = Part::whole(chain);
        self.part = if positions == whole.positions {
            whole
        } else {
            let count = chain.whitened.count(chain.cells, positions.clone());
            Part { positions, observations: 0..count }
        };
        let first_position = self.part.positions.start;
        let room = match KEEP {
            // One state more than positions: the one before the first.
            true => Room {
                first_position,
                states: self.part.positions.len() + 1,
                observations: self.part.observations.len(),
            },
            false => Room { first_position, states: 2, observations: 1 },
        };
        self.filtered.reset(room);
    }

    /// All of its positions.
    pub(super) fn whole(&self) -> Part {
        self.part.clone()
    }

    /// The filtered moments of its last position, once its end was filtered.
    pub(super) fn far(&self) -> &KeptMoments {
        &self.far
    }

    /// Filters some of its positions from the moments before them. Returns their log evidence, without constants.
    pub(super) fn forward<const KEEP: bool>(
        &mut self,
        layout: &Layout,
        chain: Chain<'_>,
        part: Part,
        before: &KeptMoments,
    ) -> f64 {
        let Self { part: whole, filtered, far, .. } = self;
        let after = (part.positions.end == whole.positions.end).then_some(far);
        dispatch(layout, Forward::<KEEP> { chain, part, filtered, before, after, watch: () })
    }

    /// Passes backward over all of its positions from what lies after them. Returns the sink, and what lies after the
    /// position before them.
    pub(super) fn backward<K: Sink>(
        &mut self,
        layout: &Layout,
        chain: Chain<'_>,
        after: &KeptDual,
        sink: K,
    ) -> (K, KeptDual) {
        let Self { part, filtered, dual, .. } = self;
        dispatch(layout, Backward { chain, part: part.clone(), filtered, after, dual, sink })
    }

    /// Filters all of it from nothing, while somebody looks; compiled for few shapes, for what is done once.
    fn watch_once<W: Watch>(&mut self, layout: &Layout, chain: Chain<'_>, watch: W) {
        let before = &KeptMoments::zero(layout.dynamic().size());
        let Self { part, filtered, .. } = self;
        let part = part.clone();
        dispatch_once(layout, Forward::<false, W> { chain, part, filtered, before, after: None, watch });
    }

    /// Both passes over all of it between nothing and nothing, compiled for few shapes.
    fn pass_once<K: Sink>(&mut self, layout: &Layout, chain: Chain<'_>, sink: K) {
        let size = layout.dynamic().size();
        let (before, after) = (&KeptMoments::zero(size), &KeptDual::zero(size));
        let Self { part, filtered, dual, .. } = self;
        let forth = part.clone();
        dispatch_once(
            layout,
            Forward::<true> { chain, part: forth, filtered, before, after: None, watch: () },
        );
        dispatch_once(layout, Backward { chain, part: part.clone(), filtered, after, dual, sink });
    }

    /// The dual after the position before its first, from nothing but a part at its beginning.
    fn dual_before(&mut self, layout: &Layout, chain: Chain<'_>, part: Part) -> KeptDual {
        let after = &KeptDual::zero(layout.dynamic().size());
        let Self { filtered, dual, .. } = self;
        // As the filter was: only then do its covariances lie as they are read here.
        dispatch(layout, Backward { chain, part, filtered, after, dual, sink: merge::Unseen }).1
    }
}
