//! Ridge regression of each output on the other outputs of the same and of neighboring rows.

use catena::data::{Dataset, Observations};
use catena::index::RowIndex;
use rayon::prelude::*;

use super::{RowCovariance, RowGaussian, RowPredictions};
use crate::DenseMethodError;
use crate::cholesky::{Cholesky, Threads, product_with_transposed};

/// How missing values of the other outputs are filled.
const FILL: RowCovariance = RowCovariance { shrinkage: 0.02, n_factors: None };
/// The penalty on squared coefficients, per row.
const PENALTY: f64 = 0.01;
/// Multiplications that one prediction of a table may take.
const MOST_OPERATIONS: f64 = 2e9;

/// Regression of each output on all other outputs at several lags along the first input: the same row, and rows 1, 2, 4, …
/// before and after it. It follows movements that reach one output earlier than another. Missing values of the other outputs
/// are filled by a [`RowGaussian`]. The output itself is used at no lag: inside a gap it is missing there, too.
///
/// Outputs are expected in comparable units (mean 0, variance 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaggedRidge {
    /// The largest lag, a power of 2.
    pub reach: usize,
}

impl LaggedRidge {
    /// The largest of the reaches 4, 2 and 1 that is affordable; `None` if none is, or the table is too short.
    pub fn affordable(n_rows: usize, observations: &Observations) -> Option<Self> {
        let n_outputs = observations.n_outputs();
        let counts = observations.counts_by_output();
        let missing: usize = counts.iter().map(|count| observations.n_rows() - count).sum();
        let missing = missing as f64 * n_rows as f64 / observations.n_rows().max(1) as f64;
        [4, 2, 1].map(|reach| Self { reach }).into_iter().find(|rule| {
            let size = (rule.lags().len() * n_outputs) as f64;
            let operations = size * size * (0.5 * (n_rows as f64 + missing) + n_outputs as f64 * size / 3.0);
            operations <= MOST_OPERATIONS && n_rows > 4 * rule.reach
        })
    }

    fn lags(self) -> Vec<isize> {
        let mut lags = vec![0];
        let mut lag = 1;
        while lag <= self.reach {
            lags.extend([lag as isize, -(lag as isize)]);
            lag *= 2;
        }
        lags
    }

    /// Every cell from the other outputs.
    ///
    /// # Errors
    /// If the covariance of the observed outputs of a row is singular.
    pub fn predict(self, dataset: &Dataset) -> Result<RowPredictions, DenseMethodError> {
        let (n_rows, observations) = (dataset.n_rows(), dataset.observations());
        let n_outputs = observations.n_outputs();
        let RowPredictions { mut means, excess } =
            RowGaussian::fit(observations, FILL)?.predict(observations)?;
        let mut is_there = vec![false; means.len()];
        for (row, cell) in observations.cells() {
            let at = row.get() * n_outputs + cell.output.get();
            (means[at], is_there[at]) = (cell.value, true);
        }
        let design = Design::new(dataset, means, self.lags());
        let of_output = |output: usize| design.predicted(output, &is_there);
        let columns: Result<Vec<Vec<f64>>, DenseMethodError> =
            (0..n_outputs).into_par_iter().map(of_output).collect();
        let columns = columns?;
        let means = (0..n_rows * n_outputs).map(|at| columns[at % n_outputs][at / n_outputs]).collect();
        Ok(RowPredictions { means, excess })
    }
}

/// All outputs at all lags as columns of a regression.
struct Design {
    n_outputs: usize,
    /// Rows in the order of the first input.
    order: Vec<usize>,
    /// The table without missing values, row-major.
    filled: Vec<f64>,
    /// Outputs at all lags in the order of the rows, row-major: the outputs of the first lag, then of the second. All columns are
    /// centered.
    columns: Vec<f64>,
    n_columns: usize,
    /// The products of all columns over all rows.
    gram: Vec<f64>,
}

