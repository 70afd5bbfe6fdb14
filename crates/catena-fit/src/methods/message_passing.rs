//! Exact message passing on a chain or tree as a method.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use catena::data::{Dataset, InputPoints};
use catena::graph::FactorGraph;
use catena::index::Position;
use catena::inference::{self, Workspace};
use catena::kernel::{Kernel, StateKind};
use catena::live::LivePosterior;
use catena::model::{Latent, Lmc};
use catena::posterior::Posterior;
use catena::prediction::Prediction;
use catena::structure::{Attachment, StructureError, Tree};
use catena::units::DistanceScale;
use catena_methods::{Gradient, Problem};

use super::attach::{distinct_points, with_points};
use super::method::{Differentiable, Evidence, Fitted, Method, Quantity};
use crate::error::MethodError;
use crate::options::{StructureOption, Ties};
use crate::prepare::{joined_inputs, with_empty_rows};

/// The states of the latents on the structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum States {
    /// Derivative states on a chain along a single input if the kernel has them, else value states.
    #[default]
    Suited,
    /// As in the model: the paper uses derivative states on its chains for any number of inputs.
    AsGiven,
}

/// Exact message passing on a structure over the points.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct MessagePassing {
    /// The structure to build.
    pub structure: StructureOption,
    /// What decides between points at equal distances.
    pub ties: Ties,
    /// A given structure over the rows and then the candidates, used instead.
    pub tree: Option<Arc<Tree>>,
    /// The states.
    pub states: States,
    /// Further points of the structure, as the paper's test points. Other points are attached to the finished structure one by
    /// one.
    pub candidates: Option<InputPoints>,
}

impl MessagePassing {
    /// The paper's method: the greedy chain (sorted along a single input), states as in the model. The paper's test points are
    /// candidates, or rows without observations.
    pub fn paper() -> Self {
        let (structure, ties) = (StructureOption::Chain, Ties::ByRow);
        Self { structure, ties, states: States::AsGiven, ..Self::default() }
    }

    /// The posterior, not yet computed.
    fn posterior(&self, problem: Problem<'_>) -> Result<MessagePassingPosterior, MethodError> {
        let table = problem.dataset();
        let dataset = match &self.candidates {
            None => table.clone(),
            Some(candidates) => {
                let inputs = joined_inputs(table.inputs(), candidates)?;
                let observations = with_empty_rows(table.observations(), inputs.n_rows())?.into_owned();
                Dataset::new(inputs, observations)?
            }
        };
        let tree = match &self.tree {
            Some(tree) => Arc::clone(tree),
            None => Arc::new(self.structure.build_by(self.ties, dataset.inputs())?),
        };
        let tree = in_units(tree, problem.distance_scale())?;
        let model = match self.states {
            States::AsGiven => problem.model().clone(),
            States::Suited => {
                with_suited_states(problem.model(), dataset.inputs().dim() == 1 && tree.is_chain())?
            }
        };
        Ok(MessagePassingPosterior {
            graph: FactorGraph::new(Arc::new(model), tree, dataset.observations())?,
            dataset,
            n_rows: table.n_rows(),
            rows: OnceLock::new(),
            log_evidence: OnceLock::new(),
            posterior: OnceLock::new(),
            n_sweeps: AtomicUsize::new(0),
        })
    }
}

/// From this state size on, a sweep over the chain costs less than keeping the posteriors of all rows.
const LARGE_STATE: usize = 32;

fn check_dim(expected: usize, points: &InputPoints) -> Result<(), MethodError> {
    let found = points.dim();
    if found == expected { Ok(()) } else { Err(MethodError::InputDim { expected, found }) }
}

/// The structure with distances in these units.
fn in_units(tree: Arc<Tree>, scale: DistanceScale) -> Result<Arc<Tree>, MethodError> {
    if tree.distance_scale() == scale {
        return Ok(tree);
    }
    let factor =
        DistanceScale::new(scale.get() / tree.distance_scale().get()).map_err(StructureError::from)?;
    Ok(Arc::new(Arc::unwrap_or_clone(tree).with_distance_scale(factor)?))
}

pub(super) fn with_suited_states(model: &Lmc, is_line: bool) -> Result<Lmc, MethodError> {
    let suited = |latent: &Latent| {
        // A time component has one kind of state; the graph refuses it off a chain along one input.
        let Some(kernel) = latent.kernel() else { return Ok(*latent) };
        let derivative = Latent::new(kernel, StateKind::Derivative, latent.length_scale());
        match derivative {
            Ok(derivative) if is_line => Ok(derivative),
            _ => Latent::new(kernel, StateKind::Value, latent.length_scale()),
        }
    };
    let latents: Result<Vec<Latent>, _> = model.latents().iter().map(suited).collect();
    let latents = latents.map_err(catena::model::ModelError::from)?;
    Ok(Lmc::new(latents, model.mixing().clone(), model.noise().to_vec())?)
}

