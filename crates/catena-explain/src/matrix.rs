//! Dense matrices for messages, written for clarity rather than speed.

use std::ops::{Index, IndexMut};

/// A dense matrix, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    n_rows: usize,
    n_columns: usize,
    entries: Vec<f64>,
}

impl Matrix {
    /// The matrix whose entry in row i and column j is `entry(i, j)`.
    pub fn from_fn(n_rows: usize, n_columns: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut entries = Vec::with_capacity(n_rows * n_columns);
        for i in 0..n_rows {
            entries.extend((0..n_columns).map(|j| entry(i, j)));
        }
        Self { n_rows, n_columns, entries }
    }

    /// All zeros.
    pub fn zeros(n_rows: usize, n_columns: usize) -> Self {
        Self::from_fn(n_rows, n_columns, |_, _| 0.0)
    }

    /// The identity.
    pub fn identity(dim: usize) -> Self {
        Self::from_fn(dim, dim, |i, j| f64::from(u8::from(i == j)))
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// All entries, row-major.
    pub fn as_slice(&self) -> &[f64] {
        &self.entries
    }

    /// Whether every entry is a finite number.
    pub(crate) fn is_finite(&self) -> bool {
        self.entries.iter().all(|entry| entry.is_finite())
    }

    /// The transpose.
    pub(crate) fn transposed(&self) -> Self {
        Self::from_fn(self.n_columns, self.n_rows, |i, j| self[(j, i)])
    }

    /// The product with another matrix.
    pub(crate) fn times(&self, other: &Self) -> Self {
        debug_assert_eq!(self.n_columns, other.n_rows, "inner dimensions");
        Self::from_fn(self.n_rows, other.n_columns, |i, j| {
            (0..self.n_columns).map(|k| self[(i, k)] * other[(k, j)]).sum()
        })
    }

    /// The product with a vector.
    pub(crate) fn times_vector(&self, vector: &[f64]) -> Vec<f64> {
        debug_assert_eq!(self.n_columns, vector.len(), "inner dimensions");
        (0..self.n_rows).map(|i| (0..self.n_columns).map(|k| self[(i, k)] * vector[k]).sum()).collect()
    }

    /// The sum with a matrix of the same shape.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        debug_assert_eq!((self.n_rows, self.n_columns), (other.n_rows, other.n_columns), "shapes");
        Self::from_fn(self.n_rows, self.n_columns, |i, j| self[(i, j)] + other[(i, j)])
    }

    /// `self · middle · selfᵀ`, the way a covariance passes through a linear map.
    pub(crate) fn sandwich(&self, middle: &Self) -> Self {
        self.times(middle).times(&self.transposed()).symmetric()
    }

    /// The mean of the matrix and its transpose. Products that are symmetric in exact arithmetic come out symmetric up
    /// to rounding; keeping them exactly symmetric makes both triangles of a message say the same.
    pub(crate) fn symmetric(&self) -> Self {
        Self::from_fn(self.n_rows, self.n_columns, |i, j| 0.5 * (self[(i, j)] + self[(j, i)]))
    }

    /// The block-diagonal matrix of these square blocks.
    pub(crate) fn block_diagonal(blocks: &[Self]) -> Self {
        let dim = blocks.iter().map(Self::n_rows).sum();
        let mut whole = Self::zeros(dim, dim);
        let mut start = 0;
        for block in blocks {
            for i in 0..block.n_rows {
                for j in 0..block.n_columns {
                    whole[(start + i, start + j)] = block[(i, j)];
                }
            }
            start += block.n_rows;
        }
        whole
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.entries[i * self.n_columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.entries[i * self.n_columns + j]
    }
}

/// The inner product of two vectors.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// A factorization `row permutation · M = L U` by Gaussian elimination with partial pivoting.
///
/// It never refuses: a singular matrix divides by zero and the solutions are not finite, which the graph checks once
/// for all of its messages. The matrices met here are `I + (covariance)·(precision)`, whose determinant is at least 1.
pub(crate) struct Eliminated {
    /// L below the diagonal (its own diagonal is 1), U on and above it.
    triangles: Matrix,
    /// The row of M that each row of L U is.
    row_of: Vec<usize>,
}

impl Eliminated {
    /// Eliminates a square matrix.
    pub(crate) fn new(matrix: &Matrix) -> Self {
        let dim = matrix.n_rows;
        let mut triangles = matrix.clone();
        let mut row_of: Vec<usize> = (0..dim).collect();
        for column in 0..dim {
            let mut pivot = column;
            for i in column + 1..dim {
                if triangles[(i, column)].abs() > triangles[(pivot, column)].abs() {
                    pivot = i;
                }
            }
            row_of.swap(column, pivot);
            for j in 0..dim {
                let upper = triangles[(column, j)];
                triangles[(column, j)] = triangles[(pivot, j)];
                triangles[(pivot, j)] = upper;
            }
            for i in column + 1..dim {
                let factor = triangles[(i, column)] / triangles[(column, column)];
                triangles[(i, column)] = factor;
                for j in column + 1..dim {
                    triangles[(i, j)] -= factor * triangles[(column, j)];
                }
            }
        }
        Self { triangles, row_of }
    }

