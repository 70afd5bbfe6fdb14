//! The posterior after a sweep: states, outputs, samples, and predictions at new inputs.

mod ensemble;
mod predict;
mod sample;

pub use ensemble::{Combination, EnsembleError, combine};
pub use sample::Draws;

use crate::data::InputPoints;
use crate::graph::FactorGraph;
use crate::index::RowIndex;
use crate::inference::{Form, InferenceError, States, Workspace, all_nonnegative, attachment};
use crate::prediction::Prediction;
use crate::structure::Attachment;

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
    /// The inputs of the rows, once they are known.
    attachment: Option<Attachment>,
    /// Whether the form was chosen here, so that another one may replace it.
    is_free: bool,
}

impl<'a> Posterior<'a> {
    /// The posterior of a graph. The form is chosen; it is the square-root form if a variance were negative in another.
    ///
    /// # Errors
    /// When numbers overflow.
    pub fn new(graph: &FactorGraph<'a>) -> Result<Self, InferenceError> {
        let posterior = Self::from_workspace(graph, Workspace::new())?;
        if all_nonnegative(posterior.prediction.variances()) {
            return Ok(Self { is_free: true, ..posterior });
        }
        Self::with_form(graph, Form::SquareRoot)
    }

    /// The posterior of a graph in this form. The covariance form keeps no states; the information form replaces it.
    ///
    /// # Errors
    /// When numbers overflow.
    pub fn with_form(graph: &FactorGraph<'a>, form: Form) -> Result<Self, InferenceError> {
        Self::from_workspace(graph, Workspace::with_form(form))
    }

    fn from_workspace(graph: &FactorGraph<'a>, workspace: Workspace) -> Result<Self, InferenceError> {
        let (log_evidence, states) = workspace.into_states(graph)?;
        let prediction = read_rows(graph, &states)?;
        Ok(Self { graph: graph.clone(), states, prediction, log_evidence, attachment: None, is_free: false })
    }

    /// The same posterior, with the inputs of its rows: for predictions at new inputs.
    ///
    /// # Errors
    /// When there are not as many inputs as rows.
    pub fn with_inputs(self, inputs: &InputPoints) -> Result<Self, InferenceError> {
        let attachment = Some(attachment(&self.graph, inputs)?);
        Ok(Self { attachment, ..self })
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
        self.states.unpadded(self.states.at(self.graph.tree().position_of(row)).mean)
    }

    /// The posterior covariance of the state at a row, n×n.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn state_covariance(&self, row: RowIndex) -> Vec<f64> {
        let state = self.states.at(self.graph.tree().position_of(row));
        self.states.unpadded_matrix(&state.full_covariance())
    }

    /// The posterior covariance of all outputs at a row, D×D, without noise.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn output_covariance(&self, row: RowIndex) -> Vec<f64> {
        self.states.output_covariance(self.states.at(self.graph.tree().position_of(row)))
    }
}

/// Mean and variance of every output at every row.
fn read_rows(graph: &FactorGraph<'_>, states: &States) -> Result<Prediction, InferenceError> {
    let (tree, n_outputs) = (graph.tree(), graph.model().n_outputs());
    let mut means = vec![0.0; tree.len() * n_outputs];
    let mut variances = means.clone();
    for position in tree.positions() {
        let row = tree.row_at(position);
        for (output, (mean, variance)) in states.output_marginals(states.at(position)).into_iter().enumerate()
        {
            if !(mean.is_finite() && variance.is_finite()) {
                return Err(InferenceError::Overflow { row });
            }
            means[row.get() * n_outputs + output] = mean;
            variances[row.get() * n_outputs + output] = variance;
        }
    }
    Ok(Prediction::from_checked(n_outputs, means, variances))
}
