//! Scaled observations on a structure, ready for learning.

use std::sync::{Arc, OnceLock};

use catena::data::{Dataset, Observations};
use catena::graph::FactorGraph;
use catena::index::OutputIndex;
use catena::inference;
use catena::kernel::StateKind;
use catena::learning::{Extent, OutputMoments, Priors};
use catena::model::{Lmc, ModelError};
use catena::prediction::Prediction;
use catena::structure::Tree;
use catena::units::Variance;

use super::rescale::with_scaled_rows;
use super::rows::{joined_inputs, with_empty_rows};
use super::units::Preparation;
use crate::error::{FitError, MethodError};
use crate::options::{FitOptions, StructureOption};

/// Scaled observations on a structure, ready for learning.
#[derive(Clone, Debug)]
pub(crate) struct PreparedTable {
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) tree: Arc<Tree>,
    pub(crate) statistics: TableStatistics,
    /// Computed lazily; unused when parameters are given.
    moments: OnceLock<OutputMoments>,
}

/// Extent of the inputs and constant outputs of a prepared table.
#[derive(Clone, Debug)]
pub(crate) struct TableStatistics {
    pub(crate) extent: Extent,
    /// Outputs without variation or without cells, with their numbers of cells.
    pub(crate) constant: Vec<(OutputIndex, usize)>,
}

impl PreparedTable {
    /// Prepares a table: scales it, appends the candidates as empty rows, and builds the structure.
    pub(crate) fn of(
        table: &Dataset,
        preparation: &Preparation,
        options: &FitOptions,
    ) -> Result<Self, FitError> {
        let mut dataset = preparation.dataset(table)?;
        if let Some(candidates) = &options.candidates {
            let inputs = joined_inputs(dataset.inputs(), &preparation.inputs(candidates)?)?;
            let observations = with_empty_rows(dataset.observations(), inputs.n_rows())?.into_owned();
            dataset = Dataset::new(inputs, observations)?;
        }
        Self::new(dataset, options.structure)
    }

    /// Builds the structure over a scaled table.
    pub(crate) fn new(dataset: Dataset, structure: StructureOption) -> Result<Self, FitError> {
        let tree = structure.build(dataset.inputs())?;
        Ok(Self::on(dataset, Arc::new(tree)))
    }

    /// A scaled table on the chain of its rows as they are, for methods without a structure.
    pub(crate) fn along_rows(dataset: Dataset) -> Result<Self, FitError> {
        let tree = Tree::chain(dataset.inputs(), dataset.inputs().rows().collect())?;
        Ok(Self::on(dataset, Arc::new(tree)))
    }

    /// A scaled table on a given structure.
    pub(crate) fn on(dataset: Dataset, tree: Arc<Tree>) -> Self {
        let extent = Extent::of(dataset.inputs(), &tree);
        let observations = dataset.observations();
        let counts = observations.counts_by_output();
        let mut squares = vec![0.0; counts.len()];
        for (_, cell) in observations.cells() {
            squares[cell.output.get()] += cell.value * cell.value;
        }
        let statistics = TableStatistics { extent, constant: constant_outputs(&squares, &counts) };
        Self { dataset: Arc::new(dataset), tree, statistics, moments: OnceLock::new() }
    }

    /// The same structure with other observed cells.
    pub(crate) fn with_observations(&self, observations: &Observations) -> Result<Self, FitError> {
        let observations = with_empty_rows(observations, self.dataset.n_rows())?.into_owned();
        let dataset = Dataset::new(self.dataset.inputs().clone(), observations)?;
        Ok(Self::on(dataset, Arc::clone(&self.tree)))
    }

    pub(crate) fn moments(&self) -> &OutputMoments {
        self.moments.get_or_init(|| OutputMoments::of(self.dataset.observations()))
    }

    /// Derivative states on a chain along one input, else value states.
    pub(crate) fn default_state(&self) -> StateKind {
        let is_line = self.dataset.inputs().dim() == 1 && self.tree.is_chain();
        if is_line { StateKind::Derivative } else { StateKind::Value }
    }

    pub(crate) fn graph(&self, model: Lmc) -> Result<FactorGraph<'static>, MethodError> {
        Ok(FactorGraph::new(Arc::new(model), Arc::clone(&self.tree), self.dataset.observations())?)
    }

    /// Mean and variance of an observation at every cell.
    pub(crate) fn predictions(&self, model: &Lmc) -> Result<Prediction, MethodError> {
        let graph = FactorGraph::new(model, &*self.tree, self.dataset.observations())?;
        Ok(inference::marginals(&graph)?.prediction.with_noise(model.noise()))
    }
}

impl TableStatistics {
    /// The default priors.
    pub(crate) fn priors(&self) -> Priors {
        Priors::for_points(self.extent.spacing, self.extent.span)
    }

    /// The model with zero weights for constant outputs. Their noise variance is 1/n² for n cells, and 1 without cells.
    pub(crate) fn silenced(&self, model: Lmc) -> Result<Lmc, ModelError> {
        if self.constant.is_empty() {
            return Ok(model);
        }
        let count = |output: usize| {
            let constant = self.constant.iter().find(|(constant, _)| constant.get() == output);
            constant.map(|(_, count)| *count)
        };
        let factors: Vec<f64> =
            (0..model.n_outputs()).map(|output| if count(output).is_some() { 0.0 } else { 1.0 }).collect();
        let mut noise = model.noise().to_vec();
        for (output, noise) in noise.iter_mut().enumerate() {
            if let Some(count) = count(output) {
                *noise = Variance::new((count.max(1) as f64).powi(-2))?;
            }
        }
        Lmc::new(model.latents().to_vec(), with_scaled_rows(model.mixing(), &factors)?, noise)
    }
}

/// Outputs whose centered values are all 0, with their numbers of cells, from sums of squares.
pub(crate) fn constant_outputs(squares: &[f64], counts: &[usize]) -> Vec<(OutputIndex, usize)> {
    let is_constant = |output: &usize| squares[*output] <= 1e-20 * counts[*output] as f64;
    (0..counts.len()).filter(is_constant).map(|output| (OutputIndex::new(output), counts[output])).collect()
}