impl Design {
    fn new(dataset: &Dataset, filled: Vec<f64>, lags: Vec<isize>) -> Self {
        let (n_rows, n_outputs) = (dataset.n_rows(), dataset.observations().n_outputs());
        let mut order: Vec<usize> = (0..n_rows).collect();
        let place = |row: usize| dataset.inputs().point(RowIndex::new(row))[0];
        order.sort_by(|&a, &b| place(a).total_cmp(&place(b)));
        let n_columns = lags.len() * n_outputs;
        let mut columns = Vec::with_capacity(n_rows * n_columns);
        for at in 0..n_rows {
            for &lag in &lags {
                // The first and the last row are repeated beyond the ends.
                let from = at.saturating_add_signed(lag).min(n_rows - 1);
                columns.extend_from_slice(&filled[order[from] * n_outputs..][..n_outputs]);
            }
        }
        let mut centers = vec![0.0; n_columns];
        for row in columns.chunks_exact(n_columns) {
            centers.iter_mut().zip(row).for_each(|(center, entry)| *center += entry / n_rows as f64);
        }
        for row in columns.chunks_exact_mut(n_columns) {
            row.iter_mut().zip(&centers).for_each(|(entry, center)| *entry -= center);
        }
        let gram = product_with_transposed(&columns, &columns, n_columns);
        Self { n_outputs, order, filled, columns, n_columns, gram }
    }

    fn row(&self, at: usize) -> &[f64] {
        &self.columns[at * self.n_columns..][..self.n_columns]
    }

    /// The products of all columns over the rows for which `is_known`. The rows that are fewer are multiplied.
    fn gram_of(&self, is_known: &dyn Fn(&usize) -> bool) -> Vec<f64> {
        let n_rows = self.order.len();
        let n_known = (0..n_rows).filter(is_known).count();
        let adds = 2 * n_known < n_rows;
        let rows = (0..n_rows).filter(|at| is_known(at) == adds);
        let some: Vec<f64> = rows.flat_map(|at| self.row(at)).copied().collect();
        let mut gram = product_with_transposed(&some, &some, self.n_columns);
        if !adds {
            gram.iter_mut().zip(&self.gram).for_each(|(some, all)| *some = all - *some);
        }
        gram
    }

