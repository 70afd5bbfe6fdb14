//! Chooses inputs and outputs from a table, says why, and lays them out as numbers.
//!
//! Without names: the single column of times, or without one the first column, is the input; the other columns of numbers
//! are outputs; text is ignored, unless it is nearly numbers or times. `choice` decides, `wide` and `long` lay out, `noise` pairs outputs with their known
//! noise, `frame` is the result.

mod choice;
mod error;
mod frame;
mod long;
mod nearest;
mod noise;
mod wide;

pub use choice::{Choice, Decision, Reason};
pub use error::SelectError;
pub use frame::{Frame, Input, Layout};
pub use nearest::nearest_name;

use crate::table::Table;
use crate::time::TimeAxis;

/// The columns of a long table, in which a row is one value of one series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongColumns {
    /// The input.
    pub time: String,
    /// The name of the series; each becomes an output. Best read as text, see [`crate::read::ReadOptions::text_columns`].
    pub series: String,
    /// The value.
    pub value: String,
}

/// What the user asked for; empty means "decide".
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Names of the inputs.
    pub inputs: Option<Vec<String>>,
    /// Names of the outputs. For a long table: which series, in which order.
    pub outputs: Option<Vec<String>>,
    /// The columns of a long table; then `inputs` must be empty.
    pub long: Option<LongColumns>,
    /// Columns with the known noise of each cell, as a standard deviation: one per output in their order, or
    /// `output=column`. For a long table: one column.
    pub noise_columns: Vec<String>,
    /// Time axes to keep, by the name of the input: those of a model when a new table is read for it.
    pub time_axes: Vec<(String, TimeAxis)>,
    /// Whether outputs may be absent altogether, as in a table of points to predict at.
    pub inputs_only: bool,
    /// Whether an output may have no value in any row, as in more rows for a model that knows it already.
    pub may_lack_values: bool,
}

/// Chooses the columns and lays them out.
///
/// # Errors
/// Names that are not there, columns that cannot be what they are asked to be, cells that do not fit: see
/// [`SelectError`].
pub fn select(table: &Table, selection: &Selection) -> Result<Frame, SelectError> {
    match &selection.long {
        Some(columns) => long::select_long(table, columns, selection),
        None => wide::select_wide(table, selection),
    }
}
