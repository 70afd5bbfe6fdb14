//! Message passing under likelihoods that are not Gaussian: the bound as an evidence to learn by, and posteriors given the
//! pseudo-observations.

use std::sync::Arc;

use catena::data::{Dataset, InputPoints};
use catena::inference::{Gradient, Workspace};
use catena::learning;
use catena::likelihood::{
    Approximation, ApproximationSettings, ApproximationStop, OutputLikelihoods, approximate, approximate_from,
};
use catena::model::Lmc;
use catena::prediction::Prediction;
use catena::structure::Tree;
use catena::units::DistanceScale;
use catena_methods::Problem;

use super::message_passing::{MessagePassing, with_suited_states};
use super::method::{Evidence, Fitted, Method, Quantity};
use crate::error::{FitError, MethodError};
use crate::prepare::{Preparation, PreparedTable};

/// Rounds while parameters are learned: the bound is then exact to about 1e-8 per cell.
const WHILE_LEARNING: ApproximationSettings = ApproximationSettings { max_rounds: 100, tolerance: 1e-4 };

/// Rounds of the final posterior.
const AT_THE_END: ApproximationSettings = ApproximationSettings { max_rounds: 300, tolerance: 1e-6 };

/// The bound of a table's cells, with its gradient.
///
/// Each evaluation starts from the pseudo-observations of the last one: models along a path of learning differ little. The bound
/// depends on the start only within the tolerance of the rounds.
pub(crate) struct LikelihoodEvidence<'a> {
    table: &'a PreparedTable,
    likelihoods: &'a OutputLikelihoods,
    start: Option<catena::data::Observations>,
    workspace: Workspace,
}

impl<'a> LikelihoodEvidence<'a> {
    /// The bound of the table's cells, which are in the user's units.
    pub(crate) fn new(table: &'a PreparedTable, likelihoods: &'a OutputLikelihoods) -> Self {
        Self { table, likelihoods, start: None, workspace: Workspace::new().on_all_threads() }
    }

    /// The approximation under a model.
    pub(crate) fn approximation<'m>(&mut self, model: &'m Lmc) -> Result<Approximation<'m>, MethodError>
    where
        'a: 'm,
    {
        let (tree, cells) = (&*self.table.tree, self.table.dataset.observations());
        let from_last = self.start.take().and_then(|start| {
            approximate_from(&start, model, tree, cells, self.likelihoods, WHILE_LEARNING).ok()
        });
        let found = match from_last.filter(|found| found.stop == ApproximationStop::Converged) {
            Some(found) => found,
            None => approximate(model, tree, cells, self.likelihoods, WHILE_LEARNING)?,
        };
        self.start = Some(found.pseudo_observations.clone());
        Ok(found)
    }
}

impl learning::Evidence for LikelihoodEvidence<'_> {
    type Error = MethodError;

    fn gradient(&mut self, model: &Lmc) -> Result<Gradient, MethodError> {
        let found = self.approximation(model)?;
        Ok(found.gradient(&mut self.workspace)?)
    }
}

/// Conditions a model on a table whose cells are in the user's units. Returns the table of pseudo-observations too.
pub(crate) fn condition_by_likelihood(
    table: &Dataset,
    model: &Lmc,
    preparation: &Preparation,
    tree: Arc<Tree>,
) -> Result<(Arc<Dataset>, Box<dyn Fitted>), FitError> {
    let likelihoods = preparation.likelihoods(table.n_rows()).map_err(MethodError::from)?;
    let model = with_suited_states(model, table.inputs().dim() == 1 && tree.is_chain())?;
    let found = approximate(&model, &*tree, table.observations(), &likelihoods, AT_THE_END)
        .map_err(MethodError::from)?;
    if found.stop == ApproximationStop::RoundLimit {
        return Err(FitError::LikelihoodNotConverged { n_sweeps: found.n_sweeps });
    }
    let (bound, n_rounds) = (found.lower_bound, found.n_sweeps);
    let pseudo = Arc::new(Dataset::new(table.inputs().clone(), found.pseudo_observations)?);
    let method = MessagePassing { tree: Some(tree), ..MessagePassing::default() };
    let fitted = method.fit(Problem::new(&model, &pseudo, DistanceScale::ONE)?)?;
    Ok((pseudo, Box::new(ByLikelihood { fitted, bound, n_rounds })))
}

/// A posterior given pseudo-observations, with the bound of the cells that they replace.
struct ByLikelihood {
    fitted: Box<dyn Fitted>,
    bound: f64,
    n_rounds: usize,
}

impl Fitted for ByLikelihood {
    fn evidence(&self) -> Result<Option<Evidence>, MethodError> {
        Ok(Some(Evidence::LowerBound(self.bound)))
    }

    fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Prediction, MethodError> {
        self.fitted.predict(at, quantity)
    }

    fn predict_rows(&self, quantity: Quantity) -> Result<Prediction, MethodError> {
        self.fitted.predict_rows(quantity)
    }

    fn covariances(&self, at: &InputPoints) -> Result<Vec<f64>, MethodError> {
        self.fitted.covariances(at)
    }

    fn draws(&self, at: &InputPoints, n_draws: usize, seed: u64) -> Result<Vec<f64>, MethodError> {
        self.fitted.draws(at, n_draws, seed)
    }

    fn n_sweeps(&self) -> usize {
        self.n_rounds + self.fitted.n_sweeps()
    }
}
