//! The observed cells: Y where the mask O is 1, and nothing elsewhere.

use super::error::{DataError, check_shape};
use crate::index::{OutputIndex, RowIndex};

/// One observed cell of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Which output was observed.
    pub output: OutputIndex,
    /// The value that was observed.
    pub value: f64,
    /// The noise variance of this cell alone, where it is known; else the output's own applies.
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
        if n_outputs == 0 {
            return Err(DataError::NoOutputs);
        }
        if n_rows == 0 {
            return Err(DataError::NoRows);
        }
        check_shape("the output table", n_rows, n_outputs, values.len())?;
        let mut observed =
            Self { n_outputs, row_start: vec![0], outputs: vec![], values: vec![], noise_variances: None };
        observed.row_start.reserve_exact(n_rows);
        for (row, cells) in values.chunks_exact(n_outputs).enumerate() {
            for (output, &value) in cells.iter().enumerate() {
                if value.is_infinite() {
                    let (row, output) = (RowIndex::new(row), OutputIndex::new(output));
                    return Err(DataError::OutputInfinite { row, output, value });
                }
                if !value.is_nan() {
                    observed.outputs.push(output as u32);
                    observed.values.push(value);
                }
            }
            observed.row_start.push(observed.values.len());
        }
        Ok(observed)
    }

    /// The same cells, each with its own known noise variance, taken from a row-major array of the full table's
    /// shape. Entries of missing cells are not looked at.
    ///
    /// # Errors
    /// When the size does not match, or the variance of an observed cell is not positive and finite.
    pub fn with_cell_noise(mut self, variances: &[f64]) -> Result<Self, DataError> {
        check_shape("the noise table", self.n_rows(), self.n_outputs, variances.len())?;
        let mut known = Vec::with_capacity(self.values.len());
        for row in 0..self.n_rows() {
            for at in self.row_start[row]..self.row_start[row + 1] {
                let output = self.outputs[at] as usize;
                let value = variances[row * self.n_outputs + output];
                if !(value > 0.0 && value.is_finite()) {
                    let (row, output) = (RowIndex::new(row), OutputIndex::new(output));
                    return Err(DataError::CellNoise { row, output, value });
                }
                known.push(value);
            }
        }
        self.noise_variances = Some(known);
        Ok(self)
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
        (0..self.n_rows()).map(RowIndex::new).flat_map(|row| self.row(row).map(move |cell| (row, cell)))
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

    /// The same cells with values `map`ped one by one; noise variances are multiplied by `variance_factor`.
    pub(super) fn map(
        &self,
        map: impl Fn(RowIndex, OutputIndex, f64) -> Result<f64, DataError>,
        variance_factor: impl Fn(OutputIndex) -> f64,
    ) -> Result<Self, DataError> {
        let mut mapped = self.clone();
        for row in 0..self.n_rows() {
            for at in self.row_start[row]..self.row_start[row + 1] {
                let output = OutputIndex::new(self.outputs[at] as usize);
                mapped.values[at] = map(RowIndex::new(row), output, self.values[at])?;
                if let Some(known) = &mut mapped.noise_variances {
                    known[at] *= variance_factor(output);
                    if !(known[at] > 0.0 && known[at].is_finite()) {
                        let (row, value) = (RowIndex::new(row), known[at]);
                        return Err(DataError::CellNoise { row, output, value });
                    }
                }
            }
        }
        Ok(mapped)
    }
}
