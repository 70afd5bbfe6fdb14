//! Products with transitions, which are block diagonal: entrywise over the parts of the state.
//!
//! A transition is `K·K` slices of one number per slot: slice `c·K + c'` holds `A[(c, s), (c', s)]` for all slots s.
//! A process noise is the lower triangle of such slices: slice `c(c+1)/2 + c'` for c' ≤ c.

use super::arithmetic::Arithmetic;
use super::shape::Shape;

/// The slice of a transition that maps component `from` to component `to`.
#[inline(always)]
fn coefficients<S: Shape>(shape: S, transition: &[f64], to: usize, from: usize) -> &[f64] {
    let width = shape.width();
    &transition[(to * shape.n_parts() + from) * width..][..width]
}

/// `out = A x`.
#[inline(always)]
pub(crate) fn transition_times_vector<A: Arithmetic, S: Shape>(
    shape: S,
    transition: &[f64],
    x: &[f64],
    out: &mut [f64],
) {
    row_times::<A, S, false>(shape, transition, x, out);
}

/// `out = Aᵀ x`.
#[inline(always)]
pub(crate) fn transition_transposed_times_vector<A: Arithmetic, S: Shape>(
    shape: S,
    transition: &[f64],
    x: &[f64],
    out: &mut [f64],
) {
    row_times::<A, S, true>(shape, transition, x, out);
}

/// `out = A x`, or `Aᵀ x` if `TRANSPOSED`. A row of a matrix times `Aᵀ` (or A) is the same.
#[inline(always)]
fn row_times<A: Arithmetic, S: Shape, const TRANSPOSED: bool>(
    shape: S,
    transition: &[f64],
    x: &[f64],
    out: &mut [f64],
) {
    let x = &x[..shape.size()];
    let out = &mut out[..shape.size()];
    for to in 0..shape.n_parts() {
        for from in 0..shape.n_parts() {
            let a = if TRANSPOSED {
                coefficients(shape, transition, from, to)
            } else {
                coefficients(shape, transition, to, from)
            };
            let len = shape.len(to).min(shape.len(from));
            let (source, target) = (shape.offset(from), shape.offset(to));
            for s in 0..len {
                let product = a[s] * x[source + s];
                out[target + s] =
                    if from == 0 { product } else { A::mul_add(a[s], x[source + s], out[target + s]) };
            }
        }
    }
}

/// `out = A P Aᵀ`, with `rows` as scratch for one slot's rows (`n_parts·size` numbers).
#[inline(always)]
pub(crate) fn conjugate<A: Arithmetic, S: Shape>(
    shape: S,
    transition: &[f64],
    matrix: &[f64],
    out: &mut [f64],
    rows: &mut [f64],
) {
    let size = shape.size();
    let (matrix, out) = (&matrix[..size * size], &mut out[..size * size]);
    for slot in 0..shape.width() {
        combine_rows::<A, S, false>(shape, transition, slot, matrix, rows);
        multiply_rows::<A, S, false>(shape, transition, slot, rows, out);
    }
}

/// `N ← Aᵀ N A`, with scratch as in [`conjugate`].
#[inline(always)]
pub(crate) fn conjugate_transposed<A: Arithmetic, S: Shape>(
    shape: S,
    transition: &[f64],
    matrix: &mut [f64],
    rows: &mut [f64],
) {
    let size = shape.size();
    let matrix = &mut matrix[..size * size];
    // The rows of a slot in the product depend only on its own rows of the matrix.
    for slot in 0..shape.width() {
        combine_rows::<A, S, true>(shape, transition, slot, matrix, rows);
        multiply_rows::<A, S, true>(shape, transition, slot, rows, matrix);
    }
}

/// The rows of a slot in `A M` (or `Aᵀ M`).
#[inline(always)]
fn combine_rows<A: Arithmetic, S: Shape, const TRANSPOSED: bool>(
    shape: S,
    transition: &[f64],
    slot: usize,
    matrix: &[f64],
    rows: &mut [f64],
) {
    let size = shape.size();
    for to in 0..shape.n_parts() {
        let row = &mut rows[to * size..][..size];
        for from in 0..shape.n_parts() {
            if slot >= shape.len(from) || slot >= shape.len(to) {
                continue;
            }
            let (i, j) = if TRANSPOSED { (from, to) } else { (to, from) };
            let a = coefficients(shape, transition, i, j)[slot];
            let source = &matrix[(shape.offset(from) + slot) * size..][..size];
            for j in 0..size {
                row[j] = if from == 0 { a * source[j] } else { A::mul_add(a, source[j], row[j]) };
            }
        }
    }
}

