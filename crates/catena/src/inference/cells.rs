//! What a position's cells say about the values of the latents: as one message, or as scalar observations.
//!
//! Positions with the same mask share everything but the observed numbers, unless cells carry their own noise.

use super::readout::Readout;
use crate::graph::{Cells, FactorGraph};
use crate::linalg::{ReadoutRow, eliminate};

/// The precision matrix of the message that one position's cells send into the chain (message 4 of Fig. 2).
#[derive(Debug, Default)]
pub(super) struct Information {
    width: usize,
    /// Per mask, or per position with cell noise: Λ over the values, width×width. Empty when readouts are sparse.
    matrices: Vec<f64>,
}

/// The index of what a position shares with others: its mask, or itself when cells carry their own noise.
#[inline(always)]
fn shared_index(cells: &Cells, position: usize) -> usize {
    if cells.has_own_noise() { position } else { cells.mask_of(position) }
}

/// For every mask, or every position when cells carry their own noise: a position that has it.
fn representatives(cells: &Cells) -> Vec<usize> {
    if cells.has_own_noise() {
        return (0..cells.n_positions()).collect();
    }
    let mut representative = vec![0; cells.masks().len()];
    (0..cells.n_positions()).for_each(|position| representative[cells.mask_of(position)] = position);
    representative
}

