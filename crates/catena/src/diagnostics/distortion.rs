//! How a structure's distances differ from those in space: ε_π and the gaps.

use crate::data::InputPoints;
use crate::index::Position;
use crate::structure::Tree;
use crate::threads::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The lengths of a structure's edges, in units of its distance scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapStatistics {
    /// The sum of all edges; for a chain T(π).
    pub total: f64,
    /// The mean edge; 0 for a single point.
    pub mean: f64,
    /// The median edge; 0 for a single point.
    pub median: f64,
    /// The longest edge; 0 for a single point.
    pub largest: f64,
    /// The number of edges of length 0, which join duplicates.
    pub n_zero: usize,
}

impl GapStatistics {
    /// Of all edges of a structure. O(C).
    pub fn new(tree: &Tree) -> Self {
        let mut edges: Vec<f64> = tree.edge_lengths().collect();
        if edges.is_empty() {
            return Self { total: 0.0, mean: 0.0, median: 0.0, largest: 0.0, n_zero: 0 };
        }
        let (total, n_edges) = (tree.total_length(), edges.len());
        let middle = n_edges / 2;
        let (below, &mut upper, above) = edges.select_nth_unstable_by(middle, f64::total_cmp);
        let lower = if n_edges % 2 == 1 { upper } else { below.iter().copied().fold(0.0, f64::max) };
        let largest = above.iter().copied().fold(upper, f64::max);
        Self {
            total,
            mean: total / n_edges as f64,
            median: 0.5 * (lower + upper),
            largest,
            n_zero: tree.edge_lengths().filter(|&edge| edge == 0.0).count(),
        }
    }
}

/// The difference between distances along the structure and in space, over pairs of points, in units of the
/// structure's distance scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distortion {
    /// Over all pairs.
    Exact {
        /// ε_π = max |‖x_i − x_j‖ − path(i, j)|.
        largest: f64,
        /// The mean over all pairs.
        mean: f64,
    },
    /// Over all pairs with one end in a random sample of the points.
    Sampled {
        /// The largest in the sample, a lower bound of ε_π.
        at_least: f64,
        /// The longest path of the structure, an upper bound of ε_π.
        at_most: f64,
        /// With 95 % confidence, no more than this share of the points is an end of a pair distorted by more than
        /// `at_least`.
        share_beyond: f64,
        /// The mean over the sampled pairs.
        mean: f64,
        /// The standard error of that mean.
        mean_standard_error: f64,
        /// The number of sampled points.
        n_sampled: usize,
    },
}

impl Distortion {
    /// The distortion of a structure over these inputs. O(C²·M) for all pairs, O(C·M) for each sampled point.
    ///
    /// # Panics
    /// When the structure is over another number of rows.
    pub fn of(inputs: &InputPoints, tree: &Tree, sampling: PairSampling) -> Self {
        assert_eq!(inputs.n_rows(), tree.len(), "a structure over these inputs");
        let n_points = tree.len();
        let coordinates = tree.coordinates();
        let n_sampled = sampling.n_sampled.max(2);
        if n_points <= sampling.most_points_for_all_pairs.max(n_sampled) {
            let sources = (0..n_points).collect();
            let seen = distortions_from(inputs, tree, &coordinates, sources);
            let mean = seen.iter().map(|&(_, mean)| mean).sum::<f64>() / n_points as f64;
            return Self::Exact { largest: largest_of(&seen), mean };
        }
        let sources = draw_without_repetition(n_points, n_sampled, sampling.seed);
        let seen = distortions_from(inputs, tree, &coordinates, sources);
        let count = n_sampled as f64;
        let mean = seen.iter().map(|&(_, mean)| mean).sum::<f64>() / count;
        let squares: f64 = seen.iter().map(|&(_, own)| (own - mean).powi(2)).sum();
        let share_sampled = count / n_points as f64;
        Self::Sampled {
            at_least: largest_of(&seen),
            at_most: longest_path(tree),
            share_beyond: 1.0 - 0.05_f64.powf(1.0 / count),
            mean,
            mean_standard_error: (squares / (count - 1.0) / count * (1.0 - share_sampled)).sqrt(),
            n_sampled,
        }
    }

