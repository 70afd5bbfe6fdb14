//! Chooses which columns are inputs and outputs, with the reason for each.

use std::fmt;

use super::coordinates::{are_stations, coordinates};
use super::date_parts::DateParts;
use super::input::{InputSource, ROW};
use super::panel::ascending_within;
use super::times::{are_years, check_month_names};
use super::{Groups, SelectError, Selection, nearest_name};
use crate::place::{Excerpt, FileName};
use crate::table::{Column, ColumnData, Table, UnsupportedColumn};
use crate::time::Calendar;

/// Why a column has its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The user named it.
    Named,
    /// It is the only column of times.
    OnlyTime,
    /// There is no column of times, and it is the first.
    First,
    /// There is no column of times, the first column holds text, and it is the first of numbers.
    FirstNumbers,
    /// There is no column of times, and it ascends within each group.
    AscendsInGroups,
    /// There is no column of times, and it holds years.
    Years,
    /// It was joined from columns of year, month and so on.
    Joined,
    /// It is a latitude or longitude.
    Coordinate,
    /// It is a coordinate of stations, or the time at which they report.
    PlaceAndTime,
    /// It counts the rows, because no column can be the input.
    RowNumbers,
    /// It is an index of row numbers without a name.
    Index,
    /// It is a part of a date.
    DatePart,
    /// It holds numbers.
    Numbers,
    /// It is a series of a long table.
    Series,
    /// The model that the table is read for does not have it.
    NotInModel,
    /// It holds text.
    Text,
    /// It holds truth values.
    Truths,
    /// It has one value in each group.
    OfGroup,
    /// It holds times and is not the input.
    OtherTime,
    /// It has no value.
    NoValue,
    /// Other columns were named.
    NotNamed,
    /// It holds the noise of an output.
    Noise,
    /// It was not read, because its type is not supported.
    Unsupported,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Named => "named",
            Self::OnlyTime => "the only column of times",
            Self::First => "the first column; there is no column of times",
            Self::FirstNumbers => "the first column of numbers; there is no column of times",
            Self::AscendsInGroups => "ascends within each group; there is no column of times",
            Self::Years => "years; there is no column of times",
            Self::Joined => "joined from the columns of a date",
            Self::Coordinate => "latitude and longitude",
            Self::PlaceAndTime => "stations that report in time",
            Self::RowNumbers => "row numbers; no column is left for an input",
            Self::Index => "row numbers without a name",
            Self::DatePart => "part of a date",
            Self::Numbers => "numbers",
            Self::Series => "a series",
            Self::NotInModel => "not in the model",
            Self::Text => "text",
            Self::Truths => "true and false",
            Self::OfGroup => "one value in each group",
            Self::OtherTime => "times, but not the input",
            Self::NoValue => "no value in any row",
            Self::NotNamed => "not named",
            Self::Noise => "the noise of an output",
            Self::Unsupported => "of a type that is neither read nor written",
        })
    }
}

/// A column and the reason for its role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The name of the column or series.
    pub name: String,
    /// The reason.
    pub reason: Reason,
}

/// The chosen columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// Inputs.
    pub inputs: Vec<Choice>,
    /// Outputs.
    pub outputs: Vec<Choice>,
    /// Columns that name groups.
    pub groups: Vec<Choice>,
    /// The column whose names became outputs.
    pub series: Vec<Choice>,
    /// Ignored columns and outputs.
    pub ignored: Vec<Choice>,
    /// The calendar that was inferred from the times.
    pub calendar: Option<Calendar>,
}

impl Decision {
    /// The decision as a few short lines.
    pub fn sentences(&self) -> Vec<String> {
        let roles = [
            ("groups", &self.groups),
            ("series", &self.series),
            ("inputs", &self.inputs),
            ("outputs", &self.outputs),
            ("ignored", &self.ignored),
        ];
        let groups = roles.iter().filter(|(_, choices)| !choices.is_empty());
        let groups = groups.map(|(role, choices)| format!("{role}: {}", listed(choices)));
        let calendar = self.calendar.map(|calendar| format!("calendar: {calendar}"));
        groups.chain(calendar).collect()
    }
}

