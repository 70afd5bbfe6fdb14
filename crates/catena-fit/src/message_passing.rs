//! Catena itself behind the common interface: exact message passing on a chain or tree over the points.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use catena::data::{DataError, Dataset, InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::inference::{self, Workspace};
use catena::kernel::{Kernel, StateKind};
use catena::live::LivePosterior;
use catena::model::{Latent, Lmc};
use catena::posterior::Posterior;
use catena::prediction::Prediction;
use catena::structure::{
    Attachment, Start, StructureChoice, StructureError, Tree, greedy_chain, sorted_chain, spanning_tree,
};
use catena::units::DistanceScale;
use catena_methods::{Gradient, Problem};

use crate::joining::{distinct_points, with_points};
use crate::method::{Differentiable, Evidence, Fitted, Method, MethodError, Quantity};

/// Which structure is laid over the points.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Structure {
    /// What suits the number of inputs; see [`StructureChoice`].
    #[default]
    Automatic,
    /// The sorted chain for one input, else the paper's greedy chain from the first row.
    Chain,
    /// The minimum spanning tree.
    Tree,
    /// A structure built before, over the rows and then the candidates: for loops that fit many models to one table.
    Given(Arc<Tree>),
}

/// How latents are carried along the structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum States {
    /// Derivatives along a single input's chain where the kernel has them, else values.
    #[default]
    Suited,
    /// As the model says: the paper carries derivatives along its chains whatever the number of inputs.
    AsGiven,
}

/// Exact message passing on a structure over the points.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CatenaMethod {
    /// The structure.
    pub structure: Structure,
    /// The states it carries.
    pub states: States,
    /// Points that are part of the structure beside the table's rows, as the paper's test points are. Every other point
    /// is joined to the finished structure on its own.
    pub candidates: Option<InputPoints>,
}

impl CatenaMethod {
    /// The paper's method: the greedy chain (sorted along a single input), states as the model says. The paper's test
    /// points are candidates, or rows of the table without an observation.
    pub fn paper() -> Self {
        Self { structure: Structure::Chain, states: States::AsGiven, candidates: None }
    }

    /// Model, structure and cells, ready for a sweep.
    fn parts(&self, problem: Problem<'_>) -> Result<Parts, MethodError> {
        let dataset = with_candidates(problem.dataset().clone(), self.candidates.as_ref())?;
        let tree = in_units(self.build(dataset.inputs())?, problem.distance_scale())?;
        let model = match self.states {
            States::AsGiven => problem.model().clone(),
            States::Suited => {
                with_suited_states(problem.model(), dataset.inputs().dim() == 1 && tree.is_chain())?
            }
        };
        Ok(Parts { model: Arc::new(model), tree, dataset })
    }

    fn build(&self, inputs: &InputPoints) -> Result<Arc<Tree>, MethodError> {
        match &self.structure {
            Structure::Given(tree) => Ok(Arc::clone(tree)),
            other => Ok(Arc::new(build(other, inputs)?)),
        }
    }
}

/// A structure of this kind over the points.
pub(crate) fn build(structure: &Structure, inputs: &InputPoints) -> Result<Tree, StructureError> {
    match structure {
        Structure::Automatic => StructureChoice::for_dim(inputs.dim()).build(inputs),
        Structure::Chain if inputs.dim() == 1 => sorted_chain(inputs),
        Structure::Chain => greedy_chain(inputs, Start::FirstRow),
        Structure::Tree => spanning_tree(inputs),
        Structure::Given(tree) => Ok((**tree).clone()),
    }
}

/// From this size on a sweep over the chain costs less than keeping what all rows believe.
const LARGE_STATE: usize = 32;

/// What a factor graph is made of.
struct Parts {
    model: Arc<Lmc>,
    tree: Arc<Tree>,
    /// The table and the candidates; it shares its numbers with the table.
    dataset: Dataset,
}

impl Parts {
    fn graph(&self) -> Result<FactorGraph<'static>, MethodError> {
        Ok(FactorGraph::new(Arc::clone(&self.model), Arc::clone(&self.tree), self.dataset.observations())?)
    }

    /// Whether states are too large to keep a belief of every row, or are those of pieces for time: answers are then found along
    /// the chain.
    fn has_large_states(&self) -> bool {
        let is_piece = |latent: &Latent| latent.kernel().is_none();
        self.model.state_dim() > LARGE_STATE || self.model.latents().iter().any(is_piece)
    }

    /// Whether the structure changes nothing: a chain along a single input whose latents are Markov in their states.
    fn is_exact(&self) -> bool {
        let along =
            || self.tree.positions().map(|position| self.dataset.inputs().point(self.tree.row_at(position)));
        let is_markov = |latent: &Latent| {
            latent.state() == StateKind::Derivative || latent.kernel() == Some(Kernel::Matern12)
        };
        self.dataset.inputs().dim() == 1
            && self.tree.is_chain()
            && self.model.latents().iter().all(is_markov)
            && (along().is_sorted() || along().is_sorted_by(|a, b| a >= b))
    }
}

