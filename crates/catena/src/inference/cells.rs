//! The likelihood of a position's cells: as one information-form message, or as scalar observations.
//!
//! Positions with the same mask share everything but the observed numbers, unless cells carry their own noise.

use super::readout::Readout;
use crate::graph::Cells;
use crate::linalg::{Arithmetic, Job, Layout, StateAlgebra, ThinFactors, dispatch_machine, dot};
use std::ops::Range;

/// The precision of the message from each position's cells (message 4 of Fig. 2).
#[derive(Debug, Default)]
pub(super) struct CellPrecisions {
    width: usize,
    /// Per mask, or per position with cell noise: Λ over the values, width×width. Empty if readouts are sparse.
    matrices: Vec<f64>,
}

/// The index of the matrices that positions share: by mask, or by position if cells carry their own noise.
#[inline(always)]
fn shared_index(cells: &Cells, position: usize) -> usize {
    if cells.has_own_noise() { position } else { cells.mask_of(position) }
}

/// For every mask, or every position if cells carry their own noise: the first position, and how many there are.
fn representatives(cells: &Cells) -> Vec<(usize, usize)> {
    if cells.has_own_noise() {
        return (0..cells.n_positions()).map(|position| (position, 1)).collect();
    }
    let first = cells.first_of_mask().iter().copied();
    first.zip(cells.positions_of_mask().iter().copied()).collect()
}

impl CellPrecisions {
    /// Computes the matrices of all masks.
    pub(super) fn set(&mut self, cells: &Cells, readout: &Readout) {
        let width = readout.width();
        self.width = width;
        self.matrices.clear();
        if readout.is_sparse() {
            return;
        }
        for (position, _) in representatives(cells) {
            let start = self.matrices.len();
            self.matrices.resize(start + width * width, 0.0);
            let matrix = &mut self.matrices[start..];
            for (at, &output) in cells.outputs(position).iter().enumerate() {
                let precision = readout.cell_noise(cells, position, at, output).recip();
                let weights = readout.row(output).weights;
                for i in 0..width {
                    for j in 0..width {
                        matrix[i * width + j] += weights[i] * weights[j] * precision;
                    }
                }
            }
        }
    }

    /// Λ of a position over the values, for dense readouts.
    #[inline(always)]
    fn matrix(&self, cells: &Cells, position: usize) -> &[f64] {
        let len = self.width * self.width;
        &self.matrices[shared_index(cells, position) * len..][..len]
    }

    /// Adds a position's message to (Λ, η) over the state, whose rows are `size` long; returns `½ Σ y²/r`, which
    /// the message leaves out.
    #[inline(always)]
    pub(super) fn add_to(
        &self,
        cells: &Cells,
        readout: &Readout,
        position: usize,
        size: usize,
        (matrix, vector): (&mut [f64], &mut [f64]),
    ) -> f64 {
        let width = self.width;
        let outputs = cells.outputs(position);
        if !readout.is_sparse() && !outputs.is_empty() {
            let own = self.matrix(cells, position);
            for i in 0..width {
                for j in 0..width {
                    matrix[i * size + j] += own[i * width + j];
                }
            }
        }
        let mut half_squares = 0.0;
        for (at, (&output, &value)) in outputs.iter().zip(cells.values(position)).enumerate() {
            let precision = readout.cell_noise(cells, position, at, output).recip();
            half_squares += 0.5 * value * value * precision;
            let row = readout.row(output);
            for i in 0..width {
                vector[i] += row.weights[i] * (value * precision);
            }
            for &i in row.touched.unwrap_or_default() {
                for &j in row.touched.unwrap_or_default() {
                    let (i, j) = (i as usize, j as usize);
                    matrix[i * size + j] += row.weights[i] * row.weights[j] * precision;
                }
            }
        }
        half_squares
    }
}