/// A posterior that is computed when it is needed: one sweep for the rows, and one that keeps messages for other points.
struct MessagePassingPosterior {
    graph: FactorGraph<'static>,
    /// Rows and then candidates; it shares its numbers with the table.
    dataset: Dataset,
    n_rows: usize,
    /// Predictions at the rows and the log evidence.
    rows: OnceLock<(Prediction, f64)>,
    /// The log evidence of a forward pass alone.
    log_evidence: OnceLock<f64>,
    posterior: OnceLock<Posterior<'static>>,
    n_sweeps: AtomicUsize,
}

/// The value of a cell, computed first if it is empty.
fn cached<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T, MethodError>) -> Result<&T, MethodError> {
    match cell.get() {
        Some(value) => Ok(value),
        None => {
            let value = make()?;
            Ok(cell.get_or_init(|| value))
        }
    }
}

impl MessagePassingPosterior {
    /// Counts a sweep over the structure.
    fn swept(&self) -> &FactorGraph<'static> {
        self.n_sweeps.fetch_add(1, Ordering::Relaxed);
        &self.graph
    }

    /// Whether states are too large to keep the posteriors of all rows, or are those of time components: predictions are then
    /// computed along the chain.
    fn has_large_states(&self) -> bool {
        let is_component = |latent: &Latent| latent.kernel().is_none();
        let model = self.graph.model();
        model.state_dim() > LARGE_STATE || model.latents().iter().any(is_component)
    }

    /// Whether the structure is no approximation: a chain along a single input whose latents are Markov in their states.
    fn is_exact(&self) -> bool {
        let tree = self.graph.tree();
        let inputs = self.dataset.inputs();
        let place = |position: Position| inputs.point(tree.row_at(position))[0];
        let is_sorted = |sign: f64| {
            tree.positions()
                .all(|here| tree.parent(here).is_none_or(|above| sign * place(above) <= sign * place(here)))
        };
        let is_markov = |latent: &Latent| {
            latent.state() == StateKind::Derivative || latent.kernel() == Some(Kernel::Matern12)
        };
        self.dataset.inputs().dim() == 1
            && tree.is_chain()
            && self.graph.model().latents().iter().all(is_markov)
            && (is_sorted(1.0) || is_sorted(-1.0))
    }

    fn rows(&self) -> Result<&(Prediction, f64), MethodError> {
        cached(&self.rows, || {
            let found = inference::marginals(self.swept())?;
            let n_outputs = self.graph.model().n_outputs();
            let (mut means, mut variances) = found.prediction.into_arrays();
            means.truncate(self.n_rows * n_outputs);
            variances.truncate(self.n_rows * n_outputs);
            Ok((Prediction::new(self.n_rows, n_outputs, means, variances)?, found.log_evidence))
        })
    }

    fn posterior(&self) -> Result<&Posterior<'static>, MethodError> {
        cached(&self.posterior, || Ok(Posterior::new(self.swept())?.with_inputs(self.dataset.inputs())?))
    }

    /// Means, variances and, if requested, covariances along a line if states are too large to be kept.
    fn along(
        &self,
        at: &InputPoints,
        with_covariances: bool,
    ) -> Result<Option<(Prediction, Vec<f64>)>, MethodError> {
        if !self.has_large_states() || self.dataset.inputs().dim() != 1 {
            return Ok(None);
        }
        Ok(Some(Workspace::new().predict_along(self.swept(), self.dataset.inputs(), at, with_covariances)?))
    }

    /// Joint draws at points that all lie after the last row, row-major n×D each; `None` elsewhere.
    fn paths(&self, at: &InputPoints, n_draws: usize, seed: u64) -> Result<Option<Vec<f64>>, MethodError> {
        let (inputs, tree) = (self.dataset.inputs(), self.graph.tree());
        let last = inputs.values().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_ahead =
            inputs.dim() == 1 && inputs.groups().is_none() && at.values().iter().all(|&place| place >= last);
        let ends_last = tree.positions().last().is_some_and(|end| inputs.point(tree.row_at(end))[0] == last);
        if !(self.has_large_states() && is_ahead && ends_last) {
            return Ok(None);
        }
        let scale = tree.distance_scale().get();
        let distances: Vec<f64> = at.values().iter().map(|place| (place - last) / scale).collect();
        let paths = Workspace::new().paths_ahead(self.swept(), &distances, n_draws, seed)?;
        Ok(Some(paths.concat()))
    }

    /// The posterior of the structure extended by these points, as rows after its own.
    fn with_points(&self, points: &InputPoints) -> Result<Posterior<'static>, MethodError> {
        let attachment = Attachment::new(self.dataset.inputs(), self.graph.tree());
        let inputs = joined_inputs(self.dataset.inputs(), points)?;
        let tree = Arc::new(with_points(&inputs, self.graph.tree(), &attachment)?);
        let observations = with_empty_rows(self.dataset.observations(), inputs.n_rows())?;
        let model = Arc::new(self.swept().model().clone());
        Ok(Posterior::new(&FactorGraph::new(model, tree, &observations)?)?)
    }

    fn of(&self, prediction: Prediction, quantity: Quantity) -> Prediction {
        match quantity {
            Quantity::Function => prediction,
            Quantity::Observation => prediction.with_noise(self.graph.model().noise()),
        }
    }
}

