//! Model, structure and observed cells: the input of a sweep.

use super::cells::Cells;
use super::held::Held;
use super::step_lengths::StepLengths;
use crate::data::Observations;
use crate::index::LatentIndex;
use crate::model::{Latent, Lmc};
use crate::structure::Tree;
use std::sync::Arc;
use thiserror::Error;

/// A model, structure and observations that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The structure was built over another table.
    #[error("the structure has {structure} points but the observations have {observations} rows")]
    RowCountMismatch {
        /// Points of the structure.
        structure: usize,
        /// Rows of the observations.
        observations: usize,
    },
    /// The structure visits the rows in another order than the graph's cells.
    #[error("the structure visits the rows in another order than the graph; build a new graph")]
    OrderMismatch,
    /// The model was made for another table.
    #[error("the model has {model} outputs but the observations have {observations}")]
    OutputCountMismatch {
        /// Outputs of the model.
        model: usize,
        /// Outputs of the observations.
        observations: usize,
    },
    /// Derivative states need a chain: at a branching, odd derivatives have no sign.
    #[error(
        "latent {latent} has a derivative state or is a component along time, which needs a chain; use a value state on a tree"
    )]
    DerivativeOnTree {
        /// The latent.
        latent: LatentIndex,
    },
}

/// A model, a structure and the observed cells: the input of a sweep.
///
/// Model and structure are borrowed, or shared by an [`Arc`]; a graph of shared parts is a `FactorGraph<'static>`.
#[derive(Clone, Debug)]
pub struct FactorGraph<'a> {
    model: Held<'a, Lmc>,
    tree: Held<'a, Tree>,
    cells: Arc<Cells>,
    step_lengths: Arc<StepLengths>,
}

impl<'a> FactorGraph<'a> {
    /// The graph of these parts; observed cells are copied in the structure's order.
    ///
    /// # Errors
    /// When rows or outputs differ, or a latent needs a chain and the structure is a tree.
    pub fn new(
        model: impl Into<Held<'a, Lmc>>,
        tree: impl Into<Held<'a, Tree>>,
        observations: &Observations,
    ) -> Result<Self, GraphError> {
        let (model, tree) = (model.into(), tree.into());
        check_rows(&tree, observations)?;
        let cells = Arc::new(Cells::new(&tree, observations));
        let step_lengths = Arc::new(StepLengths::new(&tree));
        let graph = Self { model: model.clone(), tree, cells, step_lengths };
        graph.with_model(model)
    }

    /// The same structure and cells under another model.
    ///
    /// # Errors
    /// When the number of outputs differs, or a latent needs a chain and the structure is a tree.
    pub fn with_model<'b>(&self, model: impl Into<Held<'b, Lmc>>) -> Result<FactorGraph<'b>, GraphError>
    where
        'a: 'b,
    {
        let model = model.into();
        if model.n_outputs() != self.cells.n_outputs() {
            let (model, observations) = (model.n_outputs(), self.cells.n_outputs());
            return Err(GraphError::OutputCountMismatch { model, observations });
        }
        if !self.tree.is_chain() {
            let with_derivatives = model.latents().iter().position(Latent::needs_a_line);
            if let Some(latent) = with_derivatives {
                return Err(GraphError::DerivativeOnTree { latent: LatentIndex::new(latent) });
            }
        }
        let Self { tree, cells, step_lengths, .. } = self.clone();
        Ok(FactorGraph { model, tree, cells, step_lengths })
    }

    /// The same model and cells on a structure with the same order and other lengths.
    ///
    /// # Errors
    /// When the order differs, or a latent needs a chain and the structure is a tree.
    pub fn with_tree<'b>(&self, tree: impl Into<Held<'b, Tree>>) -> Result<FactorGraph<'b>, GraphError>
    where
        'a: 'b,
    {
        let tree = tree.into();
        if !tree.has_order_of(&self.tree) {
            return Err(GraphError::OrderMismatch);
        }
        let step_lengths = Arc::new(StepLengths::new(&tree));
        let Self { model, cells, .. } = self.clone();
        FactorGraph { model: model.clone(), tree, cells, step_lengths }.with_model(model)
    }

    /// The model.
    pub fn model(&self) -> &Lmc {
        &self.model
    }

    /// The structure.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The steps along the structure's edges.
    pub(crate) fn step_lengths(&self) -> &StepLengths {
        &self.step_lengths
    }

    /// The observed cells in the structure's order.
    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Checks that a table has the rows and outputs of the graph.
    pub(crate) fn check_table(&self, observations: &Observations) -> Result<(), GraphError> {
        check_rows(&self.tree, observations)?;
        let (model, observations) = (self.model.n_outputs(), observations.n_outputs());
        if model == observations {
            Ok(())
        } else {
            Err(GraphError::OutputCountMismatch { model, observations })
        }
    }
}

fn check_rows(tree: &Tree, observations: &Observations) -> Result<(), GraphError> {
    let (structure, observations) = (tree.len(), observations.n_rows());
    if structure == observations {
        Ok(())
    } else {
        Err(GraphError::RowCountMismatch { structure, observations })
    }
}
