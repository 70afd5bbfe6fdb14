//! Turns the names in a column into outputs: rows of several stations at one time become one row with the values of all of them.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::choice::find;
use super::input::ROW;
use super::long::{MOST_CELLS, series_of};
use super::wide::select_wide;
use super::{Choice, Frame, Layout, Reason, SelectError, Selection};
use crate::table::Table;

/// The column whose names become outputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WideSelection {
    /// Its name.
    pub column: String,
    /// The outputs of the model that the table is read for, in their order; `None` for all outputs with values.
    pub outputs: Option<Vec<String>>,
}

/// The columns of a table in which the names of one column became outputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WideColumns {
    /// The column of names.
    pub column: String,
    /// The columns of values.
    pub values: Vec<String>,
    /// The names, in order of first appearance.
    pub names: Vec<String>,
}

impl WideColumns {
    /// The name of the output that holds the values of a column for a name: `temp:KJFK`.
    pub fn output(value: &str, name: &str) -> String {
        format!("{value}:{name}")
    }
}

pub(crate) fn select_pivoted(
    table: &Table,
    wide: &WideSelection,
    selection: &Selection,
) -> Result<Frame, SelectError> {
    let column = &wide.column;
    let (names, name_of) = series_of(table, find(table, column)?, None)?;
    let frame = select_wide(table, selection)?;
    // Points to predict at are inputs only, which names do not change.
    if selection.inputs_only {
        return Ok(frame);
    }
    let counts_rows = |choice: &Choice| {
        matches!(choice.reason, Reason::RowNumbers | Reason::Index)
            || (choice.name == ROW && table.position(ROW).is_none())
    };
    if frame.decision.inputs.iter().any(counts_rows) {
        return Err(SelectError::WideRows { file: table.file().clone(), column: column.clone() });
    }
    let columns = WideColumns { column: column.clone(), values: frame.outputs.clone(), names };
    Pivot { table, columns, name_of, frame }.frame(wide.outputs.as_deref())
}

/// A table laid out row by row, before names become outputs.
struct Pivot<'a> {
    table: &'a Table,
    columns: WideColumns,
    /// By row, the number of its name.
    name_of: Vec<Option<u32>>,
    frame: Frame,
}

