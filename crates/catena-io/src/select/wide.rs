//! Lays out a wide table: one row per input, one column per output.

use super::choice::{Chosen, check_cells, choose, kind_of};
use super::input::{InputSource, ROW};
use super::noise::{NoiseColumn, find_noise, noise_numbers, noise_of, pair_noise};
use super::times::{dates_as, note_calendar, time_input};
use super::{Frame, Groups, Input, Layout, Reason, SelectError, Selection};
use crate::table::{ColumnData, NumberStyle, Table, TimeColumn};
use crate::time::{Instant, TimeShape, TimeStyle, numeric_date};

pub(crate) fn select_wide(table: &Table, selection: &Selection) -> Result<Frame, SelectError> {
    let noise = find_noise(table, &selection.noise_columns)?;
    let noise_positions: Vec<usize> = noise.iter().map(|column| column.position).collect();
    let Chosen { inputs, outputs, mut decision } = choose(table, selection, &noise_positions)?;
    let is_named = decision.outputs.first().is_some_and(|choice| choice.reason == Reason::Named);
    let columns = outputs.iter().map(|position| output_numbers(table, *position, is_named, selection));
    let columns: Vec<Numbers<'_>> = columns.collect::<Result<_, _>>()?;
    let inputs = inputs.iter().map(|source| match source {
        InputSource::Column(position) => input_of(table, *position, selection),
        InputSource::Date(parts) => time_input(table, parts.name(table), &parts.times(table)?, selection),
        InputSource::Rows => Ok(Input {
            name: ROW.to_owned(),
            values: (1..=table.n_rows()).map(|row| row as f64).collect(),
            time: None,
            style: NumberStyle::Integer,
        }),
    });
    let inputs: Vec<Input> = inputs.collect::<Result<_, _>>()?;
    note_calendar(&mut decision, &inputs, selection);
    let names: Vec<String> = decision.outputs.iter().map(|choice| choice.name.clone()).collect();

    let n_outputs = columns.len();
    let mut values = vec![f64::NAN; table.n_rows() * n_outputs];
    for (output, column) in columns.iter().enumerate() {
        for (row, cell) in values.iter_mut().skip(output).step_by(n_outputs).enumerate() {
            *cell = column.at(row);
        }
    }
    let noise = noise_cells(table, &noise, &names, &values)?;
    let groups = match selection.groups.is_empty() {
        true => None,
        false => Some(Groups::of(table, &selection.groups)?),
    };
    Ok(Frame {
        file: table.file().clone(),
        n_rows: table.n_rows(),
        inputs,
        outputs: names,
        values,
        noise,
        groups,
        layout: Layout::Wide { output_columns: outputs },
        wide: None,
        decision,
    })
}

/// Numbers of an output, from a column of numbers or of truth values.
enum Numbers<'a> {
    Plain(&'a [f64]),
    Truths(&'a crate::table::BoolColumn),
}

impl Numbers<'_> {
    fn at(&self, row: usize) -> f64 {
        match self {
            Self::Plain(values) => values.get(row).copied().unwrap_or(f64::NAN),
            Self::Truths(column) => column.get(row).map_or(f64::NAN, |value| f64::from(u8::from(value))),
        }
    }
}

/// The numbers of an output. True and false count as 1 and 0 if the user named the column.
fn output_numbers<'a>(
    table: &'a Table,
    position: usize,
    is_named: bool,
    selection: &Selection,
) -> Result<Numbers<'a>, SelectError> {
    check_cells(table, position, is_named)?;
    let column = &table.columns()[position];
    let (file, name) = (|| table.file().clone(), || column.name().to_owned());
    match column.data() {
        data if (0..data.len()).all(|row| data.is_missing(row)) => {
            if selection.may_lack_values {
                return Ok(Numbers::Plain(&[]));
            }
            Err(SelectError::AllMissing { file: file(), column: name() })
        }
        ColumnData::Number(numbers) => Ok(Numbers::Plain(&numbers.values)),
        ColumnData::Bool(column) if is_named => Ok(Numbers::Truths(column)),
        other => Err(SelectError::OutputKind { file: file(), column: name(), kind: kind_of(other) }),
    }
}

/// One input, with a value in every row.
pub(crate) fn input_of(table: &Table, position: usize, selection: &Selection) -> Result<Input, SelectError> {
    let is_named = selection.inputs.is_some() || selection.long.is_some();
    check_cells(table, position, is_named)?;
    let column = &table.columns()[position];
    let (file, name) = (|| table.file().clone(), || column.name().to_owned());
    let missing = (0..table.n_rows()).find(|row| column.data().is_missing(*row));
    if let Some(row) = missing {
        return Err(SelectError::MissingInput { file: file(), place: table.place_of(row), column: name() });
    }
    let known = selection.time_axes.iter().find(|(input, _)| input == column.name()).map(|(_, axis)| axis);
    match column.data() {
        ColumnData::Number(numbers) if dates_as(numbers, column.name(), known, selection).is_some() => {
            let form = dates_as(numbers, column.name(), known, selection).unwrap_or_default();
            let instants: Option<Vec<Instant>> =
                numbers.values.iter().map(|value| numeric_date(*value, form)).collect();
            let Some(instants) = instants else {
                let kind = "numbers";
                return Err(SelectError::AxisKind { file: file(), column: name(), kind, expected: "times" });
            };
            let style = TimeStyle { shape: TimeShape::Date, form, ..TimeStyle::default() };
            let style = known.map_or(style, |axis| axis.style.clone());
            let times = TimeColumn::new(instants.into_iter().map(Some), style);
            time_input(table, column.name(), &times, selection)
        }
        ColumnData::Number(_) if known.is_some() => {
            Err(SelectError::AxisKind { file: file(), column: name(), kind: "numbers", expected: "times" })
        }
        ColumnData::Number(numbers) => {
            Ok(Input { name: name(), values: numbers.values.clone(), time: None, style: numbers.style })
        }
        ColumnData::Time(times) => time_input(table, column.name(), times, selection),
        other => Err(SelectError::InputKind { file: file(), column: name(), kind: kind_of(other) }),
    }
}

fn noise_cells(
    table: &Table,
    noise: &[NoiseColumn],
    outputs: &[String],
    values: &[f64],
) -> Result<Option<Vec<f64>>, SelectError> {
    if noise.is_empty() {
        return Ok(None);
    }
    let paired = pair_noise(table, noise, outputs)?;
    let mut cells = vec![f64::NAN; values.len()];
    for (output, position) in paired.iter().enumerate() {
        let Some(position) = *position else { continue };
        let numbers = noise_numbers(table, position)?;
        for (row, noise) in numbers.iter().enumerate() {
            let cell = row * outputs.len() + output;
            cells[cell] = noise_of(table, position, row, *noise, values[cell])?;
        }
    }
    Ok(Some(cells))
}
