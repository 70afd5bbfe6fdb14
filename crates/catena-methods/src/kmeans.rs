//! Lloyd's k-means, for the placement of inducing points.

use catena::data::{InputPoints, squared_distance};
use catena::index::RowIndex;
use rayon::prelude::*;

use crate::DenseMethodError;

/// The rounds of the paper's k-means.
pub const PAPER_ROUNDS: usize = 20;

/// The initial centers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Start<'a> {
    /// These rows of the points, as in the paper (whose rows come from its random stream).
    Rows(&'a [RowIndex]),
    /// Rows drawn with probability proportional to the squared distance from the centers so far (k-means++).
    PlusPlus {
        /// The number of centers.
        n_centers: usize,
        /// The seed of the draws: equal seeds give equal centers.
        seed: u64,
    },
}

/// Cluster centers after at most `max_rounds` rounds of assignment and averaging, or until no assignment changes.
///
/// Ties go to the lowest center; an empty cluster keeps its center; sums run in the order of the points.
///
/// # Errors
/// If there are no centers, more centers than points, or an initial center is not a row of the points.
pub fn k_means(
    points: &InputPoints,
    start: Start<'_>,
    max_rounds: usize,
) -> Result<InputPoints, DenseMethodError> {
    let rows = match start {
        Start::Rows(rows) => rows.to_vec(),
        Start::PlusPlus { n_centers, seed } => {
            check_count(n_centers, points.n_rows())?;
            plus_plus_rows(points, n_centers, seed)
        }
    };
    check_count(rows.len(), points.n_rows())?;
    if let Some(&row) = rows.iter().find(|row| row.get() >= points.n_rows()) {
        return Err(DenseMethodError::UnknownRow { row, n_points: points.n_rows() });
    }
    let dim = points.dim();
    let mut centers: Vec<f64> = rows.iter().flat_map(|&row| points.point(row)).copied().collect();
    let mut assigned = vec![usize::MAX; points.n_rows()];
    for _ in 0..max_rounds {
        let nearest: Vec<usize> =
            points.values().par_chunks_exact(dim).map(|point| nearest_center(point, &centers).0).collect();
        if nearest == assigned {
            break;
        }
        assigned = nearest;
        move_to_means(points, &assigned, &mut centers);
    }
    Ok(InputPoints::new(rows.len(), dim, centers)?)
}

fn check_count(n_inducing: usize, n_points: usize) -> Result<(), DenseMethodError> {
    if n_inducing == 0 {
        return Err(DenseMethodError::NoInducing);
    }
    if n_inducing > n_points {
        return Err(DenseMethodError::TooManyInducing { n_inducing, n_points });
    }
    Ok(())
}

/// The nearest center and its squared distance; the first one among equals.
fn nearest_center(point: &[f64], centers: &[f64]) -> (usize, f64) {
    let mut nearest = (0, f64::INFINITY);
    for (center, place) in centers.chunks_exact(point.len()).enumerate() {
        let distance = squared_distance(point, place);
        if distance < nearest.1 {
            nearest = (center, distance);
        }
    }
    nearest
}

fn move_to_means(points: &InputPoints, assigned: &[usize], centers: &mut [f64]) {
    let dim = points.dim();
    let mut sums = vec![0.0; centers.len()];
    let mut counts = vec![0_usize; centers.len() / dim];
    for (point, &center) in points.values().chunks_exact(dim).zip(assigned) {
        counts[center] += 1;
        for (sum, coordinate) in sums[center * dim..][..dim].iter_mut().zip(point) {
            *sum += coordinate;
        }
    }
    for (center, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        for at in center * dim..(center + 1) * dim {
            centers[at] = sums[at] / count as f64;
        }
    }
}

/// k-means++: the first row at random, then each with probability proportional to its squared distance from the rows
/// chosen so far. If all distances are 0, the lowest row not yet chosen.
fn plus_plus_rows(points: &InputPoints, n_centers: usize, seed: u64) -> Vec<RowIndex> {
    let mut random = SplitMix64(seed);
    let n_rows = points.n_rows();
    let first = ((random.next_unit() * n_rows as f64) as usize).min(n_rows - 1);
    let mut rows = vec![RowIndex::new(first)];
    let mut nearest = vec![f64::INFINITY; n_rows];
    while let (Some(&last), true) = (rows.last(), rows.len() < n_centers) {
        for row in points.rows() {
            let distance = points.squared_distance(row, last);
            nearest[row.get()] = nearest[row.get()].min(distance);
        }
        let mut left = random.next_unit() * nearest.iter().sum::<f64>();
        let mut chosen = None;
        for row in points.rows().filter(|row| nearest[row.get()] > 0.0) {
            chosen = Some(row);
            left -= nearest[row.get()];
            if left < 0.0 {
                break;
            }
        }
        let fallback = points.rows().find(|row| !rows.contains(row));
        rows.extend(chosen.or(fallback));
    }
    rows
}

/// SplitMix64, written out so that a seed gives the same centers with every version of every dependency.
struct SplitMix64(u64);

impl SplitMix64 {
    /// The next number in [0, 1).
    fn next_unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[f64]) -> InputPoints {
        InputPoints::from_column(values.to_vec()).unwrap()
    }

    #[test]
    fn centers_are_means_of_their_clusters() {
        let points = line(&[0.0, 1.0, 10.0, 12.0, 14.0]);
        let start = [RowIndex::new(0), RowIndex::new(1)];
        let centers = k_means(&points, Start::Rows(&start), 20).unwrap();
        assert_eq!(centers.values(), [0.5, 12.0]);
    }

    #[test]
    fn an_empty_cluster_keeps_its_center() {
        // The two starts coincide: in the first round every point goes to the first.
        let points = line(&[0.0, 0.0, 3.0]);
        let start = [RowIndex::new(0), RowIndex::new(1)];
        let centers = k_means(&points, Start::Rows(&start), 1).unwrap();
        assert_eq!(centers.values(), [1.0, 0.0]);
    }

    #[test]
    fn plus_plus_finds_separated_clusters_and_repeats_itself() {
        let points = line(&[0.0, 0.1, 0.2, 100.0, 100.1, 200.0, 200.2]);
        for seed in 0..20 {
            let start = Start::PlusPlus { n_centers: 3, seed };
            let centers = k_means(&points, start, 20).unwrap();
            let mut sorted = centers.values().to_vec();
            sorted.sort_by(f64::total_cmp);
            let expected = [0.1, 100.05, 200.1];
            assert!(sorted.iter().zip(expected).all(|(found, center)| (found - center).abs() < 1e-12));
            assert_eq!(centers, k_means(&points, start, 20).unwrap());
        }
    }

    #[test]
    fn too_many_or_unknown_centers_are_refused() {
        let points = line(&[0.0, 1.0]);
        let plus_plus = Start::PlusPlus { n_centers: 3, seed: 0 };
        let error = DenseMethodError::TooManyInducing { n_inducing: 3, n_points: 2 };
        assert_eq!(k_means(&points, plus_plus, 20), Err(error));
        assert_eq!(k_means(&points, Start::Rows(&[]), 20), Err(DenseMethodError::NoInducing));
        let row = RowIndex::new(2);
        assert_eq!(
            k_means(&points, Start::Rows(&[row]), 20),
            Err(DenseMethodError::UnknownRow { row, n_points: 2 })
        );
    }
}
