//! Ridge regression of each output on the other outputs of the same row.

use catena::data::Observations;
use catena::index::{OutputIndex, RowIndex};
use catena::prediction::Prediction;

use super::TrainingMean;
use crate::DenseMethodError;
use crate::cholesky::{Cholesky, Threads};
use crate::targets::dot;

/// For each output a linear regression on the other outputs of its row, all standardized, missing values replaced by the
/// mean. The penalty is in units of one row: it has the weight of `penalty` rows without signal. The variance is the mean
/// squared leave-one-out error, the same in every row.
#[derive(Clone, Debug, PartialEq)]
pub struct RidgeRegression {
    mean: TrainingMean,
    /// Standard deviations; 1 for an output that does not vary.
    scales: Vec<f64>,
    /// Coefficients (D×D) on the standardized outputs, row-major; the diagonal is 0.
    coefficients: Vec<f64>,
    variances: Vec<f64>,
}

impl RidgeRegression {
    /// Regressions on the rows of a table.
    ///
    /// # Errors
    /// If the penalty is not positive and finite, or an output was never observed.
    pub fn fit(observations: &Observations, penalty: f64) -> Result<Self, DenseMethodError> {
        if !(penalty > 0.0 && penalty.is_finite()) {
            return Err(DenseMethodError::Penalty(penalty));
        }
        let mean = TrainingMean::fit(observations)?;
        let scales =
            mean.variances().iter().map(|&variance| if variance > 0.0 { variance.sqrt() } else { 1.0 });
        let n_outputs = observations.n_outputs();
        let mut fitted = Self {
            scales: scales.collect(),
            mean,
            coefficients: vec![0.0; n_outputs * n_outputs],
            variances: vec![],
        };
        for output in 0..n_outputs {
            fitted.regress(observations, OutputIndex::new(output), penalty)?;
        }
        Ok(fitted)
    }

    /// The standardized row with missing values replaced by 0, without the output itself.
    fn regressors(&self, observations: &Observations, row: RowIndex, without: OutputIndex) -> Vec<f64> {
        let mut regressors = vec![0.0; observations.n_outputs()];
        for cell in observations.row(row).filter(|cell| cell.output != without) {
            let output = cell.output.get();
            regressors[output] = (cell.value - self.mean.means()[output]) / self.scales[output];
        }
        regressors
    }

    fn regress(
        &mut self,
        observations: &Observations,
        output: OutputIndex,
        penalty: f64,
    ) -> Result<(), DenseMethodError> {
        let (n_outputs, own) = (observations.n_outputs(), output.get());
        let mut normal = vec![0.0; n_outputs * n_outputs];
        normal.iter_mut().step_by(n_outputs + 1).for_each(|diagonal| *diagonal = penalty);
        let mut right = vec![0.0; n_outputs];
        let mut rows = vec![];
        for (row, cell) in observations.cells().filter(|(_, cell)| cell.output == output) {
            let regressors = self.regressors(observations, row, output);
            let value = (cell.value - self.mean.means()[own]) / self.scales[own];
            for (column, &regressor) in normal.chunks_exact_mut(n_outputs).zip(&regressors) {
                column.iter_mut().zip(&regressors).for_each(|(entry, other)| *entry += regressor * other);
            }
            right.iter_mut().zip(&regressors).for_each(|(sum, regressor)| *sum += regressor * value);
            rows.push((row, regressors, value));
        }
        let first = rows.first().map_or(RowIndex::new(0), |(row, _, _)| *row);
        let cholesky = Cholesky::new(n_outputs, normal, Threads::One)
            .map_err(|_| DenseMethodError::NotPositiveDefinite { row: first })?;
        cholesky.solve(&mut right, Threads::One);
        let count = rows.len() as f64;
        let squares = rows.into_iter().map(|(_, mut regressors, value)| {
            let residual = value - dot(&right, &regressors);
            cholesky.whiten(&mut regressors, Threads::One);
            // The leverage of the row, including that of the mean; for a single row the residual is the value itself.
            let leverage = dot(&regressors, &regressors) + 1.0 / count;
            let left_out = if leverage < 1.0 { residual / (1.0 - leverage) } else { value };
            left_out * left_out
        });
        self.variances.push(squares.sum::<f64>() / count * self.scales[own] * self.scales[own]);
        self.coefficients[own * n_outputs..][..n_outputs].copy_from_slice(&right);
        Ok(())
    }

    /// Predicts every cell of a table from the *other* observed cells of its row; for a row without any, the means.
    ///
    /// # Errors
    /// If the table has another number of outputs.
    pub fn predict(&self, observations: &Observations) -> Result<Prediction, DenseMethodError> {
        let (n_outputs, table) = (self.scales.len(), observations.n_outputs());
        if n_outputs != table {
            return Err(DenseMethodError::OutputCount { model: n_outputs, table });
        }
        let mut means = Vec::with_capacity(observations.n_rows() * n_outputs);
        for row in (0..observations.n_rows()).map(RowIndex::new) {
            for output in 0..n_outputs {
                let regressors = self.regressors(observations, row, OutputIndex::new(output));
                let fitted = dot(&self.coefficients[output * n_outputs..][..n_outputs], &regressors);
                means.push(self.mean.means()[output] + self.scales[output] * fitted);
            }
        }
        let variances = self.variances.repeat(observations.n_rows());
        Ok(Prediction::new(observations.n_rows(), n_outputs, means, variances)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_relation_is_found() {
        let values: Vec<f64> = (0..50).flat_map(|row| [f64::from(row), 3.0 - 2.0 * f64::from(row)]).collect();
        let observations = Observations::from_dense(50, 2, &values).unwrap();
        let fitted = RidgeRegression::fit(&observations, 1e-9).unwrap();
        let asked =
            Observations::from_dense(3, 2, &[10.0, f64::NAN, f64::NAN, 5.0, f64::NAN, f64::NAN]).unwrap();
        let prediction = fitted.predict(&asked).unwrap();
        let mean = |row, output| prediction.mean(RowIndex::new(row), OutputIndex::new(output));
        assert!((mean(0, 1) + 17.0).abs() < 1e-6);
        assert!((mean(1, 0) + 1.0).abs() < 1e-6);
        assert!((mean(2, 0) - 24.5).abs() < 1e-12 && (mean(2, 1) + 46.0).abs() < 1e-12);
        assert!(prediction.variances().iter().all(|variance| (0.0..1e-12).contains(variance)));
    }

    #[test]
    fn a_penalty_must_be_positive() {
        let observations = Observations::from_dense(1, 1, &[1.0]).unwrap();
        assert_eq!(RidgeRegression::fit(&observations, 0.0), Err(DenseMethodError::Penalty(0.0)));
    }
}