/// Each position's cells as scalar observations of unit noise, at most as many as there are values to observe.
///
/// If more outputs are observed than there are values, orthogonal combinations of the whitened cells yield one observation per
/// value with the same likelihood; what they do not explain adds a constant to the log evidence. Work and memory are linear in the
/// number of cells.
#[derive(Debug, Default)]
pub(super) struct WhitenedCells {
    width: usize,
    /// The observations of each mask (or position).
    groups: Vec<Group>,
    /// Readout rows, `width` weights each.
    rows: Vec<f64>,
    /// Maps observed to whitened values: one over the noise standard deviation of each cell or, with a rotation, the factors of each
    /// cell in all observations, padded to whole vector lanes, and then the noise standard deviations.
    rotations: Vec<f64>,
    n_observations: usize,
    /// Scratch.
    factors: ThinFactors,
}

/// The observations of a mask's cells.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_row: usize,
    first_rotation: usize,
    count: usize,
    n_cells: usize,
}

impl Group {
    /// Whether observations mix cells.
    #[inline(always)]
    fn is_rotated(self) -> bool {
        self.n_cells > self.count
    }

    /// The number of factors of a cell in a rotation, padded.
    #[inline(always)]
    fn column_len(self) -> usize {
        self.count.next_multiple_of(4)
    }
}

impl WhitenedCells {
    /// Whitens the cells of every mask, rotated where that leaves fewer observations.
    pub(super) fn set(&mut self, cells: &Cells, readout: &Readout, layout: &Layout) {
        dispatch_machine(layout, Whiten { target: self, cells, readout });
    }

    #[inline(always)]
    fn set_with<A: Arithmetic>(&mut self, cells: &Cells, readout: &Readout) {
        let n_values = readout.n_values();
        self.width = readout.width();
        self.groups.clear();
        self.rows.clear();
        self.rotations.clear();
        self.n_observations = 0;
        for (position, n_positions) in representatives(cells) {
            let outputs = cells.outputs(position);
            let (count, n_cells) = (outputs.len().min(n_values), outputs.len());
            let first_row = self.rows.len() / self.width;
            self.rotations.resize(self.rotations.len().next_multiple_of(4), 0.0);
            let group = Group { first_row, first_rotation: self.rotations.len(), count, n_cells };
            self.groups.push(group);
            self.n_observations += count * n_positions;
            let noise = |(at, &output)| readout.cell_noise(cells, position, at, output);
            let whitening: Vec<f64> =
                outputs.iter().enumerate().map(noise).map(|noise| noise.sqrt().recip()).collect();
            if group.is_rotated() {
                self.add_rotated::<A>(readout, outputs, &whitening, group);
            } else {
                for (&output, factor) in outputs.iter().zip(&whitening) {
                    self.rows.extend(readout.row(output).weights.iter().map(|weight| weight * factor));
                }
                self.rotations.extend(whitening);
            }
        }
    }

    /// How many observations the cells of these positions yield.
    pub(super) fn count(&self, cells: &Cells, positions: Range<usize>) -> usize {
        positions.map(|position| self.groups[shared_index(cells, position)].count).sum()
    }

    /// How many observations all cells yield.
    pub(super) fn n_observations(&self) -> usize {
        self.n_observations
    }

    /// R^-½ H = Q T with orthonormal columns of Q: the observations QᵀR^-½ y have the readout T.
    #[inline(always)]
    fn add_rotated<A: Arithmetic>(
        &mut self,
        readout: &Readout,
        outputs: &[usize],
        whitening: &[f64],
        group: Group,
    ) {
        let Group { first_row, first_rotation, count, n_cells } = group;
        let weight = |cell: usize, place: usize| whitening[cell] * readout.row(outputs[cell]).weights[place];
        self.factors.set::<A>((n_cells, count), weight);
        self.rows.resize((first_row + count) * self.width, 0.0);
        for (at, row) in self.rows[first_row * self.width..].chunks_exact_mut(self.width).enumerate() {
            row[at..].iter_mut().zip(self.factors.triangle_row(at)).for_each(|(entry, found)| *entry = found);
        }
        let len = group.column_len();
        self.rotations.resize(first_rotation + n_cells * len, 0.0);
        let rotation = &mut self.rotations[first_rotation..];
        for (at, column) in self.factors.basis().enumerate() {
            for (cell, entry) in self.factors.rows().zip(column) {
                rotation[cell * len + at] = whitening[cell] * entry;
            }
        }
        self.rotations.extend(whitening.iter().map(|factor| factor.recip()));
    }

