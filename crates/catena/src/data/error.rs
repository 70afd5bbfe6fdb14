//! Errors of a table.

use thiserror::Error;

use crate::index::{OutputIndex, RowIndex};

/// An invalid table, with the place of the error.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DataError {
    /// A table needs at least one row.
    #[error("the table has no rows")]
    NoRows,
    /// A table needs at least one input column.
    #[error("the table has no input columns")]
    NoInputs,
    /// A table needs at least one output column.
    #[error("the table has no output columns")]
    NoOutputs,
    /// An array does not have the size of its shape.
    #[error("{what} has {found} numbers, but {rows} rows of {columns} columns need {}", rows * columns)]
    ShapeMismatch {
        /// Which array.
        what: &'static str,
        /// Rows of the shape.
        rows: usize,
        /// Columns of the shape.
        columns: usize,
        /// Numbers given.
        found: usize,
    },
    /// Inputs and observations must have the same rows.
    #[error("inputs have {inputs} rows but observations have {observations}")]
    RowCountMismatch {
        /// Rows of the inputs.
        inputs: usize,
        /// Rows of the observations.
        observations: usize,
    },
    /// Every input must be finite.
    #[error("input column {column} is {value} at row {row}; every input must be finite")]
    InputNotFinite {
        /// The row.
        row: RowIndex,
        /// The input column, counted from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// An observed value must be finite.
    #[error(
        "output {output} is {value} at row {row}; observed values must be finite (in an array, NaN marks a missing cell)"
    )]
    OutputNotFinite {
        /// The row.
        row: RowIndex,
        /// The output column.
        output: OutputIndex,
        /// The value.
        value: f64,
    },
    /// The cells of a row must be listed by ascending output.
    #[error("output {output} of row {row} is out of order or not below the number of outputs, {n_outputs}")]
    OutputOrder {
        /// The row.
        row: RowIndex,
        /// The output column.
        output: OutputIndex,
        /// The number of outputs.
        n_outputs: usize,
    },
    /// Noise variances must be positive and finite for every observed cell, or known for none.
    #[error(
        "noise variance of output {output} is {value} at row {row}; it must be positive and finite at every observed cell, or known for none"
    )]
    CellNoise {
        /// The row.
        row: RowIndex,
        /// The output column.
        output: OutputIndex,
        /// The value.
        value: f64,
    },
    /// An output without a single value has no mean and no scale.
    #[error(
        "output {output} has no observed value, so it cannot be standardized; give its parameters or drop it"
    )]
    OutputNeverObserved {
        /// The output column.
        output: OutputIndex,
    },
    /// A scale must be positive and finite, a shift finite.
    #[error("scaling of column {column} is invalid: shift {shift}, scale {scale}")]
    InvalidScaling {
        /// The column, counted from 0.
        column: usize,
        /// The shift given.
        shift: f64,
        /// The scale given.
        scale: f64,
    },
    /// A value overflows when its column is scaled.
    #[error(
        "column {column} overflows at row {row} when it is scaled; give another shift and scale, or check the value"
    )]
    ScalingOverflow {
        /// The row.
        row: RowIndex,
        /// The column, counted from 0.
        column: usize,
    },
    /// A prediction overflows when it is converted to the units of its column.
    #[error("the prediction of output {output} at row {row} overflows in the units of the table")]
    UnscalingOverflow {
        /// The row of the prediction.
        row: RowIndex,
        /// The output, counted from 0.
        output: usize,
    },
}

/// Checks that a row-major array has the size of its shape.
pub(crate) fn check_shape(
    what: &'static str,
    rows: usize,
    columns: usize,
    found: usize,
) -> Result<(), DataError> {
    if rows.checked_mul(columns) == Some(found) {
        Ok(())
    } else {
        Err(DataError::ShapeMismatch { what, rows, columns, found })
    }
}