    /// The solution x of `M x = right`.
    pub(crate) fn solve_vector(&self, right: &[f64]) -> Vec<f64> {
        let dim = self.row_of.len();
        let mut x: Vec<f64> = self.row_of.iter().map(|&row| right[row]).collect();
        for i in 0..dim {
            for k in 0..i {
                x[i] -= self.triangles[(i, k)] * x[k];
            }
        }
        for i in (0..dim).rev() {
            for k in i + 1..dim {
                x[i] -= self.triangles[(i, k)] * x[k];
            }
            x[i] /= self.triangles[(i, i)];
        }
        x
    }

    /// The solution X of `M X = right`.
    pub(crate) fn solve(&self, right: &Matrix) -> Matrix {
        let columns: Vec<Vec<f64>> = (0..right.n_columns)
            .map(|j| self.solve_vector(&(0..right.n_rows).map(|i| right[(i, j)]).collect::<Vec<_>>()))
            .collect();
        Matrix::from_fn(right.n_rows, right.n_columns, |i, j| columns[j][i])
    }

    /// `log |det M|`.
    pub(crate) fn log_determinant(&self) -> f64 {
        (0..self.row_of.len()).map(|i| self.triangles[(i, i)].abs().ln()).sum()
    }
}

/// The lower triangle L of `M = L Lᵀ`; `None` when M is not positive definite.
pub(crate) fn cholesky(matrix: &Matrix) -> Option<Matrix> {
    let dim = matrix.n_rows;
    let mut lower = Matrix::zeros(dim, dim);
    for j in 0..dim {
        for i in j..dim {
            let rest = matrix[(i, j)] - (0..j).map(|k| lower[(i, k)] * lower[(j, k)]).sum::<f64>();
            if i > j {
                lower[(i, j)] = rest / lower[(j, j)];
            } else if rest > 0.0 {
                lower[(j, j)] = rest.sqrt();
            } else {
                return None;
            }
        }
    }
    Some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Matrix {
        let entries = [[0.0, 2.0, 1.0], [4.0, 1.0, 0.0], [1.0, 0.0, 3.0]];
        Matrix::from_fn(3, 3, |i, j| entries[i][j])
    }

    #[test]
    fn elimination_solves_what_needs_a_row_exchange() {
        let matrix = example();
        let expected = Matrix::from_fn(3, 2, |i, j| 1.0 + i as f64 - 2.0 * j as f64);
        let found = Eliminated::new(&matrix).solve(&matrix.times(&expected));
        for (x, y) in found.as_slice().iter().zip(expected.as_slice()) {
            assert!((x - y).abs() < 1e-14, "{x} {y}");
        }
    }

    #[test]
    fn log_determinant_of_a_known_matrix() {
        // Along the first row: −2·(4·3 − 0·1) + 1·(4·0 − 1·1) = −25.
        assert!((Eliminated::new(&example()).log_determinant() - 25.0_f64.ln()).abs() < 1e-14);
    }

    #[test]
    fn cholesky_multiplies_back_and_refuses_what_is_not_positive_definite() {
        let positive = example().sandwich(&Matrix::identity(3));
        let lower = cholesky(&positive).unwrap();
        let back = lower.times(&lower.transposed());
        for (x, y) in back.as_slice().iter().zip(positive.as_slice()) {
            assert!((x - y).abs() < 1e-13, "{x} {y}");
        }
        assert!(cholesky(&Matrix::zeros(2, 2)).is_none());
    }

    #[test]
    fn a_singular_matrix_gives_numbers_that_are_not_finite() {
        let solution = Eliminated::new(&Matrix::zeros(2, 2)).solve(&Matrix::identity(2));
        assert!(!solution.is_finite());
    }
}
