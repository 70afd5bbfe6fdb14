//! Householder reflections of tall matrices: elimination in place for the square-root form, and thin factors for the rotation of
//! observations.

use super::arithmetic::Arithmetic;
use super::dense::{add_scaled, dot};
use super::instruction_sets::Separate;

/// Eliminates once; see [`Elimination::run`].
pub(crate) fn eliminate(matrix: &mut [f64], rows: usize, columns: usize, pivots: usize) {
    Elimination::default().run::<Separate>(matrix, rows, columns, pivots);
}

/// Scratch of eliminations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elimination {
    combined: Vec<f64>,
    order: Vec<(f64, usize)>,
    unsorted: Vec<f64>,
}

/// Rows are sorted by size only if a later one is larger than an earlier one by more than this factor.
const OF_OTHER_SIZE: f64 = 8.0;

/// Sums of squares in this range did not overflow, and lost nothing that matters to underflow.
const ORDINARY_SQUARES: std::ops::Range<f64> = 1e-200..1e200;

/// With at most this many columns, whole rows are cheaper than rows from the pivot on.
const FEW_COLUMNS: usize = 20;

impl Elimination {
    /// Makes the first `pivots` columns of a `rows`×`columns` matrix upper triangular, in place, by Householder
    /// reflections of its rows. The sum of squares of every column is preserved.
    ///
    /// Rows of very different size are first sorted in descending order of their largest entry, which keeps the small ones
    /// accurate. Norms of very large or small columns are computed on scaled entries, so nothing overflows or underflows. Rows
    /// with a zero in the pivot's column cost nothing.
    #[inline(always)]
    pub(crate) fn run<A: Arithmetic>(
        &mut self,
        matrix: &mut [f64],
        rows: usize,
        columns: usize,
        pivots: usize,
    ) {
        let matrix = &mut matrix[..rows * columns];
        self.sort_rows(matrix, columns, pivots);
        self.combined.clear();
        self.combined.resize(columns, 0.0);
        for k in 0..pivots.min(rows) {
            let (above, below) = matrix.split_at_mut((k + 1) * columns);
            let pivot_row = &mut above[k * columns..];
            let mut scaled = Scaled::by(1.0);
            let mut squares = column_squares::<A>(below, columns, k, scaled);
            let mut pivot = pivot_row[k];
            if !ORDINARY_SQUARES.contains(&(squares + pivot * pivot)) {
                // In units of the largest entry, so that also a column of subnormal numbers yields an orthogonal reflector.
                let entries = below.chunks_exact(columns).map(|row| row[k]);
                let largest = entries.fold(pivot.abs(), |largest, entry| largest.max(entry.abs()));
                if largest == 0.0 {
                    continue;
                }
                scaled = Scaled::by(largest);
                squares = column_squares::<A>(below, columns, k, scaled);
                pivot = scaled.apply(pivot);
            }
            let norm = (squares + pivot.powi(2)).sqrt();
            let reflected = if pivot > 0.0 { -norm } else { norm };
            // The reflector is (1, v) with v_i = a_ik/(a_kk − reflected), and τ = (reflected − a_kk)/reflected.
            let head = pivot - reflected;
            let (tau, inverse_head) = (-head / reflected, head.recip());
            // Whole vector lanes, or whole rows if they are short: entries before column k + 1 are zero, or set afterwards.
            let first = if columns <= FEW_COLUMNS { 0 } else { (k + 1) & !3 };
            let combined = &mut self.combined[first..];
            combined.copy_from_slice(&pivot_row[first..]);
            for row in below.chunks_exact_mut(columns) {
                if row[k] != 0.0 {
                    row[k] = scaled.apply(row[k]) * inverse_head;
                    add_scaled::<A>(row[k], &row[first..], combined);
                }
            }
            add_scaled::<A>(-tau, combined, &mut pivot_row[first..]);
            pivot_row[k] = reflected * scaled.unit;
            for row in below.chunks_exact_mut(columns) {
                if row[k] != 0.0 {
                    add_scaled::<A>(-tau * row[k], combined, &mut row[first..]);
                    row[k] = 0.0;
                }
            }
        }
    }

