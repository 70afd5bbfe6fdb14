//! Cells hidden from learning, to judge models by: along a line in the shape of the table's own holes, or in blocks if it
//! has none; single cells elsewhere.

use catena::data::{Dataset, Observations};
use catena::index::{OutputIndex, RowIndex};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::holes::GapPattern;
use crate::error::FitError;

/// The share of an output's cells that are hidden along a line.
const LINE: f64 = 0.15;
/// The share of cells that are hidden one by one.
const SCATTERED: f64 = 0.2;
/// Outputs with fewer cells are not hidden: nothing would be left to learn from.
const FEWEST: usize = 8;

/// Cells that are left, and cells that were hidden.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) left: Observations,
    /// Row-major places and values.
    pub(crate) held_out_cells: Vec<(usize, f64)>,
}

/// Hides cells of a table. Along a single input they lie as the table's own holes do, for those are what will be asked. If
/// there are too few to tell, one contiguous block of every output is hidden, since short holes do not expose overconfidence.
/// For several inputs single cells are hidden at random.
pub(crate) fn fold(dataset: &Dataset, seed: u64, mask: u64) -> Result<Fold, FitError> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(mask + 1);
    let (inputs, observations) = (dataset.inputs(), dataset.observations());
    let (n_rows, n_outputs) = (observations.n_rows(), observations.n_outputs());
    let mut rows: Vec<RowIndex> = inputs.rows().collect();
    if inputs.dim() == 1 {
        rows.sort_by(|&a, &b| inputs.point(a)[0].total_cmp(&inputs.point(b)[0]));
    }
    let holes = if inputs.dim() == 1 { GapPattern::along(&rows, observations) } else { None };
    let mut held_out_cells = vec![];
    if let Some(holes) = holes {
        for (place, output) in holes.elsewhere(LINE, &mut generator, FEWEST) {
            let (row, output) = (rows[place], OutputIndex::new(output));
            let cell = observations.row(row).find(|cell| cell.output == output);
            held_out_cells.extend(cell.map(|cell| (row.get() * n_outputs + output.get(), cell.value)));
        }
    } else {
        let mut cells: Vec<Vec<(usize, f64)>> = vec![vec![]; n_outputs];
        for row in rows {
            for cell in observations.row(row) {
                cells[cell.output.get()].push((row.get() * n_outputs + cell.output.get(), cell.value));
            }
        }
        for cells in cells.iter().filter(|cells| cells.len() >= FEWEST) {
            if inputs.dim() == 1 {
                let length = ((cells.len() as f64 * LINE) as usize).max(1);
                let begin = below(&mut generator, cells.len() - length + 1);
                held_out_cells.extend_from_slice(&cells[begin..begin + length]);
            } else {
                held_out_cells.extend(cells.iter().filter(|_| uniform(&mut generator) < SCATTERED));
            }
        }
    }
    let mut is_hidden = vec![false; n_rows * n_outputs];
    held_out_cells.iter().for_each(|(place, _)| is_hidden[*place] = true);
    let mut values = vec![f64::NAN; n_rows * n_outputs];
    let mut noise = if observations.has_cell_noise() { values.clone() } else { vec![] };
    for (row, cell) in observations.cells() {
        let place = row.get() * n_outputs + cell.output.get();
        if !is_hidden[place] {
            values[place] = cell.value;
            if let Some(variance) = cell.noise_variance {
                noise[place] = variance;
            }
        }
    }
    let mut left = Observations::from_dense(n_rows, n_outputs, &values)?;
    if observations.has_cell_noise() {
        left = left.with_cell_noise(&noise)?;
    }
    Ok(Fold { left, held_out_cells })
}

/// A number in 0..bound; the bias of at most bound/2⁶⁴ does not matter here.
pub(crate) fn below(generator: &mut ChaCha8Rng, bound: usize) -> usize {
    (generator.next_u64() % bound.max(1) as u64) as usize
}

fn uniform(generator: &mut ChaCha8Rng) -> f64 {
    (generator.next_u64() >> 11) as f64 * (0.5_f64).powi(53)
}
