//! The covariance form of the sweep, for chains: a filter forward, a modified Bryson–Frazier pass backward.
//!
//! Forward, moments (m, P) of each state given what lies before it and its own cells. Backward, the dual mean and
//! precision (r, N) of what lies after it; the posterior is `m + P r` and `P − P N P`, and no predicted covariance is
//! ever inverted. The passes work on the part of the state that is read, the *basis*: all values, or all outputs if
//! those are fewer. With B placing the basis in the state, X = P B, U = N X, and the posterior mean and covariance V
//! of the basis, the message (Λ, η) of a position's own cells enters the dual as
//!
//! ```text
//! r ← r + B(η − Λ·mean),   N ← N − (UΛ)Bᵀ − B(UΛ)ᵀ + B(Λ − ΛVΛ)Bᵀ,     then r ← Aᵀr, N ← AᵀNA
//! ```
//!
//! Cost per point: O(n²(K + basis)), no n³. Its variances are differences: [`super::Form`] says when it is used.

use super::buffers::{Dual, Filtered, Moments, MomentsMut};
use super::cells::{Information, WhitenedCells};
use super::gradient::Values;
use super::log_product::LogProduct;
use super::readout::{Readout, ReadoutRow};
use super::sink::Sink;
use super::steps::StepTable;
use crate::graph::{Cells, Edges};
use crate::linalg::{
    Arithmetic, Job, StateAlgebra, add_scaled, copy_upper_to_lower, dot, transition_times_vector,
    transition_transposed_times_vector, vector_times_matrix,
};

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
    pub(super) information: &'a Information,
    pub(super) whitened: &'a WhitenedCells,
    pub(super) n_latents: usize,
}

impl Chain<'_> {
    /// Whether the backward pass works on the values of the latents rather than on the outputs.
    pub(super) fn basis_is_values(&self) -> bool {
        !self.readout.is_sparse() && self.n_latents <= self.readout.n_outputs()
    }
}

/// The forward pass; keeps the filtered moments of all positions if `KEEP`. Returns the log evidence.
pub(super) struct Forward<'a, const KEEP: bool> {
    pub(super) chain: Chain<'a>,
    pub(super) filtered: &'a mut Filtered,
    /// `−½ Σ log 2πr` over all cells.
    pub(super) log_noise: f64,
}

impl<const KEEP: bool> Job for Forward<'_, KEEP> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) -> f64 {
        let Self { chain, filtered, log_noise } = self;
        let (size, n_positions) = (shape.size(), chain.cells.n_positions());
        // One state more than positions: the root follows a state that is exactly zero.
        filtered.reset(size, if KEEP { n_positions + 1 } else { 2 }, shape.n_parts());
        let mut scale = LogProduct::ONE;
        let mut squares = 0.0;
        for position in 0..n_positions {
            let (from, to) = if KEEP { (position, position + 1) } else { (0, 1) };
            let step = chain.steps.step(chain.edges.step_of(position));
            let (before, mut after, scratch) = filtered.pair(size, from, to);
            transition_times_vector::<A, S>(shape, step.transition, before.mean, after.mean);
            let dynamics = (step.transition, step.noise);
            shape.predict::<A>(dynamics, before.covariance, after.covariance, scratch);
            let whitened = chain.whitened.at(chain.cells, position);
            for at in 0..whitened.count {
                let row = whitened.row(chain.readout, chain.cells.outputs(position), at);
                let (surprise, variance) =
                    update::<A, S>(shape, row, whitened.value(at), &mut after, scratch);
                scale.multiply(variance);
                squares += surprise * surprise / variance;
            }
            squares += whitened.squares_apart();
            if position % SYMMETRIZE_EVERY == SYMMETRIZE_EVERY - 1 {
                copy_upper_to_lower(size, after.covariance);
            }
            if !KEEP {
                filtered.rewind(size);
            }
        }
        log_noise - 0.5 * (scale.ln() + squares)
    }
}

/// Conditions on one observation of unit noise; returns its surprise and predictive variance.
#[inline(always)]
fn update<A: Arithmetic, S: StateAlgebra>(
    shape: S,
    row: ReadoutRow<'_>,
    value: f64,
    state: &mut MomentsMut<'_>,
    scratch: &mut [f64],
) -> (f64, f64) {
    let moments = (&mut *state.mean, &mut *state.covariance);
    if row.touched.is_none() {
        return shape.condition::<A>(row.weights, value, moments, scratch);
    }
    read::<A, S>(shape, row, moments.1, scratch);
    shape.condition_on_gain::<A>(row.weights, value, moments, scratch)
}