/// Names with their reasons; consecutive names with the same reason share it.
fn listed(choices: &[Choice]) -> String {
    let groups = choices.chunk_by(|left, right| left.reason == right.reason);
    let groups = groups.map(|group| {
        let names: Vec<&str> = group.iter().map(|choice| choice.name.as_str()).collect();
        format!("{} ({})", names.join(", "), group[0].reason)
    });
    groups.collect::<Vec<_>>().join("; ")
}

/// Positions of the chosen columns.
pub(crate) struct Chosen {
    pub(crate) inputs: Vec<InputSource>,
    pub(crate) outputs: Vec<usize>,
    pub(crate) decision: Decision,
}

/// The kind of a column, in words.
pub(crate) fn kind_of(data: &ColumnData) -> &'static str {
    match data {
        ColumnData::Number(_) => "numbers",
        ColumnData::Time(_) => "times",
        ColumnData::Text(_) => "text",
        ColumnData::Bool(_) => "true and false",
    }
}

/// The position of a column, or an error that suggests the nearest name.
pub(crate) fn find(table: &Table, name: &str) -> Result<usize, SelectError> {
    if let Some(column) = table.unsupported().iter().find(|column| column.name == name) {
        return Err(unsupported(table, column, true));
    }
    table.position(name).ok_or_else(|| SelectError::UnknownColumn {
        file: table.file().clone(),
        name: name.to_owned(),
        nearest: nearest_name(name, table.columns().iter().map(Column::name)).map(str::to_owned),
    })
}

/// The error for a column whose type is not supported.
fn unsupported(table: &Table, column: &UnsupportedColumn, is_named: bool) -> SelectError {
    let UnsupportedColumn { name, type_name } = column.clone();
    SelectError::UnsupportedType { file: table.file().clone(), column: name, type_name, is_named }
}

/// Rejects a column with an invalid cell; `is_named` means that the user named the column.
pub(crate) fn check_cells(table: &Table, position: usize, is_named: bool) -> Result<(), SelectError> {
    let column = &table.columns()[position];
    match column.invalid_cell().cloned() {
        None => Ok(()),
        Some(invalid) => Err(SelectError::InvalidCell {
            file: table.file().clone(),
            place: invalid.place,
            column: column.name().to_owned(),
            text: invalid.text,
            reason: invalid.reason,
            count: invalid.count,
            is_named,
        }),
    }
}

