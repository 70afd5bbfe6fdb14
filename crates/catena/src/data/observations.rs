//! The observed cells: Y where the mask O is 1.

use super::error::{DataError, check_shape};
use crate::index::{OutputIndex, RowIndex};

/// One observed cell of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The output.
    pub output: OutputIndex,
    /// The observed value.
    pub value: f64,
    /// The cell's own noise variance, if known; otherwise that of the output applies.
    pub noise_variance: Option<f64>,
}

/// Observed cells, row by row. A missing cell is not stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Observations {
    n_outputs: usize,
    /// Cells of row i are `row_start[i]..row_start[i + 1]`.
    row_start: Vec<usize>,
    outputs: Vec<u32>,
    values: Vec<f64>,
    noise_variances: Option<Vec<f64>>,
}

impl Observations {
    /// Observations from a row-major `n_rows`×`n_outputs` array in which `NaN` marks a missing cell.
    ///
    /// # Errors
    /// When there are no rows or no columns, the size does not match, or a value is infinite.
    pub fn from_dense(n_rows: usize, n_outputs: usize, values: &[f64]) -> Result<Self, DataError> {
        check_not_empty(n_rows, n_outputs)?;
        check_shape("the output table", n_rows, n_outputs, values.len())?;
        let n_observed = values.iter().filter(|value| !value.is_nan()).count();
        let mut observed = Self::without_rows(n_outputs, false).with_room(n_rows, n_observed);
        for cells in values.chunks_exact(n_outputs) {
            for (output, &value) in cells.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
                observed.push_checked(Cell {
                    output: OutputIndex::new(output),
                    value,
                    noise_variance: None,
                })?;
            }
            observed.end_row();
        }
        Ok(observed)
    }

    /// Observations from the observed cells of each row, by ascending output.
    ///
    /// # Errors
    /// When there are no rows or no outputs, an output is out of order or out of range, a value is not finite, or
    /// noise variances are not positive and finite for every cell or absent from every cell.
    pub fn from_rows<R: IntoIterator<Item = Cell>>(
        n_outputs: usize,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<Self, DataError> {
        let mut observed = Self::without_rows(n_outputs, false);
        for cells in rows {
            for cell in cells {
                if observed.values.is_empty() {
                    observed.noise_variances = cell.noise_variance.map(|_| vec![]);
                }
                observed.push_checked(cell)?;
            }
            observed.end_row();
        }
        check_not_empty(observed.n_rows(), n_outputs)?;
        Ok(observed)
    }

    /// The same cells, each with its own known noise variance, taken from a row-major array of the full table's
    /// shape. Entries of missing cells are not looked at.
    ///
    /// # Errors
    /// When the size does not match, or the variance of an observed cell is not positive and finite.
    pub fn with_cell_noise(self, variances: &[f64]) -> Result<Self, DataError> {
        check_shape("the noise table", self.n_rows(), self.n_outputs, variances.len())?;
        let n_outputs = self.n_outputs;
        let mut with_noise = self.map_cells(|row, cell| {
            let variance = variances[row.get() * n_outputs + cell.output.get()];
            Ok(Cell { noise_variance: Some(variance), ..cell })
        })?;
        with_noise.noise_variances.get_or_insert_default();
        Ok(with_noise)
    }

    /// The number of rows, observed or not.
    pub fn n_rows(&self) -> usize {
        self.row_start.len() - 1
    }

    /// The number of outputs, D.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The number of observed cells.
    pub fn n_observed(&self) -> usize {
        self.values.len()
    }

    /// Whether cells carry their own noise variances.
    pub fn has_cell_noise(&self) -> bool {
        self.noise_variances.is_some()
    }

    /// The observed cells of a row, by ascending output.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn row(&self, row: RowIndex) -> impl ExactSizeIterator<Item = Cell> + '_ {
        (self.row_start[row.get()]..self.row_start[row.get() + 1]).map(|at| Cell {
            output: OutputIndex::new(self.outputs[at] as usize),
            value: self.values[at],
            noise_variance: self.noise_variances.as_ref().map(|known| known[at]),
        })
    }

    /// All observed cells with their rows, row by row.
    pub fn cells(&self) -> impl Iterator<Item = (RowIndex, Cell)> + '_ {
        self.row_indices().flat_map(|row| self.row(row).map(move |cell| (row, cell)))
    }

    /// Whether this cell was observed.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn is_observed(&self, row: RowIndex, output: OutputIndex) -> bool {
        self.row(row).any(|cell| cell.output == output)
    }

    /// How many cells of each output were observed.
    pub fn counts_by_output(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_outputs];
        for &output in &self.outputs {
            counts[output as usize] += 1;
        }
        counts
    }

    /// The values as a row-major array of the full table's shape, `NaN` at missing cells.
    pub fn to_dense(&self) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.n_rows() * self.n_outputs];
        for (row, cell) in self.cells() {
            values[row.get() * self.n_outputs + cell.output.get()] = cell.value;
        }
        values
    }

    /// The same cells with values and noise variances replaced by `map`.
    ///
    /// # Errors
    /// When `map` fails, or as [`Observations::from_rows`].
    pub fn map_cells(
        &self,
        mut map: impl FnMut(RowIndex, Cell) -> Result<Cell, DataError>,
    ) -> Result<Self, DataError> {
        let mut mapped = Self::without_rows(self.n_outputs, self.has_cell_noise());
        mapped = mapped.with_room(self.n_rows(), self.n_observed());
        for row in self.row_indices() {
            for cell in self.row(row) {
                let cell = map(row, cell)?;
                if mapped.values.is_empty() {
                    mapped.noise_variances = cell.noise_variance.map(|_| vec![]);
                }
                mapped.push_checked(cell)?;
            }
            mapped.end_row();
        }
        Ok(mapped)
    }

    /// The cells for which `keep` returns true; all rows stay.
    pub fn filter(&self, mut keep: impl FnMut(RowIndex, Cell) -> bool) -> Self {
        let mut kept = Self::without_rows(self.n_outputs, self.has_cell_noise());
        for row in self.row_indices() {
            self.row(row).filter(|&cell| keep(row, cell)).for_each(|cell| kept.push(cell));
            kept.end_row();
        }
        kept
    }

    /// These rows, in this order.
    ///
    /// # Errors
    /// When `rows` is empty.
    ///
    /// # Panics
    /// When a row is of another table and out of range.
    pub fn select_rows(&self, rows: &[RowIndex]) -> Result<Self, DataError> {
        check_not_empty(rows.len(), self.n_outputs)?;
        let mut selected = Self::without_rows(self.n_outputs, self.has_cell_noise());
        for &row in rows {
            self.row(row).for_each(|cell| selected.push(cell));
            selected.end_row();
        }
        Ok(selected)
    }

    fn row_indices(&self) -> impl Iterator<Item = RowIndex> + use<> {
        (0..self.n_rows()).map(RowIndex::new)
    }

    fn without_rows(n_outputs: usize, has_cell_noise: bool) -> Self {
        let noise_variances = has_cell_noise.then(Vec::new);
        Self { n_outputs, row_start: vec![0], outputs: vec![], values: vec![], noise_variances }
    }

    /// Reserves memory for this many rows and cells, and no more.
    fn with_room(mut self, n_rows: usize, n_cells: usize) -> Self {
        self.row_start.reserve_exact(n_rows);
        self.outputs.reserve_exact(n_cells);
        self.values.reserve_exact(n_cells);
        self
    }

    /// Appends a cell to the last row, which is not complete yet.
    fn push(&mut self, cell: Cell) {
        self.outputs.push(cell.output.get() as u32);
        self.values.push(cell.value);
        if let (Some(known), Some(variance)) = (&mut self.noise_variances, cell.noise_variance) {
            known.push(variance);
        }
    }

    fn push_checked(&mut self, cell: Cell) -> Result<(), DataError> {
        let (row, output, value) = (RowIndex::new(self.n_rows()), cell.output, cell.value);
        let before = self.outputs[self.row_start[row.get()]..].last();
        if output.get() >= self.n_outputs || before.is_some_and(|&before| before as usize >= output.get()) {
            return Err(DataError::OutputOrder { row, output, n_outputs: self.n_outputs });
        }
        if !value.is_finite() {
            return Err(DataError::OutputNotFinite { row, output, value });
        }
        let has_expected_noise = match cell.noise_variance {
            Some(variance) => self.has_cell_noise() && variance > 0.0 && variance.is_finite(),
            None => !self.has_cell_noise(),
        };
        if !has_expected_noise {
            let value = cell.noise_variance.unwrap_or(f64::NAN);
            return Err(DataError::CellNoise { row, output, value });
        }
        self.push(cell);
        Ok(())
    }

    fn end_row(&mut self) {
        self.row_start.push(self.values.len());
    }
}