impl Pivot<'_> {
    fn frame(self, of_model: Option<&[String]>) -> Result<Frame, SelectError> {
        let n_values = self.columns.values.len();
        let made = self.made_outputs()?;
        let has_value = self.outputs_with_values();
        let outputs: Vec<String> = match of_model {
            Some(outputs) => outputs.to_vec(),
            None => {
                made.iter().zip(&has_value).filter(|(_, has)| **has).map(|(name, _)| name.clone()).collect()
            }
        };
        let number: HashMap<&str, u32> =
            outputs.iter().enumerate().map(|(at, name)| (name.as_str(), at as u32)).collect();
        let output_of_pair: Vec<Option<u32>> =
            made.iter().map(|name| number.get(name.as_str()).copied()).collect();
        let n_names = self.columns.names.len();
        let output_of: Vec<Option<u32>> = self
            .name_of
            .iter()
            .flat_map(|name| (0..n_values).map(move |value| name.map(|name| value * n_names + name as usize)))
            .map(|pair| output_of_pair[pair?])
            .collect();
        let (first_of_row, row_of) = self.place_rows(&output_of)?;
        let (n_rows, n_outputs) = (first_of_row.len(), outputs.len());
        if n_rows.checked_mul(n_outputs).is_none_or(|n_cells| n_cells > MOST_CELLS) {
            let (file, column) = (self.table.file().clone(), self.columns.column.clone());
            return Err(SelectError::TooManySeries { file, column, n_series: n_outputs, n_times: n_rows });
        }
        let moved = |cells: &[f64]| {
            let mut moved = vec![f64::NAN; n_rows * n_outputs];
            for (at, output) in output_of.iter().enumerate() {
                if let Some(output) = output {
                    moved[row_of[at / n_values] as usize * n_outputs + *output as usize] = cells[at];
                }
            }
            moved
        };
        let (values, noise) = (moved(&self.frame.values), self.frame.noise.as_deref().map(moved));
        let reason = if of_model.is_some() { Reason::NotInModel } else { Reason::NoValue };
        let is_ignored = |at: usize| output_of_pair[at].is_none() && (of_model.is_none() || has_value[at]);
        let ignored = (0..made.len()).filter(|at| is_ignored(*at));
        let ignored: Vec<Choice> = ignored.map(|at| Choice { name: made[at].clone(), reason }).collect();

        let mut frame = self.frame;
        frame.decision.outputs =
            outputs.iter().map(|name| Choice { name: name.clone(), reason: Reason::Series }).collect();
        frame.decision.ignored.extend(ignored);
        for input in &mut frame.inputs {
            input.values = first_of_row.iter().map(|row| input.values[*row]).collect();
        }
        if let Some(groups) = &mut frame.groups {
            groups.of_row = first_of_row.iter().map(|row| groups.of_row[*row]).collect();
        }
        let layout = Layout::Long { value_columns: frame.layout.columns().to_vec(), row_of, output_of };
        Ok(Frame { n_rows, outputs, values, noise, layout, wide: Some(self.columns), ..frame })
    }

    /// The names of all outputs, by column of values and name.
    fn made_outputs(&self) -> Result<Vec<String>, SelectError> {
        let WideColumns { column, values, names } = &self.columns;
        let pairs = values.iter().flat_map(|value| names.iter().map(move |name| (value, name)));
        let made: Vec<String> = pairs.map(|(value, name)| WideColumns::output(value, name)).collect();
        let mut seen = HashSet::new();
        match made.iter().find(|name| !seen.insert(name.as_str())) {
            None => Ok(made),
            Some(name) => Err(SelectError::SameOutput {
                file: self.table.file().clone(),
                column: column.clone(),
                name: name.clone(),
            }),
        }
    }

    /// Whether outputs have a value, by column of values and name.
    fn outputs_with_values(&self) -> Vec<bool> {
        let (n_values, n_names) = (self.columns.values.len(), self.columns.names.len());
        let mut has_value = vec![false; n_values * n_names];
        for (row, name) in self.name_of.iter().enumerate() {
            let Some(name) = name else { continue };
            for value in 0..n_values {
                has_value[value * n_names + *name as usize] |=
                    !self.frame.values[row * n_values + value].is_nan();
            }
        }
        has_value
    }

    /// The first row of the table of each row of the frame, and the row of the frame of each row of the table. Rows are in the order of
    /// first appearance of their inputs; rows without an output have none.
    fn place_rows(&self, output_of: &[Option<u32>]) -> Result<(Vec<usize>, Vec<u32>), SelectError> {
        let (table, n_values) = (self.table, self.columns.values.len());
        let (mut first_of_row, mut row_of) = (vec![], Vec::with_capacity(table.n_rows()));
        let mut row_at: HashMap<(u32, Vec<u64>), u32> = HashMap::new();
        let mut seen: HashMap<(u32, u32), usize> = HashMap::new();
        let (mut n_repeated, mut example) = (0, None);
        for (row, outputs) in output_of.chunks(n_values).enumerate() {
            let Some(name) = self.name_of[row].filter(|_| outputs.iter().any(Option::is_some)) else {
                row_of.push(0);
                continue;
            };
            let group = self.frame.groups.as_ref().map_or(0, |groups| groups.of_row[row]);
            // Minus zero and zero are the same input.
            let place = self.frame.inputs.iter().map(|input| (input.values[row] + 0.0).to_bits()).collect();
            let own = *row_at.entry((group, place)).or_insert_with(|| {
                first_of_row.push(row);
                first_of_row.len() as u32 - 1
            });
            row_of.push(own);
            if let Some(earlier) = seen.insert((own, name), row) {
                n_repeated += 1;
                example.get_or_insert((row, earlier, name));
            }
        }
        let Some((row, earlier, name)) = example else { return Ok((first_of_row, row_of)) };
        let inputs: Vec<&str> = self.frame.inputs.iter().map(|input| input.name.as_str()).collect();
        Err(SelectError::RepeatedPair {
            file: table.file().clone(),
            count: n_repeated,
            columns: format!("{} and {}", inputs.join(", "), self.columns.column),
            name: self.columns.names[name as usize].clone(),
            place: table.place_of(row),
            earlier: table.place_of(earlier),
        })
    }
}
