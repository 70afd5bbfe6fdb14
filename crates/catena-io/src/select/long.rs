//! Lays out a long table, in which a row is one value of one series: times become rows and series become outputs.
//!
//! Rows are in the order of first appearance of their times. A second value of a series at the same time gets a row of its own.

use std::collections::HashMap;

use super::choice::{find, numbers};
use super::noise::{find_noise, noise_numbers, noise_of};
use super::times::note_calendar;
use super::wide::input_of;
use super::{
    Choice, Decision, Frame, Groups, Input, Layout, LongColumns, Reason, SelectError, Selection, nearest_name,
};
use crate::table::{ColumnData, Table, TextColumn};
use crate::write::cell_text;

/// More cells than this mean a wrong choice of columns.
pub(crate) const MOST_CELLS: usize = 1 << 30;

pub(crate) fn select_long(
    table: &Table,
    columns: &LongColumns,
    selection: &Selection,
) -> Result<Frame, SelectError> {
    let file = || table.file().clone();
    if selection.inputs.as_ref().is_some_and(|inputs| !inputs.is_empty()) {
        return Err(SelectError::InputsOfLong { file: file() });
    }
    let [time, series, value] =
        [&columns.time, &columns.series, &columns.value].map(|name| find(table, name));
    let (time, series, value) = (time?, series?, value?);
    for (left, right, name) in
        [(time, series, &columns.time), (time, value, &columns.time), (series, value, &columns.series)]
    {
        if left == right {
            return Err(SelectError::TwoRoles { file: file(), name: name.clone() });
        }
    }
    let input = input_of(table, time, selection)?;
    let wrong_kind = |file, column, kind| SelectError::OutputKind { file, column, kind };
    let values = numbers(table, value, wrong_kind)?;
    let (outputs, output_of) = series_of(table, series, selection.outputs.as_deref())?;
    let groups = match selection.groups.is_empty() {
        true => None,
        false => Some(Groups::of(table, &selection.groups)?),
    };
    let used = [&columns.time, &columns.series, &columns.value];
    if let Some(name) = selection.groups.iter().find(|name| used.contains(name)) {
        return Err(SelectError::TwoRoles { file: file(), name: name.clone() });
    }
    let places = place_rows(&input.values, groups.as_ref().map(|groups| &groups.of_row[..]), &output_of);
    let groups = groups.map(|groups| Groups { of_row: places.groups.clone(), ..groups });

    let (n_outputs, n_rows) = (outputs.len(), places.times.len());
    if n_rows.checked_mul(n_outputs).is_none_or(|n_cells| n_cells > MOST_CELLS) {
        let column = columns.series.clone();
        return Err(SelectError::TooManySeries {
            file: file(),
            column,
            n_series: n_outputs,
            n_times: n_rows,
        });
    }
    let mut cells = vec![f64::NAN; n_rows * n_outputs];
    for row in 0..table.n_rows() {
        if let Some(output) = output_of[row] {
            cells[places.row_of[row] as usize * n_outputs + output as usize] = values[row];
        }
    }
    let noise = long_noise(table, selection, &output_of, &places, n_outputs, values)?;
    if !selection.may_lack_values {
        check_outputs(table, &outputs, &cells)?;
    }
    let mut decision = decision_of(table, columns, selection, &outputs);
    let input = Input { values: places.times, ..input };
    note_calendar(&mut decision, std::slice::from_ref(&input), selection);
    let layout = Layout::Long { value_columns: vec![value], row_of: places.row_of, output_of };
    Ok(Frame {
        file: file(),
        n_rows,
        inputs: vec![input],
        outputs,
        values: cells,
        noise,
        groups,
        layout,
        wide: None,
        decision,
    })
}

/// Names of the series, all or those that are wanted, and the series of each row of the table.
pub(crate) fn series_of(
    table: &Table,
    position: usize,
    wanted: Option<&[String]>,
) -> Result<(Vec<String>, Vec<Option<u32>>), SelectError> {
    let column = &table.columns()[position];
    let texts;
    let names = match column.data() {
        ColumnData::Text(names) => names,
        other => {
            let cells: Vec<String> = (0..other.len()).map(|row| cell_text(other, row)).collect();
            texts = cells.iter().map(|cell| Some(cell.as_str()).filter(|cell| !cell.is_empty())).collect();
            &texts
        }
    };
    if let Some(row) = (0..table.n_rows()).find(|row| names.get(*row).is_none()) {
        let (file, place) = (table.file().clone(), table.place_of(row));
        return Err(SelectError::MissingSeries { file, place, column: column.name().to_owned() });
    }
    let outputs = wanted_series(table, column.name(), names, wanted)?;
    let order: HashMap<&str, u32> =
        outputs.iter().enumerate().map(|(output, name)| (name.as_str(), output as u32)).collect();
    let output_of_code: Vec<Option<u32>> =
        names.distinct().iter().map(|name| order.get(&**name).copied()).collect();
    let output_of = (0..table.n_rows()).map(|row| names.code(row).and_then(|code| output_of_code[code]));
    Ok((outputs.clone(), output_of.collect()))
}

