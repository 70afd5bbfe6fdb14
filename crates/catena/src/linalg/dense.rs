//! Vectors and square matrices as slices: products, symmetry, Cholesky and LU factorizations.

use super::arithmetic::Arithmetic;

/// `Σ x_j y_j`, in four interleaved sums.
#[inline(always)]
pub(crate) fn dot<A: Arithmetic>(x: &[f64], y: &[f64]) -> f64 {
    let len = x.len();
    let y = &y[..len];
    let mut sums = [0.0; 4];
    let whole = len - len % 4;
    let mut j = 0;
    while j < whole {
        for lane in 0..4 {
            sums[lane] = A::mul_add(x[j + lane], y[j + lane], sums[lane]);
        }
        j += 4;
    }
    let mut sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    for j in whole..len {
        sum = A::mul_add(x[j], y[j], sum);
    }
    sum
}

/// `y += factor·x`.
#[inline(always)]
pub(crate) fn add_scaled<A: Arithmetic>(factor: f64, x: &[f64], y: &mut [f64]) {
    let len = y.len();
    let x = &x[..len];
    for j in 0..len {
        y[j] = A::mul_add(factor, x[j], y[j]);
    }
}

/// `out = xᵀ M` for a matrix of `x.len()` rows as long as `out`; four rows at a time, so that `out` is loaded and
/// stored a quarter as often.
#[inline(always)]
pub(crate) fn vector_times_matrix<A: Arithmetic>(x: &[f64], matrix: &[f64], out: &mut [f64]) {
    vector_times_columns::<A>(x, matrix, out.len(), out);
}

/// The same for the first `out.len()` columns of a matrix whose rows are `stride` apart.
#[inline(always)]
pub(crate) fn vector_times_columns<A: Arithmetic>(x: &[f64], matrix: &[f64], stride: usize, out: &mut [f64]) {
    let (rows, width) = (x.len(), out.len());
    let row = |j: usize| &matrix[j * stride..][..width];
    let mut done = rows % 4;
    if done == 0 {
        if rows == 0 {
            out.fill(0.0);
            return;
        }
        let (m0, m1, m2, m3) = (row(0), row(1), row(2), row(3));
        for i in 0..width {
            let first = A::mul_add(x[1], m1[i], x[0] * m0[i]);
            out[i] = A::mul_add(x[3], m3[i], A::mul_add(x[2], m2[i], first));
        }
        done = 4;
    } else {
        let m0 = row(0);
        for i in 0..width {
            out[i] = x[0] * m0[i];
        }
        for j in 1..done {
            add_scaled::<A>(x[j], row(j), out);
        }
    }
    for j in (done..rows).step_by(4) {
        let (m0, m1, m2, m3) = (row(j), row(j + 1), row(j + 2), row(j + 3));
        for i in 0..width {
            let first = A::mul_add(x[j + 1], m1[i], A::mul_add(x[j], m0[i], out[i]));
            out[i] = A::mul_add(x[j + 3], m3[i], A::mul_add(x[j + 2], m2[i], first));
        }
    }
}

/// Copies the upper triangle to the lower one.
#[inline(always)]
pub(crate) fn copy_upper_to_lower(size: usize, matrix: &mut [f64]) {
    let matrix = &mut matrix[..size * size];
    for i in 1..size {
        for j in 0..i {
            matrix[i * size + j] = matrix[j * size + i];
        }
    }
}

/// The lower-triangular Cholesky factor L of a positive semidefinite matrix, `L Lᵀ = M`. A pivot of at most `tolerance` times its
/// diagonal entry counts as zero, with its column.
pub(crate) fn cholesky(size: usize, matrix: &[f64], tolerance: f64) -> Vec<f64> {
    let mut factor = vec![0.0; size * size];
    for j in 0..size {
        let known = |factor: &[f64], i: usize| -> f64 {
            (0..j).map(|k| factor[i * size + k] * factor[j * size + k]).sum()
        };
        let pivot = matrix[j * size + j] - known(&factor, j);
        if pivot <= tolerance * matrix[j * size + j] {
            continue;
        }
        factor[j * size + j] = pivot.sqrt();
        for i in j + 1..size {
            factor[i * size + j] = (matrix[i * size + j] - known(&factor, i)) / factor[j * size + j];
        }
    }
    factor
}

/// An LU factorization with partial pivoting, in the memory of its matrix.
pub(crate) struct Lu<'a> {
    size: usize,
    factors: &'a mut [f64],
    pivots: &'a mut [usize],
}

impl<'a> Lu<'a> {
    /// Factors `matrix` (size×size) in place; `None` if a pivot is zero or not finite.
    #[inline(always)]
    pub(crate) fn new<A: Arithmetic>(matrix: &'a mut [f64], pivots: &'a mut [usize]) -> Option<Self> {
        let size = pivots.len();
        let matrix = &mut matrix[..size * size];
        for k in 0..size {
            let mut pivot = k;
            for i in k + 1..size {
                if matrix[i * size + k].abs() > matrix[pivot * size + k].abs() {
                    pivot = i;
                }
            }
            pivots[k] = pivot;
            if pivot != k {
                for j in 0..size {
                    matrix.swap(k * size + j, pivot * size + j);
                }
            }
            let inverse = matrix[k * size + k].recip();
            if !inverse.is_finite() || inverse == 0.0 {
                return None;
            }
            for i in k + 1..size {
                let (above, below) = matrix.split_at_mut(i * size);
                let (pivot_row, row) = (&above[k * size..][..size], &mut below[..size]);
                let factor = row[k] * inverse;
                row[k] = factor;
                if factor != 0.0 {
                    add_scaled::<A>(-factor, &pivot_row[k + 1..], &mut row[k + 1..]);
                }
            }
        }
        Some(Self { size, factors: matrix, pivots })
    }

    /// log |det|.
    #[inline(always)]
    pub(crate) fn log_abs_determinant(&self) -> f64 {
        let mut product = 1.0_f64;
        let mut log = 0.0;
        for k in 0..self.size {
            product *= self.factors[k * self.size + k].abs();
            if !(1e-100..1e100).contains(&product) {
                log += product.ln();
                product = 1.0;
            }
        }
        log + product.ln()
    }

    /// Overwrites `rhs` (size×width, row-major) with the solution.
    #[inline(always)]
    pub(crate) fn solve<A: Arithmetic>(&self, rhs: &mut [f64], width: usize) {
        let size = self.size;
        let rhs = &mut rhs[..size * width];
        for k in 0..size {
            if self.pivots[k] != k {
                for j in 0..width {
                    rhs.swap(k * width + j, self.pivots[k] * width + j);
                }
            }
        }
        for i in 1..size {
            let (above, below) = rhs.split_at_mut(i * width);
            for k in 0..i {
                let factor = self.factors[i * size + k];
                if factor != 0.0 {
                    add_scaled::<A>(-factor, &above[k * width..][..width], &mut below[..width]);
                }
            }
        }
        for i in (0..size).rev() {
            let (above, below) = rhs.split_at_mut((i + 1) * width);
            let row = &mut above[i * width..];
            for k in i + 1..size {
                let factor = self.factors[i * size + k];
                if factor != 0.0 {
                    add_scaled::<A>(-factor, &below[(k - i - 1) * width..(k - i) * width], row);
                }
            }
            let inverse = self.factors[i * size + i].recip();
            for j in 0..width {
                row[j] *= inverse;
            }
        }
    }
}
