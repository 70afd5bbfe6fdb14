//! The position from which a filter no longer depends on its initial state.
//!
//! Given the state z before a segment, the filter starts from mean z and covariance 0. Its mean is then an affine function of z
//! with matrix Φ, updated as `Φ ← (I − k hᵀ) A Φ`, and its covariance C does not depend on z. If z has moments (m, P), the filtered ones
//! are `mean + Φ m` and `C + Φ P Φᵀ`; where Φ is below rounding, they equal those of the filter started from zero.

use super::super::gaussian::Gaussian;
use super::super::kalman::{Chain, Forward, SegmentRange};
use super::super::kalman_memory::{Capacity, FilterMemory};
use crate::linalg::{
    Arithmetic, Job, Shape, StateAlgebra, add_scaled, dispatch, dispatch_small, transition_times_matrix,
    vector_times_matrix,
};

/// How many positions are filtered between two checks of Φ.
const POSITIONS_AT_ONCE: usize = 64;
/// A segment has merged where all entries of Φ are below this, in standard deviations of the filtered state.
const FORGOTTEN: f64 = 1e-19;
/// The largest relative change by the true state before a segment: less than rounding.
const NOTHING: f64 = 1e-16;
/// A filter whose Φ is above this after an eighth of the segment will not merge in time.
const HOPELESS: f64 = 1e-3;

/// The merge of a segment with the filter of the whole chain.
#[derive(Clone, Debug)]
pub(super) struct Merge {
    /// The positions before the merge, and those after it.
    pub(super) beginning: SegmentRange,
    pub(super) rest: SegmentRange,
    /// The Gaussian of the last position of the beginning.
    pub(super) gaussian: Gaussian,
    influence: Vec<f64>,
}

impl Merge {
    /// Searches the first half of a segment.
    pub(super) fn find(chain: Chain<'_>, segment: &SegmentRange, scratch: &mut FilterMemory) -> Option<Self> {
        let size = chain.layout.dynamic().size();
        let mut gaussian = Gaussian::zero(size);
        let mut influence: Vec<f64> =
            (0..size * size).map(|at| if at % (size + 1) == 0 { 1.0 } else { 0.0 }).collect();
        let (first, length) = (segment.positions.start, segment.positions.len());
        let (mut done, mut observations) = (0, 0);
        while done < length / 2 {
            let count = POSITIONS_AT_ONCE.min(length / 2 - done);
            let positions = first + done..first + done + count;
            let brought = chain.whitened.count(chain.cells, positions.clone());
            let capacity =
                Capacity { first_position: positions.start, states: count + 1, observations: brought };
            scratch.reset(capacity);
            let range = SegmentRange { positions, observations: 0..brought };
            let mut after = Gaussian::default();
            let forward = Forward::<true> {
                chain,
                range: range.clone(),
                memory: &mut *scratch,
                before: &gaussian,
                after: Some(&mut after),
                observer: (),
            };
            dispatch(chain.layout, forward);
            gaussian = after;
            let influence_of = Influence { chain, range, memory: scratch, influence: &mut influence };
            dispatch_small(chain.layout, influence_of);
            done += count;
            observations += brought;
            let left = largest_share(&influence, &gaussian);
            if left <= FORGOTTEN {
                let (middle, SegmentRange { positions, observations: all }) = (first + done, segment.clone());
                let beginning = SegmentRange { positions: first..middle, observations: 0..observations };
                let rest =
                    SegmentRange { positions: middle..positions.end, observations: observations..all.end };
                return Some(Self { beginning, rest, gaussian, influence });
            }
            // Also false for NaN.
            let has_hope = left <= HOPELESS;
            if done >= length / 8 && !has_hope {
                break;
            }
        }
        None
    }

    /// Whether the true Gaussian before the segment leaves the results unchanged.
    pub(super) fn holds_after(&self, before: &Gaussian) -> bool {
        let size = before.mean.len();
        let deviations = |gaussian: &Gaussian| -> Vec<f64> {
            gaussian.full_covariance().iter().step_by(size + 1).map(|variance| variance.sqrt()).collect()
        };
        let (before_deviations, own_deviations) = (deviations(before), deviations(&self.gaussian));
        let largest = self.gaussian.mean.iter().fold(0.0_f64, |largest, mean| largest.max(mean.abs()));
        (0..size).all(|i| {
            let row = &self.influence[i * size..][..size];
            let shift: f64 = row.iter().zip(&before.mean).map(|(entry, mean)| (entry * mean).abs()).sum();
            let covariance_factor: f64 =
                row.iter().enumerate().map(|(j, entry)| entry.abs() * before_deviations[j]).sum();
            let own = own_deviations[i];
            shift <= NOTHING * own.max(largest) && covariance_factor <= NOTHING * own
        })
    }
}

/// The largest entry of Φ, in standard deviations of its row's component.
fn largest_share(influence: &[f64], gaussian: &Gaussian) -> f64 {
    let (size, covariance) = (gaussian.size(), gaussian.full_covariance());
    let mut largest = 0.0_f64;
    for (i, row) in influence.chunks_exact(size).enumerate() {
        let largest_entry = row.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
        // A component without variance, such as padding, counts only if Φ leads to it.
        if largest_entry != 0.0 {
            let share = largest_entry / covariance[i * (size + 1)].sqrt();
            if share.is_nan() {
                return share;
            }
            largest = largest.max(share);
        }
    }
    largest
}

/// Carries Φ over filtered positions.
struct Influence<'a> {
    chain: Chain<'a>,
    range: SegmentRange,
    memory: &'a FilterMemory,
    influence: &'a mut [f64],
}

impl Job for Influence<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) {
        let Self { chain, range: SegmentRange { positions, observations }, memory, influence } = self;
        let (size, width) = (shape.size(), shape.readable());
        let (mut moved, mut read) = (vec![0.0; size * size], vec![0.0; size]);
        let mut first = observations.start;
        for position in positions {
            let step = chain.steps.step(chain.edges.step_of(position));
            transition_times_matrix::<A, S>(shape, step.transition, influence, &mut moved);
            let whitened = chain.whitened.at(chain.cells, position);
            let (gains, _) = memory.observations(size, first..first + whitened.count());
            for (gain, weights) in gains.chunks_exact(size).zip(whitened.weights(width).chunks_exact(width)) {
                vector_times_matrix::<A>(weights, &moved[..width * size], &mut read);
                for (gain, target) in gain.iter().zip(moved.chunks_exact_mut(size)) {
                    add_scaled::<A>(-gain, &read, target);
                }
            }
            first += whitened.count();
            influence.copy_from_slice(&moved);
        }
    }
}
