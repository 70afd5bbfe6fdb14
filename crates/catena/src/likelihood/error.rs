//! Errors of an approximation.

use super::cell::PseudoObservation;
use crate::data::DataError;
use crate::graph::GraphError;
use crate::index::{OutputIndex, RowIndex};
use crate::inference::InferenceError;
use thiserror::Error;

/// An approximation that cannot be computed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LikelihoodError {
    /// The limit on rounds is zero.
    #[error("the maximum number of rounds is 0; allow at least one")]
    NoRounds,
    /// The tolerance is negative or not finite.
    #[error("tolerance {0} is not a finite number of at least 0")]
    Tolerance(f64),
    /// The pseudo-observation of a cell is not finite or has no positive variance.
    #[error(
        "the pseudo-observation of output {output} at row {row} has value {} and variance {}; standardize the outputs, or check the value",
        found.value, found.variance
    )]
    PseudoObservation {
        /// The row.
        row: RowIndex,
        /// The output column.
        output: OutputIndex,
        /// The result of the likelihood.
        found: PseudoObservation,
    },
    /// A cell's term of the bound is not finite.
    #[error(
        "the expected log density of output {output} at row {row} is {value}; standardize the outputs, or check the value"
    )]
    Density {
        /// The row.
        row: RowIndex,
        /// The output column.
        output: OutputIndex,
        /// The result of the likelihood.
        value: f64,
    },
    /// Model, structure and observations do not fit together.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The pseudo-observations are not a valid table.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A sweep failed.
    #[error(transparent)]
    Inference(#[from] InferenceError),
}
