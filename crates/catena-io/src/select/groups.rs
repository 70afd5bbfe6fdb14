//! The groups of a table: rows with the same names in one or several columns are one independent table.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::choice::find;
use super::{Frame, Input, Layout, Reason, SelectError};
use crate::table::{Column, ColumnData, Table, TextColumn};
use crate::write::cell_text;

/// Groups of rows, by the names in one or several columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Groups {
    /// The columns that name the group of a row.
    pub columns: Vec<String>,
    /// The names of each group, one per column.
    pub names: Vec<Vec<String>>,
    /// By row, the number of its group.
    pub of_row: Vec<u32>,
}

impl Groups {
    /// The number of groups.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The groups of the rows of a table; groups are in the order of their names.
    pub(crate) fn of(table: &Table, columns: &[String]) -> Result<Self, SelectError> {
        let mut positions = vec![];
        for (at, name) in columns.iter().enumerate() {
            let position = find(table, name)?;
            if columns[..at].contains(name) {
                return Err(SelectError::TwoRoles { file: table.file().clone(), name: name.clone() });
            }
            positions.push(position);
        }
        let mut by_row = Vec::with_capacity(table.n_rows());
        for row in 0..table.n_rows() {
            let mut names = Vec::with_capacity(positions.len());
            for &position in &positions {
                let column = &table.columns()[position];
                if column.data().is_missing(row) {
                    return Err(SelectError::MissingGroup {
                        file: table.file().clone(),
                        place: table.place_of(row),
                        column: column.name().to_owned(),
                    });
                }
                names.push(cell_text(column.data(), row));
            }
            by_row.push(names);
        }
        let distinct: BTreeMap<&Vec<String>, u32> = by_row.iter().map(|names| (names, 0)).collect();
        let numbers: HashMap<&Vec<String>, u32> =
            distinct.keys().enumerate().map(|(number, names)| (*names, number as u32)).collect();
        let of_row = by_row.iter().map(|names| numbers[names]).collect();
        let names = distinct.keys().map(|names| (*names).clone()).collect();
        Ok(Self { columns: columns.to_vec(), names, of_row })
    }

    /// The same rows, with groups numbered as in `known` and new groups after them.
    #[must_use]
    pub fn numbered_as(&self, known: &[Vec<String>]) -> Self {
        let mut names = known.to_vec();
        let mut numbers: HashMap<Vec<String>, u32> =
            known.iter().enumerate().map(|(number, names)| (names.clone(), number as u32)).collect();
        let mut number_of = |own: &Vec<String>| {
            *numbers.entry(own.clone()).or_insert_with(|| {
                names.push(own.clone());
                names.len() as u32 - 1
            })
        };
        let numbers_of_own: Vec<u32> = self.names.iter().map(&mut number_of).collect();
        let of_row = self.of_row.iter().map(|own| numbers_of_own[*own as usize]).collect();
        Self { columns: self.columns.clone(), names, of_row }
    }

    /// The columns that name the groups of some rows.
    pub fn columns_of(&self, of_row: &[u32]) -> Vec<Column> {
        let column = |(at, name): (usize, &String)| {
            let cells =
                of_row.iter().map(|group| self.names.get(*group as usize).map(|names| names[at].as_str()));
            Column::new(name.clone(), ColumnData::Text(cells.collect::<TextColumn>()))
        };
        self.columns.iter().enumerate().map(column).collect()
    }
}

