//! A model in square-root form: its steps, the rows of its cells, and new states.

use super::super::gaussian::GaussianView;
use super::super::readout::Readout;
use super::super::steps::{StepTable, StepView};
use super::algebra::Algebra;
use super::conditional::Conditional;
use super::rows::{InformationRows, RowsView};
use crate::graph::StepLengths;
use crate::linalg::{Layout, Separate, Shape, dot, eliminate, vector_times_matrix};
use crate::model::Lmc;
use std::f64::consts::TAU;

/// A model with the operations on conditionals of its states.
#[derive(Clone, Debug)]
pub(crate) struct SquareRootModel {
    model: Lmc,
    algebra: Algebra,
    readout: Readout,
    steps: StepTable,
}

/// A step of the table that was set last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepAt {
    /// The step into a root.
    Root,
    /// The step of this length in the list.
    Length(usize),
}

impl StepAt {
    /// The step into a position, for a table of all steps of a structure.
    pub(crate) fn into_position(edges: &StepLengths, position: usize) -> Self {
        match edges.step_of(position) {
            0 => Self::Root,
            at => Self::Length(at),
        }
    }
}

/// The largest share of an output's variance at one state that another state explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shares {
    /// Of the outputs at the earlier state.
    pub(crate) of_earlier: f64,
    /// Of the outputs at the later state.
    pub(crate) of_later: f64,
}

impl SquareRootModel {
    /// Prepares a model.
    pub(crate) fn new(model: &Lmc) -> Self {
        let layout = Layout::new(&model.state_dims());
        let mut readout = Readout::default();
        readout.set(model, &layout);
        Self { model: model.clone(), algebra: Algebra::new(layout), readout, steps: StepTable::default() }
    }

    /// The model.
    pub(crate) fn model(&self) -> &Lmc {
        &self.model
    }

    /// The padded size of a state.
    pub(crate) fn size(&self) -> usize {
        self.algebra.layout().dynamic().size()
    }

    /// The operations on conditionals.
    pub(crate) fn algebra(&mut self) -> &mut Algebra {
        &mut self.algebra
    }

    /// Computes the steps of these lengths.
    pub(crate) fn set_steps(&mut self, lengths: &[f64]) {
        self.steps.set_lengths(lengths, &self.model, self.algebra.layout());
    }

    /// Extends a segment by a step of the list that was set, and by rows about the state it leads to.
    pub(crate) fn extend(&mut self, segment: &mut Conditional, step: StepAt, rows: RowsView<'_>) {
        let at = match step {
            StepAt::Root => 0,
            StepAt::Length(at) => at + 1,
        };
        self.algebra.extend_by_position(segment, self.steps.step(at), rows);
    }

    /// The rows about the state before a step of the list, from rows about the state after it.
    pub(crate) fn pull(&mut self, step: StepAt, rows: RowsView<'_>) -> InformationRows {
        let mut pulled = InformationRows::default();
        let mut gap = Conditional::identity(self.size());
        self.extend(&mut gap, step, RowsView::NONE);
        self.algebra.pull(&gap, rows, &mut pulled);
        pulled
    }

    /// Moves a state, or a conditional, to a new input at this distance, and conditions it on rows about the next state, at the
    /// distance given with them.
    pub(crate) fn insert(
        &mut self,
        state: &mut Conditional,
        distance: f64,
        next: Option<(RowsView<'_>, f64)>,
    ) {
        let rows = match next {
            Some((rows, distance)) => {
                self.set_steps(&[distance]);
                self.pull(StepAt::Length(0), rows)
            }
            None => InformationRows::default(),
        };
        self.set_steps(&[distance]);
        self.extend(state, StepAt::Length(0), rows.view());
    }

    /// Moves a state to a new input at this distance before it.
    pub(crate) fn insert_before(&mut self, state: &mut Conditional, distance: f64) {
        self.set_steps(&[distance]);
        let (transition, noise) = self.steps.step(1).backward_in_time(self.algebra.layout().dynamic());
        let step = StepView { transition: &transition, noise: &noise };
        self.algebra.extend_by_position(state, step, RowsView::NONE);
    }

    /// Adds the row of a cell, `(h, y)/√r`. Returns the log evidence that the row leaves out, `−½ log 2πr`.
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

    /// Mean and variance of every output at a state.
    pub(crate) fn output_marginals(&self, state: GaussianView<'_>) -> Vec<(f64, f64)> {
        (0..self.readout.n_outputs()).map(|output| self.readout.output_marginal(output, state)).collect()
    }

    /// The covariance of all outputs at a state, D×D.
    pub(crate) fn output_covariance(&self, state: GaussianView<'_>) -> Vec<f64> {
        self.readout.output_covariance(state)
    }

    /// The largest share of any output's variance at one state that the other explains, from the marginals of both and from the
    /// conditional between them, which has absorbed all later rows.
    pub(crate) fn shared_variance(
        &self,
        earlier: &Conditional,
        between: &Conditional,
        later: &Conditional,
    ) -> Shares {
        let (size, across) = (self.size(), between.parts());
        let (first, last) = (earlier.parts().factor, later.parts().factor);
        // z_later = Z ξ, with [A Z_earlier, X]ᵀ = Q [Zᵀ; 0]: the upper right block of Qᵀ[I; 0] takes ζ of the earlier state to ξ.
        // Without padding, which would make ξ longer than z_later determines.
        let layout = self.algebra.layout();
        let places: Vec<usize> = (0..layout.n_slots()).flat_map(|latent| layout.places(latent)).collect();
        let (n, columns) = (places.len(), places.len() + size);
        let mut tall = vec![0.0; 2 * size * columns];
        let mut carried = vec![0.0; size];
        for (at, &i) in places.iter().enumerate() {
            vector_times_matrix::<Separate>(&across.gain[i * size..][..size], first, &mut carried);
            for k in 0..size {
                tall[k * columns + at] = carried[k];
                tall[(size + k) * columns + at] = across.factor[i * size + k];
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
}
