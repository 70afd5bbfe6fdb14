//! Some rows of a table, or the rows of two, as a table.

use catena::data::{DataError, Dataset, InputPoints, Observations};
use catena::index::RowIndex;

use crate::error::FitError;

/// The rows with these numbers, in this order.
///
/// # Errors
/// When no row is asked for.
///
/// # Panics
/// When a number is of another table and out of range.
pub fn some_rows(dataset: &Dataset, rows: &[RowIndex]) -> Result<Dataset, DataError> {
    let (inputs, observations) = (dataset.inputs(), dataset.observations());
    let n_outputs = observations.n_outputs();
    let points: Vec<f64> = rows.iter().flat_map(|&row| inputs.point(row)).copied().collect();
    let mut values = vec![f64::NAN; rows.len() * n_outputs];
    let mut noise = if observations.has_cell_noise() { values.clone() } else { vec![] };
    for (at, &row) in rows.iter().enumerate() {
        for cell in observations.row(row) {
            let place = at * n_outputs + cell.output.get();
            values[place] = cell.value;
            if let Some(variance) = cell.noise_variance {
                noise[place] = variance;
            }
        }
    }
    let mut chosen = Observations::from_dense(rows.len(), n_outputs, &values)?;
    if observations.has_cell_noise() {
        chosen = chosen.with_cell_noise(&noise)?;
    }
    Dataset::new(InputPoints::new(rows.len(), inputs.dim(), points)?, chosen)
}

/// The rows in which something was observed.
///
/// # Errors
/// When there is none.
pub fn rows_with_a_cell(dataset: &Dataset) -> Result<Dataset, DataError> {
    let observations = dataset.observations();
    let rows: Vec<RowIndex> =
        dataset.inputs().rows().filter(|&row| observations.row(row).len() > 0).collect();
    some_rows(dataset, &rows)
}

/// Two tables with the same columns, one after the other.
pub(crate) fn appended(table: &Dataset, more: &Dataset) -> Result<Dataset, FitError> {
    let n_outputs = table.observations().n_outputs();
    let dense = |dataset: &Dataset| {
        let mut values = vec![f64::NAN; dataset.n_rows() * n_outputs];
        let mut noise = values.clone();
        for (row, cell) in dataset.observations().cells() {
            let place = row.get() * n_outputs + cell.output.get();
            values[place] = cell.value;
            noise[place] = cell.noise_variance.unwrap_or(f64::NAN);
        }
        (values, noise)
    };
    let found = more.observations().n_outputs();
    if found != n_outputs {
        return Err(FitError::ParameterShape { what: "a new row", expected: n_outputs, found });
    }
    let (before, after) = (dense(table), dense(more));
    let n_rows = table.n_rows() + more.n_rows();
    let inputs = [table.inputs().values(), more.inputs().values()].concat();
    let inputs = InputPoints::new(n_rows, table.inputs().dim(), inputs)?;
    let values = [before.0, after.0].concat();
    let mut observations = catena::data::Observations::from_dense(n_rows, n_outputs, &values)?;
    if table.observations().has_cell_noise() {
        observations = observations.with_cell_noise(&[before.1, after.1].concat())?;
    }
    Ok(Dataset::new(inputs, observations)?)
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
        let turned = some_rows(&table, &[RowIndex::new(2), RowIndex::new(0)]).unwrap();
        assert_eq!(turned.inputs().values(), [4.0, 5.0, 0.0, 1.0]);
    }
}