fn check_not_empty(n_rows: usize, n_outputs: usize) -> Result<(), DataError> {
    match (n_rows, n_outputs) {
        (_, 0) => Err(DataError::NoOutputs),
        (0, _) => Err(DataError::NoRows),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;

    fn table() -> Observations {
        let observed = Observations::from_dense(3, 2, &[1.0, NAN, NAN, NAN, 2.0, 3.0]).unwrap();
        observed.with_cell_noise(&[0.1, NAN, NAN, NAN, 0.2, 0.3]).unwrap()
    }

    fn cell(output: usize, value: f64, noise_variance: Option<f64>) -> Cell {
        Cell { output: OutputIndex::new(output), value, noise_variance }
    }

    #[test]
    fn rows_and_arrays_are_the_same_table() {
        let rows =
            [vec![cell(0, 1.0, Some(0.1))], vec![], vec![cell(0, 2.0, Some(0.2)), cell(1, 3.0, Some(0.3))]];
        assert_eq!(Observations::from_rows(2, rows).unwrap(), table());
        let (found, expected) = (table().to_dense(), [1.0, NAN, NAN, NAN, 2.0, 3.0]);
        let is_same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
        assert!(found.len() == 6 && found.iter().zip(&expected).all(is_same));
    }

    #[test]
    fn cells_are_mapped_filtered_and_selected_with_their_noise() {
        let doubled = table().map_cells(|_, cell| Ok(Cell { value: 2.0 * cell.value, ..cell })).unwrap();
        let values: Vec<_> = doubled.cells().map(|(_, cell)| (cell.value, cell.noise_variance)).collect();
        assert_eq!(values, [(2.0, Some(0.1)), (4.0, Some(0.2)), (6.0, Some(0.3))]);
        let without_noise = table().map_cells(|_, cell| Ok(Cell { noise_variance: None, ..cell })).unwrap();
        assert!(!without_noise.has_cell_noise());

        let kept = table().filter(|row, cell| row.get() == 2 && cell.output.get() == 1);
        assert_eq!((kept.n_rows(), kept.n_observed()), (3, 1));
        assert_eq!(kept.row(RowIndex::new(2)).next(), Some(cell(1, 3.0, Some(0.3))));
        assert!(table().filter(|_, _| false).has_cell_noise());

        let turned = table().select_rows(&[RowIndex::new(2), RowIndex::new(1), RowIndex::new(0)]).unwrap();
        let found: Vec<_> = turned.cells().map(|(row, cell)| (row.get(), cell.value)).collect();
        assert_eq!(found, [(0, 2.0), (0, 3.0), (2, 1.0)]);
        assert_eq!(table().select_rows(&[]), Err(DataError::NoRows));
    }

    #[test]
    fn rows_that_are_no_table_are_refused() {
        let (row, output) = (RowIndex::new(0), OutputIndex::new(1));
        let refused = |cells: Vec<Cell>| Observations::from_rows(2, [cells]).unwrap_err();
        let order = DataError::OutputOrder { row, output, n_outputs: 2 };
        assert_eq!(refused(vec![cell(1, 1.0, None), cell(1, 1.0, None)]), order);
        assert!(matches!(refused(vec![cell(2, 1.0, None)]), DataError::OutputOrder { .. }));
        assert!(matches!(refused(vec![cell(0, NAN, None)]), DataError::OutputNotFinite { .. }));
        for cells in [
            vec![cell(0, 1.0, Some(0.0))],
            vec![cell(0, 1.0, Some(0.1)), cell(1, 1.0, None)],
            vec![cell(0, 1.0, None), cell(1, 1.0, Some(0.1))],
        ] {
            assert!(matches!(refused(cells), DataError::CellNoise { .. }));
        }
        assert_eq!(Observations::from_rows(0, [vec![]]), Err(DataError::NoOutputs));
        assert_eq!(Observations::from_rows::<Vec<Cell>>(2, []), Err(DataError::NoRows));
    }
}
