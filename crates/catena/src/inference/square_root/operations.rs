//! The operations on a conditional: absorb rows, advance, step, join and pull; [`super::conditional`] has the equations.

use super::super::log_product::LogProduct;
use super::super::steps::StepView;
use super::conditional::{Conditional, Parts, PartsMut, Sizes, write_factor};
use super::rows::{InformationRows, RowsView};
use crate::linalg::{
    Arithmetic, Elimination, Shape, add_scaled, dot, noise_factor, transition_times_matrix,
    transition_times_vector, vector_times_matrix,
};

/// Scratch for the operations, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    elimination: Elimination,
    tall: Vec<f64>,
    below: Vec<f64>,
    moved: Vec<f64>,
    noise: Vec<f64>,
}

/// The columns of [U V a], in whole vector lanes.
#[inline(always)]
fn columns((size, near): Sizes) -> usize {
    (size + near + 1).next_multiple_of(4)
}

impl Conditional {
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
