//! The observations of a position for several models: readout rows and values, one model per lane.

use super::super::cells::WhitenedCells;
use super::super::readout::Readout;
use crate::graph::{Cells, FactorGraph};
use crate::linalg::{Arithmetic, Layout, MODELS, PerModel, SparseRow, Unpadded, add_multiple, inner};

/// The rows of H of several models, and their cells as scalar observations of unit noise.
///
/// Rows with more cells than latents are rotated to one observation per latent, mask by mask, as in [`WhitenedCells`].
#[derive(Debug)]
pub(super) struct BatchReadout<'a> {
    pub(super) cells: &'a Cells,
    /// How many entries an output reads.
    pub(super) per_row: usize,
    n_values: usize,
    /// By output, the entries it reads, ascending.
    touched: Vec<usize>,
    /// By output, the weights of these entries, and the same over the deviation of the noise.
    weights: Vec<PerModel>,
    whitened_weights: Vec<PerModel>,
    /// By output, one over the standard deviation of the noise, and that deviation.
    precisions: Vec<PerModel>,
    deviations: Vec<PerModel>,
    /// All values.
    everything: Vec<usize>,
    readouts: Vec<Readout>,
    /// By mask, where its rotated rows begin in `rotations`, followed by the factors of each cell in all observations.
    first_rotation: Vec<usize>,
    rotations: Vec<PerModel>,
    pub(super) values: Vec<PerModel>,
}

/// How many numbers of each model the rotations of all masks take.
pub(super) fn rotation_len(cells: &Cells, n_values: usize) -> usize {
    let of_mask = |&first: &usize| match cells.outputs(first).len() {
        n_cells if n_cells > n_values => (n_values + n_cells) * n_values,
        _ => 0,
    };
    cells.first_of_mask().iter().map(of_mask).sum()
}

