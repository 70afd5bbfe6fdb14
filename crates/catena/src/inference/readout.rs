//! The readout of outputs from the state: the mixing factor H, and the noise of the cells.

use super::gaussian::{Covariance, GaussianView};
use crate::graph::Cells;
use crate::index::OutputIndex;
use crate::linalg::{Layout, ReadoutRow, Separate, Shape, dot, vector_times_matrix};
use crate::model::Lmc;
use std::f64::consts::TAU;
use std::ops::Range;

/// Mean and covariance of the entries that outputs read; rows of the covariance are `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) mean: &'a [f64],
    pub(super) covariance: &'a [f64],
    pub(super) stride: usize,
}

/// The rows of H and the noise of each cell, in the layout of the state.
///
/// Outputs read the first `width` entries of the state: the values and, for cycles with a phase per output, a second component.
#[derive(Clone, Debug, Default)]
pub(super) struct Readout {
    n_outputs: usize,
    width: usize,
    /// One past the last entry read, without padding.
    n_values: usize,
    /// H by output, dense: D×width.
    rows: Vec<f64>,
    /// The entries that each output reads, if each has a private latent.
    touched: Option<Vec<Vec<u32>>>,
    /// The noise variance of each output.
    noise: Vec<f64>,
    reads_values: bool,
    /// Hᵀ over the values, width×`output_lanes`: outputs side by side, padded to whole vector lanes.
    columns: Vec<f64>,
    output_lanes: usize,
}

impl Readout {
    /// The readout of a model.
    pub(super) fn set(&mut self, model: &Lmc, layout: &Layout) {
        self.n_outputs = model.n_outputs();
        self.width = layout.dynamic().readable();
        self.n_values = layout.n_values();
        self.rows.clear();
        self.rows.resize(self.n_outputs * self.width, 0.0);
        self.noise.clear();
        self.noise.extend(model.noise().iter().map(|variance| variance.get()));
        self.output_lanes = self.n_outputs.next_multiple_of(4);
        self.columns.clear();
        self.columns.resize(self.width * self.output_lanes, 0.0);
        let mut touched = vec![vec![]; self.n_outputs];
        for output in 0..self.n_outputs {
            for (latent, weight) in model.mixing().row_entries(OutputIndex::new(output)) {
                let place = layout.place_read(latent.get());
                self.rows[output * self.width + place] = weight;
                self.columns[place * self.output_lanes + output] = weight;
                touched[output].push(place as u32);
            }
        }
        self.touched = model.mixing().has_private().then_some(touched);
        self.reads_values = !self.is_sparse() && self.n_values <= self.n_outputs;
    }

    /// The number of outputs, D.
    #[inline(always)]
    pub(super) fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The padded number of values.
    #[inline(always)]
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// One past the last entry read.
    #[inline(always)]
    pub(super) fn n_values(&self) -> usize {
        self.n_values
    }

    /// The weights of four outputs (padded), beginning at `first`, for the value in a slot.
    #[inline(always)]
    pub(super) fn column_lanes(&self, slot: usize, first: usize) -> &[f64; 4] {
        &self.columns.as_chunks::<4>().0[(slot * self.output_lanes + first) / 4]
    }