    /// Sorts rows in descending order of their largest entry in the first `pivots` columns, if they are far from it; equal rows keep
    /// their order.
    #[inline(always)]
    fn sort_rows(&mut self, matrix: &mut [f64], columns: usize, pivots: usize) {
        let size =
            |row: &[f64]| row[..pivots].iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
        self.order.clear();
        self.order.extend(matrix.chunks_exact(columns).enumerate().map(|(at, row)| (size(row), at)));
        if sort_by_size(&mut self.order) {
            return;
        }
        self.unsorted.clear();
        self.unsorted.extend_from_slice(matrix);
        for (target, &(_, source)) in matrix.chunks_exact_mut(columns).zip(&self.order) {
            target.copy_from_slice(&self.unsorted[source * columns..][..columns]);
        }
    }
}

/// Sorts rows in descending order of their size, if they are far from it. Returns whether they were near it.
#[inline(always)]
fn sort_by_size(rows: &mut [(f64, usize)]) -> bool {
    let (mut smallest, mut is_in_order) = (f64::INFINITY, true);
    for &(size, _) in &*rows {
        // A row of zeros loses nothing.
        is_in_order &= size <= OF_OTHER_SIZE * smallest;
        smallest = if size > 0.0 { smallest.min(size) } else { smallest };
    }
    if !is_in_order {
        rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    is_in_order
}

/// The factors of a tall matrix, A = Q R, with as many columns in Q as A has. The work is linear in the rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThinFactors {
    n_rows: usize,
    /// A by columns, with its rows sorted; then R above the diagonal and the reflectors from it on.
    columns: Vec<f64>,
    /// τ of each reflector; 0 for columns of zeros.
    factors: Vec<f64>,
    /// The diagonal of R.
    diagonal: Vec<f64>,
    /// Q by columns, with its rows sorted.
    basis: Vec<f64>,
    /// The sizes of rows, and the row of A at each place.
    order: Vec<(f64, usize)>,
}

impl ThinFactors {
    /// Factors the matrix of `n_rows` rows whose entry in row i and column k is `entry(i, k)`; `n_columns` is at most `n_rows`.
    ///
    /// Rows and columns of very different size keep their digits as in [`Elimination::run`].
    #[inline(always)]
    pub(crate) fn set<A: Arithmetic>(
        &mut self,
        (n_rows, n_columns): (usize, usize),
        entry: impl Fn(usize, usize) -> f64,
    ) {
        self.n_rows = n_rows;
        self.order.clear();
        for row in 0..n_rows {
            let size = (0..n_columns).fold(0.0_f64, |largest, column| largest.max(entry(row, column).abs()));
            self.order.push((size, row));
        }
        sort_by_size(&mut self.order);
        self.columns.clear();
        for column in 0..n_columns {
            self.columns.extend(self.order.iter().map(|&(_, row)| entry(row, column)));
        }
        self.factors.clear();
        self.diagonal.clear();
        for k in 0..n_columns {
            let (reduced, later) = self.columns.split_at_mut((k + 1) * n_rows);
            let (diagonal, factor) = reflector::<A>(&mut reduced[k * n_rows + k..]);
            self.diagonal.push(diagonal);
            self.factors.push(factor);
            let vector = &reduced[k * n_rows + k..];
            for column in later.chunks_exact_mut(n_rows) {
                reflect::<A>((vector, factor), &mut column[k..]);
            }
        }
        self.basis.clear();
        self.basis.resize(n_columns * n_rows, 0.0);
        for (at, column) in self.basis.chunks_exact_mut(n_rows).enumerate() {
            column[at] = 1.0;
            for k in (0..=at).rev() {
                reflect::<A>(
                    (&self.columns[k * n_rows + k..][..n_rows - k], self.factors[k]),
                    &mut column[k..],
                );
            }
        }
    }

    /// Row `at` of R, from the diagonal on.
    #[inline(always)]
    pub(crate) fn triangle_row(&self, at: usize) -> impl Iterator<Item = f64> {
        let later = self.columns.chunks_exact(self.n_rows).skip(at + 1).map(move |column| column[at]);
        std::iter::once(self.diagonal[at]).chain(later)
    }

    /// The columns of Q, whose rows are in the order of [`ThinFactors::rows`].
    #[inline(always)]
    pub(crate) fn basis(&self) -> impl Iterator<Item = &[f64]> {
        self.basis.chunks_exact(self.n_rows)
    }

    /// The row of A at each row of Q.
    #[inline(always)]
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|&(_, row)| row)
    }
}