impl<'a> BatchReadout<'a> {
    /// The readout of these models.
    pub(super) fn new(graphs: [&'a FactorGraph<'_>; MODELS], layout: &Layout, shape: Unpadded) -> Self {
        let cells = graphs[0].cells();
        let (n_outputs, n_values) = (cells.n_outputs(), shape.n_slots());
        let readout = |graph: &FactorGraph<'_>| {
            let mut readout = Readout::default();
            readout.set(graph.model(), layout);
            readout
        };
        let readouts: Vec<Readout> = graphs.iter().map(|graph| readout(graph)).collect();
        let mut touched: Vec<usize> = vec![];
        for output in 0..n_outputs {
            let first = touched.len();
            match readouts[0].touched_by(output) {
                Some(own) => touched.extend(own.iter().map(|&slot| slot as usize)),
                None => touched.extend(0..n_values),
            }
            touched[first..].sort_unstable();
        }
        let per_row = touched.len() / n_outputs.max(1);
        let precision = |output: usize, model: usize| readouts[model].noise(output).sqrt().recip();
        let precisions: Vec<PerModel> = (0..n_outputs)
            .map(|output| PerModel(std::array::from_fn(|model| precision(output, model))))
            .collect();
        let weight = |at: usize, model: usize| readouts[model].row(at / per_row).weights[touched[at]];
        let weights: Vec<PerModel> =
            (0..touched.len()).map(|at| PerModel(std::array::from_fn(|model| weight(at, model)))).collect();
        let whitened_weights = weights.iter().enumerate().map(|(at, weights)| {
            let precision = precisions[at / per_row];
            PerModel(std::array::from_fn(|model| weights.0[model] * precision.0[model]))
        });
        let whitened_weights = whitened_weights.collect();
        let deviation = |precision: &PerModel| PerModel(precision.0.map(f64::recip));
        let deviations = precisions.iter().map(deviation).collect();
        let mut readout = Self {
            cells,
            per_row,
            n_values,
            touched,
            weights,
            whitened_weights,
            precisions,
            deviations,
            everything: (0..n_values).collect(),
            readouts,
            first_rotation: vec![],
            rotations: vec![PerModel::ZERO; rotation_len(cells, n_values)],
            values: vec![PerModel::ZERO; n_outputs],
        };
        readout.rotate(layout);
        readout
    }

    /// Rotates the cells of every mask with more cells than values.
    fn rotate(&mut self, layout: &Layout) {
        if self.rotations.is_empty() {
            return;
        }
        let (cells, n_values) = (self.cells, self.n_values);
        let mut whitened = WhitenedCells::default();
        for (model, readout) in self.readouts.iter().enumerate() {
            whitened.set(cells, readout, layout);
            self.first_rotation.clear();
            let mut at = 0;
            for &position in cells.first_of_mask() {
                self.first_rotation.push(at);
                let own = whitened.at(cells, position);
                if !own.is_rotated() {
                    continue;
                }
                let width = readout.width();
                let rows = own.weights(width).chunks_exact(width).map(|row| &row[..n_values]);
                for factors in rows.chain(own.rotation().map(|factors| &factors[..n_values])) {
                    for (factor, target) in factors.iter().zip(&mut self.rotations[at..]) {
                        target.0[model] = *factor;
                    }
                    at += n_values;
                }
            }
        }
    }

    /// The log evidence's constants `−½ Σ log 2πr` of a model.
    pub(super) fn log_noise(&self, model: usize) -> f64 {
        self.readouts[model].log_noise(self.cells, 0..self.cells.n_positions())
    }

    /// Whether the observations of a position mix its cells.
    #[inline(always)]
    pub(super) fn is_rotated(&self, position: usize) -> bool {
        self.cells.outputs(position).len() > self.n_values
    }

    /// How many observations a position has.
    #[inline(always)]
    pub(super) fn count(&self, position: usize) -> usize {
        self.cells.outputs(position).len().min(self.n_values)
    }

    /// How many observations there are.
    pub(super) fn n_observations(&self) -> usize {
        let of_mask = self.cells.first_of_mask().iter().zip(self.cells.positions_of_mask());
        of_mask.map(|(&first, &positions)| self.count(first) * positions).sum()
    }

    /// The rotated rows of a position, `n_values` numbers each, and the factors of each cell in all observations.
    #[inline(always)]
    pub(super) fn rotation(&self, position: usize) -> (&[PerModel], &[PerModel]) {
        let (n_values, n_cells) = (self.n_values, self.cells.outputs(position).len());
        let first = self.first_rotation[self.cells.mask_of(position)];
        self.rotations[first..][..(n_values + n_cells) * n_values].split_at(n_values * n_values)
    }

    /// Computes the values of a position's observations. Returns the sums of squares that they do not explain.
    #[inline(always)]
    pub(super) fn find_values<A: Arithmetic>(&mut self, position: usize) -> A::Lane {
        let (observed, outputs) = (self.cells.values(position), self.cells.outputs(position));
        let mut squares = A::splat(0.0);
        let mut values = std::mem::take(&mut self.values);
        if !self.is_rotated(position) {
            for ((&output, &value), target) in outputs.iter().zip(observed).zip(&mut values) {
                target.set::<A>(A::times(A::splat(value), self.precisions[output].lane::<A>()));
            }
        } else {
            let (_, factors) = self.rotation(position);
            let sums = &mut values[..self.n_values];
            sums.fill(PerModel::ZERO);
            for (factors, &value) in factors.chunks_exact(self.n_values).zip(observed) {
                add_multiple::<A>(A::splat(value), factors, sums);
            }
            for ((factors, &value), &output) in factors.chunks_exact(self.n_values).zip(observed).zip(outputs)
            {
                // In units of the cell's noise.
                let explained = A::times(self.deviations[output].lane::<A>(), inner::<A>(factors, sums));
                let whitened = A::times(A::splat(value), self.precisions[output].lane::<A>());
                let rest = A::minus(whitened, explained);
                squares = A::mul_add_lanes(rest, rest, squares);
            }
        }
        self.values = values;
        squares
    }

    /// The row of a position's `at`-th observation.
    #[inline(always)]
    pub(super) fn row(&self, position: usize, at: usize) -> SparseRow<'_> {
        if self.is_rotated(position) {
            let weights = &self.rotation(position).0[at * self.n_values..][..self.n_values];
            return SparseRow { touched: &self.everything, weights };
        }
        let first = self.cells.outputs(position)[at] * self.per_row;
        SparseRow {
            touched: &self.touched[first..first + self.per_row],
            weights: &self.whitened_weights[first..first + self.per_row],
        }
    }

    /// The row of H that reads an output.
    #[inline(always)]
    pub(super) fn row_of_output(&self, output: usize) -> SparseRow<'_> {
        let entries = output * self.per_row..(output + 1) * self.per_row;
        SparseRow { touched: &self.touched[entries.clone()], weights: &self.weights[entries] }
    }

    /// One over the standard deviation of an output's noise.
    #[inline(always)]
    pub(super) fn precision(&self, output: usize) -> &PerModel {
        &self.precisions[output]
    }

    /// The entry of a model's mixing matrix where an output reads a slot is at this place in sums by output and entry; `None` if
    /// it does not.
    pub(super) fn place(&self, output: usize, slot: usize) -> Option<usize> {
        let first = output * self.per_row;
        self.touched[first..first + self.per_row].iter().position(|&at| at == slot).map(|at| first + at)
    }
}