    /// The row of H that reads an output.
    #[inline(always)]
    pub(super) fn row(&self, output: usize) -> ReadoutRow<'_> {
        ReadoutRow {
            weights: &self.rows[output * self.width..][..self.width],
            touched: self.touched_by(output),
        }
    }

    /// The slots that an output reads; `None` if it can read all.
    #[inline(always)]
    pub(super) fn touched_by(&self, output: usize) -> Option<&[u32]> {
        self.touched.as_ref().map(|all| &all[output][..])
    }

    /// Whether each output has a private latent, so that rows of H are sparse.
    #[inline(always)]
    pub(super) fn is_sparse(&self) -> bool {
        self.touched.is_some()
    }

    /// The noise variance of an output.
    #[inline(always)]
    pub(super) fn noise(&self, output: usize) -> f64 {
        self.noise[output]
    }

    /// The noise variance of a position's `at`-th cell, which observes `output`.
    #[inline(always)]
    pub(super) fn cell_noise(&self, cells: &Cells, position: usize, at: usize, output: usize) -> f64 {
        cells.noise_variances(position).map_or(self.noise[output], |own| own[at])
    }

    /// The mean and variance of an output, `hᵀm` and `hᵀVh`.
    #[inline(always)]
    pub(super) fn read_output(&self, output: usize, values: Values<'_>) -> (f64, f64) {
        let row = self.row(output);
        let (mut mean, mut variance) = (0.0, 0.0);
        let mut add = |i: usize, others: &mut dyn Iterator<Item = usize>| {
            mean += row.weights[i] * values.mean[i];
            let with_output: f64 =
                others.map(|j| row.weights[j] * values.covariance[i * values.stride + j]).sum();
            variance += row.weights[i] * with_output;
        };
        match row.touched {
            Some(slots) => {
                let all = || slots.iter().map(|&slot| slot as usize);
                all().for_each(|slot| add(slot, &mut all()));
            }
            None => (0..self.width).for_each(|slot| add(slot, &mut (0..self.width))),
        }
        (mean, variance)
    }

    /// The mean and variance of an output: `hᵀm` and `hᵀPh`, or `|hᵀZ|²` from a factor.
    pub(super) fn output_marginal(&self, output: usize, state: GaussianView<'_>) -> (f64, f64) {
        match state.covariance {
            Covariance::Full(covariance) => {
                self.read_output(output, Values { mean: state.mean, covariance, stride: state.size() })
            }
            Covariance::Factor(factor) => {
                self.read_factor(output, (state.mean, factor), &mut vec![0.0; state.size()])
            }
        }
    }

    /// The mean and variance of an output from a covariance factor; leaves Zᵀh in `projected`.
    pub(super) fn read_factor(
        &self,
        output: usize,
        (mean, factor): (&[f64], &[f64]),
        projected: &mut [f64],
    ) -> (f64, f64) {
        let weights = self.row(output).weights;
        vector_times_matrix::<Separate>(weights, &factor[..weights.len() * projected.len()], projected);
        (dot::<Separate>(weights, &mean[..weights.len()]), dot::<Separate>(projected, projected))
    }

    /// The covariance of all outputs, D×D, symmetric to the bit.
    pub(super) fn output_covariance(&self, state: GaussianView<'_>) -> Vec<f64> {
        let (size, n_outputs) = (state.size(), self.n_outputs);
        let (Covariance::Full(matrix) | Covariance::Factor(matrix)) = state.covariance;
        let mut projected = vec![0.0; n_outputs * size];
        for (output, row) in projected.chunks_exact_mut(size).enumerate() {
            let weights = self.row(output).weights;
            vector_times_matrix::<Separate>(weights, &matrix[..weights.len() * size], row);
        }
        let mut covariance = vec![0.0; n_outputs * n_outputs];
        for d in 0..n_outputs {
            let row = &projected[d * size..][..size];
            for e in d..n_outputs {
                let entry = match state.covariance {
                    Covariance::Full(_) => self.read(e, row),
                    Covariance::Factor(_) => dot::<Separate>(row, &projected[e * size..][..size]),
                };
                covariance[d * n_outputs + e] = entry;
                covariance[e * n_outputs + d] = entry;
            }
        }
        covariance
    }

    /// `hᵀx`, the value of an output at a state.
    pub(super) fn read(&self, output: usize, state: &[f64]) -> f64 {
        let weights = self.row(output).weights;
        dot::<Separate>(weights, &state[..weights.len()])
    }

    /// Whether marginals are computed from the posterior of the values rather than output by output.
    #[inline(always)]
    pub(super) fn reads_values(&self) -> bool {
        self.reads_values
    }

    /// `−½ Σ log 2πr` over the cells of some positions.
    pub(super) fn log_noise(&self, cells: &Cells, positions: Range<usize>) -> f64 {
        let half_log = |noise: f64| -0.5 * (TAU * noise).ln();
        let by_output: Vec<f64> = self.noise.iter().copied().map(half_log).collect();
        if !cells.has_own_noise() && positions.len() == cells.n_positions() {
            let counts = cells.counts_by_output().into_iter();
            return counts.zip(by_output).map(|(count, log)| count as f64 * log).sum();
        }
        let at = |position: usize| -> f64 {
            match cells.noise_variances(position) {
                Some(own) => own.iter().copied().map(half_log).sum(),
                None => cells.outputs(position).iter().map(|&output| by_output[output]).sum(),
            }
        };
        positions.map(at).sum()
    }
}
