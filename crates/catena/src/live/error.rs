//! Errors of a posterior that accepts edits.

use crate::data::DataError;
use crate::graph::GraphError;
use crate::index::{OutputIndex, RowIndex};
use crate::inference::InferenceError;
use crate::model::ModelError;
use crate::structure::StructureError;
use crate::units::UnitError;
use thiserror::Error;

/// An edit or a query that is not possible.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LiveError {
    /// No such row.
    #[error("row {row} is not one of the {n_rows} rows")]
    UnknownRow {
        /// The row.
        row: RowIndex,
        /// The number of rows.
        n_rows: usize,
    },
    /// No such output.
    #[error("output {output} is not one of the {n_outputs} outputs")]
    UnknownOutput {
        /// The output.
        output: OutputIndex,
        /// The number of outputs.
        n_outputs: usize,
    },
    /// The value is not finite.
    #[error("the value of output {output} at row {row} is {value}; remove the cell to make it missing")]
    ValueNotFinite {
        /// The row.
        row: RowIndex,
        /// The output.
        output: OutputIndex,
        /// The value.
        value: f64,
    },
    /// The noise variance is known for all cells or for none.
    #[error(
        "the noise variance is known for all cells of a table or for none; call `set_with_noise` if the table has them, else `set`"
    )]
    OwnNoise,
    /// The wrong number of inputs, or an input that is not finite.
    #[error("a new point needs {dim} finite inputs, not {found:?}")]
    Input {
        /// Inputs of the table.
        dim: usize,
        /// Inputs given.
        found: Vec<f64>,
    },
    /// A branch in a chain with derivative states.
    #[error(
        "a new point would branch off the chain, but derivative states need a chain; use value states, or fit again with the point"
    )]
    DerivativeOffTheLine,
    /// The structure is a tree.
    #[error("the reach of an edit is defined on chains only; this structure is a tree")]
    NotAChain,
    /// The inputs are of another table.
    #[error(
        "the structure has {structure} points but there are {inputs} rows of inputs; pass the inputs it was built from"
    )]
    RowCountMismatch {
        /// Points of the structure.
        structure: usize,
        /// Rows of inputs.
        inputs: usize,
    },
    /// Rows in groups.
    #[error("edits are not possible for a table with groups; edit each group as a table of its own")]
    Groups,
    /// A new point at a distance that is not finite.
    #[error(
        "the distance of a new point at {point:?} to row {row} is not a finite number; rescale the inputs and fit again"
    )]
    DistanceNotFinite {
        /// The row it would join.
        row: RowIndex,
        /// The point.
        point: Vec<f64>,
    },
    /// Observations of another table than the graph's.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// An invalid model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Invalid inputs.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An invalid structure.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A unit out of range.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// Numbers left the range of doubles.
    #[error(transparent)]
    Inference(#[from] InferenceError),
}
