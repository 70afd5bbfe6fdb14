//! What a segment of a chain says, as one Gaussian element: absorb observations, advance over what follows.
//!
//! With z the state just before the segment and z' its last state, an element says, given the cells of the segment,
//!
//! ```text
//! z' = A z + b + X ε,   ε standard normal,          log p(cells | z) = c − ½|E z − e|²
//! ```
//!
//! The covariance_factor X and the rows (E, e) are square roots, so nothing small is ever the difference of two large numbers, and no
//! noise is too small. Two operations make every element. To *absorb* rows `|R z' − r|²` about the last state, an orthogonal
//! transformation
//!
//! ```text
//! [ I     0     0      ]      [ U   V    a  ]    →  U ε + V z = a + unit noise,  so with Y = X U⁻¹:
//! [ R X   R A   r − Rb ]  =   [ 0   E'   e' ]       A ← A − Y V,  b ← b + Y a,  X ← Y,  (E, e) gains (E', e')
//! ```
//!
//! and c loses log |det U| and half of what no state can explain. To *advance* over a second element with `z'' = A₂ z' + …`:
//! `A ← A₂A`, `b ← A₂b + b₂`, and X from an elimination of `[A₂X, X₂]`. Absorbing (E₂, e₂) and then advancing joins two
//! segments; the operation is associative.
//!
//! A long segment *forgets*: A falls below anything that could be seen beside its own X and E. RowsView about its end then say nothing
//! about the state before it, and what precedes it says nothing about its end, so most of the arithmetic is left out.
//!
//! An element may have no state before it (`near = 0`): it is then a mean b and a root X of a covariance, and c is a log
//! evidence.

use super::super::log_product::LogProduct;
use super::super::steps::StepView;
use crate::linalg::{
    Arithmetic, Elimination, Shape, add_scaled, dot, noise_factor, transition_times_matrix,
    transition_times_vector, vector_times_matrix,
};

/// A segment of a chain; see the module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Element {
    /// The size of a state.
    size: usize,
    /// The size of the state before: `size`, or 0 where nothing lies before.
    near: usize,
    /// A (size×near), X (size×size), E (near×near), b, e, c.
    numbers: Vec<f64>,
}

/// The parts of an element.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) gain: &'a [f64],
    pub(crate) covariance_factor: &'a [f64],
    pub(crate) root: &'a [f64],
    pub(crate) shift: &'a [f64],
    pub(crate) offset: &'a [f64],
}

struct PartsMut<'a> {
    gain: &'a mut [f64],
    covariance_factor: &'a mut [f64],
    root: &'a mut [f64],
    shift: &'a mut [f64],
    offset: &'a mut [f64],
    log_normalizer: &'a mut f64,
}

/// RowsView (R, r), meaning `−½|R z − r|²`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowsView<'a> {
    pub(crate) root: &'a [f64],
    pub(crate) offset: &'a [f64],
}

/// Scratch for the operations, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    elimination: Elimination,
    tall: Vec<f64>,
    below: Vec<f64>,
    moved: Vec<f64>,
    factor: Vec<f64>,
}

/// A dependence this small is none: beside numbers of order 1 it is far below rounding, in a mean and all the more in a covariance.
const FORGOTTEN: f64 = 1e-20;

/// The size of a state, and that of the state before. Handed down rather than read from the element, so that code compiled for a
/// size knows both.
type Sizes = (usize, usize);

/// The columns of [U V a], in whole vector lanes.
#[inline(always)]
fn columns((size, near): Sizes) -> usize {
    (size + near + 1).next_multiple_of(4)
}

/// The number of numbers of an element.
pub(super) const fn length(size: usize, near: usize) -> usize {
    size * near + size * size + near * near + size + near + 1
}

impl Element {
    /// A segment without any position: its last state is the state before it.
    pub(crate) fn empty(size: usize) -> Self {
        let mut numbers = vec![0.0; length(size, size)];
        (0..size).for_each(|i| numbers[i * size + i] = 1.0);
        Self { size, near: size, numbers }
    }

    /// A state that is exactly zero, and nothing before it: where every structure begins, since the root's step comes from
    /// nowhere.
    pub(crate) fn nothing(size: usize) -> Self {
        Self { size, near: 0, numbers: vec![0.0; length(size, 0)] }
    }

    /// An element from all its numbers, in the order in which [`Element::numbers`] gives them.
    pub(super) fn from_numbers(size: usize, near: usize, numbers: Vec<f64>) -> Option<Self> {
        let fits = numbers.len() == length(size, near) && numbers.iter().all(|number| number.is_finite());
        fits.then_some(Self { size, near, numbers })
    }

