//! All segments of a chain, on the threads of the current pool.

use super::super::gaussian::{Adjoint, Gaussian};
use super::super::kalman::{Chain, FilterObserver, SmootherObserver};
use super::super::kalman_memory::FilterMemory;
use super::merge::Merge;
use super::segment::Segment;
use crate::linalg::Shape;
use crate::threads::*;
use std::num::NonZeroUsize;
use std::ops::Range;

/// The shortest segment, unless a length is given: searching for the merge of a shorter one would not pay.
const SHORTEST: usize = 16_384;
/// The largest number of segments: more would help only more threads.
const MOST: usize = 32;

/// How a chain is cut into segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) enum Cut {
    /// One segment.
    #[default]
    Never,
    /// A long chain in at most 32 segments, a short one in one.
    ByLength,
    /// Segments of this many positions.
    Every(NonZeroUsize),
}

impl Cut {
    /// The length of a segment.
    fn length(self, n_positions: usize) -> usize {
        match self {
            Self::Never => n_positions,
            Self::ByLength => n_positions.div_ceil((n_positions / SHORTEST).clamp(1, MOST)),
            Self::Every(length) => length.get(),
        }
    }

    /// The segments of a chain.
    pub(super) fn segments(self, n_positions: usize) -> Vec<Range<usize>> {
        let length = self.length(n_positions).max(1);
        (0..n_positions).step_by(length).map(|first| first..(first + length).min(n_positions)).collect()
    }
}

/// The segments of a chain.
#[derive(Debug, Default)]
pub(super) struct Segments {
    all: Vec<Member>,
}

/// A segment among others.
#[derive(Debug, Default)]
struct Member {
    segment: Segment,
    /// Where it merges with the filter of the whole chain; `None` for the first.
    merge: Option<Merge>,
    scratch: FilterMemory,
    log_evidence: f64,
    /// The Gaussian before it.
    before: Gaussian,
    /// The adjoint before it.
    adjoint_before: Adjoint,
}

impl Member {
    fn set<const KEEP: bool>(&mut self, chain: &Chain<'_>, positions: Range<usize>) {
        self.segment.set::<KEEP>(chain, positions);
        self.merge = None;
    }

    /// Filters all of it.
    fn forward<const KEEP: bool>(&mut self, chain: Chain<'_>, before: &Gaussian) {
        self.log_evidence = self.segment.forward::<KEEP>(chain, self.segment.range(), before);
    }

    /// Finds its merge, and filters the rest.
    fn forward_after_merge<const KEEP: bool>(&mut self, chain: Chain<'_>) {
        self.merge = Merge::find(chain, &self.segment.range(), &mut self.scratch);
        if let Some(Merge { rest, gaussian, .. }) = &self.merge {
            self.log_evidence = self.segment.forward::<KEEP>(chain, rest.clone(), gaussian);
        }
    }

    /// Filters the beginning, up to the merge.
    fn forward_before_merge<const KEEP: bool>(&mut self, chain: Chain<'_>) {
        if let Some(Merge { beginning, .. }) = &self.merge {
            let own = self.segment.forward::<KEEP>(chain, beginning.clone(), &self.before);
            self.log_evidence += own;
        }
    }
}

impl Segments {
    /// Filters all positions. Returns the log evidence without its constants; keeps the memory for the backward pass if `KEEP`.
    pub(super) fn forward<const KEEP: bool>(&mut self, chain: Chain<'_>, cut: Cut) -> f64 {
        let zero = Gaussian::zero(chain.layout.dynamic().size());
        let segments = cut.segments(chain.cells.n_positions());
        let is_cut = segments.len() > 1 && self.forward_side_by_side::<KEEP>(chain, segments);
        if !is_cut {
            self.all.resize_with(1, Member::default);
            self.all[0].set::<KEEP>(&chain, 0..chain.cells.n_positions());
            self.all[0].forward::<KEEP>(chain, &zero);
        }
        self.all.iter().map(|member| member.log_evidence).sum()
    }