/// `out = P h` for a readout row h over the values; P is symmetric, so its rows are its columns.
#[inline(always)]
fn read<A: Arithmetic, S: StateAlgebra>(shape: S, row: ReadoutRow<'_>, matrix: &[f64], out: &mut [f64]) {
    let size = shape.size();
    let out = &mut out[..size];
    match row.touched {
        None => vector_times_matrix::<A>(&row.weights[..shape.width()], matrix, out),
        Some(slots) => {
            out.fill(0.0);
            for &slot in slots {
                let slot = slot as usize;
                add_scaled::<A>(row.weights[slot], &matrix[slot * size..][..size], out);
            }
        }
    }
}

/// The backward pass: delivers the posterior at every position, last to first.
pub(super) struct Backward<'a, K> {
    pub(super) chain: Chain<'a>,
    pub(super) filtered: &'a Filtered,
    pub(super) dual: &'a mut Dual,
    pub(super) sink: K,
}

impl<K: Sink> Job for Backward<'_, K> {
    type Output = K;

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) -> K {
        let Self { chain, filtered, dual, mut sink } = self;
        let size = shape.size();
        let basis = if chain.basis_is_values() { shape.width() } else { chain.readout.n_outputs() };
        dual.reset(size, basis, shape.n_parts());
        for position in (0..chain.cells.n_positions()).rev() {
            let moments = filtered.at(size, position + 1);
            if chain.basis_is_values() {
                let Dual { vector, matrix, products, basis_mean, basis_covariance, .. } = &mut *dual;
                shape.posterior_of_values::<A>(
                    chain.n_latents,
                    (moments.mean, moments.covariance),
                    (vector, matrix),
                    products,
                    (basis_mean, basis_covariance),
                );
                let (mean, covariance) = (&dual.basis_mean[..], &dual.basis_covariance[..]);
                sink.values::<A>(&chain, position, Values { mean, covariance, stride: shape.width() });
                if !chain.cells.outputs(position).is_empty() {
                    absorb_into_values::<A, S>(shape, &chain, position, dual);
                }
            } else {
                posterior_of_outputs::<A, S>(shape, &chain, position, moments, dual);
                sink.outputs::<A, S>(shape, &chain, position, moments, dual);
                absorb_into_outputs::<A, S>(shape, &chain, position, dual);
            }
            if position % SYMMETRIZE_EVERY == 0 {
                copy_upper_to_lower(size, &mut dual.matrix);
            }
            if position > 0 {
                let step = chain.edges.step_of(position);
                let transition = chain.steps.step(step).transition;
                sink.step::<A, S>(shape, &chain, step, dual, filtered.at(size, position));
                let Dual { vector, matrix, scratch, .. } = dual;
                transition_transposed_times_vector::<A, S>(shape, transition, vector, scratch);
                vector.copy_from_slice(&scratch[..size]);
                shape.retreat::<A>(transition, matrix, scratch);
            }
        }
        sink
    }
}

/// Lets a position's cells enter the dual through the values of the latents.
#[inline(always)]
fn absorb_into_values<A: Arithmetic, S: StateAlgebra>(
    shape: S,
    chain: &Chain<'_>,
    position: usize,
    dual: &mut Dual,
) {
    let width = shape.width();
    let Dual { vector, matrix, products, basis_mean, basis_covariance, scratch, .. } = dual;
    let outputs = chain.cells.outputs(position);
    for (at, (&output, &value)) in outputs.iter().zip(chain.cells.values(position)).enumerate() {
        let weights = &chain.readout.row(output).weights[..width];
        let noise = chain.readout.cell_noise(chain.cells, position, at, output);
        add_scaled::<A>(value / noise, weights, &mut vector[..width]);
    }
    let information = chain.information.matrix(chain.cells, position);
    for b in 0..chain.n_latents {
        add_scaled::<A>(-basis_mean[b], &information[b * width..][..width], &mut vector[..width]);
    }
    shape.absorb::<A>(chain.n_latents, information, (products, basis_covariance), matrix, scratch);
}