    /// All numbers.
    pub(super) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// The size of a state.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// c: the log evidence of its cells, up to what the state before explains.
    pub(crate) fn log_normalizer(&self) -> f64 {
        self.numbers.last().copied().unwrap_or(0.0)
    }

    /// Whether its last state no longer depends on the state before it, to far below rounding.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.parts().gain.iter().all(|entry| entry.abs() < FORGOTTEN)
    }

    /// Has forgotten the state before, and gives its last state other moments.
    #[inline(always)]
    pub(super) fn move_on(&mut self, mean: &[f64], root: &[f64], log_normalizer: f64) {
        let PartsMut { gain, covariance_factor, shift, log_normalizer: sum, .. } =
            self.parts_mut((self.size, self.near));
        gain.fill(0.0);
        covariance_factor.copy_from_slice(root);
        shift.copy_from_slice(mean);
        *sum += log_normalizer;
    }

    /// Takes over the end of an element that has forgotten everything before it; what is said about the state before stays.
    #[inline(always)]
    pub(crate) fn end_as(&mut self, last: &Self) {
        let Parts { covariance_factor, shift, .. } = last.parts();
        self.move_on(shift, covariance_factor, last.log_normalizer());
    }

    /// Whether all numbers are finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.numbers.iter().all(|number| number.is_finite())
    }

    /// The parts.
    #[inline(always)]
    pub(crate) fn parts(&self) -> Parts<'_> {
        self.parts_of((self.size, self.near))
    }

    #[inline(always)]
    fn parts_of(&self, (size, near): Sizes) -> Parts<'_> {
        let (gain, rest) = self.numbers.split_at(size * near);
        let (covariance_factor, rest) = rest.split_at(size * size);
        let (root, rest) = rest.split_at(near * near);
        let (shift, rest) = rest.split_at(size);
        Parts { gain, covariance_factor, root, shift, offset: &rest[..near] }
    }

    /// What it says about the state before it, as rows.
    #[inline(always)]
    pub(crate) fn rows(&self) -> RowsView<'_> {
        let Parts { root, offset, .. } = self.parts();
        RowsView { root, offset }
    }

    #[inline(always)]
    fn parts_mut(&mut self, (size, near): Sizes) -> PartsMut<'_> {
        let (gain, rest) = self.numbers.split_at_mut(size * near);
        let (covariance_factor, rest) = rest.split_at_mut(size * size);
        let (root, rest) = rest.split_at_mut(near * near);
        let (shift, rest) = rest.split_at_mut(size);
        let (offset, rest) = rest.split_at_mut(near);
        PartsMut { gain, covariance_factor, root, shift, offset, log_normalizer: &mut rest[0] }
    }

    /// Copies another element of the same size, and of any size before it.
    #[inline(always)]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        (self.size, self.near) = (other.size, other.near);
        self.numbers.clear();
        self.numbers.extend_from_slice(&other.numbers);
    }

    /// Adds to c.
    #[inline(always)]
    pub(crate) fn add_log_normalizer(&mut self, share: f64) {
        if let Some(log_normalizer) = self.numbers.last_mut() {
            *log_normalizer += share;
        }
    }

    /// The parts, without those about a state before that has been forgotten.
    #[inline(always)]
    fn remembered(&self, sizes: Sizes, near: usize) -> Parts<'_> {
        let parts = self.parts_of(sizes);
        if near == 0 { Parts { gain: &[], root: &[], offset: &[], ..parts } } else { parts }
    }

    /// Eliminates ε from rows about the last state. Leaves [U V a] in the first rows of `scratch.tall`, and in `scratch.below` all
    /// that is now said about the state before, `near` rows; returns the share of the log evidence.
    #[inline(always)]
    fn eliminate_noise<A: Arithmetic>(
        &self,
        sizes: Sizes,
        near: usize,
        rows: RowsView<'_>,
        scratch: &mut Scratch,
    ) -> f64 {
        let Parts { gain, covariance_factor, root, shift, offset } = self.remembered(sizes, near);
        let sizes @ (size, near) = (sizes.0, near);
        let (count, columns) = (rows.offset.len(), columns(sizes));
        let Scratch { elimination, tall, below, .. } = scratch;
        tall.clear();
        tall.resize((size + count) * columns, 0.0);
        for i in 0..size {
            tall[i * columns + i] = 1.0;
        }
        for (at, row) in tall.chunks_exact_mut(columns).skip(size).enumerate() {
            let reading = &rows.root[at * size..][..size];
            vector_times_matrix::<A>(reading, covariance_factor, &mut row[..size]);
            vector_times_matrix::<A>(reading, gain, &mut row[size..size + near]);
            row[size + near] = rows.offset[at] - dot::<A>(reading, shift);
        }
        elimination.run::<A>(tall, size + count, columns, size);
        let mut determinant = LogProduct::ONE;
        for k in 0..size {
            determinant.multiply(tall[k * columns + k].abs());
        }
        below.clear();
        for row in tall.chunks_exact(columns).skip(size) {
            below.extend_from_slice(&row[size..=size + near]);
        }
        for i in 0..near {
            below.extend_from_slice(&root[i * near..][..near]);
            below.push(offset[i]);
        }
        elimination.run::<A>(below, count + near, near + 1, near);
        let unexplained: f64 = below.chunks_exact(near + 1).skip(near).map(|row| row[near] * row[near]).sum();
        -determinant.ln() - 0.5 * unexplained
    }

    /// The share of the log evidence of rows about its last state, when nobody will ask for the end of this segment or for what
    /// they say about the state before it.
    #[inline(always)]
    fn weigh<A: Arithmetic>(&mut self, size: usize, rows: RowsView<'_>, scratch: &mut Scratch) {
        let share = self.eliminate_noise::<A>((size, self.near), 0, rows, scratch);
        self.add_log_normalizer(share);
    }

    /// Lengthens a segment by the one that follows it.
    #[inline(always)]
    pub(super) fn join<A: Arithmetic>(&mut self, size: usize, second: &Self, scratch: &mut Scratch) {
        let is_new = second.has_forgotten();
        if is_new && self.has_forgotten() {
            self.weigh::<A>(size, second.rows(), scratch);
        } else {
            self.absorb::<A>(size, second.rows(), scratch);
        }
        if is_new {
            self.end_as(second);
        } else {
            self.advance::<A>(size, second, scratch);
        }
    }

    /// Learns rows about its last state.
    #[inline(always)]
    pub(super) fn absorb<A: Arithmetic>(&mut self, size: usize, rows: RowsView<'_>, scratch: &mut Scratch) {
        if rows.offset.is_empty() {
            return;
        }
        if self.has_forgotten() {
            self.absorb_between::<A>((size, self.near), 0, rows, scratch);
        } else {
            self.absorb_between::<A>((size, size), size, rows, scratch);
        }
    }

    /// `near` is the size of the state before, or 0 where that is forgotten.
    #[inline(always)]
    fn absorb_between<A: Arithmetic>(
        &mut self,
        sizes: Sizes,
        near: usize,
        rows: RowsView<'_>,
        scratch: &mut Scratch,
    ) {
        let share = self.eliminate_noise::<A>(sizes, near, rows, scratch);
        let (size, columns) = (sizes.0, columns((sizes.0, near)));
        let PartsMut { gain, covariance_factor, root, shift, offset, log_normalizer } = self.parts_mut(sizes);
        *log_normalizer += share;
        for (i, row) in scratch.below.chunks_exact(near + 1).take(near).enumerate() {
            root[i * near..][..near].copy_from_slice(&row[..near]);
            offset[i] = row[near];
        }
        for k in 0..size {
            let upper = &scratch.tall[k * columns..][..columns];
            // UᵀU = I + …, so the pivots are at least 1 in size.
            let inverse = upper[k].recip();
            for i in 0..size {
                let row = &mut covariance_factor[i * size..][..size];
                let solved = row[k] * inverse;
                row[k] = solved;
                if solved != 0.0 {
                    add_scaled::<A>(-solved, &upper[k + 1..size], &mut row[k + 1..]);
                    add_scaled::<A>(-solved, &upper[size..size + near], &mut gain[i * near..][..near]);
                    shift[i] = A::mul_add(solved, upper[size + near], shift[i]);
                }
            }
        }
    }

    /// Moves its last state over another element, whose rows it has absorbed.
    #[inline(always)]
    pub(super) fn advance<A: Arithmetic>(&mut self, size: usize, second: &Self, scratch: &mut Scratch) {
        match self.near {
            0 => self.advance_between::<A>((size, 0), second, scratch),
            _ => self.advance_between::<A>((size, size), second, scratch),
        }
    }

    #[inline(always)]
    fn advance_between<A: Arithmetic>(&mut self, sizes: Sizes, second: &Self, scratch: &mut Scratch) {
        let (size, near) = sizes;
        let over = second.parts_of((size, size));
        let PartsMut { gain, covariance_factor, shift, log_normalizer, .. } = self.parts_mut(sizes);
        *log_normalizer += second.log_normalizer();
        let Scratch { elimination, tall, moved, .. } = scratch;
        moved.clear();
        moved.resize(size * size, 0.0);
        for i in 0..size {
            let row = &over.gain[i * size..][..size];
            vector_times_matrix::<A>(row, gain, &mut moved[i * near..][..near]);
        }
        gain.copy_from_slice(&moved[..size * near]);
        for i in 0..size {
            moved[i] = over.shift[i] + dot::<A>(&over.gain[i * size..][..size], shift);
        }
        shift.copy_from_slice(&moved[..size]);
        for i in 0..size {
            let row = &over.gain[i * size..][..size];
            vector_times_matrix::<A>(row, covariance_factor, &mut moved[i * size..][..size]);
        }
        tall.clear();
        tall.resize(2 * size * size, 0.0);
        for i in 0..size {
            for k in 0..size {
                tall[k * size + i] = moved[i * size + k];
                tall[(size + k) * size + i] = over.covariance_factor[i * size + k];
            }
        }
        join_factors::<A>(size, elimination, tall, covariance_factor);
    }

    /// Moves its last state over one step.
    #[inline(always)]
    pub(super) fn step<A: Arithmetic, S: Shape>(
        &mut self,
        shape: S,
        step: StepView<'_>,
        scratch: &mut Scratch,
    ) {
        let (size, near) = (shape.size(), self.near);
        let PartsMut { gain, covariance_factor, shift, .. } = self.parts_mut((size, near));
        let Scratch { elimination, tall, moved, factor, .. } = scratch;
        moved.clear();
        moved.resize(size * size, 0.0);
        if near == size {
            transition_times_matrix::<A, S>(shape, step.transition, gain, moved);
            gain.copy_from_slice(moved);
        }
        transition_times_vector::<A, S>(shape, step.transition, shift, moved);
        shift.copy_from_slice(&moved[..size]);
        transition_times_matrix::<A, S>(shape, step.transition, covariance_factor, moved);
        tall.clear();
        tall.resize(2 * size * size, 0.0);
        for i in 0..size {
            for k in 0..size {
                tall[k * size + i] = moved[i * size + k];
            }
        }
        factor.clear();
        factor.resize(step.transition.len(), 0.0);
        noise_factor(shape, step.noise, factor);
        let (parts, width) = (shape.n_parts(), shape.width());
        for c in 0..parts {
            for d in 0..=c {
                for s in 0..shape.len(c) {
                    let (i, k) = (shape.offset(c) + s, shape.offset(d) + s);
                    tall[(size + k) * size + i] = factor[(c * parts + d) * width + s];
                }
            }
        }
        join_factors::<A>(size, elimination, tall, covariance_factor);
    }

    /// What rows about its last state, and its own cells, say about the state before it: `near` rows.
    #[inline(always)]
    pub(super) fn pull<A: Arithmetic>(
        &self,
        size: usize,
        rows: RowsView<'_>,
        out: &mut InformationRows,
        scratch: &mut Scratch,
    ) {
        out.clear();
        if self.has_forgotten() {
            return out.extend(self.rows());
        }
        self.eliminate_noise::<A>((size, size), size, rows, scratch);
        for row in scratch.below.chunks_exact(size + 1).take(size) {
            out.push(&row[..size], row[size]);
        }
    }
}