/// Writes a slot's rows times `Aᵀ` (or A).
#[inline(always)]
fn multiply_rows<A: Arithmetic, S: Shape, const TRANSPOSED: bool>(
    shape: S,
    transition: &[f64],
    slot: usize,
    rows: &[f64],
    out: &mut [f64],
) {
    let size = shape.size();
    for to in 0..shape.n_parts() {
        if slot < shape.len(to) {
            let target = &mut out[(shape.offset(to) + slot) * size..][..size];
            row_times::<A, S, TRANSPOSED>(shape, transition, &rows[to * size..][..size], target);
        }
    }
}

/// `out = A M`.
#[inline(always)]
pub(crate) fn transition_times_matrix<A: Arithmetic, S: Shape>(
    shape: S,
    transition: &[f64],
    matrix: &[f64],
    out: &mut [f64],
) {
    let size = shape.size();
    for to in 0..shape.n_parts() {
        for slot in 0..shape.len(to) {
            let target = &mut out[(shape.offset(to) + slot) * size..][..size];
            target.fill(0.0);
            for from in 0..shape.n_parts() {
                if slot < shape.len(from) {
                    let a = coefficients(shape, transition, to, from)[slot];
                    let source = &matrix[(shape.offset(from) + slot) * size..][..size];
                    for j in 0..size {
                        target[j] = A::mul_add(a, source[j], target[j]);
                    }
                }
            }
        }
    }
}

/// A process noise in the layout of a transition, with all `K·K` slices.
#[inline(always)]
pub(crate) fn noise_as_transition<S: Shape>(shape: S, noise: &[f64], out: &mut [f64]) {
    let (width, parts) = (shape.width(), shape.n_parts());
    for c in 0..parts {
        for d in 0..parts {
            let (high, low) = (c.max(d), c.min(d));
            let source = &noise[(high * (high + 1) / 2 + low) * width..][..width];
            out[(c * parts + d) * width..][..width].copy_from_slice(source);
        }
    }
}

/// The lower-triangular factor L of a process noise, `Q = L Lᵀ`, in the layout of a transition. The column of a pivot that is not
/// positive is zero.
pub(crate) fn noise_factor<S: Shape>(shape: S, noise: &[f64], out: &mut [f64]) {
    let (width, parts) = (shape.width(), shape.n_parts());
    out.fill(0.0);
    for slot in 0..width {
        let entry = |c: usize, d: usize| noise[(c * (c + 1) / 2 + d) * width + slot];
        let place = |c: usize, d: usize| (c * parts + d) * width + slot;
        for d in 0..parts {
            let inner =
                |out: &[f64], c: usize| (0..d).map(|k| out[place(c, k)] * out[place(d, k)]).sum::<f64>();
            let square = entry(d, d) - inner(out, d);
            if square <= 0.0 {
                continue;
            }
            out[place(d, d)] = square.sqrt();
            for c in d + 1..parts {
                out[place(c, d)] = (entry(c, d) - inner(out, c)) / out[place(d, d)];
            }
        }
    }
}

/// `out = M A`, row by row.
#[inline(always)]
pub(crate) fn times_transition<A: Arithmetic, S: Shape>(
    shape: S,
    transition: &[f64],
    matrix: &[f64],
    out: &mut [f64],
) {
    let size = shape.size();
    for (row, target) in matrix.chunks_exact(size).zip(out.chunks_exact_mut(size)) {
        row_times::<A, S, true>(shape, transition, row, target);
    }
}

/// `P += Q`.
#[inline(always)]
pub(crate) fn add_noise<S: Shape>(shape: S, noise: &[f64], matrix: &mut [f64]) {
    let (size, width) = (shape.size(), shape.width());
    let matrix = &mut matrix[..size * size];
    for c in 0..shape.n_parts() {
        for d in 0..=c {
            let q = &noise[(c * (c + 1) / 2 + d) * width..][..width];
            for s in 0..shape.len(c) {
                let (i, j) = (shape.offset(c) + s, shape.offset(d) + s);
                matrix[i * size + j] += q[s];
                if c != d {
                    matrix[j * size + i] += q[s];
                }
            }
        }
    }
}