/// X, U = N X, the posterior mean and, for pairs of observed outputs and every output with itself, V; for the outputs.
#[inline(always)]
fn posterior_of_outputs<A: Arithmetic, S: StateAlgebra>(
    shape: S,
    chain: &Chain<'_>,
    position: usize,
    moments: Moments<'_>,
    dual: &mut Dual,
) {
    let (size, width, n_outputs) = (shape.size(), shape.width(), chain.readout.n_outputs());
    let Dual { vector, matrix, columns, products, basis_mean, basis_covariance, .. } = dual;
    for d in 0..n_outputs {
        let row = chain.readout.row(d);
        let column = &mut columns[d * size..][..size];
        read::<A, S>(shape, row, moments.covariance, column);
        let product = &mut products[d * size..][..size];
        vector_times_matrix::<A>(column, matrix, product);
        basis_mean[d] = dot::<A>(&row.weights[..width], &moments.mean[..width]) + dot::<A>(column, vector);
        basis_covariance[d * n_outputs + d] =
            dot::<A>(&row.weights[..width], &column[..width]) - dot::<A>(product, column);
    }
    let mask = chain.cells.outputs(position);
    for (at, &d) in mask.iter().enumerate() {
        let product = &products[d * size..][..size];
        for &e in &mask[..at] {
            let column = &columns[e * size..][..size];
            let covariance = dot::<A>(&chain.readout.row(d).weights[..width], &column[..width])
                - dot::<A>(product, column);
            basis_covariance[d * n_outputs + e] = covariance;
            basis_covariance[e * n_outputs + d] = covariance;
        }
    }
}

/// Lets a position's cells enter the dual through the observed outputs, whose message is diagonal.
///
/// With `Y_o = U_o/r_o − ½ Σ_o' (Λ − ΛVΛ)_oo' h_o'`, N loses `Y_o h_oᵀ + h_o Y_oᵀ` for each observed output o.
#[inline(always)]
fn absorb_into_outputs<A: Arithmetic, S: StateAlgebra>(
    shape: S,
    chain: &Chain<'_>,
    position: usize,
    dual: &mut Dual,
) {
    let (size, width, n_outputs) = (shape.size(), shape.width(), chain.readout.n_outputs());
    let mask = chain.cells.outputs(position);
    let values = chain.cells.values(position);
    let precision =
        |at: usize, output: usize| chain.readout.cell_noise(chain.cells, position, at, output).recip();
    let Dual { vector, matrix, products, basis_mean, basis_covariance, scratch, .. } = dual;
    for (at, &o) in mask.iter().enumerate() {
        let own_precision = precision(at, o);
        let row = chain.readout.row(o);
        add_scaled::<A>((values[at] - basis_mean[o]) * own_precision, row.weights, &mut vector[..width]);
        let loss = &mut scratch[..size];
        for (entry, product) in loss.iter_mut().zip(&products[o * size..][..size]) {
            *entry = own_precision * product;
        }
        for (at2, &o2) in mask.iter().enumerate() {
            let covariance = basis_covariance[o * n_outputs + o2];
            let same = if o == o2 { own_precision } else { 0.0 };
            let half = -0.5 * (same - own_precision * covariance * precision(at2, o2));
            add_readout::<A>(half, chain.readout.row(o2), &mut loss[..width]);
        }
        let n_touched = row.touched.map_or(chain.n_latents, <[u32]>::len);
        for k in 0..n_touched {
            let slot = row.touched.map_or(k, |slots| slots[k] as usize);
            let weight = row.weights[slot];
            for j in 0..size {
                matrix[j * size + slot] = A::mul_add(-weight, loss[j], matrix[j * size + slot]);
            }
            add_scaled::<A>(-weight, loss, &mut matrix[slot * size..][..size]);
        }
    }
}

/// `out += factor·h`.
#[inline(always)]
fn add_readout<A: Arithmetic>(factor: f64, row: ReadoutRow<'_>, out: &mut [f64]) {
    match row.touched {
        Some(slots) => {
            for &slot in slots {
                let slot = slot as usize;
                out[slot] = A::mul_add(factor, row.weights[slot], out[slot]);
            }
        }
        None => add_scaled::<A>(factor, &row.weights[..out.len()], out),
    }
}
