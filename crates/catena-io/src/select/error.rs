//! Errors of choosing inputs and outputs.

use thiserror::Error;

use crate::place::{Excerpt, FileName, Place};
use crate::table::CellProblem;

/// Inputs or outputs that cannot be chosen.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name every field")]
pub enum SelectError {
    #[error("{file}: there is no column {name:?}{}", hint(nearest.as_deref()))]
    UnknownColumn { file: FileName, name: String, nearest: Option<String> },
    #[error("{file}: column {column} has no series {name:?}{}", hint(nearest.as_deref()))]
    UnknownSeries { file: FileName, column: String, name: String, nearest: Option<String> },
    #[error(
        "{file}: column {column} has the type {type_name}, which is not supported; remove or convert it{}",
        if *is_named { "" } else { ", or pass --inputs and --outputs to ignore it" }
    )]
    UnsupportedType { file: FileName, column: String, type_name: String, is_named: bool },
    #[error("{file}: column {name:?} is named twice; a column has one role")]
    TwoRoles { file: FileName, name: String },
    #[error("{file}: {} are all times; pass --inputs to choose one", names.join(", "))]
    SeveralTimes { file: FileName, names: Vec<String> },
    #[error(
        "{file}: column {column} holds {kind} and cannot be an input; choose a column of numbers or times with --inputs, or pass \
         --inputs row to use row numbers"
    )]
    InputKind { file: FileName, column: String, kind: &'static str },
    #[error(
        "{file}: {place}, column {column}: {text} is a date with the name of a month in a form that is not read; write dates as 2013-03-15 or \
         15 Mar 2013"
    )]
    MonthName { file: FileName, place: Place, column: String, text: Excerpt },
    #[error("{file}: column {column} holds {kind} and cannot be an output; choose a column of numbers")]
    OutputKind { file: FileName, column: String, kind: &'static str },
    #[error("{file}: no column of numbers is left for an output; pass --inputs and --outputs")]
    NoOutputs { file: FileName },
    #[error(
        "{file}: no column of numbers is left for an output: column {column} holds text, such as {text} in {place}; write \
         numbers without units or signs, or pass --inputs and --outputs"
    )]
    TextOnly { file: FileName, column: String, place: Place, text: Excerpt },
    #[error("{file}: column {column} has no value in any row; remove it from the outputs")]
    AllMissing { file: FileName, column: String },
    #[error(
        "{file}: {place}, column {column}: {text} {reason}{}{}",
        others(*count),
        if *is_named { "" } else { "; to ignore the column, pass --inputs and --outputs" }
    )]
    InvalidCell {
        file: FileName,
        place: Place,
        column: String,
        text: Excerpt,
        reason: CellProblem,
        count: usize,
        is_named: bool,
    },
    #[error("{file}: {place}, columns {columns}: {text} is not a date; correct or remove the row")]
    InvalidDate { file: FileName, place: Place, columns: String, text: Excerpt },
    #[error(
        "{file}: {place}, column {column}: the input is missing; fill it in or remove the row, or choose another input with --inputs, \
         such as --inputs row"
    )]
    MissingInput { file: FileName, place: Place, column: String },
    #[error(
        "{file}: {place}, column {column}: the name of the series is missing; fill it in or remove the row"
    )]
    MissingSeries { file: FileName, place: Place, column: String },
    #[error(
        "{file}: {place}, column {column}: the name of the group is missing; fill it in or remove the row"
    )]
    MissingGroup { file: FileName, place: Place, column: String },
    #[error(
        "{file}: column {column} names {n_series} series at {n_times} different times, too many for a table; check --long and --wide"
    )]
    TooManySeries { file: FileName, column: String, n_series: usize, n_times: usize },
    #[error(
        "{file}: {} the {columns} of an earlier row, such as {place} ({name:?}, as in {earlier}); remove or average them, or pass --group if another column tells them apart",
        repeating(*count)
    )]
    RepeatedPair { file: FileName, count: usize, columns: String, name: String, place: Place, earlier: Place },
    #[error(
        "{file}: --wide {column} needs an input that several rows share, but the input counts the rows; pass --inputs COLUMN"
    )]
    WideRows { file: FileName, column: String },
    #[error(
        "{file}: two pairs of a column and a name in {column} make the same output {name:?}; rename the column or the names"
    )]
    SameOutput { file: FileName, column: String, name: String },
    #[error("{file}: the time column is the only input of a long table; do not pass --inputs")]
    InputsOfLong { file: FileName },
    #[error(
        "{file}: {found} noise columns for {expected} outputs; pass one per output, in their order, or OUTPUT=COLUMN"
    )]
    NoiseCount { file: FileName, found: usize, expected: usize },
    #[error("{file}: noise is given for {name:?}, which is not an output{}", hint(nearest.as_deref()))]
    NoiseWithoutOutput { file: FileName, name: String, nearest: Option<String> },
    #[error("{file}: {name:?} has two noise columns; pass one per output")]
    TwoNoises { file: FileName, name: String },
    #[error("{file}: a long table has one noise column for all series; pass its name without {name:?}")]
    NoiseOfLong { file: FileName, name: String },
    #[error("{file}: column {column} holds {kind} and cannot be noise; choose a column of numbers")]
    NoiseKind { file: FileName, column: String, kind: &'static str },
    #[error(
        "{file}: {place}, column {column}: the noise of an observed value must be a number between 1e-150 and 1e150, found {text}"
    )]
    NoiseCell { file: FileName, place: Place, column: String, text: Excerpt },
    #[error(
        "{file}: column {column} has times {}, but those of the model are {}; write them in the same way",
        with_zone(*has_zone),
        with_zone(!*has_zone)
    )]
    OtherZone { file: FileName, column: String, has_zone: bool },
    #[error(
        "{file}: {place}, column {column}: {text} is at a weekend, which the business calendar does not have; remove the row, or use \
         --calendar elapsed for all rows"
    )]
    NotOnCalendar { file: FileName, place: Place, column: String, text: Excerpt },
    #[error(
        "{file}: column {column} holds {kind}, but the model was fitted to {expected}; use the same kind of input"
    )]
    AxisKind { file: FileName, column: String, kind: &'static str, expected: &'static str },
}

fn with_zone(has_zone: bool) -> &'static str {
    if has_zone { "with a zone" } else { "without a zone" }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

fn repeating(count: usize) -> String {
    match count {
        1 => "one row repeats".to_owned(),
        _ => format!("{count} rows repeat"),
    }
}

fn others(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        2 => " (and one more cell)".to_owned(),
        _ => format!(" (and {} more cells)", count - 1),
    }
}