    /// The observations of a position's cells.
    #[inline(always)]
    pub(super) fn at(&self, cells: &Cells, position: usize) -> Whitened<'_> {
        Whitened { all: self, group: self.groups[shared_index(cells, position)] }
    }
}

/// Whitens all cells.
struct Whiten<'a> {
    target: &'a mut WhitenedCells,
    cells: &'a Cells,
    readout: &'a Readout,
}

impl Job for Whiten<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, _shape: S) {
        self.target.set_with::<A>(self.cells, self.readout);
    }
}

/// The whitened cells of one position.
#[derive(Clone, Copy)]
pub(super) struct Whitened<'a> {
    all: &'a WhitenedCells,
    group: Group,
}

impl<'a> Whitened<'a> {
    /// How many observations there are.
    #[inline(always)]
    pub(super) fn count(self) -> usize {
        self.group.count
    }

    /// The weights of all observations, `width` each.
    #[inline(always)]
    pub(super) fn weights(self, width: usize) -> &'a [f64] {
        &self.all.rows[self.group.first_row * width..][..self.group.count * width]
    }

    /// The noise standard deviation of an observation's cell, without a rotation.
    #[inline(always)]
    pub(super) fn deviation(self, at: usize) -> f64 {
        self.all.rotations[self.group.first_rotation + at].recip()
    }

    /// Whether observations mix the position's cells.
    #[inline(always)]
    pub(super) fn is_rotated(self) -> bool {
        self.group.is_rotated()
    }

    /// By cell, its factor in each observation, with a rotation.
    #[inline(always)]
    pub(super) fn rotation(self) -> impl Iterator<Item = &'a [f64]> {
        let Group { first_rotation, n_cells, .. } = self.group;
        let len = self.group.column_len();
        self.all.rotations[first_rotation..][..n_cells * len].chunks_exact(len)
    }

    /// Computes the values of the observations from the position's observed values; `values` holds all cells of
    /// a position in whole lanes. Returns the sum of squares that the observations do not explain.
    #[inline(always)]
    pub(super) fn find_values<A: Arithmetic>(self, observed: &[f64], values: &mut [f64]) -> f64 {
        let Group { first_rotation, count, n_cells, .. } = self.group;
        if !self.group.is_rotated() {
            let factors = &self.all.rotations[first_rotation..][..count];
            for ((value, factor), observed) in values.iter_mut().zip(factors).zip(observed) {
                *value = factor * observed;
            }
            return 0.0;
        }
        let lanes = self.group.column_len() / 4;
        let columns = &self.all.rotations.as_chunks::<4>().0[first_rotation / 4..][..n_cells * lanes];
        for (lane, values) in values.as_chunks_mut::<4>().0[..lanes].iter_mut().enumerate() {
            let mut sum = A::splat(0.0);
            for (column, &observed) in columns.chunks_exact(lanes).zip(observed) {
                sum = A::mul_add_lanes(A::splat(observed), A::load(&column[lane]), sum);
            }
            A::store(sum, values);
        }
        let deviations = &self.all.rotations[first_rotation + 4 * n_cells * lanes..][..n_cells];
        let mut squares = 0.0;
        for ((column, &observed), &deviation) in columns.chunks_exact(lanes).zip(observed).zip(deviations) {
            // In units of the cell's noise.
            let explained = deviation * dot::<A>(column.as_flattened(), values);
            let rest = observed / deviation - explained;
            squares = A::mul_add(rest, rest, squares);
        }
        squares
    }
}
