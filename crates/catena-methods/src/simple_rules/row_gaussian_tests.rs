//! Tests of the distribution of a row against elimination.

use super::*;

const PLAIN: RowCovariance = RowCovariance { shrinkage: 0.0, n_factors: None };

/// Three outputs that are sums of two waves of the row number.
fn table(n_rows: usize, is_missing: impl Fn(usize, usize) -> bool) -> Observations {
    let value = |at: usize| {
        let (row, output) = (at / 3, at % 3);
        let (one, two) = ((row as f64 * 0.7).sin(), (row as f64 * 1.9).cos());
        let values = [one, two, 0.6 * one - 0.8 * two + 0.01 * (row as f64 * 5.3).sin()];
        if is_missing(row, output) { f64::NAN } else { values[output] }
    };
    Observations::from_dense(n_rows, 3, &(0..3 * n_rows).map(value).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_complete_table_gives_its_sample_moments() {
    let complete = table(200, |_, _| false);
    let fitted = RowGaussian::fit(&complete, PLAIN).unwrap();
    let values = complete.to_dense();
    for i in 0..3 {
        for j in 0..3 {
            let mean = |output: usize| values.iter().skip(output).step_by(3).sum::<f64>() / 200.0;
            let product: f64 =
                values.chunks_exact(3).map(|row| (row[i] - mean(i)) * (row[j] - mean(j))).sum();
            assert!((fitted.covariance[i * 3 + j] - product / 200.0).abs() < 1e-12);
        }
    }
}

#[test]
fn a_linear_relation_fills_missing_cells_and_no_cell_uses_its_own_value() {
    let holes = table(300, |row, output| row % 4 == output);
    let fitted = RowGaussian::fit(&holes, PLAIN).unwrap();
    let (means, truth) = (fitted.predict(&holes).unwrap().means, table(300, |_, _| false).to_dense());
    for row in (2..300).step_by(4) {
        let error = (means[row * 3 + 2] - truth[row * 3 + 2]).abs();
        assert!(error < 0.05, "row {row}: {error}");
    }
    // Changing an observed value does not change its own prediction.
    let row = RowIndex::new(7);
    let changed = holes
        .map_cells(|at, cell| {
            let value = if at == row && cell.output.get() == 1 { 9.0 } else { cell.value };
            Ok(catena::data::Cell { value, ..cell })
        })
        .unwrap();
    let other = fitted.predict(&changed).unwrap().means;
    assert!((means[7 * 3 + 1] - other[7 * 3 + 1]).abs() < 1e-9);
    assert!((means[7 * 3 + 2] - other[7 * 3 + 2]).abs() > 1.0);
}

#[test]
fn the_excess_is_the_variance_that_missing_outputs_of_a_row_cost() {
    // Unit variances with correlation ½ of the first two outputs; the third is independent.
    let covariance = vec![1.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0];
    let fitted = RowGaussian { mean: vec![0.0; 3], covariance };
    let none = f64::NAN;
    let rows = [[0.2, 0.4, 1.0], [none, 0.4, 1.0], [none, none, 1.0]];
    let found = fitted.predict(&Observations::from_dense(3, 3, rows.as_flattened()).unwrap()).unwrap();
    // Given the second output the first has variance ¾; without it 1.
    let expected = [[0.0, 0.0, 0.0], [0.0, 0.25, 0.0], [0.25, 0.25, 0.0]];
    for (found, expected) in found.excess.iter().zip(expected.as_flattened()) {
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
    }
}

#[test]
fn a_row_without_cells_gets_the_means() {
    let holes = table(50, |row, _| row == 3);
    let fitted = RowGaussian::fit(&holes, PLAIN).unwrap();
    assert_eq!(fitted.predict(&holes).unwrap().means[9..12], fitted.mean[..]);
}

/// The solution of a small system by elimination.
fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for at in 0..size {
        for other in (0..size).filter(|other| *other != at) {
            let factor = matrix[other][at] / matrix[at][at];
            for column in 0..size {
                matrix[other][column] -= factor * matrix[at][column];
            }
            right[other] -= factor * right[at];
        }
    }
    (0..size).map(|at| right[at] / matrix[at][at]).collect()
}

/// Mean and variance of an output given some others by the covariance of the others.
fn conditioned(fitted: &RowGaussian, (output, given): (usize, &[usize]), row: &[f64]) -> (f64, f64) {
    let covariance = |i: usize, j: usize| fitted.covariance[i * row.len() + j];
    let matrix = given.iter().map(|&i| given.iter().map(|&j| covariance(i, j)).collect()).collect();
    let weights = solved(matrix, given.iter().map(|&i| covariance(i, output)).collect());
    let pairs = || given.iter().zip(&weights);
    (
        fitted.mean[output] + pairs().map(|(&i, weight)| weight * (row[i] - fitted.mean[i])).sum::<f64>(),
        covariance(output, output) - pairs().map(|(&i, weight)| weight * covariance(i, output)).sum::<f64>(),
    )
}

/// Five outputs with any of their 32 masks.
fn example() -> (RowGaussian, Observations) {
    let root = |at: usize| (at as f64 * 1.3).sin() + if at / 5 == at % 5 { 1.0 } else { 0.0 };
    let product = |at: usize| (0..5).map(|k| root(at / 5 * 5 + k) * root(at % 5 * 5 + k)).sum::<f64>();
    let covariance: Vec<f64> = (0..25).map(product).collect();
    let value = |at: usize| if (at / 5) >> (at % 5) & 1 == 1 { f64::NAN } else { (at as f64 * 0.9).cos() };
    let values: Vec<f64> = (0..32 * 5).map(value).collect();
    let mean = vec![0.1, -0.4, 0.0, 0.3, 1.0];
    (RowGaussian { mean, covariance }, Observations::from_dense(32, 5, &values).unwrap())
}

#[test]
fn every_cell_is_conditioned_on_the_observed_cells_of_its_row() {
    let (fitted, table) = example();
    let (found, values) = (fitted.predict(&table).unwrap(), table.to_dense());
    for (number, row) in values.chunks_exact(5).enumerate() {
        for output in 0..5 {
            let given: Vec<usize> = (0..5).filter(|&at| at != output && !row[at].is_nan()).collect();
            let others: Vec<usize> = (0..5).filter(|at| *at != output).collect();
            let (mean, variance) = conditioned(&fitted, (output, &given), row);
            let least = conditioned(&fitted, (output, &others), row).1;
            let at = number * 5 + output;
            assert!((found.means[at] - mean).abs() < 1e-9, "{at}: {} and {mean}", found.means[at]);
            assert!((found.excess[at] - (variance - least)).abs() < 1e-9, "{at}");
        }
    }
}

#[test]
fn an_iteration_takes_the_expected_products_of_all_cells() {
    let (fitted, table) = example();
    let values = table.to_dense();
    let next = fitted.iterated(&table, &mask_groups(&table), PLAIN).unwrap();
    let (mut sums, mut products) = ([0.0; 5], [0.0; 25]);
    for row in values.chunks_exact(5) {
        let given: Vec<usize> = (0..5).filter(|&at| !row[at].is_nan()).collect();
        let mean = |at: usize| {
            if row[at].is_nan() { conditioned(&fitted, (at, &given), row).0 } else { row[at] }
        };
        let means: Vec<f64> = (0..5).map(mean).collect();
        for i in 0..5 {
            sums[i] += means[i] / 32.0;
            for j in 0..5 {
                let is_missing = row[i].is_nan() && row[j].is_nan();
                let both = if is_missing { joint(&fitted, (i, j), &given) } else { 0.0 };
                products[i * 5 + j] += (means[i] * means[j] + both) / 32.0;
            }
        }
    }
    for i in 0..5 {
        assert!((next.mean[i] - sums[i]).abs() < 1e-9);
        for j in 0..5 {
            let expected = products[i * 5 + j] - sums[i] * sums[j];
            assert!((next.covariance[i * 5 + j] - expected).abs() < 1e-9, "{i} {j}");
        }
    }
}

/// The covariance of two outputs given others.
fn joint(fitted: &RowGaussian, (i, j): (usize, usize), given: &[usize]) -> f64 {
    let covariance = |i: usize, j: usize| fitted.covariance[i * 5 + j];
    let matrix = given.iter().map(|&a| given.iter().map(|&b| covariance(a, b)).collect()).collect();
    let weights = solved(matrix, given.iter().map(|&a| covariance(a, j)).collect());
    covariance(i, j) - given.iter().zip(&weights).map(|(&a, weight)| weight * covariance(i, a)).sum::<f64>()
}