/// Rows at the same place: advice on a column that looks like a group, or the number of such rows within groups.
pub fn repeated_places(table: &Table, frame: &Frame) -> Option<String> {
    let [input] = frame.inputs.as_slice() else { return None };
    let Layout::Wide { .. } = frame.layout else { return None };
    let place = |row: usize| (input.values[row] + 0.0).to_bits();
    let n_repeated = |group: &dyn Fn(usize) -> u32| {
        let mut seen = HashSet::new();
        (0..frame.n_rows()).filter(|&row| !seen.insert((group(row), place(row)))).count()
    };
    if let Some(groups) = &frame.groups {
        return match n_repeated(&|row| groups.of_row[row]) {
            0 => None,
            1 => Some(format!(
                "1 row has the {} of another row of its group; it counts as a repeated measurement",
                input.name
            )),
            count => Some(format!(
                "{count} rows have the {} of another row of their group; they count as repeated measurements",
                input.name
            )),
        };
    }
    if let Some(advice) = input_that_looks_like_a_group(frame, input) {
        return Some(advice);
    }
    let count = n_repeated(&|_| 0);
    if count == 0 {
        return column_within_which_the_input_restarts(table, frame, input);
    }
    let is_free = |name: &str| !frame.outputs.iter().any(|output| output == name) && name != input.name;
    let is_name = |column: &&Column| {
        matches!(column.data(), ColumnData::Text(_))
            && is_free(column.name())
            && identifies(table, column, input)
    };
    let column = table.columns().iter().find(is_name)?.name();
    let n_places = frame.n_rows() - count;
    Some(format!(
        "column {column} repeats each {} about {} times; pass --group {column} for independent tables with one model, or \
         --wide {column} to make its names outputs that explain each other",
        input.name,
        (frame.n_rows() as f64 / n_places as f64).round()
    ))
}

/// Advice if the first column, which is the input for want of another, numbers groups along the second.
fn input_that_looks_like_a_group(frame: &Frame, input: &Input) -> Option<String> {
    let n_outputs = frame.n_outputs();
    let is_first = frame.decision.inputs.first().is_some_and(|choice| choice.reason == Reason::First);
    let are_whole = input.values.iter().all(|value| value.fract() == 0.0);
    let along = |row: usize| frame.values.get(row * n_outputs).copied().unwrap_or(f64::NAN);
    let is_block = |row: &usize| {
        let (this, before) = (input.values[*row], input.values[row - 1]);
        this > before || (this == before && along(*row) > along(row - 1))
    };
    let n_blocks = 1 + (1..frame.n_rows()).filter(|row| input.values[*row] != input.values[row - 1]).count();
    let is_panel = is_first && are_whole && n_outputs > 1 && input.time.is_none();
    if !is_panel
        || n_blocks < 2
        || 2 * n_blocks > frame.n_rows()
        || !(1..frame.n_rows()).all(|row| is_block(&row))
    {
        return None;
    }
    let (group, along) = (&input.name, &frame.outputs[0]);
    Some(format!(
        "column {group} has {n_blocks} numbers, within each of which {along} ascends; pass --group {group} for independent \
         tables with one model along {along}"
    ))
}

/// Advice if the input restarts with each name in a column, so that rows of several names are mixed along it.
fn column_within_which_the_input_restarts(table: &Table, frame: &Frame, input: &Input) -> Option<String> {
    let ascends = |row: &usize| input.values[*row] > input.values[row - 1];
    if (1..frame.n_rows()).all(|row| ascends(&row)) {
        return None;
    }
    let is_name = |column: &&Column| {
        let ColumnData::Text(names) = column.data() else { return false };
        let is_same = |row: &usize| names.code(*row) == names.code(row - 1);
        let n_names = names.distinct().len();
        column.name() != input.name
            && (2..=frame.n_rows() / 2).contains(&n_names)
            && (0..frame.n_rows()).all(|row| names.code(row).is_some())
            && (1..frame.n_rows()).filter(|row| !is_same(row)).count() + 1 == n_names
            && (1..frame.n_rows()).filter(is_same).all(|row| ascends(&row))
    };
    let column = table.columns().iter().find(is_name)?.name();
    Some(format!(
        "{} starts again with each name in column {column}; pass --group {column} for independent tables with one model",
        input.name
    ))
}

/// Whether a column of names and the input together identify a row, with several rows for most names.
fn identifies(table: &Table, column: &Column, input: &Input) -> bool {
    let ColumnData::Text(names) = column.data() else { return false };
    let mut seen = HashSet::new();
    let is_unique = (0..table.n_rows()).all(|row| {
        names.code(row).is_some_and(|code| seen.insert((code, (input.values[row] + 0.0).to_bits())))
    });
    is_unique && 2 * names.distinct().len() <= table.n_rows()
}