    /// The same on several threads. Returns false if the result is invalid: if a segment still depends on the one before it
    /// after its merge, as with data many orders of magnitude larger than the model expects.
    fn forward_side_by_side<const KEEP: bool>(
        &mut self,
        chain: Chain<'_>,
        segments: Vec<Range<usize>>,
    ) -> bool {
        let zero = Gaussian::zero(chain.layout.dynamic().size());
        self.all.resize_with(segments.len(), Member::default);
        self.all.par_iter_mut().zip(segments).for_each(|(member, positions)| {
            let is_first = positions.start == 0;
            member.set::<KEEP>(&chain, positions);
            match is_first {
                true => member.forward::<KEEP>(chain, &zero),
                false => member.forward_after_merge::<KEEP>(chain),
            }
        });
        self.runs().into_par_iter().for_each(|run| {
            for at in 1..run.len() {
                let before = run[at - 1].segment.last().clone();
                run[at].forward::<KEEP>(chain, &before);
            }
        });
        for at in 1..self.all.len() {
            self.all[at].before = self.all[at - 1].segment.last().clone();
        }
        let holds =
            |member: &Member| member.merge.as_ref().is_none_or(|merge| merge.holds_after(&member.before));
        if !self.all.iter().all(holds) {
            return false;
        }
        self.all.par_iter_mut().for_each(|member| member.forward_before_merge::<KEEP>(chain));
        true
    }

    /// Filters a whole chain as one segment, with an observer. Returns the Gaussian of the last position.
    pub(super) fn filter_once<O: FilterObserver>(&mut self, chain: Chain<'_>, observer: O) -> &Gaussian {
        let segment = self.only::<false>(&chain);
        segment.filter_once(chain, observer);
        segment.last()
    }

    /// Filters and smooths a whole chain as one segment, with an observer.
    pub(super) fn smooth_once<O: SmootherObserver>(&mut self, chain: Chain<'_>, observer: O) {
        self.only::<true>(&chain).smooth_once(chain, observer);
    }

    /// The whole chain as one segment.
    fn only<const KEEP: bool>(&mut self, chain: &Chain<'_>) -> &mut Segment {
        self.all.resize_with(1, Member::default);
        self.all[0].set::<KEEP>(chain, 0..chain.cells.n_positions());
        &mut self.all[0].segment
    }

    /// Groups of dependent segments: each begins with the first segment or with one that has merged.
    fn runs(&mut self) -> Vec<&mut [Member]> {
        self.all.chunk_by_mut(|_, next| next.merge.is_none()).collect()
    }

    /// The positions of each segment.
    pub(super) fn positions(&self) -> Vec<Range<usize>> {
        self.all.iter().map(|member| member.segment.range().positions).collect()
    }

    /// Smooths all positions after a forward pass that kept its memory, with one observer per segment. Returns the observers.
    pub(super) fn backward<K: SmootherObserver + Send>(
        &mut self,
        chain: Chain<'_>,
        observers: Vec<K>,
    ) -> Vec<K> {
        let zero = Adjoint::zero(chain.layout.dynamic().size());
        if let [only] = &mut self.all[..] {
            let back = |observer| only.segment.backward(chain, &zero, observer).0;
            return observers.into_iter().map(back).collect();
        }
        self.all.par_iter_mut().for_each(|member| {
            if let Some(Merge { beginning, .. }) = &member.merge {
                member.adjoint_before = member.segment.adjoint_before(chain, beginning.clone());
            }
        });
        // The adjoint after a group is what the next group computed on its own.
        let mut after: Vec<Adjoint> =
            self.runs().iter().skip(1).map(|run| run[0].adjoint_before.clone()).collect();
        after.push(zero);
        let mut observers = observers.into_iter();
        let runs =
            self.runs().into_iter().map(|run| (observers.by_ref().take(run.len()).collect::<Vec<K>>(), run));
        let runs: Vec<_> = runs.zip(after).collect();
        let back = |((observers, run), mut after): ((Vec<K>, &mut [Member]), Adjoint)| {
            let mut done = Vec::with_capacity(observers.len());
            for (member, observer) in run.iter_mut().zip(observers).rev() {
                let (observer, before) = member.segment.backward(chain, &after, observer);
                after = before;
                done.push(observer);
            }
            done.reverse();
            done
        };
        let done: Vec<Vec<K>> = runs.into_par_iter().map(back).collect();
        done.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Cut, MOST, SHORTEST, Segments};
    use crate::data::{InputPoints, Observations};
    use crate::graph::FactorGraph;
    use crate::inference::cells::WhitenedCells;
    use crate::inference::kalman::Chain;
    use crate::inference::state_space::Prepared;
    use crate::kernel::{Kernel, StateKind};
    use crate::model::{Latent, Lmc, MixingMatrix};
    use crate::structure::sorted_chain;
    use crate::units::{LengthScale, Variance};