/// X from [first, second]ᵀ, its 2·size rows of transposed covariance_factors.
#[inline(always)]
fn join_factors<A: Arithmetic>(
    size: usize,
    elimination: &mut Elimination,
    tall: &mut [f64],
    covariance_factor: &mut [f64],
) {
    elimination.run::<A>(tall, 2 * size, size, size);
    for i in 0..size {
        for k in 0..size {
            covariance_factor[i * size + k] = tall[k * size + i];
        }
    }
}

/// RowsView (R, r) with memory of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct InformationRows {
    root: Vec<f64>,
    offset: Vec<f64>,
}

impl InformationRows {
    /// The rows.
    #[inline(always)]
    pub(crate) fn view(&self) -> RowsView<'_> {
        RowsView { root: &self.root, offset: &self.offset }
    }

    /// Forgets all rows.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.root.clear();
        self.offset.clear();
    }

    /// One row more.
    #[inline(always)]
    pub(crate) fn push(&mut self, row: &[f64], offset: f64) {
        self.root.extend_from_slice(row);
        self.offset.push(offset);
    }

    /// One row more: these weights, padded by zeros to `size`, times a factor.
    #[inline(always)]
    pub(super) fn push_scaled(&mut self, weights: &[f64], size: usize, factor: f64, offset: f64) {
        let end = self.root.len() + size;
        self.root.extend(weights.iter().map(|weight| weight * factor));
        self.root.resize(end, 0.0);
        self.offset.push(offset);
    }

    /// More rows of the same length.
    #[inline(always)]
    pub(crate) fn extend(&mut self, rows: RowsView<'_>) {
        self.root.extend_from_slice(rows.root);
        self.offset.extend_from_slice(rows.offset);
    }
}
