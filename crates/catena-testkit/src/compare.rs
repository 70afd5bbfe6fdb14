//! Comparison of two tables of numbers.

use std::fmt;

/// How far apart two tables may be.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    relative: f64,
    smallest_scale: f64,
}

impl Tolerance {
    /// Differences up to `tolerance` times the largest expected entry.
    pub fn relative(tolerance: f64) -> Self {
        Self { relative: tolerance, smallest_scale: 0.0 }
    }

    /// The same tolerance with the largest entry taken as at least `scale`: for sums of terms of that size, which may be small
    /// by cancellation.
    pub fn with_scale_at_least(self, scale: f64) -> Self {
        Self { smallest_scale: scale, ..self }
    }
}

/// The cell in which two tables differ most.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WorstCell {
    row: usize,
    column: usize,
    actual: f64,
    expected: f64,
    /// The difference divided by the largest expected entry.
    relative_error: f64,
}

impl fmt::Display for WorstCell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, column, actual, expected, relative_error } = self;
        write!(
            formatter,
            "row {row}, column {column}: {actual:e} instead of {expected:e} ({relative_error:.2e})"
        )
    }
}

/// The worst cell of a row-major table; NaN is the worst value. `None` for empty tables.
fn worst_cell(n_columns: usize, actual: &[f64], expected: &[f64], tolerance: Tolerance) -> Option<WorstCell> {
    let largest = expected.iter().fold(tolerance.smallest_scale, |largest, entry| largest.max(entry.abs()));
    let mut worst: Option<WorstCell> = None;
    for (at, (&actual, &expected)) in actual.iter().zip(expected).enumerate() {
        let difference = (actual - expected).abs();
        let relative_error = match difference / largest {
            _ if difference == 0.0 => 0.0,
            error if error.is_nan() => f64::INFINITY,
            error => error,
        };
        if worst.is_none_or(|cell| relative_error > cell.relative_error) {
            let (row, column) = (at / n_columns, at % n_columns);
            worst = Some(WorstCell { row, column, actual, expected, relative_error });
        }
    }
    worst
}

/// Asserts that two row-major tables agree; the message names the worst row and column.
///
/// # Panics
/// If the tables have different sizes, or differ by more than the tolerance.
#[track_caller]
pub fn assert_close(what: &str, n_columns: usize, actual: &[f64], expected: &[f64], tolerance: Tolerance) {
    assert_eq!(actual.len(), expected.len(), "{what}: sizes differ");
    if let Some(worst) = worst_cell(n_columns, actual, expected, tolerance) {
        let allowed = tolerance.relative;
        assert!(worst.relative_error <= allowed, "{what}: {worst}, allowed {allowed:e}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_cell_is_named() {
        let worst =
            worst_cell(2, &[1.0, 2.0, 3.0, 4.5], &[1.0, 2.1, 3.0, 4.0], Tolerance::relative(0.0)).unwrap();
        assert_eq!((worst.row, worst.column), (1, 1));
        assert!((worst.relative_error - 0.125).abs() < 1e-15);
    }

    #[test]
    #[should_panic(expected = "row 0, column 1")]
    fn nan_never_agrees() {
        assert_close("means", 2, &[0.0, f64::NAN], &[0.0, 1.0], Tolerance::relative(1e9));
    }

    #[test]
    #[should_panic(expected = "instead of 0")]
    fn zeros_must_be_zero() {
        assert_close("means", 1, &[1e-300], &[0.0], Tolerance::relative(1e-10));
    }
}
