//! Prediction of a cell from the rows whose other outputs are most alike.

use catena::data::{Dataset, Observations};
use catena::index::RowIndex;
use rayon::prelude::*;

use super::RowPredictions;

/// Rows among which neighbors are searched, at most; they are evenly spaced in the order of the rows.
const MOST_REFERENCES: usize = 4000;
/// Differences of two cells that one prediction may take.
const MOST_COMPARISONS: f64 = 1e9;
/// Added to distances, in standard deviations, so that equal rows have a finite weight.
const SOFTENING: f64 = 1e-3;
/// Lowers a bound by more than its rounding.
const ROUNDED_DOWN: f64 = 1.0 - 1e-12;

/// For each cell the weighted mean of its output in the rows that are nearest in the other outputs. The distance of two rows
/// is the root mean squared difference of the outputs observed in both; weights are inverse distances.
///
/// Outputs are expected in comparable units (mean 0, variance 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestRows {
    /// The number of neighbors.
    pub n_neighbors: usize,
    /// Rows nearer than this along the first input are not neighbors of each other: within a gap no such row is observed,
    /// and the errors at observed cells should be those within a gap.
    pub exclusion: f64,
}

impl NearestRows {
    /// Whether a table of this size is affordable: every row is compared with every reference.
    pub fn is_affordable(n_rows: usize, n_outputs: usize) -> bool {
        n_rows as f64 * n_rows.min(MOST_REFERENCES) as f64 * n_outputs as f64 <= MOST_COMPARISONS
    }

    /// Every cell from the other observed cells of its row; the mean 0 if there is no neighbor.
    pub fn predict(&self, dataset: &Dataset) -> RowPredictions {
        let (n_rows, observations) = (dataset.n_rows(), dataset.observations());
        let n_outputs = observations.n_outputs();
        let dense = observations.to_dense();
        let values = |row: usize| &dense[row * n_outputs..][..n_outputs];
        let place = |row: usize| dataset.inputs().point(RowIndex::new(row))[0];
        let step = n_rows.div_ceil(MOST_REFERENCES).max(1);
        let references: Vec<usize> = order(observations, &place).into_iter().step_by(step).collect();
        let of_row = |row: usize| {
            let mut nearest: Vec<Vec<(f64, f64)>> = vec![Vec::with_capacity(self.n_neighbors + 1); n_outputs];
            let (own, mut farthest) = (values(row), f64::INFINITY);
            for &other in &references {
                if other == row || (place(other) - place(row)).abs() < self.exclusion {
                    continue;
                }
                self.compare(own, values(other), &mut nearest, &mut farthest);
            }
            nearest
                .iter()
                .map(|found| (weighted_mean(found), f64::from(u8::from(found.is_empty()))))
                .collect::<Vec<_>>()
        };
        let (means, excess) = (0..n_rows).into_par_iter().flat_map_iter(of_row).unzip();
        RowPredictions { means, excess }
    }

    /// Adds another row to the nearest rows of each output, `(squared distance, value)` by ascending distance. Rows that are farther
    /// than `farthest`, the largest distance among the nearest of all outputs, are passed over.
    fn compare(&self, own: &[f64], other: &[f64], nearest: &mut [Vec<(f64, f64)>], farthest: &mut f64) {
        let (sum, largest, count) = squares(own, other);
        // An output is left out of its own distance; the mean is smallest without the largest square.
        if count > 1.0 && (sum - largest) / (count - 1.0) * ROUNDED_DOWN >= *farthest {
            return;
        }
        let mut is_nearer = false;
        for ((a, b), nearest) in own.iter().zip(other).zip(nearest.iter_mut()) {
            if b.is_nan() {
                continue;
            }
            let square = (a - b) * (a - b);
            let (sum, count) = if square >= 0.0 { (sum - square, count - 1.0) } else { (sum, count) };
            if count < 1.0 {
                continue;
            }
            let distance = sum.max(0.0) / count;
            let is_full = nearest.len() == self.n_neighbors;
            if is_full && nearest.last().is_some_and(|(last, _)| *last <= distance) {
                continue;
            }
            let at = nearest.partition_point(|(known, _)| *known <= distance);
            nearest.insert(at, (distance, *b));
            nearest.truncate(self.n_neighbors);
            is_nearer = true;
        }
        if is_nearer {
            let last = |nearest: &Vec<(f64, f64)>| match nearest.get(self.n_neighbors.wrapping_sub(1)) {
                Some((last, _)) => *last,
                None => f64::INFINITY,
            };
            *farthest = nearest.iter().map(last).fold(0.0, f64::max);
        }
    }
}

