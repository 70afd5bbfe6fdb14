//! Errors of a sweep.

use crate::graph::FactorGraph;
use crate::index::{Position, RowIndex};
use thiserror::Error;

/// A sweep that could not be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InferenceError {
    /// The structure is not a chain.
    #[error("the covariance form needs a chain; use the information form or the square-root form on a tree")]
    NotAChain,
    /// The step of a time component depends on more than the ratio of edge to length-scale.
    #[error("edge-length gradients are undefined for models with time components; use stationary kernels")]
    NoEdgeGradient,
    /// A forecast at a negative distance.
    #[error("forecast distance {at} is negative or not a number; pass distances of zero or more")]
    NotAhead {
        /// Which of the distances given, counted from 0.
        at: usize,
    },
    /// A filtered state or an adjoint from another model.
    #[error(
        "the Gaussian before or after the block has a state of {found} numbers but the model's has {expected}; use the model of the neighboring blocks"
    )]
    OtherState {
        /// Size of the model's state, with padding.
        expected: usize,
        /// Size of the state that was given.
        found: usize,
    },
    /// The inputs of the table were not given.
    #[error("the posterior does not know the inputs of its table; call `with_inputs` before `predict_at`")]
    NoInputs,
    /// New inputs with another number of columns than the table.
    #[error("the new inputs have {found} columns but the table has {expected}")]
    InputDimension {
        /// Inputs of the table.
        expected: usize,
        /// Columns of the new inputs.
        found: usize,
    },
    /// New inputs without groups for a table with groups.
    #[error("the table has groups but the new inputs have none; pass the group of each new input")]
    NoGroups,
    /// New inputs with groups for a table without.
    #[error("the new inputs have groups but the table has none; leave the groups out, or fit with groups")]
    UnknownGroups,
    /// Inputs of another table than the structure's.
    #[error(
        "the structure has {structure} points but there are {inputs} rows of inputs; pass the inputs it was built from"
    )]
    OtherInputs {
        /// Points of the structure.
        structure: usize,
        /// Rows of the inputs.
        inputs: usize,
    },
    /// Numbers left the range of doubles.
    /// Usual causes: weights, observations or noise variances of extreme size.
    /// The row named is where it was *noticed*; the cause may lie elsewhere in the structure.
    #[error("numbers overflow at row {row}; standardize the outputs, or check weights and noise variances")]
    Overflow {
        /// The row.
        row: RowIndex,
    },
}

impl InferenceError {
    /// Numbers overflowed at a position.
    pub(super) fn overflow_at(graph: &FactorGraph<'_>, position: Position) -> Self {
        Self::Overflow { row: graph.tree().row_at(position) }
    }
}