/// A table with the candidates as rows without an observation.
pub(crate) fn with_candidates(
    dataset: Dataset,
    candidates: Option<&InputPoints>,
) -> Result<Dataset, MethodError> {
    let Some(candidates) = candidates else { return Ok(dataset) };
    let inputs = joined(dataset.inputs(), candidates)?;
    let observations = with_empty_rows(dataset.observations(), inputs.n_rows())?.into_owned();
    Ok(Dataset::new(inputs, observations)?)
}

/// The table's rows and then the candidates.
fn joined(rows: &InputPoints, candidates: &InputPoints) -> Result<InputPoints, MethodError> {
    check_dim(rows.dim(), candidates)?;
    let values = [rows.values(), candidates.values()].concat();
    Ok(InputPoints::new(rows.n_rows() + candidates.n_rows(), rows.dim(), values)?)
}

fn check_dim(expected: usize, points: &InputPoints) -> Result<(), MethodError> {
    let found = points.dim();
    if found == expected { Ok(()) } else { Err(MethodError::InputDim { expected, found }) }
}

/// The same cells in a table of this many rows, nothing observed in those that are new.
fn with_empty_rows(observations: &Observations, n_rows: usize) -> Result<Cow<'_, Observations>, DataError> {
    if n_rows == observations.n_rows() {
        return Ok(Cow::Borrowed(observations));
    }
    let n_outputs = observations.n_outputs();
    let mut values = vec![f64::NAN; n_rows * n_outputs];
    let mut noise = values.clone();
    for (row, cell) in observations.cells() {
        let place = row.get() * n_outputs + cell.output.get();
        values[place] = cell.value;
        noise[place] = cell.noise_variance.unwrap_or(f64::NAN);
    }
    let extended = Observations::from_dense(n_rows, n_outputs, &values)?;
    Ok(Cow::Owned(if observations.has_cell_noise() { extended.with_cell_noise(&noise)? } else { extended }))
}

/// The structure with distances in these units, whatever unit it was built in.
fn in_units(tree: Arc<Tree>, scale: DistanceScale) -> Result<Arc<Tree>, MethodError> {
    if tree.distance_scale() == scale {
        return Ok(tree);
    }
    let factor =
        DistanceScale::new(scale.get() / tree.distance_scale().get()).map_err(StructureError::from)?;
    Ok(Arc::new(Arc::unwrap_or_clone(tree).with_distance_scale(factor)?))
}

fn with_suited_states(model: &Lmc, is_line: bool) -> Result<Lmc, MethodError> {
    let suited = |latent: &Latent| {
        // A piece for time has one state, and the graph refuses it where that has no line to live on.
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

/// The posterior at the rows, and what is needed to find it elsewhere.
struct FittedCatena {
    parts: Parts,
    /// Made when first asked for a point that is not a row.
    elsewhere: OnceLock<Posterior<'static>>,
    rows: Prediction,
    log_evidence: f64,
}

impl FittedCatena {
    /// Mean, variance and, if wanted, covariances at points along a line, where states are too large to be kept.
    fn along(
        &self,
        at: &InputPoints,
        with_covariances: bool,
    ) -> Result<Option<(Prediction, Vec<f64>)>, MethodError> {
        if !self.parts.has_large_states() || self.parts.dataset.inputs().dim() != 1 {
            return Ok(None);
        }
        let graph = self.parts.graph()?;
        let answers =
            Workspace::new().predict_along(&graph, self.parts.dataset.inputs(), at, with_covariances)?;
        Ok(Some(answers))
    }

    /// Joint draws at points that all lie after the last row, row-major n×D each; `None` elsewhere.
    fn paths(&self, at: &InputPoints, n_draws: usize, seed: u64) -> Result<Option<Vec<f64>>, MethodError> {
        let (inputs, tree) = (self.parts.dataset.inputs(), &self.parts.tree);
        let last = inputs.values().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_ahead = inputs.dim() == 1 && at.values().iter().all(|&place| place >= last);
        let ends_last = tree.positions().last().is_some_and(|end| inputs.point(tree.row_at(end))[0] == last);
        if !(self.parts.has_large_states() && is_ahead && ends_last) {
            return Ok(None);
        }
        let scale = tree.distance_scale().get();
        let distances: Vec<f64> = at.values().iter().map(|place| (place - last) / scale).collect();
        let paths = Workspace::new().paths_ahead(&self.parts.graph()?, &distances, n_draws, seed)?;
        Ok(Some(paths.concat()))
    }

    fn elsewhere(&self) -> Result<&Posterior<'static>, MethodError> {
        if let Some(made) = self.elsewhere.get() {
            return Ok(made);
        }
        let posterior = Posterior::new(&self.parts.graph()?)?.with_inputs(self.parts.dataset.inputs())?;
        Ok(self.elsewhere.get_or_init(|| posterior))
    }

    /// The posterior of the structure with these points in it, as rows behind those it has.
    fn with_points(&self, points: &InputPoints) -> Result<Posterior<'static>, MethodError> {
        let Parts { model, tree, dataset } = &self.parts;
        let attachment = Attachment::new(dataset.inputs(), tree);
        let inputs = joined(dataset.inputs(), points)?;
        let tree = Arc::new(with_points(&inputs, tree, &attachment)?);
        let observations = with_empty_rows(dataset.observations(), inputs.n_rows())?;
        Ok(Posterior::new(&FactorGraph::new(Arc::clone(model), tree, &observations)?)?)
    }

    fn of(&self, prediction: Prediction, quantity: Quantity) -> Prediction {
        match quantity {
            Quantity::Function => prediction,
            Quantity::Observation => prediction.with_noise(self.parts.model.noise()),
        }
    }
}

