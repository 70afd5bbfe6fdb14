//! Errors of an approximation.

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
    /// A value that the likelihood of its output does not allow.
    #[error(
        "output {output} is {value} at row {row}, but an output with the likelihood {likelihood} {allowed}; correct the value, or choose another likelihood"
    )]
    Value {
        /// The row.
        row: RowIndex,
        /// The output column.
        output: OutputIndex,
        /// The value.
        value: f64,
        /// The name of the likelihood.
        likelihood: &'static str,
        /// Which values are allowed.
        allowed: &'static str,
    },
    /// An exposure that is not a positive number.
    #[error(
        "the exposure of output {output} at row {row} is {exposure}; it must be a positive finite number"
    )]
    Exposure {
        /// The row.
        row: RowIndex,
        /// The output column.
        output: OutputIndex,
        /// The exposure.
        exposure: f64,
    },
    /// Fewer likelihoods than outputs.
    #[error(
        "there are likelihoods for {n_likelihoods} outputs but the table has an output {output}; give one for each"
    )]
    NoLikelihood {
        /// The output without one.
        output: OutputIndex,
        /// How many were given.
        n_likelihoods: usize,
    },
    /// A start with other cells than the table.
    #[error(
        "the start has {start} cells but the table has {table}; start from an approximation of the same table"
    )]
    OtherStart {
        /// Cells of the start.
        start: usize,
        /// Cells of the table.
        table: usize,
    },
    /// The pseudo-observation of a cell is not finite or has no positive variance.
    #[error(
        "the pseudo-observation of output {output} at row {row} has value {value} and variance {variance}; standardize the outputs, or check the value"
    )]
    PseudoObservation {
        /// The row.
        row: RowIndex,
        /// The output column.
        output: OutputIndex,
        /// The value that the likelihood asks for.
        value: f64,
        /// The variance that it asks for.
        variance: f64,
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
