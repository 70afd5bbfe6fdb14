//! A split of the observed cells into training and held-out cells.
//!
//! Along a single input held-out cells have the pattern of the table's own gaps, since those are what a model has to fill. If
//! there are too few gaps, one contiguous block of every output is held out: short gaps do not reveal overconfidence. With
//! several inputs single cells are held out at random.

use std::collections::HashSet;

use catena::data::{Dataset, Observations};
use catena::index::{OutputIndex, RowIndex};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::gaps::GapPattern;
use super::random::{below, uniform};

/// The fraction of an output's cells that is held out along a line.
const LINE: f64 = 0.15;
/// The fraction of cells that is held out with several inputs.
const SCATTERED: f64 = 0.2;
/// Outputs with fewer cells have none held out.
const FEWEST: usize = 8;

/// Training cells and held-out cells.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) training: Observations,
    /// Row-major places and values.
    pub(crate) held_out: Vec<(usize, f64)>,
}

impl Fold {
    /// Splits the cells of a table; folds with different numbers are independent.
    pub(crate) fn new(dataset: &Dataset, seed: u64, number: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(number + 1);
        let (inputs, observations) = (dataset.inputs(), dataset.observations());
        let n_outputs = observations.n_outputs();
        let is_line = inputs.dim() == 1;
        let mut rows: Vec<RowIndex> = inputs.rows().collect();
        if is_line {
            rows.sort_by(|&a, &b| inputs.point(a)[0].total_cmp(&inputs.point(b)[0]));
        }
        let place = |row: RowIndex, output: OutputIndex| row.get() * n_outputs + output.get();
        let mut held_out = vec![];
        if let Some(gaps) = is_line.then(|| GapPattern::along(&rows, observations)).flatten() {
            for (at, output) in gaps.elsewhere(LINE, &mut generator, FEWEST) {
                let (row, output) = (rows[at], OutputIndex::new(output));
                let cell = observations.row(row).find(|cell| cell.output == output);
                held_out.extend(cell.map(|cell| (place(row, output), cell.value)));
            }
        } else {
            let mut by_output: Vec<Vec<(usize, f64)>> = vec![vec![]; n_outputs];
            for row in rows {
                for cell in observations.row(row) {
                    by_output[cell.output.get()].push((place(row, cell.output), cell.value));
                }
            }
            for cells in by_output.iter().filter(|cells| cells.len() >= FEWEST) {
                if is_line {
                    let length = ((cells.len() as f64 * LINE) as usize).max(1);
                    let begin = below(&mut generator, cells.len() - length + 1);
                    held_out.extend_from_slice(&cells[begin..begin + length]);
                } else {
                    held_out.extend(cells.iter().filter(|_| uniform(&mut generator) < SCATTERED));
                }
            }
        }
        let is_held_out: HashSet<usize> = held_out.iter().map(|(at, _)| *at).collect();
        let training = observations.filter(|row, cell| !is_held_out.contains(&place(row, cell.output)));
        Self { training, held_out }
    }
}