impl Method for MessagePassing {
    fn name(&self) -> &'static str {
        "catena"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        Ok(Box::new(self.posterior(problem)?))
    }
}

impl Differentiable for MessagePassing {
    fn gradient(&self, problem: Problem<'_>) -> Result<Gradient, MethodError> {
        let inference::Gradient { log_evidence, mixing, length_scales, noise, .. } =
            inference::gradient(&self.posterior(problem)?.graph)?;
        Ok(Gradient { value: log_evidence, mixing, length_scales, noise })
    }
}

impl Fitted for MessagePassingPosterior {
    /// From the sweep for the rows if there was one, else from a forward pass.
    fn evidence(&self) -> Result<Option<Evidence>, MethodError> {
        let log_evidence = match self.rows.get() {
            Some((_, log_evidence)) => log_evidence,
            None => cached(&self.log_evidence, || Ok(inference::log_evidence(&self.graph)?))?,
        };
        let kind = if self.is_exact() { Evidence::Exact } else { Evidence::Approximate };
        Ok(Some(kind(*log_evidence)))
    }

    /// At a candidate this is the posterior of the structure there: it is attached at distance 0.
    ///
    /// The first call sweeps and keeps the messages; the cost of later ones does not depend on the number of rows.
    fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Prediction, MethodError> {
        check_dim(self.dataset.inputs().dim(), at)?;
        if let Some((prediction, _)) = self.along(at, false)? {
            return Ok(self.of(prediction, quantity));
        }
        Ok(self.of(self.posterior()?.predict_at(at)?, quantity))
    }

    fn predict_rows(&self, quantity: Quantity) -> Result<Prediction, MethodError> {
        Ok(self.of(self.rows()?.0.clone(), quantity))
    }

    fn covariances(&self, at: &InputPoints) -> Result<Vec<f64>, MethodError> {
        check_dim(self.dataset.inputs().dim(), at)?;
        if let Some((_, covariances)) = self.along(at, true)? {
            return Ok(covariances);
        }
        Ok(self.posterior()?.covariances_at(at)?)
    }

    /// The points become part of the structure, equal ones once, and the whole structure is sampled.
    fn draws(&self, at: &InputPoints, n_draws: usize, seed: u64) -> Result<Vec<f64>, MethodError> {
        check_dim(self.dataset.inputs().dim(), at)?;
        if let Some(paths) = self.paths(at, n_draws, seed)? {
            return Ok(paths);
        }
        let (points, place_of) = distinct_points(at)?;
        let posterior = self.with_points(&points)?;
        let (n_before, n_outputs) = (self.dataset.inputs().n_rows(), self.graph.model().n_outputs());
        let mut draws = Vec::with_capacity(n_draws * at.n_rows() * n_outputs);
        for draw in posterior.draws(seed).take(n_draws) {
            for place in &place_of {
                draws.extend_from_slice(&draw[(n_before + place) * n_outputs..][..n_outputs]);
            }
        }
        Ok(draws)
    }

    fn live(&self) -> Result<Option<LivePosterior>, MethodError> {
        Ok(Some(LivePosterior::new(self.swept(), self.dataset.inputs(), self.dataset.observations())?))
    }

    fn n_sweeps(&self) -> usize {
        self.n_sweeps.load(Ordering::Relaxed)
    }
}
