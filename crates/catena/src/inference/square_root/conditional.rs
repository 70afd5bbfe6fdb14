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
use super::rows::RowsView;
use crate::linalg::{Shape, noise_factor};

/// The last state of a segment given the state before it, with the likelihood of its cells; see the module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conditional {
    /// The size of a state.
    size: usize,
    /// The size of the preceding state: `size`, or 0 for a Gaussian without one.
    pub(super) near: usize,
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

pub(super) struct PartsMut<'a> {
    pub(super) gain: &'a mut [f64],
    pub(super) factor: &'a mut [f64],
    pub(super) root: &'a mut [f64],
    pub(super) shift: &'a mut [f64],
    pub(super) offset: &'a mut [f64],
    pub(super) log_normalizer: &'a mut f64,
}

/// Entries of A below this are treated as zero: beside numbers of order 1 they are far below rounding.
const FORGOTTEN: f64 = 1e-20;

/// The size of a state, and that of the state before: passed as arguments so that code compiled for a size knows both.
pub(super) type Sizes = (usize, usize);

/// How many numbers a conditional has.
const fn length(size: usize, near: usize) -> usize {
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
    pub(super) fn parts_of(&self, (size, near): Sizes) -> Parts<'_> {
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
    pub(super) fn parts_mut(&mut self, (size, near): Sizes) -> PartsMut<'_> {
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
    pub(super) fn remembered(&self, sizes: Sizes, near: usize) -> Parts<'_> {
        let parts = self.parts_of(sizes);
        if near == 0 { Parts { gain: &[], root: &[], offset: &[], ..parts } } else { parts }
    }
}

/// Calls `write(i, k, L_ik)` for the entries of a step's noise factor.
#[inline(always)]
pub(super) fn write_factor<S: Shape>(shape: S, factor: &[f64], mut write: impl FnMut(usize, usize, f64)) {
    let (parts, width) = (shape.n_parts(), shape.width());
    for c in 0..parts {
        for d in 0..=c {
            for s in 0..shape.len(c) {
                write(shape.offset(c) + s, shape.offset(d) + s, factor[(c * parts + d) * width + s]);
            }
        }
    }
}
