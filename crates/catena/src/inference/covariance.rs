//! The covariance form of the sweep, for chains: a filter forward, a modified Bryson–Frazier pass backward.
//!
//! Forward, moments (m, P) of each state given what lies before it and its own cells, which enter one by one as
//! observations h of unit noise: with `S = 1 + hᵀPh` and gain `k = Ph/S`, m gains `k·v` for a surprise v and P loses
//! `k kᵀ S`. Backward, the dual mean and precision (r, N) of what lies after; the posterior is `m + P r` and `P − P N P`, and
//! no predicted covariance is ever inverted. On the way back over the same observations, with `b = N k`,
//! `u = v/S − kᵀr` and `d = 1/S + kᵀb`,
//!
//! ```text
//! r ← r + u h,   N ← N − h bᵀ − b hᵀ + d hhᵀ,     and over a step r ← Aᵀr, N ← AᵀNA
//! ```
//!
//! The gain and S are kept from the way forward: found again from the filtered P they would have lost digits. Much of what
//! is asked for is a by-product: of an observed cell, u is the posterior mean of its noise and `hᵀPh/S − kᵀb` its
//! posterior variance, both in units of its noise.
//!
//! Cost per point: O(n²(K + cells)), no n³. Its variances are differences: [`super::Form`] says when it is used.

use super::buffers::{Dual, Filtered, Moments};
use super::cells::WhitenedCells;
use super::log_product::LogProduct;
use super::readout::Readout;
use super::sink::Sink;
use super::steps::StepTable;
use crate::graph::{Cells, Edges};
use crate::linalg::{Arithmetic, Job, Reduction, StateAlgebra, copy_upper_to_lower};

/// After so many points the rounding difference between the two triangles of P and N is removed: the recursions do
/// not damp it, and over a long chain it would grow.
const SYMMETRIZE_EVERY: usize = 8;

/// What the passes need to know of the graph.
#[derive(Clone, Copy)]
pub(super) struct Chain<'a> {
    pub(super) cells: &'a Cells,
    pub(super) edges: &'a Edges,
    pub(super) steps: &'a StepTable,
    pub(super) readout: &'a Readout,
    pub(super) whitened: &'a WhitenedCells,
    pub(super) n_latents: usize,
}

impl Chain<'_> {
    /// Whether results are read from the posterior of the latents' values rather than from that of the outputs, which
    /// are fewer.
    #[inline(always)]
    pub(super) fn reads_values(&self) -> bool {
        !self.readout.is_sparse() && self.n_latents <= self.readout.n_outputs()
    }
}

/// Looks at the filtered moments of each position as the forward pass finds them.
pub(super) trait Watch {
    /// What is known of a position from its own cells and those before it.
    fn filtered<A: Arithmetic, S: StateAlgebra>(
        &mut self,
        shape: S,
        chain: &Chain<'_>,
        position: usize,
        moments: Moments<'_>,
    );
}

/// Nobody looks.
impl Watch for () {
    #[inline(always)]
    fn filtered<A: Arithmetic, S: StateAlgebra>(&mut self, _: S, _: &Chain<'_>, _: usize, _: Moments<'_>) {}
}

/// The forward pass; keeps the filtered moments of all positions if `KEEP`. Returns the log evidence.
pub(super) struct Forward<'a, const KEEP: bool, W = ()> {
    pub(super) chain: Chain<'a>,
    pub(super) filtered: &'a mut Filtered,
    /// `−½ Σ log 2πr` over all cells.
    pub(super) log_noise: f64,
    pub(super) watch: W,
}

