//! Dense algebra on nested vectors, sharing nothing with the library.

pub(crate) type Dense = Vec<Vec<f64>>;

pub(crate) fn zeros(n_rows: usize, n_columns: usize) -> Dense {
    vec![vec![0.0; n_columns]; n_rows]
}

pub(crate) fn transpose(a: &Dense) -> Dense {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

pub(crate) fn multiply(a: &Dense, b: &Dense) -> Dense {
    let b = transpose(b);
    a.iter().map(|row| b.iter().map(|column| inner(row, column)).collect()).collect()
}

pub(crate) fn apply(a: &Dense, x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| inner(row, x)).collect()
}

pub(crate) fn inner(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// `a + factor·b`.
pub(crate) fn combine(a: &Dense, factor: f64, b: &Dense) -> Dense {
    a.iter().zip(b).map(|(x, y)| x.iter().zip(y).map(|(p, q)| p + factor * q).collect()).collect()
}

/// Inverse and log |det| by Gauss–Jordan elimination with partial pivoting.
pub(crate) fn invert(a: &Dense) -> (Dense, f64) {
    let n = a.len();
    let mut work: Dense = a
        .iter()
        .enumerate()
        .map(|(i, row)| row.iter().copied().chain((0..n).map(|j| if i == j { 1.0 } else { 0.0 })).collect())
        .collect();
    let mut log_determinant = 0.0;
    for column in 0..n {
        let pivot =
            (column..n).max_by(|&i, &j| work[i][column].abs().total_cmp(&work[j][column].abs())).unwrap();
        work.swap(column, pivot);
        let scale = work[column][column];
        assert!(scale != 0.0, "singular");
        log_determinant += scale.abs().ln();
        work[column].iter_mut().for_each(|x| *x /= scale);
        let row = work[column].clone();
        for i in (0..n).filter(|&i| i != column) {
            let factor = work[i][column];
            work[i].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
        }
    }
    (work.into_iter().map(|row| row[n..].to_vec()).collect(), log_determinant)
}

/// The largest difference, relative to the largest expected entry (or to 1, if all are smaller).
pub(crate) fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len(), "sizes");
    let largest = expected.iter().fold(1.0_f64, |largest, x| largest.max(x.abs()));
    found.iter().zip(expected).fold(0.0, |worst: f64, (x, y)| {
        // `max` would swallow a NaN.
        let error = (x - y).abs() / largest;
        if error.is_nan() { f64::INFINITY } else { worst.max(error) }
    })
}
