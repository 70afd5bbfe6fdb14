//! A linear-Gaussian conditional in square-root form: absorb observations, advance over the next conditional.
//!
//! It describes a segment of a chain. With z the state just before the segment, z' its last state and y its cells,
//!
//! ```text
//! z' = A z + b + X ε,   ε standard normal,          log p(y | z) = c − ½|E z − e|²
//! ```
//!
//! The covariance factor X and the information rows (E, e) are square roots, so no small number is the difference of two large ones,
//! and no noise is too small. Two operations build every conditional. To *absorb* rows `|R z' − r|²` about the last state, an
//! orthogonal transformation
//!
//! ```text
//! [ I     0     0      ]      [ U   V    a  ]    →  U ε + V z = a + unit noise,  so with Y = X U⁻¹:
//! [ R X   R A   r − Rb ]  =   [ 0   E'   e' ]       A ← A − Y V,  b ← b + Y a,  X ← Y,  (E, e) gains (E', e')
//! ```
//!
//! and c loses log |det U| and half of the squares that no state explains. To *advance* over a second conditional
//! `z'' = A₂ z' + …`: `A ← A₂A`, `b ← A₂b + b₂`, and X from an elimination of `[A₂X, X₂]`. Absorbing (E₂, e₂) and then advancing
//! joins two segments. This join is associative: conditionals are the elements of a parallel scan.
//!
//! A long segment *forgets* the state before it: A falls below rounding beside X and E. Rows about its end then carry no information
//! about the state before it, and most of the arithmetic is skipped.
//!
//! Without a state before it (`near = 0`) a conditional is a Gaussian with mean b and covariance factor X, and c is a log evidence.

use super::super::gaussian::GaussianView;
use super::super::log_product::LogProduct;
use super::super::steps::StepView;
use super::rows::{InformationRows, RowsView};
use crate::linalg::{
    Arithmetic, Elimination, Shape, add_scaled, dot, noise_factor, transition_times_matrix,
    transition_times_vector, vector_times_matrix,
};

/// The last state of a segment given the state before it, with the likelihood of its cells; see the module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conditional {
    /// The size of a state.
    size: usize,
    /// The size of the state before: `size`, or 0 if there is none.
    near: usize,
    /// A (size×near), X (size×size), E (near×near), b, e, c.
    numbers: Vec<f64>,
}

/// A, X, E, b and e.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) gain: &'a [f64],
    pub(crate) factor: &'a [f64],
    pub(crate) root: &'a [f64],
    pub(crate) shift: &'a [f64],
    pub(crate) offset: &'a [f64],
}

struct PartsMut<'a> {
    gain: &'a mut [f64],
    factor: &'a mut [f64],
    root: &'a mut [f64],
    shift: &'a mut [f64],
    offset: &'a mut [f64],
    log_normalizer: &'a mut f64,
}

/// Scratch for the operations, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    elimination: Elimination,
    tall: Vec<f64>,
    below: Vec<f64>,
    moved: Vec<f64>,
    noise: Vec<f64>,
}

/// Entries of A below this are treated as zero: beside numbers of order 1 they are far below rounding.
const FORGOTTEN: f64 = 1e-20;

/// The size of a state, and that of the state before: passed as arguments so that code compiled for a size knows both.
type Sizes = (usize, usize);

/// The columns of [U V a], in whole vector lanes.
#[inline(always)]
fn columns((size, near): Sizes) -> usize {
    (size + near + 1).next_multiple_of(4)
}

/// How many numbers a conditional has.
pub(in super::super) const fn length(size: usize, near: usize) -> usize {
    size * near + size * size + near * near + size + near + 1
}

impl Conditional {
    /// An empty segment: its last state is the state before it.
    pub(crate) fn identity(size: usize) -> Self {
        let mut numbers = vec![0.0; length(size, size)];
        (0..size).for_each(|i| numbers[i * size + i] = 1.0);
        Self { size, near: size, numbers }
    }

    /// `z' = A z + b + X ε`, without cells.
    pub(crate) fn new(gain: &[f64], shift: &[f64], factor: &[f64]) -> Self {
        let mut conditional = Self::identity(shift.len());
        let parts = conditional.parts_mut((shift.len(), shift.len()));
        parts.gain.copy_from_slice(gain);
        parts.shift.copy_from_slice(shift);
        parts.factor.copy_from_slice(factor);
        conditional
    }

