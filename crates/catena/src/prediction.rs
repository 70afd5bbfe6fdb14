//! Mean and variance by row and output: the result of every method.

use crate::data::{DataError, OutputScaling, check_shape};
use crate::index::{OutputIndex, RowIndex};
use crate::units::Variance;

/// Marginal means and variances of the outputs, row-major, in row order.
///
/// Variances are those of the function itself; [`Prediction::with_noise`] adds the noise of a new observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    n_outputs: usize,
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl Prediction {
    /// A prediction from row-major `n_rows`×`n_outputs` arrays.
    ///
    /// # Errors
    /// When the sizes do not match.
    pub fn new(
        n_rows: usize,
        n_outputs: usize,
        means: Vec<f64>,
        variances: Vec<f64>,
    ) -> Result<Self, DataError> {
        check_shape("the table of means", n_rows, n_outputs, means.len())?;
        check_shape("the table of variances", n_rows, n_outputs, variances.len())?;
        Ok(Self { n_outputs, means, variances })
    }

    /// A prediction whose arrays have matching sizes already.
    pub(crate) fn from_checked(n_outputs: usize, means: Vec<f64>, variances: Vec<f64>) -> Self {
        Self { n_outputs, means, variances }
    }

    /// The arrays of means and variances, row-major.
    pub fn into_arrays(self) -> (Vec<f64>, Vec<f64>) {
        (self.means, self.variances)
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.means.len().checked_div(self.n_outputs).unwrap_or(0)
    }

    /// The number of outputs, D.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// All means, row-major.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// All variances, row-major.
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// The mean of one cell.
    ///
    /// # Panics
    /// When the cell is not of this table.
    pub fn mean(&self, row: RowIndex, output: OutputIndex) -> f64 {
        self.means[row.get() * self.n_outputs + output.get()]
    }

    /// The variance of one cell.
    ///
    /// # Panics
    /// When the cell is not of this table.
    pub fn variance(&self, row: RowIndex, output: OutputIndex) -> f64 {
        self.variances[row.get() * self.n_outputs + output.get()]
    }

    /// The prediction of a new observation: each output's noise variance is added.
    ///
    /// # Panics
    /// When `noise` does not have one entry per output.
    pub fn with_noise(mut self, noise: &[Variance]) -> Self {
        assert_eq!(noise.len(), self.n_outputs, "one noise variance per output");
        self.map_outputs(|output, mean, variance| (mean, variance + noise[output.get()].get()));
        self
    }

    /// Changes every cell's mean and variance.
    pub(crate) fn map_outputs(&mut self, map: impl Fn(OutputIndex, f64, f64) -> (f64, f64)) {
        let cells = self.means.iter_mut().zip(&mut self.variances).enumerate();
        for (at, (mean, variance)) in cells {
            (*mean, *variance) = map(OutputIndex::new(at % self.n_outputs), *mean, *variance);
        }
    }
}

impl OutputScaling {
    /// A prediction on the standardized scale, in the user's units.
    ///
    /// # Errors
    /// When the number of outputs differs.
    pub fn undo(&self, mut prediction: Prediction) -> Result<Prediction, DataError> {
        let columns: Vec<(f64, f64)> = self.shifts().zip(self.scales()).collect();
        check_shape("the prediction", prediction.n_rows(), columns.len(), prediction.means().len())?;
        prediction.map_outputs(|output, mean, variance| {
            let (shift, scale) = columns[output.get()];
            (mean * scale + shift, variance * scale * scale)
        });
        Ok(prediction)
    }
}
