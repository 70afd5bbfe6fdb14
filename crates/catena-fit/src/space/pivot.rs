//! A table of places and times as a table of times, with an output for every place and output.

use catena::data::{Cell, DataError, Dataset, InputPoints, Observations};
use catena::index::{OutputIndex, RowIndex};

use super::places::Places;

/// A table with one row per time: output d of place p is its output p·D + d. A place without a row at some time has no cells there. If
/// a place has several rows at one time, further rows of the same time have their cells.
#[derive(Clone, Debug)]
pub(crate) struct Pivot {
    pub(crate) table: Dataset,
    /// A row of the given table with the time of each row.
    pub(crate) a_row_of: Vec<RowIndex>,
}

impl Pivot {
    /// Rows whose inputs are the coordinates of one of the places, then the time.
    pub(crate) fn new(table: &Dataset, places: &Places) -> Result<Self, DataError> {
        let (inputs, observations) = (table.inputs(), table.observations());
        let n_outputs = observations.n_outputs();
        let time = |row: RowIndex| inputs.point(row).last().copied().unwrap_or(0.0);
        let mut rows: Vec<(usize, RowIndex)> =
            inputs.rows().filter_map(|row| Some((places.number_of(inputs.point(row))?, row))).collect();
        rows.sort_by(|(place, row), (other, another)| {
            time(*row).total_cmp(&time(*another)).then(place.cmp(other)).then(row.cmp(another))
        });
        // A row of the given table with the time, and the cells.
        let mut pivoted: Vec<(RowIndex, Vec<Cell>)> = vec![];
        for of_time in rows.chunk_by(|(_, row), (_, other)| time(*row) == time(*other)) {
            let first = pivoted.len();
            for of_place in of_time.chunk_by(|(place, _), (other, _)| place == other) {
                let with_cells = of_place.iter().filter(|(_, row)| observations.row(*row).len() > 0);
                for (copy, &(place, row)) in with_cells.enumerate() {
                    if first + copy == pivoted.len() {
                        pivoted.push((row, vec![]));
                    }
                    let at_place = |cell: Cell| {
                        let output = OutputIndex::new(place * n_outputs + cell.output.get());
                        Cell { output, ..cell }
                    };
                    pivoted[first + copy].1.extend(observations.row(row).map(at_place));
                }
            }
            if pivoted.len() == first {
                // No place has a cell at this time.
                pivoted.push((of_time[0].1, vec![]));
            }
        }
        let (a_row_of, cells): (Vec<RowIndex>, Vec<Vec<Cell>>) = pivoted.into_iter().unzip();
        let times = a_row_of.iter().map(|row| time(*row)).collect();
        let observations = Observations::from_rows(places.len() * n_outputs, cells)?;
        Ok(Self { table: Dataset::new(InputPoints::from_column(times)?, observations)?, a_row_of })
    }
}

/// The same cells of a table that has more outputs.
pub(crate) fn with_more_outputs(
    observations: &Observations,
    n_outputs: usize,
) -> Result<Observations, DataError> {
    let rows = (0..observations.n_rows()).map(|row| observations.row(RowIndex::new(row)));
    Observations::from_rows(n_outputs, rows)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;
    use crate::space::Geometry;

    #[test]
    fn places_become_outputs_and_repeated_rows_become_rows() {
        // Places 5 and 2; place 5 has two rows at time 1, and no place has a cell at time 2.
        let inputs = [5.0, 1.0, 2.0, 0.0, 5.0, 1.0, 2.0, 2.0, 2.0, 1.0];
        let values = [1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0, f64::NAN, f64::NAN, f64::NAN, 10.0];
        let inputs = InputPoints::new(5, 2, inputs.to_vec()).unwrap();
        let table = Dataset::new(inputs, Observations::from_dense(5, 2, &values).unwrap()).unwrap();
        let places = Places::of(table.inputs(), Geometry::Plane);
        let pivot = Pivot::new(&table, &places).unwrap();
        assert_eq!(pivot.table.inputs().values(), [0.0, 1.0, 1.0, 2.0]);
        let nan = f64::NAN;
        let expected = [[3.0, 4.0, nan, nan], [nan, 10.0, 1.0, nan], [nan, nan, 5.0, 6.0], [nan; 4]];
        let found = pivot.table.observations().to_dense();
        assert_eq!(found.len(), 16);
        for (found, expected) in found.iter().zip(expected.concat()) {
            assert!(*found == expected || (found.is_nan() && expected.is_nan()));
        }
    }
}
