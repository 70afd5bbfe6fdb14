//! Samples of rows on which models are compared or learned.

use catena::data::Dataset;
use catena::index::RowIndex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::random::below;
use crate::error::FitError;
use crate::options::StructureOption;
use crate::prepare::PreparedTable;

/// Windows that are compared along a line.
const WINDOWS: usize = 16;
/// Stretches of a long table from which a model is learned.
const STRETCHES: usize = 8;
/// Rows are added until every output has this many cells, or all of its cells.
const FEWEST: usize = 8;

/// About `n_rows` rows, in the table's order: along a single input the window in which the scarcest output has most cells, so
/// that gaps and spacing are kept; else random rows. For outputs with fewer than 8 cells in them the nearest rows with cells
/// are added.
pub(crate) fn representative_rows(dataset: &Dataset, n_rows: usize, seed: u64) -> Vec<RowIndex> {
    let all: Vec<RowIndex> = dataset.inputs().rows().collect();
    if n_rows >= all.len() {
        return all;
    }
    if dataset.inputs().dim() > 1 {
        return random_rows(dataset, n_rows, seed);
    }
    let place = |row: RowIndex| dataset.inputs().point(row)[0];
    let mut sorted = all;
    // Groups stay together, so that a window has whole groups.
    let group = |row: RowIndex| dataset.inputs().group(row);
    sorted.sort_by(|&a, &b| group(a).cmp(&group(b)).then(place(a).total_cmp(&place(b))));
    let room = sorted.len() - n_rows;
    let begins = (0..WINDOWS).map(|window| window * room / (WINDOWS - 1));
    // The first of the best.
    let begin = begins.rev().max_by_key(|&begin| scarcest(dataset, &sorted[begin..begin + n_rows]));
    let mut others = sorted;
    let begin = begin.unwrap_or(0);
    let window: Vec<RowIndex> = others.drain(begin..begin + n_rows).collect();
    let (Some(&first), Some(&last)) = (window.first(), window.last()) else { return others };
    let away = |row: RowIndex| (place(first) - place(row)).max(place(row) - place(last));
    others.sort_by(|&a, &b| away(a).total_cmp(&away(b)).then(a.cmp(&b)));
    topped_up(dataset, window, &others, FEWEST)
}