impl<const KEEP: bool, W: Watch> Job for Forward<'_, KEEP, W> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) -> f64 {
        let Self { chain, filtered, log_noise, mut watch } = self;
        let (size, n_positions) = (shape.size(), chain.cells.n_positions());
        // One state more than positions: the root follows a state that is exactly zero.
        let kept = if KEEP { (n_positions + 1, chain.whitened.n_observations()) } else { (2, 1) };
        filtered.reset(size, kept, shape.n_parts());
        let mut scale = LogProduct::ONE;
        let mut squares = 0.0;
        let mut n_observations = 0;
        for position in 0..n_positions {
            // Without `KEEP` two states take turns.
            let (from, to) = if KEEP { (position, position + 1) } else { (position % 2, 1 - position % 2) };
            let step = chain.steps.step(chain.edges.step_of(position));
            let whitened = chain.whitened.at(chain.cells, position);
            let place = if KEEP { n_observations } else { 0 };
            let (before, after, (gains, innovations), scratch) = filtered.pair(size, (from, to), place);
            shape.advance::<A>(step.transition, before.mean, after.mean);
            let dynamics = (step.transition, step.noise);
            shape.predict::<A>(dynamics, before.covariance, after.covariance, scratch);
            for at in 0..whitened.count {
                let row = whitened.row(chain.readout, chain.cells.outputs(position), at);
                let moments = (&mut *after.mean, &mut *after.covariance);
                let slot = if KEEP { at } else { 0 };
                let gain = &mut gains[slot * size..][..size];
                let innovation = shape.condition::<A>(row, whitened.value(at), moments, gain);
                innovations[slot] = innovation;
                scale.multiply(1.0 + innovation.signal);
                squares += innovation.surprise * innovation.surprise * innovation.inverse;
            }
            n_observations += whitened.count;
            squares += whitened.squares_apart();
            if position % SYMMETRIZE_EVERY == SYMMETRIZE_EVERY - 1 {
                copy_upper_to_lower(size, after.covariance);
            }
            let moments = Moments { mean: after.mean, covariance: after.covariance };
            watch.filtered::<A, S>(shape, &chain, position, moments);
        }
        log_noise - 0.5 * (scale.ln() + squares)
    }
}

/// The backward pass: delivers the posterior at every position, last to first.
pub(super) struct Backward<'a, K> {
    pub(super) chain: Chain<'a>,
    pub(super) filtered: &'a Filtered,
    pub(super) dual: &'a mut Dual,
    pub(super) sink: K,
}

/// One observation of a position, on the way back.
#[derive(Clone, Copy)]
pub(super) struct Observed {
    pub(super) position: usize,
    /// Which of the position's observations it is.
    pub(super) at: usize,
    /// hᵀPh/S, its variance given what lies before it and itself.
    pub(super) filtered_variance: f64,
    pub(super) reduction: Reduction,
}

impl<K: Sink> Job for Backward<'_, K> {
    type Output = K;

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) -> K {
        let Self { chain, filtered, dual, mut sink } = self;
        let size = shape.size();
        dual.reset(size, shape.width(), shape.n_parts());
        let n_positions = chain.cells.n_positions();
        if K::WITH_SLOPES {
            // After the last position nothing is known: its posterior mean is the filtered one.
            dual.smoothed.copy_from_slice(filtered.at(size, n_positions).mean);
        }
        let mut first = chain.whitened.n_observations();
        for position in (0..n_positions).rev() {
            let moments = filtered.at(size, position + 1);
            let whitened = chain.whitened.at(chain.cells, position);
            first -= whitened.count;
            let (gains, innovations) = filtered.observations(size, first, whitened.count);
            filtered.prefetch::<A>(size, position, first, whitened.count);
            sink.position::<A, S>(shape, &chain, position, moments, dual);
            for at in (0..whitened.count).rev() {
                let row = whitened.row(chain.readout, chain.cells.outputs(position), at);
                let gain = &gains[at * size..][..size];
                let innovation = innovations[at];
                let Dual { vector, matrix, pulled, scratch, .. } = &mut *dual;
                let reduction = shape.reduce::<A>(row, (gain, innovation), (vector, matrix), pulled, scratch);
                let filtered_variance = innovation.signal * innovation.inverse;
                let observed = Observed { position, at, filtered_variance, reduction };
                let later = (&gains[at * size..], &innovations[at..]);
                sink.observation::<A, S>(shape, &chain, observed, later, moments, dual);
            }
            if position % SYMMETRIZE_EVERY == 0 {
                copy_upper_to_lower(size, &mut dual.matrix);
            }
            if position > 0 {
                sink.step::<A, S>(shape, &chain, position, filtered.at(size, position), dual);
            }
        }
        sink
    }
}

/// The posterior mean and variance of an output, from filtered moments and the dual: with `x = P h`, `hᵀm + xᵀr` and
/// `hᵀx − xᵀNx`.
#[inline(always)]
pub(super) fn posterior_of_output<A: Arithmetic, S: StateAlgebra>(
    shape: S,
    readout: &Readout,
    output: usize,
    moments: Moments<'_>,
    dual: &mut Dual,
) -> (f64, f64) {
    let row = readout.row(output);
    let Dual { vector, matrix, pulled, scratch, .. } = dual;
    shape.read::<A>(row, moments.covariance, scratch);
    shape.product::<A>(scratch, matrix, pulled);
    let mean = shape.read_vector::<A>(row, moments.mean) + shape.inner::<A>(scratch, vector);
    let variance = shape.read_vector::<A>(row, scratch) - shape.inner::<A>(scratch, pulled);
    (mean, variance)
}
