//! Tables with fewer or more rows.

use std::borrow::Cow;

use catena::data::{Cell, DataError, Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::inference::InferenceError;

use crate::error::{FitError, MethodError};
use crate::options::rows_by_inputs;

/// The rows with an observed cell.
///
/// # Errors
/// When no cell is observed.
pub fn rows_with_a_cell(dataset: &Dataset) -> Result<Dataset, DataError> {
    let has_cell = |row: &RowIndex| dataset.observations().row(*row).len() > 0;
    dataset.select_rows(&dataset.inputs().rows().filter(has_cell).collect::<Vec<_>>())
}

/// The rows in an order that depends on their contents alone: by inputs, then by observed cells.
pub(crate) fn rows_by_contents(table: &Dataset) -> Vec<RowIndex> {
    let cells = |row: RowIndex| table.observations().row(row);
    let numbers = |row: RowIndex| cells(row).flat_map(|cell| [cell.output.get() as f64, cell.value]);
    let mut rows = rows_by_inputs(table.inputs());
    // Rows with equal inputs.
    let place = |row: &RowIndex| (table.inputs().group(*row), table.inputs().point(*row));
    let is_same = |a: &RowIndex, b: &RowIndex| place(a) == place(b);
    for equal in rows.chunk_by_mut(is_same) {
        equal.sort_by(|&a, &b| {
            let mut compared = numbers(a).zip(numbers(b)).map(|(a, b)| a.total_cmp(&b));
            compared.find(|order| order.is_ne()).unwrap_or_else(|| cells(a).len().cmp(&cells(b).len()))
        });
    }
    rows
}

/// The rows of two tables with the same columns, one after the other. Noise variances are kept if the first table has them.
pub(crate) fn appended(table: &Dataset, more: &Dataset) -> Result<Dataset, FitError> {
    let (before, after) = (table.observations(), more.observations());
    let (expected, found) = (before.n_outputs(), after.n_outputs());
    if found != expected {
        return Err(FitError::ParameterShape { what: "a new row", expected, found });
    }
    let has_noise = before.has_cell_noise();
    let cell = |cell: Cell| match (has_noise, cell.noise_variance) {
        (true, None) => Cell { noise_variance: Some(f64::NAN), ..cell },
        (true, Some(_)) => cell,
        (false, _) => Cell { noise_variance: None, ..cell },
    };
    let cells = |dataset: &Dataset| -> Vec<Vec<Cell>> {
        dataset.inputs().rows().map(|row| dataset.observations().row(row).map(cell).collect()).collect()
    };
    let observations = Observations::from_rows(expected, cells(table).into_iter().chain(cells(more)))?;
    Ok(Dataset::new(joined_inputs(table.inputs(), more.inputs())?, observations)?)
}

/// The points of both sets, one after the other.
pub(crate) fn joined_inputs(rows: &InputPoints, more: &InputPoints) -> Result<InputPoints, MethodError> {
    let (expected, found) = (rows.dim(), more.dim());
    if found != expected {
        return Err(MethodError::InputDim { expected, found });
    }
    let values = [rows.values(), more.values()].concat();
    let joined = InputPoints::new(rows.n_rows() + more.n_rows(), expected, values)?;
    match (rows.groups(), more.groups()) {
        (None, None) => Ok(joined),
        (Some(groups), Some(others)) => Ok(joined.with_groups([groups, others].concat())?),
        (Some(_), None) => Err(InferenceError::NoGroups.into()),
        (None, Some(_)) => Err(InferenceError::UnknownGroups.into()),
    }
}

/// The same cells in a table of `n_rows` rows, the new rows empty.
pub(crate) fn with_empty_rows(
    observations: &Observations,
    n_rows: usize,
) -> Result<Cow<'_, Observations>, DataError> {
    if n_rows == observations.n_rows() {
        return Ok(Cow::Borrowed(observations));
    }
    let row = |row: usize| -> Vec<Cell> {
        if row < observations.n_rows() { observations.row(RowIndex::new(row)).collect() } else { vec![] }
    };
    Ok(Cow::Owned(Observations::from_rows(observations.n_outputs(), (0..n_rows).map(row))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_place_values_and_noise() {
        let nan = f64::NAN;
        let inputs = InputPoints::new(3, 2, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let observations = Observations::from_dense(3, 2, &[1.0, nan, nan, nan, 2.0, 3.0]).unwrap();
        let noise = [0.1, nan, nan, nan, 0.2, 0.3];
        let table = Dataset::new(inputs, observations.with_cell_noise(&noise).unwrap()).unwrap();
        let kept = rows_with_a_cell(&table).unwrap();
        assert_eq!(kept.inputs().values(), [0.0, 1.0, 4.0, 5.0]);
        let cells: Vec<_> = kept
            .observations()
            .cells()
            .map(|(row, cell)| (row.get(), cell.value, cell.noise_variance))
            .collect();
        assert_eq!(cells, [(0, 1.0, Some(0.1)), (1, 2.0, Some(0.2)), (1, 3.0, Some(0.3))]);
        let turned = table.select_rows(&[RowIndex::new(2), RowIndex::new(0)]).unwrap();
        assert_eq!(turned.inputs().values(), [4.0, 5.0, 0.0, 1.0]);
    }
}
