//! Matrices of small states as blocks of rows: their layout, and their products with vectors and transitions.

use super::arithmetic::Row;

/// The rows of all blocks: row i of block (c, d) at `[c][d][i]`.
pub(super) type Blocks<R, const L: usize, const K: usize> = [[[R; L]; K]; K];

/// The index of row i of block (c, d) of a covariance, c ≤ d.
#[inline(always)]
pub(super) const fn upper<const L: usize, const K: usize>(c: usize, d: usize, i: usize) -> usize {
    (c * K - c * (c + 1) / 2 + d) * L + i
}

/// The index of row i of block (c, d) of N.
#[inline(always)]
pub(super) const fn anywhere<const L: usize, const K: usize>(c: usize, d: usize, i: usize) -> usize {
    (c * K + d) * L + i
}

/// The slice of a process noise for components c and d.
#[inline(always)]
pub(super) const fn noise_slice(c: usize, d: usize) -> usize {
    let (high, low) = if c > d { (c, d) } else { (d, c) };
    high * (high + 1) / 2 + low
}

/// The first `count` rows of a slice.
#[inline(always)]
pub(super) fn rows<R: Row>(numbers: &[f64], count: usize) -> &[R::Memory] {
    &R::rows(numbers)[..count]
}

/// The same, mutable.
#[inline(always)]
pub(super) fn rows_mut<R: Row>(numbers: &mut [f64], count: usize) -> &mut [R::Memory] {
    &mut R::rows_mut(numbers)[..count]
}

/// One entry of a row in memory, in every slot.
#[inline(always)]
pub(super) fn broadcast<R: Row>(memory: &R::Memory, slot: usize) -> R {
    R::splat(memory.as_ref()[slot])
}

/// The K parts of a vector.
#[inline(always)]
pub(super) fn load_vector<R: Row, const K: usize>(numbers: &[f64]) -> [R; K] {
    let memory = rows::<R>(numbers, K);
    let mut parts = [R::splat(0.0); K];
    for c in 0..K {
        parts[c] = R::load(&memory[c]);
    }
    parts
}

#[inline(always)]
pub(super) fn store_vector<R: Row, const K: usize>(parts: [R; K], numbers: &mut [f64]) {
    let memory = rows_mut::<R>(numbers, K);
    for c in 0..K {
        parts[c].store(&mut memory[c]);
    }
}

/// All blocks of a covariance.
#[inline(always)]
pub(super) fn load_covariance<R: Row, const L: usize, const K: usize>(numbers: &[f64]) -> Blocks<R, L, K> {
    let memory = rows::<R>(numbers, K * (K + 1) / 2 * L);
    let mut blocks = [[[R::splat(0.0); L]; K]; K];
    for c in 0..K {
        for d in c..K {
            for i in 0..L {
                blocks[c][d][i] = R::load(&memory[upper::<L, K>(c, d, i)]);
            }
            if d > c {
                blocks[d][c] = R::transposed(blocks[c][d]);
            }
        }
    }
    blocks
}

/// `Σ x·y` over all parts.
#[inline(always)]
pub(super) fn inner<R: Row, const K: usize>(x: [R; K], y: [R; K]) -> f64 {
    let mut sum = x[0].times(y[0]);
    for c in 1..K {
        sum = x[c].times_plus(y[c], sum);
    }
    sum.sum()
}

/// `A x`, or `Aᵀx` when `TRANSPOSED`.
#[inline(always)]
pub(super) fn transition_times<R: Row, const K: usize, const TRANSPOSED: bool>(
    a: &[R::Memory],
    x: [R; K],
) -> [R; K] {
    let mut out = [R::splat(0.0); K];
    for c in 0..K {
        for from in 0..K {
            let factor = R::load(&a[if TRANSPOSED { from * K + c } else { c * K + from }]);
            out[c] = if from == 0 { factor.times(x[0]) } else { factor.times_plus(x[from], out[c]) };
        }
    }
    out
}

/// Row i of every block of `A M` (or `AᵀM`).
#[inline(always)]
pub(super) fn combined_rows<R: Row, const L: usize, const K: usize, const TRANSPOSED: bool>(
    a: &[R::Memory],
    matrix: &Blocks<R, L, K>,
    i: usize,
) -> [[R; K]; K] {
    let mut out = [[R::splat(0.0); K]; K];
    for c in 0..K {
        for from in 0..K {
            let factor = broadcast::<R>(&a[if TRANSPOSED { from * K + c } else { c * K + from }], i);
            for d in 0..K {
                let source = matrix[from][d][i];
                out[c][d] =
                    if from == 0 { factor.times(source) } else { factor.times_plus(source, out[c][d]) };
            }
        }
    }
    out
}

/// `xᵀM`, x in memory.
#[inline(always)]
pub(super) fn vector_times<R: Row, const L: usize, const K: usize>(
    x: &[R::Memory],
    matrix: &Blocks<R, L, K>,
) -> [R; K] {
    let mut out = [R::splat(0.0); K];
    for d in 0..K {
        for i in 0..L {
            let factor = broadcast::<R>(&x[d], i);
            for c in 0..K {
                let row = matrix[d][c][i];
                out[c] = if d + i == 0 { factor.times(row) } else { factor.times_plus(row, out[c]) };
            }
        }
    }
    out
}