impl Method for CatenaMethod {
    fn name(&self) -> &'static str {
        "catena"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        let parts = self.parts(problem)?;
        let found = inference::marginals(&parts.graph()?)?;
        let (n_rows, n_outputs) = (problem.dataset().n_rows(), parts.model.n_outputs());
        let (mut means, mut variances) = found.prediction.into_arrays();
        means.truncate(n_rows * n_outputs);
        variances.truncate(n_rows * n_outputs);
        let rows = Prediction::new(n_rows, n_outputs, means, variances)?;
        let log_evidence = found.log_evidence;
        Ok(Box::new(FittedCatena { parts, elsewhere: OnceLock::new(), rows, log_evidence }))
    }
}

impl Differentiable for CatenaMethod {
    fn gradient(&self, problem: Problem<'_>) -> Result<Gradient, MethodError> {
        let inference::Gradient { log_evidence, mixing, length_scales, noise, .. } =
            inference::gradient(&self.parts(problem)?.graph()?)?;
        Ok(Gradient { value: log_evidence, mixing, length_scales, noise })
    }
}

impl Fitted for FittedCatena {
    fn evidence(&self) -> Result<Option<Evidence>, MethodError> {
        let kind = if self.parts.is_exact() { Evidence::Exact } else { Evidence::Approximate };
        Ok(Some(kind(self.log_evidence)))
    }

    /// At a candidate this is the structure's own belief there: it is joined at distance 0.
    ///
    /// The first call sweeps once more and keeps the messages; later ones cost nothing in the number of rows.
    fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Prediction, MethodError> {
        check_dim(self.parts.dataset.inputs().dim(), at)?;
        if let Some((prediction, _)) = self.along(at, false)? {
            return Ok(self.of(prediction, quantity));
        }
        Ok(self.of(self.elsewhere()?.predict_at(at)?, quantity))
    }

    fn predict_rows(&self, quantity: Quantity) -> Result<Prediction, MethodError> {
        Ok(self.of(self.rows.clone(), quantity))
    }

    fn covariances(&self, at: &InputPoints) -> Result<Vec<f64>, MethodError> {
        check_dim(self.parts.dataset.inputs().dim(), at)?;
        if let Some((_, covariances)) = self.along(at, true)? {
            return Ok(covariances);
        }
        Ok(self.elsewhere()?.covariances_at(at)?)
    }

    /// The points become part of the structure, equal ones once, and all of it is drawn.
    fn draws(&self, at: &InputPoints, n_draws: usize, seed: u64) -> Result<Vec<f64>, MethodError> {
        check_dim(self.parts.dataset.inputs().dim(), at)?;
        if let Some(paths) = self.paths(at, n_draws, seed)? {
            return Ok(paths);
        }
        let (points, place_of) = distinct_points(at)?;
        let posterior = self.with_points(&points)?;
        let (n_before, n_outputs) = (self.parts.dataset.inputs().n_rows(), self.parts.model.n_outputs());
        let mut draws = Vec::with_capacity(n_draws * at.n_rows() * n_outputs);
        for draw in posterior.draws(seed).take(n_draws) {
            for place in &place_of {
                draws.extend_from_slice(&draw[(n_before + place) * n_outputs..][..n_outputs]);
            }
        }
        Ok(draws)
    }

    fn live(&self) -> Result<Option<LivePosterior>, MethodError> {
        let dataset = &self.parts.dataset;
        Ok(Some(LivePosterior::new(&self.parts.graph()?, dataset.inputs(), dataset.observations())?))
    }
}