    /// `z' = z + L ε` with the noise `Q = L Lᵀ` of a step.
    pub(super) fn from_noise<S: Shape>(shape: S, noise: &[f64]) -> Self {
        let mut conditional = Self::identity(shape.size());
        let mut factor = vec![0.0; shape.n_parts() * shape.n_parts() * shape.width()];
        noise_factor(shape, noise, &mut factor);
        let square = conditional.parts_mut((shape.size(), shape.size())).factor;
        write_factor(shape, &factor, |i, k, entry| square[i * shape.size() + k] = entry);
        conditional
    }

    /// The state before the root: exactly zero, with nothing before it.
    pub(crate) fn zero(size: usize) -> Self {
        Self { size, near: 0, numbers: vec![0.0; length(size, 0)] }
    }

    /// A conditional from all its numbers, in the order of [`Conditional::numbers`]; `None` if their count is wrong or one is not finite.
    pub(crate) fn from_numbers(size: usize, near: usize, numbers: Vec<f64>) -> Option<Self> {
        let fits = numbers.len() == length(size, near) && numbers.iter().all(|number| number.is_finite());
        fits.then_some(Self { size, near, numbers })
    }

    /// The last state, if it does not depend on the state before.
    pub(crate) fn gaussian(&self) -> GaussianView<'_> {
        let Parts { factor, shift, .. } = self.parts();
        GaussianView::from_factor(shift, factor)
    }

    /// All numbers.
    pub(crate) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// The size of a state.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Writes b and X.
    pub(super) fn set_gaussian(&mut self, write: impl FnOnce(&mut [f64], &mut [f64])) {
        let PartsMut { shift, factor, .. } = self.parts_mut((self.size, self.near));
        write(shift, factor);
    }

    /// A, to be changed.
    pub(super) fn gain_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[..self.size * self.near]
    }

    /// c.
    pub(crate) fn log_normalizer(&self) -> f64 {
        self.numbers.last().copied().unwrap_or(0.0)
    }

    /// Whether A is zero, to far below rounding.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.parts().gain.iter().all(|entry| entry.abs() < FORGOTTEN)
    }

    /// Replaces the last state by a Gaussian that does not depend on the state before.
    #[inline(always)]
    pub(crate) fn end_with(&mut self, mean: &[f64], root: &[f64], log_normalizer: f64) {
        let PartsMut { gain, factor, shift, log_normalizer: sum, .. } =
            self.parts_mut((self.size, self.near));
        gain.fill(0.0);
        factor.copy_from_slice(root);
        shift.copy_from_slice(mean);
        *sum += log_normalizer;
    }

    /// Replaces the last state by that of a conditional that has forgotten the state before it.
    #[inline(always)]
    pub(crate) fn end_as(&mut self, last: &Self) {
        let Parts { factor, shift, .. } = last.parts();
        self.end_with(shift, factor, last.log_normalizer());
    }

    /// Whether all numbers are finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.numbers.iter().all(|number| number.is_finite())
    }

    #[inline(always)]
    pub(crate) fn parts(&self) -> Parts<'_> {
        self.parts_of((self.size, self.near))
    }

    #[inline(always)]
    fn parts_of(&self, (size, near): Sizes) -> Parts<'_> {
        let (gain, rest) = self.numbers.split_at(size * near);
        let (factor, rest) = rest.split_at(size * size);
        let (root, rest) = rest.split_at(near * near);
        let (shift, rest) = rest.split_at(size);
        Parts { gain, factor, root, shift, offset: &rest[..near] }
    }

    /// (E, e), the likelihood of the state before.
    #[inline(always)]
    pub(crate) fn rows(&self) -> RowsView<'_> {
        let Parts { root, offset, .. } = self.parts();
        RowsView { root, offset }
    }

    #[inline(always)]
    fn parts_mut(&mut self, (size, near): Sizes) -> PartsMut<'_> {
        let (gain, rest) = self.numbers.split_at_mut(size * near);
        let (factor, rest) = rest.split_at_mut(size * size);
        let (root, rest) = rest.split_at_mut(near * near);
        let (shift, rest) = rest.split_at_mut(size);
        let (offset, rest) = rest.split_at_mut(near);
        PartsMut { gain, factor, root, shift, offset, log_normalizer: &mut rest[0] }
    }

    /// Copies another conditional.
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

    /// The parts, without those about a forgotten state before.
    #[inline(always)]
    fn remembered(&self, sizes: Sizes, near: usize) -> Parts<'_> {
        let parts = self.parts_of(sizes);
        if near == 0 { Parts { gain: &[], root: &[], offset: &[], ..parts } } else { parts }
    }

    /// Eliminates ε from rows about the last state. Leaves [U V a] in the first rows of `scratch.tall`, and in `scratch.below` the
    /// `near` rows about the state before; returns what c gains.
    #[inline(always)]
    fn eliminate_noise<A: Arithmetic>(
        &self,
        sizes: Sizes,
        near: usize,
        rows: RowsView<'_>,
        scratch: &mut Scratch,
    ) -> f64 {
        let Parts { gain, factor, root, shift, offset } = self.remembered(sizes, near);
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
            vector_times_matrix::<A>(reading, factor, &mut row[..size]);
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

    /// Adds the log evidence of rows about the last state, when neither that state nor the rows about the state before are needed.
    #[inline(always)]
    fn weigh<A: Arithmetic>(&mut self, size: usize, rows: RowsView<'_>, scratch: &mut Scratch) {
        let share = self.eliminate_noise::<A>((size, self.near), 0, rows, scratch);
        self.add_log_normalizer(share);
    }

    /// Extends the segment by the next one.
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

    /// Conditions on rows about the last state.
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

    /// `near` is the size of the state before, or 0 if that is forgotten.
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
        let PartsMut { gain, factor, root, shift, offset, log_normalizer } = self.parts_mut(sizes);
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
                let row = &mut factor[i * size..][..size];
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

    /// Moves the last state over another conditional, whose rows it has absorbed.
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
        let PartsMut { gain, factor, shift, log_normalizer, .. } = self.parts_mut(sizes);
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
            vector_times_matrix::<A>(row, factor, &mut moved[i * size..][..size]);
        }
        tall.clear();
        tall.resize(2 * size * size, 0.0);
        for i in 0..size {
            for k in 0..size {
                tall[k * size + i] = moved[i * size + k];
                tall[(size + k) * size + i] = over.factor[i * size + k];
            }
        }
        join_factors::<A>(size, elimination, tall, factor);
    }

    /// Moves the last state over a step.
    #[inline(always)]
    pub(super) fn step<A: Arithmetic, S: Shape>(
        &mut self,
        shape: S,
        step: StepView<'_>,
        scratch: &mut Scratch,
    ) {
        let (size, near) = (shape.size(), self.near);
        let PartsMut { gain, factor, shift, .. } = self.parts_mut((size, near));
        let Scratch { elimination, tall, moved, noise, .. } = scratch;
        moved.clear();
        moved.resize(size * size, 0.0);
        if near == size {
            transition_times_matrix::<A, S>(shape, step.transition, gain, moved);
            gain.copy_from_slice(moved);
        }
        transition_times_vector::<A, S>(shape, step.transition, shift, moved);
        shift.copy_from_slice(&moved[..size]);
        transition_times_matrix::<A, S>(shape, step.transition, factor, moved);
        tall.clear();
        tall.resize(2 * size * size, 0.0);
        for i in 0..size {
            for k in 0..size {
                tall[k * size + i] = moved[i * size + k];
            }
        }
        noise.clear();
        noise.resize(step.transition.len(), 0.0);
        noise_factor(shape, step.noise, noise);
        write_factor(shape, noise, |i, k, entry| tall[(size + k) * size + i] = entry);
        join_factors::<A>(size, elimination, tall, factor);
    }

    /// The rows about the state before: from the cells, and from rows about the last state.
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

/// X from the rows [X₁, X₂]ᵀ, in place of `tall`.
#[inline(always)]
fn join_factors<A: Arithmetic>(
    size: usize,
    elimination: &mut Elimination,
    tall: &mut [f64],
    factor: &mut [f64],
) {
    elimination.run::<A>(tall, 2 * size, size, size);
    for i in 0..size {
        for k in 0..size {
            factor[i * size + k] = tall[k * size + i];
        }
    }
}

/// Calls `write(i, k, L_ik)` for the entries of a step's noise factor.
#[inline(always)]
fn write_factor<S: Shape>(shape: S, factor: &[f64], mut write: impl FnMut(usize, usize, f64)) {
    let (parts, width) = (shape.n_parts(), shape.width());
    for c in 0..parts {
        for d in 0..=c {
            for s in 0..shape.len(c) {
                write(shape.offset(c) + s, shape.offset(d) + s, factor[(c * parts + d) * width + s]);
            }
        }
    }
}