fn wanted_series(
    table: &Table,
    column: &str,
    names: &TextColumn,
    wanted: Option<&[String]>,
) -> Result<Vec<String>, SelectError> {
    let all = || names.distinct().iter().map(|name| &**name);
    let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
        return Ok(all().map(str::to_owned).collect());
    };
    for (order, name) in wanted.iter().enumerate() {
        let file = || table.file().clone();
        if wanted[..order].contains(name) {
            return Err(SelectError::TwoRoles { file: file(), name: name.clone() });
        }
        if !all().any(|known| known == name) {
            let nearest = nearest_name(name, all()).map(str::to_owned);
            let (column, name) = (column.to_owned(), name.clone());
            return Err(SelectError::UnknownSeries { file: file(), column, name, nearest });
        }
    }
    Ok(wanted.to_vec())
}

/// The row of the frame for each row of the table.
struct Places {
    times: Vec<f64>,
    /// The group of each row of the frame.
    groups: Vec<u32>,
    row_of: Vec<u32>,
}

fn place_rows(times: &[f64], groups: Option<&[u32]>, output_of: &[Option<u32>]) -> Places {
    let mut places = Places { times: vec![], groups: vec![], row_of: Vec::with_capacity(times.len()) };
    // Rows of the frame by group and time, and how many of them each series has used.
    let mut rows_at: HashMap<(u32, u64), Vec<u32>> = HashMap::new();
    let mut n_used: HashMap<((u32, u64), u32), usize> = HashMap::new();
    for (row, (time, output)) in times.iter().zip(output_of).enumerate() {
        let group = groups.map_or(0, |groups| groups[row]);
        // Minus zero and zero are the same time.
        let key = (group, (time + 0.0).to_bits());
        let Some(output) = *output else {
            places.row_of.push(0);
            continue;
        };
        let rows = rows_at.entry(key).or_default();
        let used = n_used.entry((key, output)).or_default();
        if *used == rows.len() {
            rows.push(places.times.len() as u32);
            places.times.push(*time);
            places.groups.push(group);
        }
        places.row_of.push(rows[*used]);
        *used += 1;
    }
    places
}

fn long_noise(
    table: &Table,
    selection: &Selection,
    output_of: &[Option<u32>],
    places: &Places,
    n_outputs: usize,
    values: &[f64],
) -> Result<Option<Vec<f64>>, SelectError> {
    let noise = find_noise(table, &selection.noise_columns)?;
    let position = match noise[..] {
        [] => return Ok(None),
        [ref only] => match &only.output {
            None => only.position,
            Some(name) => {
                return Err(SelectError::NoiseOfLong { file: table.file().clone(), name: name.clone() });
            }
        },
        _ => {
            let (file, found) = (table.file().clone(), noise.len());
            return Err(SelectError::NoiseCount { file, found, expected: 1 });
        }
    };
    let numbers = noise_numbers(table, position)?;
    let mut cells = vec![f64::NAN; places.times.len() * n_outputs];
    for row in 0..table.n_rows() {
        if let Some(output) = output_of[row] {
            let cell = places.row_of[row] as usize * n_outputs + output as usize;
            cells[cell] = noise_of(table, position, row, numbers[row], values[row])?;
        }
    }
    Ok(Some(cells))
}

/// Checks that every series has a value.
fn check_outputs(table: &Table, outputs: &[String], cells: &[f64]) -> Result<(), SelectError> {
    for (output, name) in outputs.iter().enumerate() {
        if cells.iter().skip(output).step_by(outputs.len()).all(|value| value.is_nan()) {
            return Err(SelectError::AllMissing { file: table.file().clone(), column: name.clone() });
        }
    }
    Ok(())
}

fn decision_of(table: &Table, columns: &LongColumns, selection: &Selection, outputs: &[String]) -> Decision {
    let is_named = selection.outputs.as_ref().is_some_and(|wanted| !wanted.is_empty());
    let reason = if is_named { Reason::Named } else { Reason::Series };
    let used = [&columns.time, &columns.series, &columns.value];
    let unused = table.columns().iter().map(|column| column.name().to_owned());
    let unused = unused.filter(|name| !used.contains(&name) && !selection.groups.contains(name));
    let group = |name: &String| Choice { name: name.clone(), reason: Reason::Named };
    let reason_of_unused = |name: &String| {
        if selection.noise_columns.contains(name) { Reason::Noise } else { Reason::NotNamed }
    };
    Decision {
        inputs: vec![Choice { name: columns.time.clone(), reason: Reason::Named }],
        outputs: outputs.iter().map(|name| Choice { name: name.clone(), reason }).collect(),
        groups: selection.groups.iter().map(group).collect(),
        series: vec![],
        ignored: unused.map(|name| Choice { reason: reason_of_unused(&name), name }).collect(),
        calendar: None,
    }
}