    /// The predictions of one output at every row of the table.
    fn predicted(&self, output: usize, is_there: &[bool]) -> Result<Vec<f64>, DenseMethodError> {
        let n_outputs = self.n_outputs;
        let used: Vec<usize> = (0..self.n_columns).filter(|column| column % n_outputs != output).collect();
        let size = used.len();
        let known = |at: &usize| is_there[self.order[*at] * n_outputs + output];
        let value = |at: usize| self.filled[self.order[at] * n_outputs + output];
        let (mut count, mut sum) = (0.0, 0.0);
        let (mut all_products, mut all_sums) = (vec![0.0; self.n_columns], vec![0.0; self.n_columns]);
        for at in (0..self.order.len()).filter(known) {
            let value = value(at);
            for ((entry, products), sums) in self.row(at).iter().zip(&mut all_products).zip(&mut all_sums) {
                *products += entry * value;
                *sums += entry;
            }
            count += 1.0;
            sum += value;
        }
        let count: f64 = f64::max(count, 1.0);
        let mean = sum / count;
        let sums: Vec<f64> = used.iter().map(|&column| all_sums[column]).collect();
        let mut products: Vec<f64> =
            used.iter().map(|&column| all_products[column] - all_sums[column] * mean).collect();
        let all = self.gram_of(&known);
        let mut gram = Vec::with_capacity(size * size);
        for (&column, of_column) in used.iter().zip(&sums) {
            let entries = &all[column * self.n_columns..][..self.n_columns];
            gram.extend(
                used.iter().zip(&sums).map(|(&row, of_row)| entries[row] - of_column * of_row / count),
            );
        }
        let penalty = PENALTY * count;
        for column in 0..size {
            gram[column * (size + 1)] += penalty;
        }
        let cholesky = Cholesky::new(size, gram, Threads::One)
            .map_err(|_| DenseMethodError::NotPositiveDefinite { row: RowIndex::new(0) })?;
        cholesky.solve(&mut products, Threads::One);
        // The mean leverage of an observed row: the trace of the projection, as in generalized cross-validation.
        let lost = penalty * cholesky.inverse_trace();
        let leverage = ((size as f64 - lost + 1.0) / count).min(0.9);
        let shift: f64 = products.iter().zip(&sums).map(|(a, b)| a * b / count).sum();
        let mut coefficients = vec![0.0; self.n_columns];
        used.iter().zip(products).for_each(|(&column, weight)| coefficients[column] = weight);
        let mut predicted = vec![0.0; self.order.len()];
        for at in 0..self.order.len() {
            let fitted: f64 =
                self.row(at).iter().zip(&coefficients).map(|(entry, weight)| entry * weight).sum();
            let fitted = mean + fitted - shift;
            predicted[self.order[at]] = match known(&at) {
                // Without the row itself.
                true => value(at) - (value(at) - fitted) / (1.0 - leverage),
                false => fitted,
            };
        }
        Ok(predicted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::InputPoints;

    /// The second output follows the first by two rows; the third is unrelated.
    fn table(n_rows: usize, is_missing: impl Fn(usize, usize) -> bool) -> Dataset {
        let wave = |row: f64| (row * 0.9).sin() + (row * 0.37).cos();
        let value = |at: usize| {
            let (row, output) = (at / 3, at % 3);
            let time = row as f64;
            if is_missing(row, output) {
                f64::NAN
            } else {
                [wave(time), wave(time - 2.0), (time * 2.3).sin()][output]
            }
        };
        let values: Vec<f64> = (0..3 * n_rows).map(value).collect();
        let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
        Dataset::new(inputs, Observations::from_dense(n_rows, 3, &values).unwrap()).unwrap()
    }

    #[test]
    fn a_delayed_output_is_predicted_from_earlier_rows() {
        let holes = table(400, |row, output| output == 1 && (100..180).contains(&row));
        let truth = table(400, |_, _| false).observations().to_dense();
        let error = |means: Vec<f64>| -> f64 {
            (100..180).map(|row| (means[row * 3 + 1] - truth[row * 3 + 1]).powi(2)).sum::<f64>() / 80.0
        };
        let lagged = error(LaggedRidge { reach: 4 }.predict(&holes).unwrap().means);
        let same_row = RowGaussian::fit(holes.observations(), FILL).unwrap();
        let same_row = error(same_row.predict(holes.observations()).unwrap().means);
        assert!(lagged < 0.02 && lagged < 0.1 * same_row, "{lagged} and {same_row}");
    }

    #[test]
    fn predictions_do_not_depend_on_the_order_of_rows() {
        let forward = table(60, |row, output| output == 1 && (20..30).contains(&row));
        let rows: Vec<RowIndex> = (0..60).rev().map(RowIndex::new).collect();
        let backward = forward.select_rows(&rows).unwrap();
        let one = LaggedRidge { reach: 2 }.predict(&forward).unwrap().means;
        let other = LaggedRidge { reach: 2 }.predict(&backward).unwrap().means;
        for row in 0..60 {
            for output in 0..3 {
                assert!((one[row * 3 + output] - other[(59 - row) * 3 + output]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn many_outputs_have_shorter_reaches() {
        let wide =
            |n_outputs: usize| Observations::from_dense(500, n_outputs, &vec![0.5; 500 * n_outputs]).unwrap();
        assert_eq!(LaggedRidge::affordable(500, &wide(5)), Some(LaggedRidge { reach: 4 }));
        assert_eq!(LaggedRidge::affordable(500, &wide(2000)), None);
        assert_eq!(LaggedRidge { reach: 4 }.lags(), [0, 1, -1, 2, -2, 4, -4]);
    }

    #[test]
    fn products_over_some_rows_are_sums_over_these_rows() {
        let dataset = table(40, |_, _| false);
        let design =
            Design::new(&dataset, dataset.observations().to_dense(), LaggedRidge { reach: 1 }.lags());
        for (step, is_in) in [(2, true), (3, true), (3, false), (40, true), (40, false)] {
            let is_known = |at: &usize| at.is_multiple_of(step) == is_in;
            let found = design.gram_of(&is_known);
            for (at, found) in found.iter().enumerate() {
                let (i, j) = (at / design.n_columns, at % design.n_columns);
                let rows = (0..40).filter(is_known).map(|row| design.row(row));
                let expected: f64 = rows.map(|row| row[i] * row[j]).sum();
                assert!((found - expected).abs() < 1e-12, "{step}: {found} and {expected}");
            }
        }
    }
}
