//! What can be wrong with a table.

use thiserror::Error;

use crate::index::{OutputIndex, RowIndex};

/// A table that cannot be used, and where.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DataError {
    /// There is nothing to work on.
    #[error("the table has no rows")]
    NoRows,
    /// At least one input column is needed to place a row.
    #[error("the table has no input columns")]
    NoInputs,
    /// At least one output column is needed.
    #[error("the table has no output columns")]
    NoOutputs,
    /// An array does not have the size its shape promises.
    #[error("{what} has {found} numbers, but {rows} rows of {columns} columns need {}", rows * columns)]
    ShapeMismatch {
        /// Which array.
        what: &'static str,
        /// Rows promised.
        rows: usize,
        /// Columns promised.
        columns: usize,
        /// Numbers given.
        found: usize,
    },
    /// Inputs and observations describe different tables.
    #[error("inputs have {inputs} rows but observations have {observations}")]
    RowCountMismatch {
        /// Rows of the inputs.
        inputs: usize,
        /// Rows of the observations.
        observations: usize,
    },
    /// Every row needs a complete, finite input: a point without a place cannot be ordered.
    #[error("input column {column} is {value} at row {row}; every input must be finite")]
    InputNotFinite {
        /// The row.
        row: RowIndex,
        /// The input column, counted from 0.
        column: usize,
        /// What stands there.
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
        /// What stands there.
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
        /// What stands there.
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
    /// A value overflowed while its column was brought to scale.
    #[error("column {column} overflows at row {row} when it is brought to scale")]
    ScalingOverflow {
        /// The row.
        row: RowIndex,
        /// The column, counted from 0.
        column: usize,
    },
    /// A result overflowed while it was brought back to the units of its column.
    #[error("output {output} overflows at row {row} when it is brought back to its units")]
    UnscalingOverflow {
        /// The row, of those that were asked for.
        row: RowIndex,
        /// The output, counted from 0.
        output: usize,
    },
}

/// Checks that a row-major array has the size its shape promises.
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
