//! Rows from which the study on chain starts begins its chains: evenly spaced, random, and far from each other.

use catena::data::InputPoints;
use catena::index::RowIndex;

use crate::julia_streams::JuliaStream;
use crate::protocol::Protocol;

/// Random starts are chosen from this many times as many draws.
const DRAWS_PER_START: usize = 3;

/// Rows in equal steps from the first to the last; halves are rounded to the even row number, counted from 1.
pub fn even_starts(n_rows: usize, count: usize) -> Vec<RowIndex> {
    let step = n_rows.saturating_sub(1) as f64 / count.saturating_sub(1).max(1) as f64;
    let row_number = |at: usize| (1.0 + at as f64 * step).round_ties_even() as usize;
    (0..count).map(|at| RowIndex::new(row_number(at) - 1)).collect()
}

/// The lowest distinct rows of a few random draws, ascending.
pub fn random_starts(n_rows: usize, count: usize, seed: u32) -> Vec<RowIndex> {
    let mut stream = JuliaStream::with_version(Protocol::CHAIN_STARTS.streams, seed);
    let draws = DRAWS_PER_START * count;
    let mut rows: Vec<usize> = (0..draws).map(|_| stream.rand_below(n_rows as u64) as usize).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter().take(count).map(RowIndex::new).collect()
}

/// The row farthest from the mean of all rows, then always the row farthest from its nearest chosen one; ties go to the lowest.
pub fn farthest_starts(inputs: &InputPoints, count: usize) -> Vec<RowIndex> {
    let mut mean = vec![0.0; inputs.dim()];
    for row in inputs.rows() {
        for (sum, value) in mean.iter_mut().zip(inputs.point(row)) {
            *sum += value / inputs.n_rows() as f64;
        }
    }
    let from_mean = |row| inputs.point(row).iter().zip(&mean).map(|(x, center)| (x - center).powi(2)).sum();
    let mut distances: Vec<f64> = inputs.rows().map(from_mean).collect();
    let mut chosen = Vec::with_capacity(count);
    for _ in 0..count {
        let mut next = RowIndex::new(0);
        for row in inputs.rows() {
            if distances[row.get()] > distances[next.get()] {
                next = row;
            }
        }
        for row in inputs.rows() {
            let distance = inputs.squared_distance(row, next);
            let nearest = if chosen.is_empty() { distance } else { distance.min(distances[row.get()]) };
            distances[row.get()] = nearest;
        }
        chosen.push(next);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_numbers(rows: &[RowIndex]) -> Vec<usize> {
        rows.iter().map(|row| row.get() + 1).collect()
    }

    #[test]
    fn even_starts_reach_from_the_first_row_to_the_last() {
        for (n_rows, first) in
            [(1000, [1, 54, 106, 159]), (2000, [1, 106, 211, 317]), (4000, [1, 211, 422, 632])]
        {
            let rows = row_numbers(&even_starts(n_rows, 20));
            assert_eq!((&rows[..4], rows[19]), (&first[..], n_rows));
        }
        // 1000.5 goes to the even row number.
        assert_eq!(row_numbers(&even_starts(2000, 3)), [1, 1000, 2000]);
        assert_eq!(row_numbers(&even_starts(9, 1)), [1]);
    }

    #[test]
    fn random_starts_are_distinct_rows_in_order() {
        let rows = row_numbers(&random_starts(1000, 20, 123));
        assert_eq!(rows.len(), 20);
        assert!(rows.is_sorted_by(|a, b| a < b) && rows[19] <= 1000, "{rows:?}");
        assert_ne!(rows, row_numbers(&random_starts(1000, 20, 124)));
    }

    #[test]
    fn farthest_starts_begin_away_from_the_mean_and_go_to_the_ends() {
        let inputs = InputPoints::from_column(vec![0.0, 1.0, 2.0, 10.0, -3.0, 4.0]).unwrap();
        // At last 0 and 1 are both 3 away from −3 or 4.
        assert_eq!(row_numbers(&farthest_starts(&inputs, 4)), [4, 5, 6, 1]);
    }
}
