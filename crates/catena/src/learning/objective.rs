//! The objective of learning: log evidence plus log prior, as a function of the vector of free parameters.

use super::LearningError;
use super::lbfgs::Objective;
use super::parameters::Parameters;
use super::priors::Priors;
use crate::graph::FactorGraph;
use crate::inference::{Form, Gradient, Workspace, models_at_once};
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

    /// How many models are cheaper together than one after the other.
    fn models_at_once(&self) -> usize {
        1
    }

    /// The log evidences of several models and their gradients: to rounding what [`Evidence::gradient`] finds one by one.
    fn gradients(&mut self, models: &[Lmc]) -> Vec<Result<Gradient, Self::Error>> {
        models.iter().map(|model| self.gradient(model)).collect()
    }
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

    fn models_at_once(&self) -> usize {
        models_at_once(&self.graph)
    }

    fn gradients(&mut self, models: &[Lmc]) -> Vec<Result<Gradient, LearningError>> {
        let graphs: Result<Vec<_>, _> = models.iter().map(|model| self.graph.with_model(model)).collect();
        match graphs {
            Ok(graphs) => self.workspace.gradients(&graphs).into_iter().map(|found| Ok(found?)).collect(),
            // Some model does not fit the graph.
            Err(_) => models.iter().map(|model| self.gradient(model)).collect(),
        }
    }
}

/// The value at a vector of free parameters, NaN if it cannot be computed, with its gradient.
#[derive(Debug)]
pub(super) struct Evaluation<E> {
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    pub(super) failure: Option<E>,
}

/// Log evidence plus log prior as a function of the vector of free parameters.
#[derive(Debug)]
pub struct LogPosterior<'a, E: Evidence> {
    evidence: E,
    parameters: &'a Parameters,
    priors: &'a Priors,
}

impl<'a, E: Evidence> LogPosterior<'a, E> {
    /// The objective of these parameters under these priors.
    pub fn new(evidence: E, parameters: &'a Parameters, priors: &'a Priors) -> Self {
        Self { evidence, parameters, priors }
    }

    /// The value at a vector of free parameters, with its gradient written to `gradient`; not finite where the model or its
    /// evidence cannot be computed.
    pub fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        // A vector outside the range of the parameters is rejected like a value that overflows.
        let Ok(model) = self.parameters.model_at(point) else { return f64::NAN };
        match self.evidence.gradient(&model) {
            Ok(mut of_model) => {
                let log_prior = self.priors.add_to(&model, &mut of_model);
                self.parameters.pull_back(&model, &of_model, gradient);
                of_model.log_evidence + log_prior
            }
            Err(_) => f64::NAN,
        }
    }

    /// Value and gradient at several points, evaluated together, with the error of each that failed.
    pub(super) fn evaluate_together(&mut self, points: &[&[f64]]) -> Vec<Evaluation<E::Error>> {
        let models: Vec<Option<Lmc>> =
            points.iter().map(|point| self.parameters.model_at(point).ok()).collect();
        let valid: Vec<Lmc> = models.iter().flatten().cloned().collect();
        let mut found = self.evidence.gradients(&valid).into_iter();
        let mut evaluations = vec![];
        for (point, model) in points.iter().zip(models) {
            let mut own = Evaluation { value: f64::NAN, gradient: vec![0.0; point.len()], failure: None };
            match model.and_then(|model| Some((model, found.next()?))) {
                Some((model, Ok(mut of_model))) => {
                    let log_prior = self.priors.add_to(&model, &mut of_model);
                    self.parameters.pull_back(&model, &of_model, &mut own.gradient);
                    own.value = of_model.log_evidence + log_prior;
                }
                Some((_, Err(failure))) => own.failure = Some(failure),
                None => {}
            }
            evaluations.push(own);
        }
        evaluations
    }

    /// The parameters.
    pub(super) fn parameters(&self) -> &'a Parameters {
        self.parameters
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
