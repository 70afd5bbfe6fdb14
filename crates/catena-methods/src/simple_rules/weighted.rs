//! Weighted least squares with a normal prior on each coefficient.

use crate::cholesky::{Cholesky, Threads};
use crate::targets::dot;

/// Coefficients of a regression without intercept, and their covariance.
#[derive(Clone, Debug)]
pub struct WeightedRegression {
    coefficients: Vec<f64>,
    /// The factor of the inverse covariance.
    factor: Cholesky,
}

impl WeightedRegression {
    /// The regression of `targets` on columns, each of their length. `weights` are inverse variances of the targets, `prior` the inverse
    /// variances of the coefficients, which are positive. `None` if a number overflows.
    pub fn fit(columns: &[&[f64]], targets: &[f64], weights: &[f64], prior: &[f64]) -> Option<Self> {
        let dim = columns.len();
        let weighted: Vec<Vec<f64>> = columns
            .iter()
            .map(|column| column.iter().zip(weights).map(|(value, weight)| value * weight).collect())
            .collect();
        let mut normal = vec![0.0; dim * dim];
        for (at, own) in weighted.iter().enumerate() {
            for (other, column) in columns.iter().enumerate() {
                normal[at * dim + other] = dot(own, column);
            }
            normal[at * dim + at] += prior[at];
        }
        let factor = Cholesky::new(dim, normal, Threads::One).ok()?;
        let mut coefficients: Vec<f64> = weighted.iter().map(|own| dot(own, targets)).collect();
        factor.solve(&mut coefficients, Threads::One);
        coefficients.iter().all(|value| value.is_finite()).then_some(Self { coefficients, factor })
    }

    /// The coefficient of each column.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The variance of the sum of the coefficients times these values.
    pub fn variance(&self, values: &[f64]) -> f64 {
        let mut values = values.to_vec();
        self.factor.whiten(&mut values, Threads::One);
        dot(&values, &values)
    }

    /// A draw of the errors of all coefficients from as many independent standard normal numbers.
    pub fn draw(&self, mut normals: Vec<f64>) -> Vec<f64> {
        self.factor.whiten_transposed(&mut normals, Threads::One);
        normals
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    #[test]
    fn two_coefficients_solve_their_normal_equations() {
        let (one, other) = ([1.0, 2.0, 0.0, -1.0], [0.5, -1.0, 3.0, 1.0]);
        let (targets, weights, prior) = ([2.0, 1.0, -3.0, 0.5], [1.0, 0.5, 2.0, 1.0], [0.1, 0.2]);
        let found = WeightedRegression::fit(&[&one, &other], &targets, &weights, &prior).unwrap();
        let sum = |a: &[f64], b: &[f64]| -> f64 { (0..4).map(|at| weights[at] * a[at] * b[at]).sum() };
        let (a, b, d) = (sum(&one, &one) + 0.1, sum(&one, &other), sum(&other, &other) + 0.2);
        let (p, q) = (sum(&one, &targets), sum(&other, &targets));
        let determinant = a * d - b * b;
        let expected = [(d * p - b * q) / determinant, (a * q - b * p) / determinant];
        for (found, expected) in found.coefficients().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12);
        }
        // The inverse of the normal matrix, by a quadratic form and by two draws.
        let variance = |u: f64, v: f64| (d * u * u - 2.0 * b * u * v + a * v * v) / determinant;
        for (u, v) in [(1.0, 0.0), (0.0, 1.0), (0.7, -2.0)] {
            assert!((found.variance(&[u, v]) - variance(u, v)).abs() < 1e-12);
            let draws = [found.draw(vec![1.0, 0.0]), found.draw(vec![0.0, 1.0])];
            let squares: f64 = draws.iter().map(|draw| (u * draw[0] + v * draw[1]).powi(2)).sum();
            assert!((squares - variance(u, v)).abs() < 1e-12);
        }
    }
}
