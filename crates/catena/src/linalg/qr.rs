//! Householder elimination on tall row-major matrices, for the square-root form and for the rotation of observations.

use super::arithmetic::Arithmetic;
use super::dense::add_scaled;
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
        let (mut smallest, mut is_in_order) = (f64::INFINITY, true);
        for (at, row) in matrix.chunks_exact(columns).enumerate() {
            let size = size(row);
            // A row of zeros loses nothing.
            is_in_order &= size <= OF_OTHER_SIZE * smallest;
            smallest = if size > 0.0 { smallest.min(size) } else { smallest };
            self.order.push((size, at));
        }
        if is_in_order {
            return;
        }
        self.order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.unsorted.clear();
        self.unsorted.extend_from_slice(matrix);
        for (target, &(_, source)) in matrix.chunks_exact_mut(columns).zip(&self.order) {
            target.copy_from_slice(&self.unsorted[source * columns..][..columns]);
        }
    }
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