/// About `n_rows` rows in stretches of consecutive rows along a single input, evenly spaced over the table and in its order: gaps
/// and spacing are kept, and all times of the table take part. For scarce outputs the first other rows with cells are added.
fn stretches_of_rows(dataset: &Dataset, n_rows: usize) -> Vec<RowIndex> {
    let mut sorted: Vec<RowIndex> = dataset.inputs().rows().collect();
    if n_rows >= sorted.len() {
        return sorted;
    }
    let key = |row: RowIndex| (dataset.inputs().group(row), dataset.inputs().point(row)[0]);
    sorted.sort_by(|&a, &b| {
        let (a, b) = (key(a), key(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let length = n_rows.div_ceil(STRETCHES);
    let begin = |stretch: usize| stretch * (sorted.len() - length) / (STRETCHES - 1);
    let mut is_chosen = vec![false; sorted.len()];
    (0..STRETCHES).for_each(|stretch| is_chosen[begin(stretch)..][..length].fill(true));
    let rows = |chosen: bool| {
        let own = sorted.iter().zip(&is_chosen).filter(move |(_, is_chosen)| **is_chosen == chosen);
        own.map(|(row, _)| *row).collect::<Vec<_>>()
    };
    topped_up(dataset, rows(true), &rows(false), FEWEST)
}

/// A prepared table of about `n_rows` rows in stretches, from which a model along a line is learned; `None` for the whole table.
pub(crate) fn in_stretches(
    table: &PreparedTable,
    n_rows: usize,
    structure: StructureOption,
) -> Result<Option<PreparedTable>, FitError> {
    let dataset = &table.dataset;
    if dataset.inputs().dim() > 1 || dataset.n_rows() <= n_rows {
        return Ok(None);
    }
    let part = dataset.select_rows(&stretches_of_rows(dataset, n_rows))?;
    Ok(Some(PreparedTable::new(part, structure)?))
}

/// About `n_rows` random rows, in the table's order, and rows with cells of scarce outputs.
pub(crate) fn random_rows(dataset: &Dataset, n_rows: usize, seed: u64) -> Vec<RowIndex> {
    let mut shuffled: Vec<RowIndex> = dataset.inputs().rows().collect();
    if n_rows >= shuffled.len() {
        return shuffled;
    }
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    for at in 0..shuffled.len() {
        let other = at + below(&mut generator, shuffled.len() - at);
        shuffled.swap(at, other);
    }
    let others = shuffled.split_off(n_rows);
    topped_up(dataset, shuffled, &others, FEWEST)
}

/// The chosen rows, in the table's order, with the first of the others that bring every output to `fewest` cells.
pub(crate) fn topped_up(
    dataset: &Dataset,
    mut chosen: Vec<RowIndex>,
    others: &[RowIndex],
    fewest: usize,
) -> Vec<RowIndex> {
    let mut counts = counts(dataset, &chosen);
    for &row in others {
        if counts.iter().all(|count| *count >= fewest) {
            break;
        }
        let cells = || dataset.observations().row(row).map(|cell| cell.output.get());
        if cells().any(|output| counts[output] < fewest) {
            cells().for_each(|output| counts[output] += 1);
            chosen.push(row);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// The number of cells of each output in these rows.
fn counts(dataset: &Dataset, rows: &[RowIndex]) -> Vec<usize> {
    let mut counts = vec![0; dataset.observations().n_outputs()];
    for &row in rows {
        for cell in dataset.observations().row(row) {
            counts[cell.output.get()] += 1;
        }
    }
    counts
}

/// The smallest number of cells of any output in these rows.
fn scarcest(dataset: &Dataset, rows: &[RowIndex]) -> usize {
    counts(dataset, rows).into_iter().min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::{InputPoints, Observations};

    #[test]
    fn stretches_are_spread_over_the_table() {
        let n_rows = 10_000;
        let values: Vec<f64> = (0..n_rows).map(|row| row as f64).collect();
        let inputs = InputPoints::from_column((0..n_rows).rev().map(|row| row as f64).collect()).unwrap();
        let table = Dataset::new(inputs, Observations::from_dense(n_rows, 1, &values).unwrap()).unwrap();
        let rows: Vec<usize> = stretches_of_rows(&table, 800).iter().map(|row| row.get()).collect();
        assert!(rows.is_sorted() && rows.len() == 800 && rows[0] == 0 && rows[799] == n_rows - 1);
        let jumps = rows.windows(2).filter(|pair| pair[1] - pair[0] > 1).count();
        assert_eq!(jumps, STRETCHES - 1);
        assert!(rows.windows(2).all(|pair| pair[1] - pair[0] < 1400));
        assert_eq!(stretches_of_rows(&table, n_rows).len(), n_rows);
    }

    /// A value every week among values every minute: no window has two of them, and no part may be the whole table.
    #[test]
    fn a_sparse_output_brings_rows_and_not_the_whole_table() {
        let (n_rows, week) = (60_000, 10_080);
        let values: Vec<f64> =
            (0..n_rows).flat_map(|row| [row as f64, if row % week == 0 { 1.0 } else { f64::NAN }]).collect();
        let observations = Observations::from_dense(n_rows, 2, &values).unwrap();
        for dim in [1, 2] {
            let places = (0..n_rows).flat_map(|row| [row as f64, 0.0][..dim].to_vec()).collect();
            let inputs = InputPoints::new(n_rows, dim, places).unwrap();
            let table = Dataset::new(inputs, observations.clone()).unwrap();
            for rows in [
                representative_rows(&table, 500, 3),
                random_rows(&table, 500, 3),
                stretches_of_rows(&table, 500),
            ] {
                assert!(rows.len() <= 510 + 8 * 2, "{}", rows.len());
                assert!(rows.is_sorted() && rows.windows(2).all(|pair| pair[0] != pair[1]));
                // All six there are.
                assert_eq!(scarcest(&table, &rows), 6);
            }
        }
    }
}
