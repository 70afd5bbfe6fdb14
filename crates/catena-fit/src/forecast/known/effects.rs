//! Effects of known columns: a regression on the errors that the forecasts of a time model leave, exact by linearity.
//!
//! The forecasts of a model are linear in the values. So the error of a forecast of the values minus the effects is the error of the
//! forecast of the values minus the effects times the *responses*: the errors with which the same model forecasts the features. One
//! sweep for each feature gives the errors for all coefficients. Coefficients are those of generalized least squares: the errors of
//! one step are uncorrelated, with the variances of the model.

use catena::data::{Dataset, Observations};
use catena_methods::simple_rules::WeightedRegression;

use super::features::Feature;
use crate::error::FitError;
use crate::fit::Fit;
use crate::forecast::rolling::{SortedRows, forecasts};

/// The standard deviation of a coefficient before anything is known, in standard deviations of the output per one of the feature.
const PRIOR_DEVIATION: f64 = 2.0;

/// The errors of forecasts at some cells.
pub(super) struct Responses {
    /// The row-major place of each cell among pairs of origin and target, and outputs.
    pub(super) places: Vec<usize>,
    /// The errors without effects.
    pub(super) errors: Vec<f64>,
    pub(super) variances: Vec<f64>,
    /// By feature and output: the errors of its forecasts.
    pub(super) columns: Vec<Vec<f64>>,
}

/// A table with the rows to forecast, and the features at its rows.
pub(super) struct Regressors<'a> {
    pub(super) table: &'a Dataset,
    pub(super) rows: &'a SortedRows,
    pub(super) features: &'a [Feature],
    /// The standard deviation of each output.
    pub(super) scales: &'a [f64],
}

impl Regressors<'_> {
    fn n_outputs(&self) -> usize {
        self.scales.len()
    }

    /// The table with other values in its observed cells.
    fn with_values(&self, value: impl Fn(usize, usize) -> f64) -> Result<Dataset, FitError> {
        let observed = self.table.observations();
        let mut values = vec![f64::NAN; observed.n_rows() * self.n_outputs()];
        for (row, cell) in observed.cells() {
            let output = cell.output.get();
            values[row.get() * self.n_outputs() + output] = value(row.get(), output);
        }
        let observations = Observations::from_dense(observed.n_rows(), self.n_outputs(), &values)?;
        Ok(Dataset::new(self.table.inputs().clone(), observations)?)
    }

    /// The responses of a model's forecasts at pairs of origin and target, at observed targets or at all.
    pub(super) fn responses(
        &self,
        fit: &Fit,
        pairs: &[(usize, usize)],
        only_observed: bool,
    ) -> Result<Responses, FitError> {
        let n_outputs = self.n_outputs();
        let own = forecasts(fit, self.table, self.rows, pairs)?;
        let zero = forecasts(fit, &self.with_values(|_, _| 0.0)?, self.rows, pairs)?;
        let cell = |place: usize| (self.rows.value(pairs[place / n_outputs].1, place % n_outputs), place);
        let all = (0..pairs.len() * n_outputs).map(cell);
        let cells: Vec<(f64, usize)> = all.filter(|(value, _)| !only_observed || value.is_finite()).collect();
        let mut columns = vec![];
        for feature in self.features {
            for output in 0..n_outputs {
                let table = self.with_values(|row, other| {
                    if other == output { self.scales[output] * feature.values[row] } else { 0.0 }
                })?;
                let found = forecasts(fit, &table, self.rows, pairs)?;
                let error = |&(_, place): &(f64, usize)| {
                    let target = self.rows.rows[pairs[place / n_outputs].1].get();
                    let is_own = place % n_outputs == output;
                    let value = if is_own { self.scales[output] * feature.values[target] } else { 0.0 };
                    value - (found.center(place).0 - zero.center(place).0)
                };
                columns.push(cells.iter().map(error).collect());
            }
        }
        Ok(Responses {
            errors: cells.iter().map(|&(value, place)| value - own.center(place).0).collect(),
            variances: cells.iter().map(|&(_, place)| own.center(place).1.powi(2)).collect(),
            places: cells.into_iter().map(|(_, place)| place).collect(),
            columns,
        })
    }

    /// Coefficients by the errors of one step from each row up to a time.
    pub(super) fn effects(&self, fit: &Fit, until: f64) -> Result<Option<WeightedRegression>, FitError> {
        let times = &self.rows.times;
        let n_known = times.partition_point(|time| *time <= until);
        let is_step = |&(origin, target): &(usize, usize)| times[target] > times[origin];
        let pairs: Vec<(usize, usize)> =
            (1..n_known).map(|target| (target - 1, target)).filter(is_step).collect();
        let found = self.responses(fit, &pairs, true)?;
        let weights: Vec<f64> = found.variances.iter().map(|variance| 1.0 / variance).collect();
        let columns: Vec<&[f64]> = found.columns.iter().map(Vec::as_slice).collect();
        let prior = vec![PRIOR_DEVIATION.powi(-2); columns.len()];
        Ok(WeightedRegression::fit(&columns, &found.errors, &weights, &prior))
    }

    /// The sum of the effects at a row of an output.
    pub(super) fn sum(&self, effects: &WeightedRegression, row: usize, output: usize) -> f64 {
        let of_output = effects.coefficients().iter().skip(output).step_by(self.n_outputs());
        let sum: f64 =
            self.features.iter().zip(of_output).map(|(feature, effect)| feature.values[row] * effect).sum();
        self.scales[output] * sum
    }

    /// The table without its effects.
    pub(super) fn without(&self, effects: &WeightedRegression) -> Result<Dataset, FitError> {
        let dense = self.table.observations().to_dense();
        self.with_values(|row, output| {
            dense[row * self.n_outputs() + output] - self.sum(effects, row, output)
        })
    }
}

