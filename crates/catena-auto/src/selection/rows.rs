//! The part of a large table on which models are compared.

use catena::data::Dataset;
use catena::index::RowIndex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::holdout::below;

/// Windows that are looked at along a line.
const WINDOWS: usize = 16;

/// At most `n_rows` rows, in the table's order: along a single input the window in which the scarcest output has most
/// cells, so that gaps and spacing stay as they are; else rows at random. All rows if every part misses an output.
pub(crate) fn part(dataset: &Dataset, n_rows: usize, seed: u64) -> Vec<RowIndex> {
    let all: Vec<RowIndex> = dataset.inputs().rows().collect();
    if n_rows >= all.len() {
        return all;
    }
    let mut chosen = if dataset.inputs().dim() == 1 {
        let mut sorted = all.clone();
        sorted.sort_by(|&a, &b| dataset.inputs().point(a)[0].total_cmp(&dataset.inputs().point(b)[0]));
        let room = sorted.len() - n_rows;
        let begins = (0..WINDOWS).map(|window| window * room / (WINDOWS - 1));
        let windows = begins.map(|begin| sorted[begin..begin + n_rows].to_vec());
        // The first of the best.
        windows.rev().max_by_key(|rows| scarcest(dataset, rows)).unwrap_or_default()
    } else {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut shuffled = all.clone();
        for at in 0..n_rows {
            let other = at + below(&mut generator, shuffled.len() - at);
            shuffled.swap(at, other);
        }
        shuffled.truncate(n_rows);
        shuffled
    };
    chosen.sort_unstable();
    if scarcest(dataset, &chosen) >= 2 { chosen } else { all }
}

/// The smallest number of cells any output has in these rows.
fn scarcest(dataset: &Dataset, rows: &[RowIndex]) -> usize {
    let mut counts = vec![0; dataset.observations().n_outputs()];
    for &row in rows {
        for cell in dataset.observations().row(row) {
            counts[cell.output.get()] += 1;
        }
    }
    counts.into_iter().min().unwrap_or(0)
}