/// The sum, the largest and the number of the squared differences of the outputs observed in two rows.
fn squares(own: &[f64], other: &[f64]) -> (f64, f64, f64) {
    const LANES: usize = 4;
    let (mut sums, mut largest, mut counts) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let mut add = |lane: usize, a: f64, b: f64| {
        let square = (a - b) * (a - b);
        // NaN where one of them is missing.
        let is_there = square >= 0.0;
        sums[lane] += if is_there { square } else { 0.0 };
        counts[lane] += if is_there { 1.0 } else { 0.0 };
        largest[lane] = if square > largest[lane] { square } else { largest[lane] };
    };
    let (own, others) = (own.chunks_exact(LANES), other.chunks_exact(LANES));
    own.remainder().iter().zip(others.remainder()).enumerate().for_each(|(lane, (a, b))| add(lane, *a, *b));
    for (own, other) in own.zip(others) {
        for lane in 0..LANES {
            add(lane, own[lane], other[lane]);
        }
    }
    let sum = |lanes: [f64; LANES]| lanes[0] + lanes[1] + (lanes[2] + lanes[3]);
    (sum(sums), largest.into_iter().fold(0.0, f64::max), sum(counts))
}

/// Rows by their place along the first input; rows without cells are left out.
fn order(observations: &Observations, place: &dyn Fn(usize) -> f64) -> Vec<usize> {
    let mut rows: Vec<usize> =
        (0..observations.n_rows()).filter(|&row| observations.row(RowIndex::new(row)).len() > 0).collect();
    rows.sort_by(|&a, &b| place(a).total_cmp(&place(b)));
    rows
}

fn weighted_mean(nearest: &[(f64, f64)]) -> f64 {
    let weight = |square: f64| 1.0 / (square.sqrt() + SOFTENING);
    let total: f64 = nearest.iter().map(|(square, _)| weight(*square)).sum();
    if total > 0.0 {
        nearest.iter().map(|(square, value)| weight(*square) * value).sum::<f64>() / total
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::InputPoints;

    fn dataset(values: &[f64], n_outputs: usize) -> Dataset {
        let n_rows = values.len() / n_outputs;
        let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
        Dataset::new(inputs, Observations::from_dense(n_rows, n_outputs, values).unwrap()).unwrap()
    }

    #[test]
    fn the_nearest_row_in_the_other_outputs_is_taken() {
        let table = dataset(&[0.0, 10.0, 1.0, 20.0, 2.0, 30.0, 0.9, f64::NAN], 2);
        let means = NearestRows { n_neighbors: 1, exclusion: 0.0 }.predict(&table).means;
        assert_eq!(means[7], 20.0);
        // An observed cell does not use its own value: row 0 is nearest to row 3 and, having a value, row 1.
        assert_eq!(means[1], 20.0);
    }

    #[test]
    fn rows_within_the_exclusion_are_no_neighbors() {
        let table = dataset(&[0.0, 10.0, 1.0, 20.0, 2.0, 30.0, 2.1, f64::NAN], 2);
        let means = NearestRows { n_neighbors: 1, exclusion: 1.5 }.predict(&table).means;
        assert_eq!(means[7], 20.0);
        let alone = NearestRows { n_neighbors: 1, exclusion: 9.0 }.predict(&table);
        assert_eq!((alone.means, alone.excess), (vec![0.0; 8], vec![1.0; 8]));
    }

    /// The weighted mean of the nearest rows by sorting all of them.
    fn by_sorting(values: &[f64], n_outputs: usize, n_neighbors: usize, at: usize) -> f64 {
        let (row, output) = (at / n_outputs, at % n_outputs);
        let rows: Vec<&[f64]> = values.chunks_exact(n_outputs).collect();
        let others = (0..rows.len()).filter(|&other| other != row && !rows[other][output].is_nan());
        let mut found: Vec<(f64, f64)> = others
            .filter_map(|other| {
                let squares: Vec<f64> = (0..n_outputs)
                    .filter(|place| *place != output)
                    .map(|place| (rows[row][place] - rows[other][place]).powi(2))
                    .filter(|square| !square.is_nan())
                    .collect();
                let count = squares.len() as f64;
                (count > 0.0).then(|| (squares.iter().sum::<f64>() / count, rows[other][output]))
            })
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.truncate(n_neighbors);
        weighted_mean(&found)
    }

    #[test]
    fn rows_that_are_passed_over_are_none_of_the_nearest() {
        let value =
            |at: usize| if at % 7 == 3 { f64::NAN } else { (at as f64 * 0.37).sin() + (at as f64).cos() };
        let values: Vec<f64> = (0..80 * 9).map(value).collect();
        let found = NearestRows { n_neighbors: 4, exclusion: 0.0 }.predict(&dataset(&values, 9)).means;
        for (at, found) in found.iter().enumerate() {
            let expected = by_sorting(&values, 9, 4, at);
            assert!((found - expected).abs() < 1e-9, "{at}: {found} and {expected}");
        }
    }
}
