//! What is known after a sweep: states, outputs, samples, and predictions at new inputs.

mod ensemble;
mod predict;
mod sample;

pub use ensemble::{Combination, EnsembleError, EnsembleMarginals, combine, ensemble_marginals};
pub use sample::Draws;

use crate::graph::FactorGraph;
use crate::index::{OutputIndex, RowIndex};
use crate::inference::{Form, InferenceError, States, Workspace, are_variances};
use crate::prediction::Prediction;

/// The joint posterior of all states on the structure.
///
/// States are given latent by latent: the value of the first latent, then its derivatives divided by powers of its
/// rate if it carries any, then the second latent, and so on; n numbers in all.
#[derive(Debug)]
pub struct Posterior<'a> {
    graph: FactorGraph<'a>,
    states: States,
    prediction: Prediction,
    log_evidence: f64,
    /// Whether the form was chosen here, and another one may stand in for it.
    is_free: bool,
}

impl<'a> Posterior<'a> {
    /// The posterior of a graph, in the form that suits it: the factored one where another would bring a variance below zero.
    ///
    /// # Errors
    /// When numbers overflow.
    pub fn new(graph: &FactorGraph<'a>) -> Result<Self, InferenceError> {
        let posterior = Self::from_workspace(graph, Workspace::new())?;
        if are_variances(posterior.prediction.variances()) {
            return Ok(Self { is_free: true, ..posterior });
        }
        Self::with_form(graph, Form::SquareRoot)
    }

    /// The posterior of a graph, computed in this form. The covariance form keeps no messages; the canonical one
    /// stands in for it.
    ///
    /// # Errors
    /// When numbers overflow, or a form was asked for that the structure does not allow.
    pub fn with_form(graph: &FactorGraph<'a>, form: Form) -> Result<Self, InferenceError> {
        Self::from_workspace(graph, Workspace::with_form(form))
    }

    fn from_workspace(graph: &FactorGraph<'a>, workspace: Workspace) -> Result<Self, InferenceError> {
        let (log_evidence, states) = workspace.into_states(graph)?;
        let prediction = read_rows(graph, &states)?;
        Ok(Self { graph: graph.clone(), states, prediction, log_evidence, is_free: false })
    }

    /// The log evidence of the observed cells.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// Mean and variance of every output at every row, without noise.
    pub fn prediction(&self) -> &Prediction {
        &self.prediction
    }

    /// The posterior mean of the state at a row, n numbers.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn state_mean(&self, row: RowIndex) -> Vec<f64> {
        self.states.unpadded(self.states.at(self.graph.tree().position_of(row)).mean())
    }

    /// The posterior covariance of the state at a row, n×n.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn state_covariance(&self, row: RowIndex) -> Vec<f64> {
        let gaussian = self.states.at(self.graph.tree().position_of(row));
        self.states.unpadded_matrix(&gaussian.covariance())
    }

    /// The posterior covariance of all outputs at a row, D×D, without noise.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn output_covariance(&self, row: RowIndex) -> Vec<f64> {
        self.states.output_covariance(&self.states.at(self.graph.tree().position_of(row)))
    }

    /// The posterior covariance of the state at a row with the state at its parent, n×n; `None` at the root.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn edge_covariance(&self, row: RowIndex) -> Option<Vec<f64>> {
        let position = self.graph.tree().position_of(row);
        let parent = self.graph.tree().parent(position)?;
        let gain = self.states.transition_into(&self.graph, position).gain;
        let above = self.states.at(parent).covariance();
        let size = self.states.size();
        let mut product = vec![0.0; size * size];
        for i in 0..size {
            for k in 0..size {
                for j in 0..size {
                    product[i * size + j] += gain[i * size + k] * above[k * size + j];
                }
            }
        }
        Some(self.states.unpadded_matrix(&product))
    }
}

/// Mean and variance of every output at every row.
fn read_rows(graph: &FactorGraph<'_>, states: &States) -> Result<Prediction, InferenceError> {
    let (tree, n_outputs) = (graph.tree(), graph.model().n_outputs());
    let mut means = vec![0.0; tree.len() * n_outputs];
    let mut variances = means.clone();
    for position in tree.positions() {
        let row = tree.row_at(position);
        let gaussian = states.at(position);
        for output in 0..n_outputs {
            let place = row.get() * n_outputs + output;
            (means[place], variances[place]) = states.read_output(OutputIndex::new(output), &gaussian);
            if !(means[place].is_finite() && variances[place].is_finite()) {
                return Err(InferenceError::Overflow { row });
            }
        }
    }
    Ok(Prediction::from_checked(n_outputs, means, variances))
}