    /// Where the segments of a grid of 3000 points merge, if they do.
    fn merges(length_scale: f64, is_observed: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
        let inputs = InputPoints::from_column((0..3000).map(f64::from).collect()).unwrap();
        let value = |row: usize| if is_observed(row) { (row as f64 * 0.1).sin() } else { f64::NAN };
        let values: Vec<f64> = (0..3000).map(value).collect();
        let observations = Observations::from_dense(3000, 1, &values).unwrap();
        let scale = LengthScale::new(length_scale).unwrap();
        let latent = Latent::new(Kernel::Matern32, StateKind::Derivative, scale).unwrap();
        let mixing = MixingMatrix::shared(1, 1, vec![1.0]).unwrap();
        let model = Lmc::new(vec![latent], mixing, vec![Variance::new(0.1).unwrap()]).unwrap();
        let tree = sorted_chain(&inputs).unwrap();
        let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
        let mut whitened = WhitenedCells::default();
        let mut prepared = Prepared::default();
        prepared.set::<false>(&graph, usize::MAX);
        let model = prepared.state_space(&graph);
        whitened.set(model.cells, model.readout, model.layout);
        let chain = Chain { model, whitened: &whitened };
        let mut segments = Segments::default();
        segments.forward::<true>(chain, Cut::Every(1000.try_into().unwrap()));
        let merge = |at: usize| segments.all[at].merge.as_ref().map(|merge| merge.beginning.positions.len());
        (1..segments.all.len()).map(merge).collect()
    }

    #[test]
    fn a_filter_forgets_by_its_dynamics_or_by_its_observations_or_not_at_all() {
        assert!(merges(10.0, |_| true).iter().all(|merge| merge.is_some_and(|at| at <= 256)));
        // The second segment has no observations: its state forgets by its dynamics, more slowly.
        let by_itself = merges(10.0, |row| !(1000..2000).contains(&row));
        assert!(by_itself[0].is_some_and(|at| at > 256), "{by_itself:?}");
        // A state that hardly moves forgets only through observations: too slowly here.
        assert_eq!(merges(3e4, |_| true), [None, None]);
        assert_eq!(merges(3e4, |_| false), [None, None]);
    }

    #[test]
    fn stretches_cover_a_chain_whatever_its_length() {
        let every = Cut::Every(7.try_into().unwrap());
        for n_positions in [1, 6, 7, 8, 20, SHORTEST, 2 * SHORTEST - 1, 2 * SHORTEST, 999_999, 1_000_003] {
            for cut in [Cut::Never, Cut::ByLength, every] {
                let segments = cut.segments(n_positions);
                assert_eq!(segments[0].start, 0);
                assert_eq!(segments.last().unwrap().end, n_positions);
                assert!(segments.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert!(segments.iter().all(|segment| !segment.is_empty()));
                if cut == Cut::ByLength {
                    assert!(segments.len() <= MOST);
                    assert_eq!(segments.len() == 1, n_positions < 2 * SHORTEST);
                }
            }
        }
    }
}