impl Responses {
    /// The responses of a cell.
    pub(super) fn of_cell(&self, cell: usize) -> Vec<f64> {
        self.columns.iter().map(|column| column[cell]).collect()
    }

    /// The mean log density of the cells with the best factor on all standard deviations, and the root mean squared error in standard
    /// deviations of the outputs.
    pub(super) fn score(&self, effects: Option<&WeightedRegression>, scales: &[f64]) -> (f64, f64) {
        let (mut squares, mut logs, mut relative) = (0.0, 0.0, 0.0);
        for (cell, &place) in self.places.iter().enumerate() {
            let (mut error, mut variance) = (self.errors[cell], self.variances[cell]);
            if let Some(effects) = effects {
                let responses = self.of_cell(cell);
                let sum: f64 = responses.iter().zip(effects.coefficients()).map(|(own, by)| own * by).sum();
                error -= sum;
                variance += effects.variance(&responses);
            }
            squares += error * error / variance;
            logs += 0.5 * variance.ln();
            relative += (error / scales[place % scales.len()]).powi(2);
        }
        let count = self.places.len() as f64;
        (-0.5 * (squares / count).ln() - logs / count, (relative / count).sqrt())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use std::ops::ControlFlow;

    use catena::data::InputPoints;
    use catena::kernel::Kernel;

    use super::*;
    use crate::fit::fit;
    use crate::forecast::known::KnownColumns;
    use crate::forecast::known::features::FeatureSet;
    use crate::options::{FitOptions, KernelPair, TransformOptions};

    /// Numbers without order between −1 and 1.
    fn mixed(at: usize, stream: usize) -> f64 {
        ((at * 7919 + stream * 104_729) % 1009) as f64 / 504.5 - 1.0
    }

    /// Irregular times, a missing value, and a column with an effect of 2.
    fn problem(n_rows: usize) -> (Dataset, KnownColumns) {
        let times: Vec<f64> = (0..n_rows).map(|at| at as f64 + 0.3 * mixed(at, 3)).collect();
        let column: Vec<f64> = (0..n_rows).map(|at| 5.0 + 3.0 * mixed(at, 1)).collect();
        let value = |at: usize| match at {
            7 => f64::NAN,
            _ => (0.2 * times[at]).sin() + 2.0 * column[at] + 0.1 * mixed(at, 2),
        };
        let values: Vec<f64> = (0..n_rows).map(value).collect();
        let observations = Observations::from_dense(n_rows, 1, &values).unwrap();
        let table = Dataset::new(InputPoints::from_column(times).unwrap(), observations).unwrap();
        let known =
            KnownColumns { names: vec!["x".to_owned()], at_rows: column, times_ahead: vec![], ahead: vec![] };
        (table, known)
    }

    fn fitted(table: &Dataset) -> Fit {
        let options = FitOptions {
            kernel: Some(KernelPair { shared: Kernel::Matern12, private: Kernel::Matern12 }),
            latents: Some(1),
            private: Some(false),
            transforms: TransformOptions::NONE,
            ..FitOptions::default()
        };
        fit(table, &options, &|_| ControlFlow::Continue(())).unwrap()
    }

    #[test]
    fn errors_with_effects_are_those_of_the_table_without_them() {
        let (table, known) = problem(40);
        let (fit, rows) = (fitted(&table), SortedRows::new(&table));
        let features = known.features(FeatureSet::Linear, &(0..40).collect::<Vec<_>>());
        let regressors = Regressors { table: &table, rows: &rows, features: &features, scales: &[1.7] };
        let effects = regressors.effects(&fit, 30.0).unwrap().unwrap();
        let pairs: Vec<(usize, usize)> =
            (25..36).flat_map(|origin| [1, 4].map(|lead| (origin, origin + lead))).collect();
        let found = regressors.responses(&fit, &pairs, true).unwrap();
        let rest = regressors.without(&effects).unwrap();
        let rest_rows = SortedRows::new(&rest);
        let direct = Regressors { table: &rest, rows: &rest_rows, features: &[], scales: &[1.7] };
        let direct = direct.responses(&fit, &pairs, true).unwrap();
        assert_eq!(found.places, direct.places);
        for (cell, error) in direct.errors.iter().enumerate() {
            let own = found.errors[cell] - effects.coefficients()[0] * found.of_cell(cell)[0];
            assert!((own - error).abs() < 1e-9, "{own} {error}");
            assert!((found.variances[cell] - direct.variances[cell]).abs() < 1e-12);
        }
        assert!(found.score(Some(&effects), &[1.7]).0 > found.score(None, &[1.7]).0 + 1.0);
    }

    #[test]
    fn effects_are_those_of_generalized_least_squares_with_a_dense_covariance() {
        let (table, known) = problem(30);
        let (fit, rows) = (fitted(&table), SortedRows::new(&table));
        let features = known.features(FeatureSet::Linear, &(0..30).collect::<Vec<_>>());
        let regressors = Regressors { table: &table, rows: &rows, features: &features, scales: &[1.0] };
        let found = regressors.effects(&fit, f64::INFINITY).unwrap().unwrap();
        // Covariances of the values by those of forecasts of nothing: the prior with noise at pairs of observed rows.
        let observed: Vec<usize> = (0..30).filter(|at| *at != 7).collect();
        let parts = fit.parts();
        let unit = parts.preparation.inputs[0].1;
        let scale = parts.preparation.outputs[0].scale;
        let weights = parts.model.mixing().to_dense();
        let lengths: Vec<f64> =
            parts.model.latents().iter().map(|latent| latent.length_scale().get()).collect();
        let noise = parts.model.noise()[0].get();
        let time = |at: usize| table.inputs().point(catena::index::RowIndex::new(at))[0] / unit;
        let covariance = |a: usize, b: usize| {
            let of =
                |(weight, length): (f64, &f64)| weight * weight * (-(time(a) - time(b)).abs() / length).exp();
            let process: f64 = weights.iter().copied().zip(&lengths).map(of).sum();
            scale * scale * (process + if a == b { noise } else { 0.0 })
        };
        let mean = parts.preparation.outputs[0].intercept;
        let values = table.observations().to_dense();
        // Given the first value, as the errors of one step are.
        let given = |numbers: &dyn Fn(usize) -> f64, at: usize| {
            numbers(at) - covariance(at, 0) / covariance(0, 0) * numbers(0)
        };
        let later: Vec<usize> = observed[1..].to_vec();
        let count = later.len();
        let own = |i: usize, j: usize| {
            covariance(later[i], later[j])
                - covariance(later[i], 0) * covariance(later[j], 0) / covariance(0, 0)
        };
        // Cholesky by hand, then whitened values and features.
        let mut root = vec![vec![0.0; count]; count];
        for i in 0..count {
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| root[i][k] * root[j][k]).sum();
                root[i][j] = if i == j { (own(i, i) - sum).sqrt() } else { (own(i, j) - sum) / root[j][j] };
            }
        }
        let whitened = |numbers: &dyn Fn(usize) -> f64| {
            let mut found = vec![0.0; count];
            for i in 0..count {
                let sum: f64 = (0..i).map(|k| root[i][k] * found[k]).sum();
                found[i] = (given(numbers, later[i]) - sum) / root[i][i];
            }
            found
        };
        let y = whitened(&|at| values[at] - mean);
        let x = whitened(&|at| features[0].values[at]);
        let (xx, xy): (f64, f64) =
            (x.iter().map(|x| x * x).sum(), x.iter().zip(&y).map(|(x, y)| x * y).sum());
        let expected = xy / (xx + PRIOR_DEVIATION.powi(-2));
        assert!((found.coefficients()[0] - expected).abs() < 1e-8 * expected.abs(), "{expected}");
        assert!((found.variance(&[1.0]) - 1.0 / (xx + PRIOR_DEVIATION.powi(-2))).abs() < 1e-10);
    }
}