    /// An upper bound of ε_π: ε_π itself if it is exact.
    pub fn upper_bound(self) -> f64 {
        match self {
            Self::Exact { largest, .. } => largest,
            Self::Sampled { at_most, .. } => at_most,
        }
    }
}

/// The pairs over which the distortion is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairSampling {
    /// Up to this many points, all pairs.
    pub most_points_for_all_pairs: usize,
    /// Above, this many sampled points, each paired with all others.
    pub n_sampled: usize,
    /// The seed of the sample.
    pub seed: u64,
}

impl Default for PairSampling {
    /// All pairs up to 4096 points, 256 sampled points above: seconds at a million points.
    fn default() -> Self {
        Self { most_points_for_all_pairs: 4096, n_sampled: 256, seed: 0 }
    }
}

fn largest_of(seen: &[(f64, f64)]) -> f64 {
    seen.iter().fold(0.0, |largest, &(own, _)| largest.max(own))
}

/// The largest and the mean distortion of the pairs of each source.
fn distortions_from(
    inputs: &InputPoints,
    tree: &Tree,
    coordinates: &[f64],
    sources: Vec<usize>,
) -> Vec<(f64, f64)> {
    let scale = tree.distance_scale().get();
    let from_source = |source: usize| {
        let paths = path_lengths(tree, coordinates, source);
        let here = tree.row_at(Position::new(source));
        let (mut largest, mut sum, mut n_pairs) = (0.0_f64, 0.0, 0_usize);
        for (at, path) in paths.into_iter().enumerate() {
            let there = tree.row_at(Position::new(at));
            // No path joins different groups.
            if inputs.group(here) != inputs.group(there) {
                continue;
            }
            let direct = crate::data::distance(inputs.point(here), inputs.point(there)) / scale;
            let difference = (path - direct).abs();
            largest = largest.max(difference);
            sum += difference;
            n_pairs += 1;
        }
        (largest, sum / (n_pairs as f64 - 1.0).max(1.0))
    };
    sources.into_par_iter().map(from_source).collect()
}

/// The length of the path from one position to every other.
fn path_lengths(tree: &Tree, coordinates: &[f64], source: usize) -> Vec<f64> {
    if tree.is_chain() {
        return coordinates.iter().map(|there| (there - coordinates[source]).abs()).collect();
    }
    let mut is_above = vec![false; tree.len()];
    let mut lengths = vec![0.0; tree.len()];
    let mut above = Some(Position::new(source));
    let mut length = 0.0;
    while let Some(position) = above {
        is_above[position.get()] = true;
        lengths[position.get()] = length;
        length += tree.step_into(position);
        above = tree.parent(position);
    }
    for position in tree.positions().filter(|position| !is_above[position.get()]) {
        let above = tree.parent(position).map_or(0.0, |above| lengths[above.get()]);
        lengths[position.get()] = above + tree.step_into(position);
    }
    lengths
}

/// The longest path between any two points of a structure.
fn longest_path(tree: &Tree) -> f64 {
    let mut depth_below = vec![0.0_f64; tree.len()];
    let mut longest = 0.0_f64;
    for position in tree.positions().rev() {
        let Some(above) = tree.parent(position) else { continue };
        let depth = depth_below[position.get()] + tree.step_into(position);
        longest = longest.max(depth_below[above.get()] + depth);
        depth_below[above.get()] = depth_below[above.get()].max(depth);
    }
    longest
}

/// `count` different numbers below `limit`.
fn draw_without_repetition(limit: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut generator = ChaCha8Rng::from_seed(key);
    let mut drawn: Vec<usize> = (0..limit).collect();
    for at in 0..count {
        let ahead = (limit - at) as u128;
        drawn.swap(at, at + ((u128::from(generator.next_u64()) * ahead) >> 64) as usize);
    }
    drawn.truncate(count);
    drawn
}
