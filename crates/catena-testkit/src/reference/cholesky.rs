//! Cholesky factorization in 32 digits.

use super::DoubleDouble;

/// The lower triangular factor of a positive definite matrix, row-major with full rows.
pub(super) struct Cholesky {
    n: usize,
    factor: Vec<DoubleDouble>,
}

impl Cholesky {
    /// Factors a row-major n×n matrix in place; the error is the index of the first pivot that is not positive.
    pub(super) fn new(n: usize, mut matrix: Vec<DoubleDouble>) -> Result<Self, usize> {
        for i in 0..n {
            let (above, below) = matrix.split_at_mut(i * n);
            let row = &mut below[..n];
            for j in 0..i {
                let upper = &above[j * n..][..n];
                row[j] = (row[j] - dot(&row[..j], &upper[..j])) / upper[j];
            }
            let pivot = row[i] - dot(&row[..i], &row[..i]);
            if pivot.to_f64().is_nan() || pivot.to_f64() <= 0.0 {
                return Err(i);
            }
            row[i] = pivot.sqrt();
        }
        Ok(Self { n, factor: matrix })
    }

    fn row(&self, i: usize) -> &[DoubleDouble] {
        &self.factor[i * self.n..][..self.n]
    }

    /// Replaces b by `L⁻¹ b`.
    pub(super) fn solve_lower(&self, b: &mut [DoubleDouble]) {
        for i in 0..self.n {
            let row = self.row(i);
            b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
        }
    }

    /// Replaces b by `L⁻ᵀ b`.
    pub(super) fn solve_upper(&self, b: &mut [DoubleDouble]) {
        for i in (0..self.n).rev() {
            let row = self.row(i);
            b[i] = b[i] / row[i];
            let solved = b[i];
            for j in 0..i {
                b[j] -= row[j] * solved;
            }
        }
    }

    /// log det of the matrix.
    pub(super) fn log_determinant(&self) -> DoubleDouble {
        let half: DoubleDouble = (0..self.n).map(|i| self.row(i)[i].ln()).sum();
        half + half
    }
}

/// The inner product.
pub(super) fn dot(a: &[DoubleDouble], b: &[DoubleDouble]) -> DoubleDouble {
    a.iter().zip(b).map(|(&x, &y)| x * y).sum()
}
