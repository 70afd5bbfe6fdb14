//! The mean and variance of each output's observed cells, at every point.

use catena::data::{DataError, Observations};
use catena::index::OutputIndex;
use catena::prediction::Prediction;

use crate::DenseMethodError;

/// Training mean and training variance (n − 1; 0 for a single value) of each output.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingMean {
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl TrainingMean {
    /// Means and variances of the observed cells.
    ///
    /// # Errors
    /// If an output was never observed.
    pub fn fit(observations: &Observations) -> Result<Self, DenseMethodError> {
        let mut by_output = vec![vec![]; observations.n_outputs()];
        for (_, cell) in observations.cells() {
            by_output[cell.output.get()].push(cell.value);
        }
        let mut fitted = Self { means: vec![], variances: vec![] };
        for (output, values) in by_output.iter().enumerate() {
            if values.is_empty() {
                return Err(DataError::OutputNeverObserved { output: OutputIndex::new(output) }.into());
            }
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            fitted.means.push(mean);
            fitted.variances.push(squares / (values.len().max(2) - 1) as f64);
        }
        Ok(fitted)
    }

    /// The mean of each output.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The variance of each output.
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// The same prediction for any number of rows.
    ///
    /// # Errors
    /// Never for a fitted rule; the signature is that of every method.
    pub fn predict(&self, n_rows: usize) -> Result<Prediction, DenseMethodError> {
        let (means, variances) = (self.means.repeat(n_rows), self.variances.repeat(n_rows));
        Ok(Prediction::new(n_rows, self.means.len(), means, variances)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::index::RowIndex;

    #[test]
    fn only_observed_cells_count() {
        let values = [1.0, 7.0, f64::NAN, 7.0, 3.0, f64::NAN];
        let observations = Observations::from_dense(3, 2, &values).unwrap();
        let prediction = TrainingMean::fit(&observations).unwrap().predict(4).unwrap();
        let (row, first, second) = (RowIndex::new(3), OutputIndex::new(0), OutputIndex::new(1));
        assert_eq!((prediction.mean(row, first), prediction.variance(row, first)), (2.0, 2.0));
        assert_eq!((prediction.mean(row, second), prediction.variance(row, second)), (7.0, 0.0));
    }

    #[test]
    fn an_output_never_observed_is_refused() {
        let observations = Observations::from_dense(2, 2, &[1.0, f64::NAN, 2.0, f64::NAN]).unwrap();
        let error = DataError::OutputNeverObserved { output: OutputIndex::new(1) };
        assert_eq!(TrainingMean::fit(&observations), Err(error.into()));
    }
}
