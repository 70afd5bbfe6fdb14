//! Positions folded into elements under one model: steps, rows of cells, and what outputs read from a state.

use super::super::readout::Readout;
use super::super::square_root;
use super::super::steps::{StepTable, StepView};
use super::algebra::Algebra;
use super::element::{Element, InformationRows, Parts, RowsView};
use crate::linalg::{Layout, Separate, Shape, dot, eliminate, vector_times_matrix};
use crate::model::{Latent, Lmc};
use std::f64::consts::TAU;

/// Everything of a model that folding needs.
#[derive(Clone, Debug)]
pub(crate) struct SquareRootModel {
    algebra: Algebra,
    readout: Readout,
    steps: StepTable,
}

/// A step of the table that was set last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepAt {
    /// The step that comes from nowhere.
    Root,
    /// The step of this length in the list.
    Length(usize),
}

/// How much two states know of one another: the largest share of an output's variance that the other state explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shares {
    /// Of the outputs at the earlier state.
    pub(crate) of_earlier: f64,
    /// Of the outputs at the later state.
    pub(crate) of_later: f64,
}

impl SquareRootModel {
    /// Folds under this model.
    pub(crate) fn new(model: &Lmc) -> Self {
        let dims: Vec<usize> = model.latents().iter().map(Latent::state_dim).collect();
        let layout = Layout::new(&dims);
        let mut readout = Readout::default();
        readout.set(model, &layout);
        Self { algebra: Algebra::new(layout), readout, steps: StepTable::default() }
    }

    /// The padded size of a state.
    pub(crate) fn size(&self) -> usize {
        self.algebra.layout().dynamic().size()
    }

    /// The operations on elements.
    pub(crate) fn algebra(&mut self) -> &mut Algebra {
        &mut self.algebra
    }

    /// The steps of these lengths, for the positions to be folded next.
    pub(crate) fn set_steps(&mut self, model: &Lmc, lengths: &[f64]) {
        self.steps.set_lengths(lengths, model, self.algebra.layout());
    }

    /// Lengthens a segment by one position: a step of the list that was set, and rows about the state it leads to.
    pub(crate) fn extend(&mut self, element: &mut Element, step: StepAt, rows: RowsView<'_>) {
        let at = match step {
            StepAt::Root => 0,
            StepAt::Length(at) => at + 1,
        };
        self.algebra.extend_by_position(element, self.steps.step(at), rows);
    }

    /// Moves a state by the step of this length in the list, backward in time.
    pub(crate) fn step_back(&mut self, state: &mut Element, at: usize) {
        let (transition, noise) = self.steps.step(at + 1).backward_in_time(self.algebra.layout().dynamic());
        let step = StepView { transition: &transition, noise: &noise };
        self.algebra.extend_by_position(state, step, InformationRows::default().view());
    }

    /// Adds the row of a cell: `(h, y)/√r`. Returns the log evidence that the row leaves out, `−½ log 2πr`.
    pub(crate) fn push_cell(
        &self,
        output: usize,
        value: f64,
        own_noise: Option<f64>,
        rows: &mut InformationRows,
    ) -> f64 {
        let noise = own_noise.unwrap_or_else(|| self.readout.noise(output));
        let whitening = noise.sqrt().recip();
        let weights = self.readout.row(output).weights;
        rows.push_scaled(weights, self.size(), whitening, value * whitening);
        -0.5 * (TAU * noise).ln()
    }

    /// Mean and variance of every output, from the moments of a state: an element with nothing before it.
    pub(crate) fn read_outputs(&self, state: &Element) -> Vec<(f64, f64)> {
        let Parts { covariance_factor, shift, .. } = state.parts();
        let mut projected = vec![0.0; self.size()];
        (0..self.readout.n_outputs())
            .map(|output| {
                square_root::read_output(&self.readout, output, (shift, covariance_factor), &mut projected)
            })
            .collect()
    }

    /// The largest share of any output's variance at one state that another state explains. Both moments are known, `earlier` and
    /// `later`, and the element of the segment between them, which has absorbed all that lies behind it.
    pub(crate) fn shared_variance(&self, earlier: &Element, between: &Element, later: &Element) -> Shares {
        let (size, across) = (self.size(), between.parts());
        let (first, last) = (earlier.parts().covariance_factor, later.parts().covariance_factor);
        // z_later = Z ξ, with [A Z_earlier, X]ᵀ = Q [Zᵀ; 0]: the upper right block of Qᵀ[I; 0] takes ζ of the earlier state to ξ.
        // Padding is left out: it would make ξ longer than what z_later knows.
        let layout = self.algebra.layout();
        let places: Vec<usize> = (0..layout.n_slots()).flat_map(|latent| layout.places(latent)).collect();
        let (n, columns) = (places.len(), places.len() + size);
        let mut tall = vec![0.0; 2 * size * columns];
        let mut carried = vec![0.0; size];
        for (at, &i) in places.iter().enumerate() {
            vector_times_matrix::<Separate>(&across.gain[i * size..][..size], first, &mut carried);
            for k in 0..size {
                tall[k * columns + at] = carried[k];
                tall[(size + k) * columns + at] = across.covariance_factor[i * size + k];
            }
        }
        (0..size).for_each(|i| tall[i * columns + n + i] = 1.0);
        eliminate(&mut tall, 2 * size, columns, n);
        let norm = |vector: &[f64]| dot::<Separate>(vector, vector);
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let mut shares = Shares { of_earlier: 0.0, of_later: 0.0 };
        let (mut reading, mut moved) = (vec![0.0; size], vec![0.0; size]);
        for output in 0..self.readout.n_outputs() {
            let weights = self.readout.row(output).weights;
            let rows = weights.len() * size;
            vector_times_matrix::<Separate>(weights, &first[..rows], &mut reading);
            for (known, row) in moved.iter_mut().zip(tall.chunks_exact(columns)).take(n) {
                *known = dot::<Separate>(&row[n..], &reading);
            }
            shares.of_earlier = shares.of_earlier.max(share(norm(&moved[..n]), norm(&reading)));
            vector_times_matrix::<Separate>(weights, &across.gain[..rows], &mut reading);
            vector_times_matrix::<Separate>(&reading, first, &mut moved);
            vector_times_matrix::<Separate>(weights, &last[..rows], &mut reading);
            shares.of_later = shares.of_later.max(share(norm(&moved), norm(&reading)));
        }
        shares
    }

    /// The covariance of all outputs, D×D, from a root of the covariance of a state.
    pub(crate) fn output_covariance(&self, state: &Element) -> Vec<f64> {
        let (size, n_outputs) = (self.size(), self.readout.n_outputs());
        let mut projected = vec![0.0; n_outputs * size];
        for (output, row) in projected.chunks_exact_mut(size).enumerate() {
            let weights = self.readout.row(output).weights;
            vector_times_matrix::<Separate>(
                weights,
                &state.parts().covariance_factor[..weights.len() * size],
                row,
            );
        }
        let row = |output: usize| &projected[output * size..][..size];
        (0..n_outputs * n_outputs)
            .map(|at| dot::<Separate>(row(at / n_outputs), row(at % n_outputs)))
            .collect()
    }
}
