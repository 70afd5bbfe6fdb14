//! Finds the cells of new rows that a fit already has. Rows are known by their inputs.

use std::collections::HashMap;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::{GroupIndex, OutputIndex, RowIndex};

use crate::error::FitError;
use crate::fit::Fit;
use crate::prepare::appended;

/// The new part of a table that is to be added to a fit.
#[derive(Debug, Clone)]
pub struct NewRows {
    /// The rows that are new, with the cells that are new; `None` if nothing is new.
    pub table: Option<Dataset>,
    /// For each of them, its row in the given table.
    pub rows: Vec<RowIndex>,
    /// The first cell for which the fit has another value at the same inputs, and that value.
    pub conflict: Option<(RowIndex, OutputIndex, f64)>,
}

/// The group and the inputs of a row, to the bit; the two zeros are equal.
fn key(inputs: &InputPoints, row: RowIndex) -> (Option<GroupIndex>, Vec<u64>) {
    (inputs.group(row), inputs.point(row).iter().map(|value| (value + 0.0).to_bits()).collect())
}

impl Fit {
    /// The rows of a table that the fit does not have. A cell is known if the fit has its value at the same inputs; a row is known if
    /// the fit has its inputs and all its cells are known.
    ///
    /// # Errors
    /// If rows cannot be selected, which is an error of this library.
    pub fn new_rows(&self, more: &Dataset) -> Result<NewRows, FitError> {
        let own = self.table();
        let mut known: HashMap<_, Vec<RowIndex>> = HashMap::new();
        for row in own.inputs().rows() {
            known.entry(key(own.inputs(), row)).or_default().push(row);
        }
        let rows_at = |row: RowIndex| known.get(&key(more.inputs(), row));
        let values_at = |row: RowIndex, output: OutputIndex| {
            let rows = rows_at(row).map_or(&[][..], Vec::as_slice);
            let cells = rows.iter().flat_map(|row| own.observations().row(*row));
            cells.filter(move |cell| cell.output == output).map(|cell| cell.value)
        };
        let mut conflict = None;
        let observations: Observations = more.observations().filter(|row, cell| {
            let mut others = values_at(row, cell.output).peekable();
            let first = others.peek().copied();
            let is_known = others.any(|value| value == cell.value);
            if let Some(other) = first.filter(|_| !is_known) {
                conflict.get_or_insert((row, cell.output, other));
            }
            !is_known
        });
        let is_new = |row: &RowIndex| rows_at(*row).is_none() || observations.row(*row).len() > 0;
        let rows: Vec<RowIndex> = more.inputs().rows().filter(is_new).collect();
        let table = if rows.is_empty() {
            None
        } else {
            Some(Dataset::new(more.inputs().clone(), observations)?.select_rows(&rows)?)
        };
        Ok(NewRows { table, rows, conflict })
    }
}

/// The rows of the fit and the rows of another table that follow them, in each group; `None` if no row follows.
///
/// # Errors
/// When the tables have different columns.
pub fn later_rows(fit: &Fit, more: &Dataset) -> Result<Option<Dataset>, FitError> {
    let inputs = fit.table().inputs();
    let mut lasts: HashMap<Option<GroupIndex>, f64> = HashMap::new();
    for row in inputs.rows() {
        let last = lasts.entry(inputs.group(row)).or_insert(f64::NEG_INFINITY);
        *last = last.max(inputs.point(row)[0]);
    }
    let last_of = |row: RowIndex| lasts.get(&more.inputs().group(row)).copied();
    // All rows of a new group are later.
    let is_later = |row: &RowIndex| last_of(*row).is_none_or(|last| more.inputs().point(*row)[0] > last);
    let rows: Vec<RowIndex> = more.inputs().rows().filter(is_later).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let later = more.select_rows(&rows)?;
    Ok(Some(appended(fit.table(), &later)?))
}
