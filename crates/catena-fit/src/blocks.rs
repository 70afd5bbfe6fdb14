//! A fitted model applied to a table larger than memory: a forward and a backward pass over blocks of rows.

use std::sync::Arc;

use catena::data::{DataError, Dataset, InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::RowIndex;
use catena::inference::{BlockSweep, Future, InferenceError, Past};
use catena::model::Lmc;
use catena::structure::sorted_chain;

use crate::error::{FitError, MethodError};
use crate::fit::FitParts;
use crate::methods::Quantity;
use crate::prepare::{Predictive, Preparation};

/// Rows of a table in ascending order of its only input, in the user's units.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The input of the last row before the block; `None` for the first block.
    pub before: Option<f64>,
    /// The input of each row.
    pub inputs: Vec<f64>,
    /// The cells, row-major; NaN is a missing value.
    pub values: Vec<f64>,
    /// Known noise variances of the cells.
    pub noise: Option<Vec<f64>>,
}

/// The sweep of a model over the blocks of a table: [`InBlocks::forward`] over all of them, then [`InBlocks::backward`] from
/// the last to the first. Between the passes O(n²) numbers per block are kept.
#[derive(Debug)]
pub struct InBlocks {
    preparation: Preparation,
    model: Arc<Lmc>,
    sweep: BlockSweep,
    /// The filtered states before each block that is still to be passed backward.
    pasts: Vec<Option<Past>>,
    future: Option<Future>,
    log_evidence: f64,
}

impl InBlocks {
    /// The sweep of a fitted model; its own rows are not included.
    ///
    /// # Errors
    /// When the model is not message passing on a chain along one input.
    pub fn new(parts: &FitParts) -> Result<Self, FitError> {
        if parts.table.inputs().groups().is_some() {
            return Err(FitError::Groups { what: "is not processed in blocks; leave the blocks out" });
        }
        if parts.preparation.has_likelihoods() {
            let what = "is not applied in blocks yet; allow more memory with --max-memory";
            return Err(FitError::WithLikelihood { what });
        }
        if !parts.is_line() || parts.candidates.is_some() {
            return Err(FitError::NotInBlocks);
        }
        Ok(Self {
            preparation: parts.preparation.clone(),
            model: Arc::new(parts.model.clone()),
            sweep: BlockSweep::new(),
            pasts: vec![None],
            future: None,
            log_evidence: 0.0,
        })
    }

    /// An estimate of the numbers kept per row of the current block.
    pub fn numbers_per_row(parts: &FitParts) -> usize {
        let (n, n_latents) = (parts.model.state_dim(), parts.model.n_latents());
        // States are padded to whole vector lanes; the largest part has a slot for every latent.
        let padded = (n + 4).next_multiple_of(4).max(n_latents.next_multiple_of(4));
        let n_outputs = parts.model.n_outputs();
        let observations = n_outputs.min(n_latents) * (padded + 3);
        // Transition and noise of a step, then cells in three units with their masks, and predictions in two.
        padded * padded + padded + observations + 8 * padded + 16 * (n_outputs + 1)
    }

    /// The forward pass over the next block.
    ///
    /// # Errors
    /// When numbers overflow; rows are counted within the block.
    pub fn forward(&mut self, block: &Block) -> Result<(), FitError> {
        let past = self.pasts.last().cloned().flatten();
        let dataset = self.prepared(block)?;
        let (log_evidence, past) = with_graph(&self.model, &dataset, |graph| {
            if !BlockSweep::suits(graph) {
                return Err(FitError::TooLittleNoiseForBlocks);
            }
            self.sweep.forward(graph, past.as_ref()).map_err(|error| within(block, error))
        })?;
        let outputs = self.preparation.outputs.iter().cycle();
        let volumes = block.values.iter().zip(outputs).filter(|(value, _)| !value.is_nan());
        let log_volume: f64 = volumes.map(|(value, output)| output.log_volume(*value)).sum();
        self.log_evidence += log_evidence + log_volume;
        self.pasts.push(Some(past));
        Ok(())
    }

    /// The log evidence of the blocks so far, in the user's units.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// The backward pass over the same block, the last block first; returns predictions at its rows.
    ///
    /// # Errors
    /// When numbers overflow; rows are counted within the block.
    pub fn backward(&mut self, block: &Block, quantity: Quantity) -> Result<Predictive, FitError> {
        // The state after the last block is not needed.
        if self.future.is_none() {
            self.pasts.pop();
        }
        let past = self.pasts.pop().flatten();
        let dataset = self.prepared(block)?;
        let (prediction, future) = with_graph(&self.model, &dataset, |graph| {
            let passed = self.sweep.backward(graph, past.as_ref(), self.future.as_ref());
            passed.map_err(|error| within(block, error))
        })?;
        self.future = Some(future);
        let prediction = match quantity {
            Quantity::Function => prediction,
            Quantity::Observation => prediction.with_noise(self.model.noise()),
        };
        let own = dataset.inputs().values()[usize::from(block.before.is_some())..].to_vec();
        Ok(self.preparation.predictive(prediction, &InputPoints::from_column(own)?)?)
    }

    /// Whether variances have all digits of a sweep in memory despite tiny noise.
    pub fn variances_are_accurate(&self) -> bool {
        self.sweep.variances_are_accurate()
    }

    /// The block in the model's units, preceded by the last row before it without cells.
    fn prepared(&self, block: &Block) -> Result<Dataset, FitError> {
        let n_outputs = self.model.n_outputs();
        let first = usize::from(block.before.is_some());
        let with_first = |numbers: &[f64]| [&vec![f64::NAN; first * n_outputs], numbers].concat();
        let inputs: Vec<f64> = block.before.iter().chain(&block.inputs).copied().collect();
        let n_rows = inputs.len();
        let mut observations = Observations::from_dense(n_rows, n_outputs, &with_first(&block.values))?;
        if let Some(noise) = &block.noise {
            observations = observations.with_cell_noise(&with_first(noise))?;
        }
        let table = Dataset::new(InputPoints::from_column(inputs)?, observations)?;
        self.preparation.check_values(&table).map_err(|error| match error {
            FitError::NotPositive { row, output, value } => {
                FitError::NotPositive { row: own_row(block, row), output, value }
            }
            FitError::BeyondBounds { row, output, value, bounds } => {
                FitError::BeyondBounds { row: own_row(block, row), output, value, bounds }
            }
            other => other,
        })?;
        self.preparation.dataset(&table).map_err(|error| match error {
            DataError::ScalingOverflow { row, column } => {
                DataError::ScalingOverflow { row: own_row(block, row), column }.into()
            }
            other => other.into(),
        })
    }
}

/// Calls `act` with the graph of a model over a block.
fn with_graph<T>(
    model: &Lmc,
    dataset: &Dataset,
    act: impl FnOnce(&FactorGraph<'_>) -> Result<T, FitError>,
) -> Result<T, FitError> {
    let tree = sorted_chain(dataset.inputs())?;
    let graph = FactorGraph::new(model, &tree, dataset.observations());
    act(&graph.map_err(MethodError::from)?)
}

/// An error of a sweep with rows counted within the block.
fn within(block: &Block, error: InferenceError) -> FitError {
    FitError::Method(MethodError::Inference(match error {
        InferenceError::Overflow { row } => InferenceError::Overflow { row: own_row(block, row) },
        other => other,
    }))
}

fn own_row(block: &Block, row: RowIndex) -> RowIndex {
    RowIndex::new(row.get().saturating_sub(usize::from(block.before.is_some())))
}
