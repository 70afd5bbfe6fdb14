//! What is climbed: log evidence plus log prior, in the vector of free parameters.

use super::LearningError;
use super::ascent::Objective;
use super::parameters::Parameters;
use super::priors::Priors;
use crate::graph::FactorGraph;
use crate::inference::{Form, Gradient, Workspace};
use crate::model::Lmc;

/// Anything whose evidence can be climbed: a graph, or a rival's likelihood.
///
/// # Laws
/// - The slopes are those of the log evidence in the parameters of the model.
/// - The same model gives the same bits.
pub trait Evidence {
    /// What goes wrong when there is no evidence.
    type Error;

    /// The log evidence of a model and its slopes.
    ///
    /// # Errors
    /// When it cannot be computed for this model.
    fn slopes(&mut self, model: &Lmc) -> Result<Gradient, Self::Error>;
}

/// The evidence of a table on a chain or tree.
#[derive(Debug)]
pub struct GraphEvidence<'a> {
    graph: FactorGraph<'a>,
    workspace: Workspace,
}

impl<'a> GraphEvidence<'a> {
    /// The evidence of models on this graph's structure and cells; the graph's own model is not used.
    ///
    /// On chains the covariance form is named, whose evidence keeps its digits at any noise. Its slopes are not looked after: where
    /// noise is tiny and cells crowd they may keep fewer than the eight digits of a [`Workspace`] that chooses. A climb accepts steps
    /// by the evidence, so that rougher slopes may cost steps but lead nowhere wrong, and a form that follows the noise would change
    /// within one search along a line. On trees the form follows the noise: the information form would lose the evidence itself where
    /// noise is tiny, and the square-root form keeps it.
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

    fn slopes(&mut self, model: &Lmc) -> Result<Gradient, LearningError> {
        let graph = self.graph.with_model(model)?;
        Ok(self.workspace.gradient(&graph)?)
    }
}

/// Log evidence plus log prior of the models that a vector stands for.
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

    /// Why the latest evaluation had no value, if it had none.
    pub fn take_failure(&mut self) -> Option<E::Error> {
        self.failure.take()
    }
}

impl<E: Evidence> Objective for LogPosterior<'_, E> {
    fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        self.failure = None;
        // A vector that is no model is a trial too far, like one that overflows.
        let Ok(model) = self.parameters.model_at(point) else { return f64::NAN };
        match self.evidence.slopes(&model) {
            Ok(mut slopes) => {
                let log_prior = self.priors.add_to(&model, &mut slopes);
                self.parameters.pull_back(&model, &slopes, gradient);
                slopes.log_evidence + log_prior
            }
            Err(failure) => {
                self.failure = Some(failure);
                f64::NAN
            }
        }
    }

    fn scales(&self, point: &[f64], scales: &mut [f64]) {
        self.parameters.scales_at(point, scales);
    }
}
