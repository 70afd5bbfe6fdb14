//! Cholesky factors and products of dense matrices, by `faer`.
//!
//! Matrices are column-major slices; only the lower triangle of a symmetric matrix is read.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::{llt, llt_pivoting};
use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par};

/// The number of tasks into which dense algebra is divided. A constant, not the number of threads: it determines the order
/// of additions, and results must not depend on the number of cores.
const TASKS: usize = 8;

/// Whether an operation uses all threads; inside a parallel loop it uses one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Threads {
    All,
    One,
}

impl Threads {
    fn parallelism(self) -> Par {
        match self {
            Self::All => Par::rayon(TASKS),
            Self::One => Par::Seq,
        }
    }
}

/// `K = C Cᵀ` with C lower triangular.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cholesky {
    dim: usize,
    factor: Vec<f64>,
}

impl Cholesky {
    /// Factors a symmetric matrix in its own memory.
    ///
    /// # Errors
    /// The index of the pivot that was not positive.
    pub(crate) fn new(dim: usize, mut matrix: Vec<f64>, threads: Threads) -> Result<Self, usize> {
        debug_assert_eq!(matrix.len(), dim * dim);
        if dim > 0 {
            let par = threads.parallelism();
            let need = llt::factor::cholesky_in_place_scratch::<f64>(dim, par, Default::default());
            let mut memory = MemBuffer::new(need);
            let view = MatMut::from_column_major_slice_mut(&mut matrix, dim, dim);
            let stack = MemStack::new(&mut memory);
            llt::factor::cholesky_in_place(view, Default::default(), par, stack, Default::default())
                .map_err(|llt::factor::LltError::NonPositivePivot { index }| index)?;
        }
        Ok(Self { dim, factor: matrix })
    }

    /// A given factor: the rows of C, each up to its diagonal.
    pub(crate) fn from_rows(rows: &[Vec<f64>]) -> Self {
        let dim = rows.len();
        let mut factor = vec![0.0; dim * dim];
        for (at, row) in rows.iter().enumerate() {
            for (column, &entry) in row.iter().enumerate() {
                factor[column * dim + at] = entry;
            }
        }
        Self { dim, factor }
    }

    /// The memory of the factor, for reuse.
    pub(crate) fn into_memory(self) -> Vec<f64> {
        self.factor
    }

    fn lower(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.factor, self.dim, self.dim)
    }

    /// `log det K`.
    pub(crate) fn log_determinant(&self) -> f64 {
        2.0 * self.diagonal().map(f64::ln).sum::<f64>()
    }

    /// The diagonal of C.
    pub(crate) fn diagonal(&self) -> impl Iterator<Item = f64> + '_ {
        self.factor.iter().step_by(self.dim + 1).copied()
    }

    /// Replaces columns B by `C⁻¹ B`.
    pub(crate) fn whiten(&self, columns: &mut [f64], threads: Threads) {
        if let Some(count) = columns.len().checked_div(self.dim) {
            let view = MatMut::from_column_major_slice_mut(columns, self.dim, count);
            solve_lower_triangular_in_place(self.lower(), view, threads.parallelism());
        }
    }

    /// Replaces columns B by `C⁻ᵀ B`.
    pub(crate) fn whiten_transposed(&self, columns: &mut [f64], threads: Threads) {
        if let Some(count) = columns.len().checked_div(self.dim) {
            let view = MatMut::from_column_major_slice_mut(columns, self.dim, count);
            solve_upper_triangular_in_place(self.lower().transpose(), view, threads.parallelism());
        }
    }

    /// Replaces columns B by `K⁻¹ B`.
    pub(crate) fn solve(&self, columns: &mut [f64], threads: Threads) {
        self.whiten(columns, threads);
        self.whiten_transposed(columns, threads);
    }

    /// The trace of K⁻¹: the sum of the squares of C⁻¹.
    pub(crate) fn inverse_trace(&self) -> f64 {
        let dim = self.dim;
        let mut inverse = vec![0.0; dim * dim];
        let view = MatMut::from_column_major_slice_mut(&mut inverse, dim, dim);
        invert_lower_triangular(view, self.lower(), Par::Seq);
        (0..dim)
            .flat_map(|column| &inverse[column * (dim + 1)..(column + 1) * dim])
            .map(|entry| entry * entry)
            .sum()
    }

    /// K⁻¹, both triangles.
    pub(crate) fn to_inverse(&self, threads: Threads) -> Vec<f64> {
        let dim = self.dim;
        let mut inverse = vec![0.0; dim * dim];
        if dim == 0 {
            return inverse;
        }
        let par = threads.parallelism();
        let mut memory = MemBuffer::new(llt::inverse::inverse_scratch::<f64>(dim, par));
        let view = MatMut::from_column_major_slice_mut(&mut inverse, dim, dim);
        llt::inverse::inverse(view, self.lower(), par, MemStack::new(&mut memory));
        mirror(&mut inverse, dim);
        inverse
    }
}

/// `A B` for a square matrix A and as many columns B as there are, column-major.
pub(crate) fn product(a: &[f64], b: &[f64], dim: usize) -> Vec<f64> {
    let mut product = vec![0.0; b.len()];
    let n_columns = b.len().checked_div(dim).unwrap_or(0);
    matmul(
        MatMut::from_column_major_slice_mut(&mut product, dim, n_columns),
        Accum::Replace,
        MatRef::from_column_major_slice(a, dim, dim),
        MatRef::from_column_major_slice(b, dim, n_columns),
        1.0,
        Par::Seq,
    );
    product
}

