//! Why inputs and outputs cannot be chosen as asked.

use thiserror::Error;

use crate::place::{Excerpt, FileName, Place};
use crate::table::StrayReason;

/// A choice that cannot be made, and where.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No column has this name.
    #[error("{file}: there is no column {name:?}{}", hint(nearest.as_deref()))]
    UnknownColumn {
        /// The file.
        file: FileName,
        /// The name asked for.
        name: String,
        /// The nearest name there is.
        nearest: Option<String>,
    },
    /// No series has this name.
    #[error("{file}: column {column} has no series {name:?}{}", hint(nearest.as_deref()))]
    UnknownSeries {
        /// The file.
        file: FileName,
        /// The column of series names.
        column: String,
        /// The name asked for.
        name: String,
        /// The nearest name there is.
        nearest: Option<String>,
    },
    /// One column in two roles.
    #[error("{file}: column {name:?} is asked for twice; a column has one role")]
    TwoRoles {
        /// The file.
        file: FileName,
        /// The name.
        name: String,
    },
    /// More than one column of times and no word which is the input.
    #[error("{file}: {} are all times; say which is the input", names.join(", "))]
    SeveralTimes {
        /// The file.
        file: FileName,
        /// Their names.
        names: Vec<String>,
    },
    /// A column that cannot be an input.
    #[error("{file}: column {column} holds {kind} and cannot be an input; name a column of numbers or times")]
    InputKind {
        /// The file.
        file: FileName,
        /// The column.
        column: String,
        /// What it holds.
        kind: &'static str,
    },
    /// A column that cannot be an output.
    #[error("{file}: column {column} holds {kind} and cannot be an output; name a column of numbers")]
    OutputKind {
        /// The file.
        file: FileName,
        /// The column.
        column: String,
        /// What it holds.
        kind: &'static str,
    },
    /// Nothing is left to be an output.
    #[error("{file}: no column of numbers is left for an output; name the inputs and outputs")]
    NoOutputs {
        /// The file.
        file: FileName,
    },
    /// What could be an output holds text.
    #[error(
        "{file}: no column of numbers is left for an output: column {column} holds text, such as {text} in {place}; write \
         numbers without units or signs, or name the inputs and outputs"
    )]
    TextOnly {
        /// The file.
        file: FileName,
        /// The first such column.
        column: String,
        /// Its first cell with text.
        place: Place,
        /// The text there.
        text: Excerpt,
    },
    /// An output without a value.
    #[error("{file}: column {column} has no value in any row; drop it from the outputs")]
    AllHoles {
        /// The file.
        file: FileName,
        /// The column.
        column: String,
    },
    /// A cell that does not fit its column.
    #[error(
        "{file}: {place}, column {column}: {text} {reason}{}{}",
        others(*count),
        if *is_named { "" } else { "; to leave the column out, name the inputs and outputs" }
    )]
    StrayCell {
        /// The file.
        file: FileName,
        /// Where.
        place: Place,
        /// The column.
        column: String,
        /// The cell.
        text: Excerpt,
        /// What is wrong with it.
        reason: StrayReason,
        /// How many cells of the column do not fit.
        count: usize,
        /// Whether the user named the column, or it would be used only because none was named.
        is_named: bool,
    },
    /// A row that has no place among the inputs.
    #[error("{file}: {place}, column {column}: the input is missing; fill it in or remove the row")]
    MissingInput {
        /// The file.
        file: FileName,
        /// Where.
        place: Place,
        /// The column.
        column: String,
    },
    /// A row of a long table without the name of its series.
    #[error(
        "{file}: {place}, column {column}: the name of the series is missing; fill it in or remove the row"
    )]
    MissingSeries {
        /// The file.
        file: FileName,
        /// Where.
        place: Place,
        /// The column.
        column: String,
    },
    /// A long table that would be too large when wide.
    #[error(
        "{file}: column {column} names {n_series} series at {n_times} different times, too many for a table; is it the right column?"
    )]
    TooManySeries {
        /// The file.
        file: FileName,
        /// The column.
        column: String,
        /// Distinct names.
        n_series: usize,
        /// Distinct times.
        n_times: usize,
    },
    /// Inputs named for a long table.
    #[error("{file}: in a long table the time column is the only input; do not name others")]
    InputsOfLong {
        /// The file.
        file: FileName,
    },
    /// Noise columns that do not pair with outputs.
    #[error(
        "{file}: {found} noise columns for {expected} outputs; give one per output, in their order, or write output=column"
    )]
    NoiseCount {
        /// The file.
        file: FileName,
        /// Noise columns given.
        found: usize,
        /// Outputs.
        expected: usize,
    },
    /// Noise for something that is no output.
    #[error("{file}: noise is given for {name:?}, which is not an output{}", hint(nearest.as_deref()))]
    NoiseWithoutOutput {
        /// The file.
        file: FileName,
        /// The name.
        name: String,
        /// The nearest output.
        nearest: Option<String>,
    },
    /// Two noise columns of one output.
    #[error("{file}: noise is given for {name:?} twice; give one column per output")]
    TwoNoises {
        /// The file.
        file: FileName,
        /// The output.
        name: String,
    },
    /// Noise for one series of a long table.
    #[error("{file}: in a long table one column has the noise of all series; name it without {name:?}")]
    NoiseOfLong {
        /// The file.
        file: FileName,
        /// The series.
        name: String,
    },
    /// A column that cannot be noise.
    #[error(
        "{file}: column {column} holds {kind} and cannot be the noise of an output; name a column of numbers"
    )]
    NoiseKind {
        /// The file.
        file: FileName,
        /// The column.
        column: String,
        /// What it holds.
        kind: &'static str,
    },
    /// A noise that is missing or not positive where a value is.
    #[error(
        "{file}: {place}, column {column}: the noise of an observed value must be a positive number, found {text}"
    )]
    NoiseCell {
        /// The file.
        file: FileName,
        /// Where.
        place: Place,
        /// The noise column.
        column: String,
        /// What stands there.
        text: Excerpt,
    },
    /// A model of times with a zone and a table of times without one, or the other way round.
    #[error(
        "{file}: column {column} has times {}, but the model was made from times {}; write them as the model's table does",
        with_zone(*has_zone),
        with_zone(!*has_zone)
    )]
    OtherZone {
        /// The file.
        file: FileName,
        /// The column.
        column: String,
        /// Whether the times of the table have a zone.
        has_zone: bool,
    },
    /// A model with a time input and a table with numbers, or the other way round.
    #[error("{file}: column {column} holds {kind}, but the model was made with {expected}")]
    AxisKind {
        /// The file.
        file: FileName,
        /// The column.
        column: String,
        /// What it holds.
        kind: &'static str,
        /// What is needed.
        expected: &'static str,
    },
}

fn with_zone(has_zone: bool) -> &'static str {
    if has_zone { "with a zone" } else { "without a zone" }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

fn others(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        2 => " (and one more cell)".to_owned(),
        _ => format!(" (and {} more cells)", count - 1),
    }
}
