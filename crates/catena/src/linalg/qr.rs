//! Householder elimination on tall row-major matrices, for the factored form and for the reduction of readouts.

/// Makes the first `pivots` columns of a `rows`×`columns` matrix upper triangular, in place, by Householder
/// reflections of its rows. The sum of squares of every column is kept.
///
/// Rows are first put in descending order of their largest entry: with rows of very different size this is what keeps
/// the small ones accurate. Norms are taken on scaled entries, so nothing overflows or vanishes on the way.
pub(crate) fn eliminate(matrix: &mut [f64], rows: usize, columns: usize, pivots: usize) {
    let matrix = &mut matrix[..rows * columns];
    sort_rows(matrix, columns, pivots);
    let mut combined = vec![0.0; columns];
    for k in 0..pivots.min(rows) {
        let (above, below) = matrix.split_at_mut((k + 1) * columns);
        let pivot_row = &mut above[k * columns..];
        let entries = || below.chunks_exact(columns).map(|row| row[k]);
        let largest = entries().fold(pivot_row[k].abs(), |largest, entry| largest.max(entry.abs()));
        if largest == 0.0 {
            continue;
        }
        let squares: f64 = entries().map(|entry| (entry / largest).powi(2)).sum();
        // In units of the largest entry, so that a column of subnormal numbers gives an orthogonal reflector too.
        let pivot = pivot_row[k] / largest;
        let norm = (squares + pivot.powi(2)).sqrt();
        let reflected = if pivot > 0.0 { -norm } else { norm };
        // The reflector is (1, v) with v_i = a_ik/(a_kk − reflected), and τ = (reflected − a_kk)/reflected.
        let head = pivot - reflected;
        let tau = -head / reflected;
        let combined = &mut combined[k + 1..];
        combined.copy_from_slice(&pivot_row[k + 1..]);
        for row in below.chunks_exact_mut(columns) {
            row[k] = row[k] / largest / head;
            let (v, rest) = (row[k], &row[k + 1..]);
            combined.iter_mut().zip(rest).for_each(|(sum, entry)| *sum += v * entry);
        }
        pivot_row[k] = reflected * largest;
        pivot_row[k + 1..].iter_mut().zip(&*combined).for_each(|(entry, sum)| *entry -= tau * sum);
        for row in below.chunks_exact_mut(columns) {
            let factor = tau * row[k];
            row[k] = 0.0;
            row[k + 1..].iter_mut().zip(&*combined).for_each(|(entry, sum)| *entry -= factor * sum);
        }
    }
}

/// Puts rows in descending order of their largest entry in the first `pivots` columns; equal rows keep their order.
fn sort_rows(matrix: &mut [f64], columns: usize, pivots: usize) {
    let size = |row: &[f64]| row[..pivots].iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let sizes = matrix.chunks_exact(columns).map(size);
    let mut order: Vec<(f64, usize)> = sizes.zip(0..).collect();
    if order.is_sorted_by(|a, b| a.0 >= b.0) {
        return;
    }
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let unsorted = matrix.to_vec();
    for (target, &(_, source)) in matrix.chunks_exact_mut(columns).zip(&order) {
        target.copy_from_slice(&unsorted[source * columns..][..columns]);
    }
}