/// The numbers of a column that the user named; `wrong_kind` is the error for a column of another kind.
pub(crate) fn numbers(
    table: &Table,
    position: usize,
    wrong_kind: impl FnOnce(FileName, String, &'static str) -> SelectError,
) -> Result<&[f64], SelectError> {
    check_cells(table, position, true)?;
    let column = &table.columns()[position];
    match column.data() {
        ColumnData::Number(numbers) => Ok(&numbers.values),
        other => Err(wrong_kind(table.file().clone(), column.name().to_owned(), kind_of(other))),
    }
}

/// Chooses the columns of a wide table; `noise` are the columns of known noise.
pub(crate) fn choose(table: &Table, selection: &Selection, noise: &[usize]) -> Result<Chosen, SelectError> {
    let mut taken: Vec<usize> = noise.to_vec();
    let mut take = |names: &[String]| -> Result<Vec<usize>, SelectError> {
        let mut positions = vec![];
        for name in names {
            let position = find(table, name)?;
            if taken.contains(&position) {
                return Err(SelectError::TwoRoles { file: table.file().clone(), name: name.clone() });
            }
            taken.push(position);
            positions.push(position);
        }
        Ok(positions)
    };
    let groups = take(&selection.groups)?;
    let series = match &selection.wide {
        Some(wide) => take(std::slice::from_ref(&wide.column))?,
        None => vec![],
    };
    let named_outputs = selection.outputs.as_deref().map(&mut take).transpose()?;
    let parts = DateParts::find(table);
    let named_inputs = match selection.inputs.as_deref().filter(|names| !names.is_empty()) {
        None => None,
        Some(names) => match special_input(table, names, parts.as_ref(), selection) {
            Some(special) => Some(vec![special]),
            None => Some(take(names)?.into_iter().map(InputSource::Column).collect()),
        },
    };
    let index = row_index(table);
    let (inputs, input_reason) = match named_inputs {
        Some(inputs) => (inputs, Reason::Named),
        None => default_input(table, &taken, (index, parts.as_ref()), selection)?,
    };
    let of_groups = match selection.groups.is_empty() || named_outputs.is_some() || selection.inputs_only {
        true => None,
        false => Some(Groups::of(table, &selection.groups)?),
    };
    let has_time = inputs.iter().any(|input| is_time(table, input));
    let is_part = |position| {
        has_time && parts.as_ref().is_some_and(|parts| parts.positions().any(|own| own == position))
    };
    let mut decision = Decision::default();
    let (mut outputs, mut reason_of_output) = (vec![], Reason::Numbers);
    if let Some(named) = &named_outputs {
        outputs.clone_from(named);
        reason_of_output = Reason::Named;
    }
    for (position, column) in table.columns().iter().enumerate() {
        let is_input = inputs.contains(&InputSource::Column(position));
        let ignored = if is_input || outputs.contains(&position) {
            continue;
        } else if groups.contains(&position) {
            decision.groups.push(Choice { name: column.name().to_owned(), reason: Reason::Named });
            continue;
        } else if series.contains(&position) {
            decision.series.push(Choice { name: column.name().to_owned(), reason: Reason::Named });
            continue;
        } else if named_outputs.is_none()
            && (is_part(position) || inputs.iter().any(|input| input.uses(position)))
        {
            Reason::DatePart
        } else if named_outputs.is_none() && index == Some(position) {
            Reason::Index
        } else if noise.contains(&position) {
            Reason::Noise
        } else if named_outputs.is_some() || selection.inputs_only {
            Reason::NotNamed
        } else {
            match column.data() {
                ColumnData::Number(_) if is_empty(column) && column.invalid_cell().is_none() => {
                    Reason::NoValue
                }
                ColumnData::Number(_) => {
                    outputs.push(position);
                    continue;
                }
                ColumnData::Time(_) => Reason::OtherTime,
                ColumnData::Text(_) => {
                    // A column that is almost numbers or times must not be ignored silently.
                    check_cells(table, position, false)?;
                    Reason::Text
                }
                ColumnData::Bool(_) => Reason::Truths,
            }
        };
        decision.ignored.push(Choice { name: column.name().to_owned(), reason: ignored });
    }
    if let Some(groups) = of_groups {
        let numbers = |position: usize| match table.columns()[position].data() {
            ColumnData::Number(numbers) => &numbers.values[..],
            _ => &[],
        };
        let (of_group, of_rows): (Vec<usize>, Vec<usize>) =
            outputs.iter().copied().partition(|position| groups.have_one_value(numbers(*position)));
        if !of_rows.is_empty() {
            let ignored = of_group.into_iter().map(|position| table.columns()[position].name().to_owned());
            decision.ignored.extend(ignored.map(|name| Choice { name, reason: Reason::OfGroup }));
            outputs = of_rows;
        }
    }
    for column in table.unsupported() {
        if named_outputs.is_none() && !selection.inputs_only {
            return Err(unsupported(table, column, false));
        }
        decision.ignored.push(Choice { name: column.name.clone(), reason: Reason::Unsupported });
    }
    if outputs.is_empty() && !selection.inputs_only {
        return Err(no_outputs(table, &decision));
    }
    let choice = |name: String, reason| Choice { name, reason };
    decision.inputs = inputs.iter().map(|input| choice(input.name(table), input_reason)).collect();
    let name = |position: &usize| table.columns()[*position].name().to_owned();
    decision.outputs = outputs.iter().map(|position| choice(name(position), reason_of_output)).collect();
    Ok(Chosen { inputs, outputs, decision })
}

fn is_empty(column: &Column) -> bool {
    (0..column.data().len()).all(|row| column.data().is_missing(row))
}

/// The error for a table without outputs; it names an empty column or a column of text if there is one.
fn no_outputs(table: &Table, decision: &Decision) -> SelectError {
    let file = || table.file().clone();
    let ignored = |reason: Reason| decision.ignored.iter().find(|choice| choice.reason == reason);
    if let Some(choice) = ignored(Reason::NoValue) {
        return SelectError::AllMissing { file: file(), column: choice.name.clone() };
    }
    let text = ignored(Reason::Text).and_then(|choice| first_text(table, &choice.name));
    text.unwrap_or_else(|| SelectError::NoOutputs { file: file() })
}

/// The error for a column of text in place of an output, with its first cell.
fn first_text(table: &Table, name: &str) -> Option<SelectError> {
    let column = &table.columns()[table.position(name)?];
    let ColumnData::Text(texts) = column.data() else { return None };
    let (row, text) = (0..table.n_rows()).find_map(|row| Some((row, texts.get(row)?)))?;
    Some(SelectError::TextOnly {
        file: table.file().clone(),
        column: name.to_owned(),
        place: table.place_of(row),
        text: Excerpt::new(text.as_bytes()),
    })
}

/// Row numbers or a joined date, if the names of inputs mean one of them and no column.
fn special_input(
    table: &Table,
    names: &[String],
    parts: Option<&DateParts>,
    selection: &Selection,
) -> Option<InputSource> {
    if let Some(parts) = parts {
        let is_joined = matches!(names, [name] if name == parts.name(table));
        if is_joined || parts.are_named(table, names) {
            return Some(InputSource::Date(parts.clone()));
        }
    }
    let is_row = matches!(names, [name] if name == ROW) && table.position(ROW).is_none();
    (is_row && !selection.needs_columns).then_some(InputSource::Rows)
}

fn is_time(table: &Table, input: &InputSource) -> bool {
    match input {
        InputSource::Column(position) => matches!(table.columns()[*position].data(), ColumnData::Time(_)),
        InputSource::Date(_) => true,
        InputSource::Rows => false,
    }
}

/// The index that pandas writes: a column without a name that counts the rows.
fn row_index(table: &Table) -> Option<usize> {
    let column = table.columns().first()?;
    let ColumnData::Number(numbers) = column.data() else { return None };
    let is_unnamed = column.is_unnamed() || column.name().starts_with("Unnamed: ");
    let counts = numbers.values.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
    (is_unnamed && counts && numbers.values.len() > 1).then_some(0)
}

/// Whether the values of a column ascend from row to row.
fn ascends(table: &Table, position: usize) -> bool {
    match table.columns()[position].data() {
        ColumnData::Number(numbers) => numbers.values.windows(2).all(|pair| pair[0] < pair[1]),
        _ => false,
    }
}

/// The inputs if none are named, with their reason.
fn default_input(
    table: &Table,
    taken: &[usize],
    (index, parts): (Option<usize>, Option<&DateParts>),
    selection: &Selection,
) -> Result<(Vec<InputSource>, Reason), SelectError> {
    let free = || (0..table.columns().len()).filter(|position| !taken.contains(position));
    let is_time = |position: &usize| matches!(table.columns()[*position].data(), ColumnData::Time(_));
    let times: Vec<usize> = free().filter(is_time).collect();
    match times[..] {
        [only] => {
            if let Some([one, other]) =
                coordinates(table).filter(|pair| pair.iter().all(|at| !taken.contains(at)))
                && selection.stations
                && selection.groups.is_empty()
                && selection.wide.is_none()
                && are_stations(table, [one, other], only)
            {
                return Ok(([one, other, only].map(InputSource::Column).to_vec(), Reason::PlaceAndTime));
            }
            return Ok((vec![InputSource::Column(only)], Reason::OnlyTime));
        }
        [] => {}
        _ => {
            let names = times.iter().map(|position| table.columns()[*position].name().to_owned()).collect();
            return Err(SelectError::SeveralTimes { file: table.file().clone(), names });
        }
    }
    // An unreadable column of times must not make another column the input.
    let is_nearly_time = |position: &usize| {
        let invalid = table.columns()[*position].invalid_cell();
        invalid.is_some_and(|invalid| invalid.reason.is_about_times())
    };
    free().filter(is_nearly_time).try_for_each(|position| check_cells(table, position, false))?;
    free().try_for_each(|position| check_month_names(table, position))?;
    let is_free = |position: usize| !taken.contains(&position);
    if let Some(parts) = parts.filter(|parts| parts.positions().all(is_free)) {
        return Ok((vec![InputSource::Date(parts.clone())], Reason::Joined));
    }
    let is_rest = |pair: &[usize; 2]| selection.inputs_only || table.columns().len() > pair.len();
    if let Some(pair) = coordinates(table).filter(|pair| pair.iter().all(|at| is_free(*at)) && is_rest(pair))
    {
        return Ok((pair.map(InputSource::Column).to_vec(), Reason::Coordinate));
    }
    let rows = || Ok((vec![InputSource::Rows], Reason::RowNumbers));
    let others: Vec<usize> = free().filter(|position| Some(*position) != index).collect();
    let kind = |position: usize| table.columns()[position].data();
    let is_text = |position: &usize| matches!(kind(*position), ColumnData::Text(_));
    let is_years = |position: &usize| match kind(*position) {
        ColumnData::Number(numbers) => are_years(numbers, table.columns()[*position].name()),
        _ => false,
    };
    if others.first().is_some_and(|first| !ascends(table, *first))
        && let Some(years) = others.iter().copied().find(is_years)
    {
        return Ok((vec![InputSource::Column(years)], Reason::Years));
    }
    if !selection.groups.is_empty() {
        let before = Groups::of(table, &selection.groups)?.rows_before();
        if let Some(along) = ascending_within(table, taken, |row| before[row]) {
            let reason = if others.first() == Some(&along) { Reason::First } else { Reason::AscendsInGroups };
            return Ok((vec![InputSource::Column(along)], reason));
        }
    }
    // Text names rows; it cannot be an input.
    if index.is_none() && others.first().is_some_and(is_text) {
        let is_number = |position: &usize| matches!(kind(*position), ColumnData::Number(_));
        let mut numbers = others.iter().copied().filter(is_number);
        // The only column of numbers is an output.
        if let (Some(first), Some(_)) = (numbers.next(), numbers.next()) {
            return Ok((vec![InputSource::Column(first)], Reason::FirstNumbers));
        }
    }
    let is_alone = taken.is_empty() && others.len() == 1 && !selection.inputs_only;
    match (index.filter(|index| is_free(*index)), others.first()) {
        (Some(index), Some(first)) if is_alone || !ascends(table, *first) => {
            Ok((vec![InputSource::Column(index)], Reason::Index))
        }
        (Some(index), None) => Ok((vec![InputSource::Column(index)], Reason::Index)),
        (None, None) if !selection.inputs_only => rows(),
        (None, Some(first))
            if is_alone && matches!(table.columns()[*first].data(), ColumnData::Number(_)) =>
        {
            rows()
        }
        (_, Some(first)) => Ok((vec![InputSource::Column(*first)], Reason::First)),
        (None, None) => Err(SelectError::NoOutputs { file: table.file().clone() }),
    }
}
