//! The objective of learning: log evidence plus log prior, as a function of the vector of free parameters.

use super::LearningError;
use super::lbfgs::Objective;
use super::parameters::Parameters;
use super::priors::Priors;
use crate::graph::FactorGraph;
use crate::inference::{Form, Gradient, Workspace};
use crate::model::Lmc;

/// A log evidence with its gradient: of a graph, or of another method.
///
/// # Laws
/// - The gradient is that of the log evidence in the parameters of the model.
/// - The same model gives the same bits.
pub trait Evidence {
    /// The error of an evaluation.
    type Error;

    /// The log evidence of a model and its gradient.
    ///
    /// # Errors
    /// When it cannot be computed for this model.
    fn gradient(&mut self, model: &Lmc) -> Result<Gradient, Self::Error>;
}

/// The log evidence of a table on a chain or tree.
#[derive(Debug)]
pub struct GraphEvidence<'a> {
    graph: FactorGraph<'a>,
    workspace: Workspace,
}

impl<'a> GraphEvidence<'a> {
    /// The log evidence of models on this graph's structure and cells; the graph's own model is not used.
    ///
    /// Chains use the covariance form, whose log evidence keeps its digits at any noise. Its gradient may keep fewer than the
    /// eight digits that a [`Workspace`] guarantees where noise is tiny and cells are dense. The optimizer accepts steps by their
    /// value, so an inexact gradient can only cost iterations, whereas a change of form within one line search would make the
    /// value jump. Trees use the form that the noise requires, since the information form loses the log evidence itself at tiny
    /// noise.
    pub fn new(graph: FactorGraph<'a>) -> Self {
        let workspace = workspace_for(&graph);
        Self { graph, workspace }
    }
}

/// See [`GraphEvidence::new`].
pub(super) fn workspace_for(graph: &FactorGraph<'_>) -> Workspace {
    let workspace =
        if graph.tree().is_chain() { Workspace::with_form(Form::Covariance) } else { Workspace::new() };
    workspace.on_all_threads()
}

impl Evidence for GraphEvidence<'_> {
    type Error = LearningError;

    fn gradient(&mut self, model: &Lmc) -> Result<Gradient, LearningError> {
        let graph = self.graph.with_model(model)?;
        Ok(self.workspace.gradient(&graph)?)
    }
}

/// Log evidence plus log prior as a function of the vector of free parameters.
#[derive(Debug)]
pub struct LogPosterior<'a, E: Evidence> {
    evidence: E,
    parameters: &'a Parameters,
    priors: &'a Priors,
    failure: Option<E::Error>,
}

impl<'a, E: Evidence> LogPosterior<'a, E> {
    /// The objective of these parameters under these priors.
    pub fn new(evidence: E, parameters: &'a Parameters, priors: &'a Priors) -> Self {
        Self { evidence, parameters, priors, failure: None }
    }

    /// The value at a vector of free parameters, with its gradient written to `gradient`; not finite where the model or its
    /// evidence cannot be computed.
    pub fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        self.failure = None;
        // A vector outside the range of the parameters is rejected like a value that overflows.
        let Ok(model) = self.parameters.model_at(point) else { return f64::NAN };
        match self.evidence.gradient(&model) {
            Ok(mut of_model) => {
                let log_prior = self.priors.add_to(&model, &mut of_model);
                self.parameters.pull_back(&model, &of_model, gradient);
                of_model.log_evidence + log_prior
            }
            Err(failure) => {
                self.failure = Some(failure);
                f64::NAN
            }
        }
    }

    /// The error of the latest evaluation, if it failed.
    pub(super) fn take_failure(&mut self) -> Option<E::Error> {
        self.failure.take()
    }
}

impl<E: Evidence> Objective for LogPosterior<'_, E> {
    fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        Self::evaluate(self, point, gradient)
    }

    fn scales(&self, point: &[f64], scales: &mut [f64]) {
        self.parameters.scales_at(point, scales);
    }
}