impl Information {
    /// The matrices of all masks.
    pub(super) fn set(&mut self, graph: &FactorGraph<'_>, readout: &Readout) {
        let cells = graph.cells();
        let width = readout.width();
        self.width = width;
        self.matrices.clear();
        if readout.is_sparse() {
            return;
        }
        for position in representatives(cells) {
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

    /// Λ of a position over the values. Only for dense readouts.
    #[inline(always)]
    fn matrix(&self, cells: &Cells, position: usize) -> &[f64] {
        let len = self.width * self.width;
        &self.matrices[shared_index(cells, position) * len..][..len]
    }

    /// Adds a position's message to (Λ, η) over the whole state, whose rows are `size` long; returns `½ Σ y²/r`, which
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

/// Each position's cells as scalar observations of unit noise, at most as many as there are values to learn about.
///
/// Where more outputs are observed than there are latents, an orthogonal rotation of the whitened cells leaves one
/// observation per latent that says the same; the rest only adds a constant to the evidence.
#[derive(Debug, Default)]
pub(super) struct WhitenedCells {
    width: usize,
    /// Where the observations of each mask (or position) stand.
    groups: Vec<Group>,
    /// Readout rows, `width` weights each.
    rows: Vec<f64>,
    /// What turns observed numbers into whitened ones: a factor per cell, or a square rotation.
    rotations: Vec<f64>,
    n_observations: usize,
}

/// The observations that a mask's cells amount to.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_row: usize,
    first_rotation: usize,
    count: usize,
    is_rotated: bool,
}

impl WhitenedCells {
    /// Whitens the cells of every mask, and reduces where that leaves fewer of them.
    pub(super) fn set(&mut self, graph: &FactorGraph<'_>, readout: &Readout) {
        let cells = graph.cells();
        let n_latents = graph.model().n_latents();
        self.width = readout.width();
        self.groups.clear();
        self.rows.clear();
        self.rotations.clear();
        for position in representatives(cells) {
            let outputs = cells.outputs(position);
            let count = outputs.len().min(n_latents);
            let is_rotated = outputs.len() > n_latents;
            let first_row = self.rows.len() / self.width;
            self.groups.push(Group { first_row, first_rotation: self.rotations.len(), count, is_rotated });
            let noise = |(at, &output)| readout.cell_noise(cells, position, at, output);
            let whitening: Vec<f64> =
                outputs.iter().enumerate().map(noise).map(|noise| noise.sqrt().recip()).collect();
            if is_rotated {
                self.add_rotated(readout, outputs, &whitening, count);
            } else {
                for (&output, factor) in outputs.iter().zip(&whitening) {
                    self.rows.extend(readout.row(output).weights.iter().map(|weight| weight * factor));
                }
                self.rotations.extend(whitening);
            }
        }
        let counts = (0..cells.n_positions()).map(|position| {
            if cells.outputs(position).is_empty() {
                0
            } else {
                self.groups[shared_index(cells, position)].count
            }
        });
        self.n_observations = counts.sum();
    }

    /// How many observations all cells amount to.
    pub(super) fn n_observations(&self) -> usize {
        self.n_observations
    }

    /// [R^-½ H, R^-½] becomes [triangle, rotation]: the first `width` columns carry the readout, the others record
    /// what was done to the cells.
    fn add_rotated(&mut self, readout: &Readout, outputs: &[usize], whitening: &[f64], count: usize) {
        let columns = self.width + outputs.len();
        let mut tall = vec![0.0; outputs.len() * columns];
        for (at, (&output, factor)) in outputs.iter().zip(whitening).enumerate() {
            let row = &mut tall[at * columns..][..columns];
            for (entry, weight) in row.iter_mut().zip(readout.row(output).weights) {
                *entry = weight * factor;
            }
            row[self.width + at] = *factor;
        }
        eliminate(&mut tall, outputs.len(), columns, self.width.min(outputs.len()));
        for (at, row) in tall.chunks_exact(columns).enumerate() {
            if at < count {
                self.rows.extend_from_slice(&row[..self.width]);
            }
            self.rotations.extend_from_slice(&row[self.width..]);
        }
    }

    /// The observations that a position's cells amount to.
    #[inline(always)]
    pub(super) fn at<'a>(&'a self, cells: &'a Cells, position: usize) -> Whitened<'a> {
        let observed = cells.values(position);
        if observed.is_empty() {
            return Whitened { count: 0, rows: &[], rotations: &[], observed, is_rotated: false };
        }
        let group = self.groups[shared_index(cells, position)];
        let rotations = if group.is_rotated { observed.len() * observed.len() } else { observed.len() };
        Whitened {
            count: group.count,
            rows: &self.rows[group.first_row * self.width..][..group.count * self.width],
            rotations: &self.rotations[group.first_rotation..][..rotations],
            observed,
            is_rotated: group.is_rotated,
        }
    }
}

/// The whitened cells of one position.
#[derive(Clone, Copy)]
pub(super) struct Whitened<'a> {
    /// How many observations there are.
    pub(super) count: usize,
    rows: &'a [f64],
    rotations: &'a [f64],
    observed: &'a [f64],
    is_rotated: bool,
}

impl<'a> Whitened<'a> {
    /// The readout row of an observation; `touched` as for the output it observes.
    #[inline(always)]
    pub(super) fn row(&self, readout: &'a Readout, outputs: &[usize], at: usize) -> ReadoutRow<'a> {
        let width = readout.width();
        // A rotated row mixes outputs; private latents outnumber the outputs, so rotation never meets sparse rows.
        let touched = if self.is_rotated { None } else { readout.touched_by(outputs[at]) };
        ReadoutRow { weights: &self.rows[at * width..][..width], touched }
    }

    /// The standard deviation of the noise of an observation's cell. Only without a rotation.
    #[inline(always)]
    pub(super) fn deviation(&self, at: usize) -> f64 {
        self.rotations[at].recip()
    }

    /// How an observation mixes the position's cells, as factors of their observed numbers; `None` when it is one of them.
    #[inline(always)]
    pub(super) fn rotation(&self, at: usize) -> Option<&'a [f64]> {
        let len = self.observed.len();
        self.is_rotated.then(|| &self.rotations[at * len..][..len])
    }

    /// The value of an observation.
    #[inline(always)]
    pub(super) fn value(&self, at: usize) -> f64 {
        if self.is_rotated { self.rotated(at) } else { self.rotations[at] * self.observed[at] }
    }

    #[inline(always)]
    fn rotated(&self, at: usize) -> f64 {
        let len = self.observed.len();
        let mut value = 0.0;
        for (factor, observed) in self.rotations[at * len..][..len].iter().zip(self.observed) {
            value += factor * observed;
        }
        value
    }

    /// The sum of squares of what a rotation set apart.
    #[inline(always)]
    pub(super) fn squares_apart(&self) -> f64 {
        let mut squares = 0.0;
        if self.is_rotated {
            for at in self.count..self.observed.len() {
                let value = self.rotated(at);
                squares += value * value;
            }
        }
        squares
    }
}