/// Replaces a vector by the reflector (1, v) that makes all its entries but the first zero. Returns the first entry after the reflection and
/// τ.
#[inline(always)]
fn reflector<A: Arithmetic>(vector: &mut [f64]) -> (f64, f64) {
    let mut scaled = Scaled::by(1.0);
    let mut squares = dot::<A>(vector, vector);
    if !ORDINARY_SQUARES.contains(&squares) {
        let largest = vector.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
        if largest == 0.0 {
            return (0.0, 0.0);
        }
        scaled = Scaled::by(largest);
        vector.iter_mut().for_each(|entry| *entry = scaled.apply(*entry));
        squares = dot::<A>(vector, vector);
    }
    let (pivot, norm) = (vector[0], squares.sqrt());
    let reflected = if pivot > 0.0 { -norm } else { norm };
    let head = pivot - reflected;
    let inverse = head.recip();
    vector.iter_mut().for_each(|entry| *entry *= inverse);
    vector[0] = 1.0;
    (reflected * scaled.unit, -head / reflected)
}

/// Applies the reflection `I − τ v vᵀ`.
#[inline(always)]
fn reflect<A: Arithmetic>((vector, factor): (&[f64], f64), target: &mut [f64]) {
    let along = dot::<A>(vector, target);
    add_scaled::<A>(-factor * along, vector, target);
}

/// The sum of squares of a column, in four interleaved sums.
#[inline(always)]
fn column_squares<A: Arithmetic>(rows: &[f64], columns: usize, k: usize, scaled: Scaled) -> f64 {
    let fours = rows.chunks_exact(4 * columns);
    let mut sums = [0.0; 4];
    for (sum, row) in sums.iter_mut().zip(fours.remainder().chunks_exact(columns)) {
        *sum = scaled.apply(row[k]).powi(2);
    }
    for four in fours {
        for (at, sum) in sums.iter_mut().enumerate() {
            let entry = scaled.apply(four[at * columns + k]);
            *sum = A::mul_add(entry, entry, *sum);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Scales numbers by the largest of them: by a product, or by a quotient where the inverse would lose digits.
#[derive(Clone, Copy)]
struct Scaled {
    unit: f64,
    inverse: Option<f64>,
}

impl Scaled {
    #[inline(always)]
    fn by(unit: f64) -> Self {
        let is_ordinary = (1e-290..1e290).contains(&unit);
        Self { unit, inverse: is_ordinary.then(|| unit.recip()) }
    }

    #[inline(always)]
    fn apply(self, number: f64) -> f64 {
        match self.inverse {
            Some(inverse) => number * inverse,
            None => number / self.unit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of a matrix by row and column.
    type Entry<'a> = &'a dyn Fn(usize, usize) -> f64;

    /// Q has orthonormal columns and Q R = A, for rows and columns of all sizes and for columns of zeros.
    #[test]
    fn thin_factors_multiply_to_the_matrix() {
        let wave = |row: usize, column: usize| ((3 + 7 * row + 5 * column * column) as f64).sin();
        let cases: [(&str, Entry<'_>); 5] = [
            ("ordinary", &wave),
            ("graded rows", &|row, column| wave(row, column) * 10f64.powi(row as i32 - 6)),
            ("huge", &|row, column| 1e180 * wave(row, column)),
            ("tiny", &|row, column| 1e-180 * wave(row, column)),
            ("zeros and copies", &|row, column| [0.0, wave(row, 1), wave(row, 1), 0.0][column % 4]),
        ];
        let mut factors = ThinFactors::default();
        for (name, entry) in cases {
            for (n_rows, n_columns) in [(1, 1), (5, 5), (13, 4), (40, 9)] {
                factors.set::<Separate>((n_rows, n_columns), entry);
                let basis: Vec<&[f64]> = factors.basis().collect();
                for (i, one) in basis.iter().enumerate() {
                    for (j, other) in basis.iter().enumerate() {
                        let inner: f64 = one.iter().zip(*other).map(|(a, b)| a * b).sum();
                        let expected = f64::from(u8::from(i == j));
                        assert!((inner - expected).abs() < 1e-14, "{name} {n_rows}×{n_columns}: {inner}");
                    }
                }
                for (place, row) in factors.rows().enumerate() {
                    for column in 0..n_columns {
                        let product: f64 = (0..=column)
                            .map(|k| {
                                basis[k][place] * factors.triangle_row(k).nth(column - k).unwrap_or(f64::NAN)
                            })
                            .sum();
                        let size = (0..n_rows).map(|row| entry(row, column).abs()).fold(0.0, f64::max);
                        let difference = (product - entry(row, column)).abs();
                        assert!(difference <= 1e-14 * size, "{name} {n_rows}×{n_columns}: {difference:e}");
                    }
                }
            }
        }
    }
}
