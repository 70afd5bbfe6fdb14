//! The Cholesky factor of a correlation matrix, its derivative, and that of a matrix that may be singular.

/// C, lower triangular with C Cᵀ = K, row-major.
#[derive(Clone, Debug)]
pub(super) struct Root {
    size: usize,
    factor: Vec<f64>,
}

impl Root {
    /// The factor of a symmetric matrix; the number of the first row that depends on those before it if the matrix is not positive
    /// definite.
    pub(super) fn new(size: usize, matrix: &[f64]) -> Result<Self, usize> {
        let mut factor = vec![0.0; size * size];
        for i in 0..size {
            let (before, row) = factor.split_at_mut(i * size);
            let row = &mut row[..size];
            for j in 0..i {
                let other = &before[j * size..][..size];
                row[j] = (matrix[i * size + j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let pivot = matrix[i * size + i] - dot(&row[..i], &row[..i]);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(i);
            }
            row[i] = pivot.sqrt();
        }
        Ok(Self { size, factor })
    }

    /// Row p of C.
    pub(super) fn row(&self, at: usize) -> &[f64] {
        &self.factor[at * self.size..][..self.size]
    }

    /// C⁻¹ b.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut found = right.to_vec();
        for i in 0..self.size {
            found[i] = (right[i] - dot(&self.row(i)[..i], &found[..i])) / self.row(i)[i];
        }
        found
    }

    /// dC for a change dK of the matrix: C Φ(C⁻¹ dK C⁻ᵀ), where Φ keeps the lower triangle and half of the diagonal.
    pub(super) fn derivative(&self, change: &[f64]) -> Vec<f64> {
        let size = self.size;
        // dK is symmetric: the rows of the first product are C⁻¹ applied to its columns, so they are those of dK C⁻ᵀ.
        let solved = |matrix: &[f64]| -> Vec<f64> {
            matrix.chunks_exact(size).flat_map(|row| self.solve(row)).collect()
        };
        let transposed = |matrix: &[f64]| -> Vec<f64> {
            (0..size * size).map(|at| matrix[at % size * size + at / size]).collect()
        };
        let inner = solved(&transposed(&solved(change)));
        let mut found = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..=i {
                // Column j of Φ begins at its row j.
                let below: f64 = (j + 1..=i).map(|k| self.row(i)[k] * inner[k * size + j]).sum();
                found[i * size + j] = below + 0.5 * self.row(i)[j] * inner[j * size + j];
            }
        }
        found
    }
}

/// A factor X with X Xᵀ = K of a covariance that may be singular, row-major: columns whose pivot is within rounding of zero are zero,
/// since what they would add is already determined.
pub(crate) fn semidefinite_root(size: usize, matrix: &[f64]) -> Vec<f64> {
    let mut factor = vec![0.0; size * size];
    for j in 0..size {
        let own = |factor: &[f64], i: usize| {
            matrix[i * size + j] - dot(&factor[i * size..][..j], &factor[j * size..][..j])
        };
        let pivot = own(&factor, j);
        if pivot > 1e-13 {
            let root = pivot.sqrt();
            for i in j..size {
                factor[i * size + j] = own(&factor, i) / root;
            }
        }
    }
    factor
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    const SIZE: usize = 5;

    /// exp(−distance/length) of scattered points on a line.
    fn matrix(length: f64) -> Vec<f64> {
        let place = |at: usize| (at as f64 * 2.4).sin() + at as f64;
        (0..SIZE * SIZE).map(|at| (-(place(at / SIZE) - place(at % SIZE)).abs() / length).exp()).collect()
    }

    fn product(factor: &[f64]) -> Vec<f64> {
        let row = |at: usize| &factor[at * SIZE..][..SIZE];
        (0..SIZE * SIZE).map(|at| dot(row(at / SIZE), row(at % SIZE))).collect()
    }

    #[test]
    fn the_factor_and_its_derivative_are_those_of_the_matrix() {
        let (length, step) = (2.0, 1e-5);
        let root = Root::new(SIZE, &matrix(length)).unwrap();
        for factor in [root.factor.clone(), semidefinite_root(SIZE, &matrix(length))] {
            for (found, expected) in product(&factor).iter().zip(matrix(length)) {
                assert!((found - expected).abs() < 1e-14);
            }
        }
        let at = |length: f64| Root::new(SIZE, &matrix(length)).unwrap().factor;
        let change: Vec<f64> = matrix(length + step)
            .iter()
            .zip(matrix(length - step))
            .map(|(after, before)| (after - before) / (2.0 * step))
            .collect();
        let found = root.derivative(&change);
        for ((found, after), before) in found.iter().zip(at(length + step)).zip(at(length - step)) {
            assert!((found - (after - before) / (2.0 * step)).abs() < 1e-8);
        }
    }

    #[test]
    fn a_singular_matrix_has_a_factor_for_draws_only() {
        let ones = vec![1.0; SIZE * SIZE];
        assert_eq!(Root::new(SIZE, &ones).unwrap_err(), 1);
        assert_eq!(product(&semidefinite_root(SIZE, &ones)), ones);
    }
}
