//! Chooses the inputs and outputs of a table and lays them out as numbers.
//!
//! By default the only column of times, else columns of a date, else latitude and longitude, else the first column, is the input; the
//! other columns of numbers are outputs. Text is ignored, unless it is almost numbers or times. `choice` chooses; `date_parts`,
//! `coordinates` and `input` are the kinds of inputs, `codes` finds suspicious values, `gaps` long gaps, `groups` independent tables and `panel` recognizes them, `times` puts times on an axis, `wide` and `long` lay out, `pivot` turns
//! the names in a column into outputs, `noise` pairs outputs with columns of known noise, `frame` is the result.

mod choice;
mod codes;
mod coordinates;
mod date_parts;
mod error;
mod frame;
mod gaps;
mod groups;
mod input;
mod long;
mod nearest;
mod noise;
mod panel;
mod pivot;
mod times;
mod wide;

pub use choice::{Choice, Decision, Reason};
pub use codes::{SuspiciousCode, suspicious_codes};
pub use error::SelectError;
pub use frame::{Frame, Input, Layout};
pub use gaps::cells_in_long_gaps;
pub use groups::Groups;
pub use nearest::nearest_name;
pub use panel::repeated_places;
pub use pivot::{WideColumns, WideSelection};

use crate::table::Table;
use crate::time::{CalendarChoice, TimeAxis};

/// The columns of a long table, in which a row is one value of one series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongColumns {
    /// The input.
    pub time: String,
    /// The name of the series; each becomes an output. Read it as text, see [`crate::read::ReadOptions::text_columns`].
    pub series: String,
    /// The value.
    pub value: String,
}

/// The columns a user named; `None` means automatic.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Names of the inputs; `row` without such a column means the row numbers.
    pub inputs: Option<Vec<String>>,
    /// Names of the outputs; of a long table, the series in their order.
    pub outputs: Option<Vec<String>>,
    /// The columns of a long table; then `inputs` must be empty.
    pub long: Option<LongColumns>,
    /// The column whose names become outputs; then `long` must be `None`. Read it as text.
    pub wide: Option<WideSelection>,
    /// Columns that name the group of each row: an independent table with the same model. Read them as text. Empty for one table.
    pub groups: Vec<String>,
    /// Columns with the known noise of each cell, as a standard deviation: one per output in their order, or
    /// `output=column`. For a long table: one column.
    pub noise_columns: Vec<String>,
    /// Time axes by input name: those of the model, when a table is read for it.
    pub time_axes: Vec<(String, TimeAxis)>,
    /// The calendar of times without an axis.
    pub calendar: CalendarChoice,
    /// Whether latitude and longitude of stations are inputs together with the only column of times.
    pub stations: bool,
    /// Whether the table may have no outputs, as a table of points to predict at.
    pub inputs_only: bool,
    /// Whether an output may be missing in every row, as in new rows for a fitted model.
    pub may_lack_values: bool,
    /// Whether row numbers may not be an input, as in new rows for a fitted model: they would begin at 1 again.
    pub needs_columns: bool,
}

/// Chooses the columns and lays them out.
///
/// # Errors
/// Unknown names, columns of the wrong kind, invalid cells: see [`SelectError`].
pub fn select(table: &Table, selection: &Selection) -> Result<Frame, SelectError> {
    match (&selection.long, &selection.wide) {
        (Some(columns), _) => long::select_long(table, columns, selection),
        (None, Some(wide)) => pivot::select_pivoted(table, wide, selection),
        (None, None) => wide::select_wide(table, selection),
    }
}