/// R with `R Rᵀ` equal to a covariance up to rounding, column by column: its Cholesky factor or, since points that (nearly) coincide make
/// a covariance singular, that with pivots, with as many columns as the numerical rank. `None` if an entry is not a number.
pub(crate) fn semidefinite_root(dim: usize, mut covariance: Vec<f64>) -> Option<Vec<f64>> {
    if dim == 0 {
        return Some(vec![]);
    }
    if let Ok(cholesky) = Cholesky::new(dim, covariance.clone(), Threads::All) {
        let mut root = cholesky.into_memory();
        root.chunks_exact_mut(dim).enumerate().for_each(|(column, entries)| entries[..column].fill(0.0));
        return Some(root);
    }
    // A variance that rounding made negative is zero: it is never a pivot.
    covariance.iter_mut().step_by(dim + 1).for_each(|variance| *variance = variance.max(0.0));
    let par = Threads::All.parallelism();
    let (mut rows, mut inverse) = (vec![0_usize; dim], vec![0_usize; dim]);
    let need = llt_pivoting::factor::cholesky_in_place_scratch::<usize, f64>(dim, par, Default::default());
    let rank = llt_pivoting::factor::cholesky_in_place(
        MatMut::from_column_major_slice_mut(&mut covariance, dim, dim),
        &mut rows,
        &mut inverse,
        par,
        MemStack::new(&mut MemBuffer::new(need)),
        Default::default(),
    )
    .ok()?
    .0
    .rank;
    let mut root = vec![0.0; rank * dim];
    for (number, (column, from)) in root.chunks_exact_mut(dim).zip(covariance.chunks_exact(dim)).enumerate() {
        for (row, entry) in rows.iter().zip(from).skip(number) {
            column[*row] = *entry;
        }
    }
    Some(root)
}

/// `A B` for column-major matrices, A of `count` rows and B of as many rows as A has columns.
pub(crate) fn rectangular_product(a: &[f64], b: &[f64], (count, n_columns): (usize, usize)) -> Vec<f64> {
    let inner = a.len() / count.max(1);
    let mut product = vec![0.0; count * n_columns];
    if inner > 0 {
        matmul(
            MatMut::from_column_major_slice_mut(&mut product, count, n_columns),
            Accum::Replace,
            MatRef::from_column_major_slice(a, count, inner),
            MatRef::from_column_major_slice(b, inner, n_columns),
            1.0,
            Threads::All.parallelism(),
        );
    }
    product
}

/// Adds `factor · AᵀA` for a column-major A of `dim` columns to the lower triangle of a matrix.
pub(crate) fn add_gram(matrix: &mut [f64], dim: usize, a: &[f64], factor: f64) {
    let inner = a.len() / dim.max(1);
    if inner == 0 {
        return;
    }
    let columns = MatRef::from_column_major_slice(a, inner, dim);
    triangular::matmul(
        MatMut::from_column_major_slice_mut(matrix, dim, dim),
        triangular::BlockStructure::TriangularLower,
        Accum::Add,
        columns.transpose(),
        triangular::BlockStructure::Rectangular,
        columns,
        triangular::BlockStructure::Rectangular,
        factor,
        Threads::All.parallelism(),
    );
}

/// Copies the lower triangle of a column-major matrix to the upper one.
pub(crate) fn mirror(matrix: &mut [f64], dim: usize) {
    for column in 1..dim {
        for row in 0..column {
            matrix[column * dim + row] = matrix[row * dim + column];
        }
    }
}

/// `A Bᵀ` for two column-major matrices of `count` rows.
pub(crate) fn product_with_transposed(a: &[f64], b: &[f64], count: usize) -> Vec<f64> {
    let n = a.len() / count;
    let mut product = vec![0.0; count * count];
    matmul(
        MatMut::from_column_major_slice_mut(&mut product, count, count),
        Accum::Replace,
        MatRef::from_column_major_slice(a, count, n),
        MatRef::from_column_major_slice(b, count, n).transpose(),
        1.0,
        Par::Seq,
    );
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K = [[4, 2, 0], [2, 5, 2], [0, 2, 5]] = C Cᵀ with C = [[2], [1, 2], [0, 1, 2]].
    fn small() -> Vec<f64> {
        vec![4.0, 2.0, 0.0, f64::NAN, 5.0, 2.0, f64::NAN, f64::NAN, 5.0]
    }

    #[test]
    fn factor_solves_and_inverts() {
        let cholesky = Cholesky::new(3, small(), Threads::One).unwrap();
        assert_eq!(cholesky.diagonal().collect::<Vec<_>>(), [2.0, 2.0, 2.0]);
        assert!((cholesky.log_determinant() - 64.0_f64.ln()).abs() < 1e-15);
        // K (1, 1, 1) = (6, 9, 7).
        let mut right = vec![6.0, 9.0, 7.0];
        cholesky.solve(&mut right, Threads::One);
        assert!(right.iter().all(|value| (value - 1.0).abs() < 1e-15));
        let inverse = cholesky.to_inverse(Threads::One);
        assert!((cholesky.inverse_trace() - 57.0 / 64.0).abs() < 1e-15);
        for (column, expected) in
            [[21.0, -10.0, 4.0], [-10.0, 20.0, -8.0], [4.0, -8.0, 16.0]].iter().enumerate()
        {
            for row in 0..3 {
                assert!((inverse[column * 3 + row] - expected[row] / 64.0).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn a_bad_pivot_is_named() {
        let matrix = vec![1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        assert_eq!(Cholesky::new(3, matrix, Threads::One).err(), Some(1));
    }
}
