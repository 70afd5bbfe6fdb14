//! A split of the observed cells into training and held-out cells.
//!
//! Held-out cells carry the table's own mask to other places, since its gaps are what a model has to fill: whole lengths, and
//! outputs that are missing together stay together. Along a single input a gap moves along the line; with several inputs it
//! is a group of neighboring rows. A table with too few gaps along a line has blocks of several lengths held out, from single
//! cells to a fifth of the rows; with several inputs single cells are held out at random.
//!
//! Choices depend on the contents of rows and outputs, not on their order.

use std::collections::HashSet;

use catena::data::{Dataset, Observations};
use catena::index::{OutputIndex, RowIndex};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::blocks::random_blocks;
use super::cell::{GroupEnds, HeldOutCell, can_be_held_out};
use super::gaps::{GapPattern, SampleCells};
use super::neighborhoods::Neighborhoods;
use super::random::uniform;

/// The fraction of cells that is held out at random with several inputs.
const SCATTERED: f64 = 0.2;

/// Training cells and held-out cells.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) training: Observations,
    /// Row-major places and values.
    pub(crate) held_out: Vec<(usize, f64)>,
    /// The gap of each held-out cell. Errors within one gap depend on each other.
    pub(crate) gaps: Vec<usize>,
}

impl Fold {
    /// `count` splits of the cells of a sample with the gaps of its table. As far as possible they hold out different cells. With
    /// several inputs the gaps are those of the sample.
    pub(crate) fn several(dataset: &Dataset, table: &Dataset, seed: u64, count: u64) -> Vec<Self> {
        let (inputs, observations) = (dataset.inputs(), dataset.observations());
        let n_outputs = observations.n_outputs();
        let rows = rows_in_order(dataset);
        let outputs = outputs_in_order(observations, &rows);
        let mut times_held_out = vec![0_u8; rows.len() * n_outputs];
        let ends = GroupEnds::of(inputs, &rows);
        let sample = SampleCells::of(&rows, &outputs, observations).within(ends.clone());
        let gaps = match inputs.dim() {
            1 => {
                let rows = rows_in_order(table);
                let ends = GroupEnds::of(table.inputs(), &rows);
                GapPattern::of(&rows, &outputs, table.observations(), &sample).map(|gaps| gaps.within(ends))
            }
            _ => GapPattern::of(&rows, &outputs, observations, &sample),
        };
        let neighborhoods = (gaps.is_some() && inputs.dim() > 1).then(|| Neighborhoods::new(inputs, &rows));
        let fold = |number: u64| {
            let mut generator = ChaCha8Rng::seed_from_u64(seed);
            generator.set_stream(number + 1);
            let cells = match (&gaps, &neighborhoods) {
                (Some(gaps), None) => gaps.along_line(&sample, &mut times_held_out, &mut generator),
                (Some(gaps), Some(neighborhoods)) => {
                    gaps.among_neighbors(&sample, neighborhoods, &mut times_held_out, &mut generator)
                }
                (None, _) if inputs.dim() == 1 => {
                    random_blocks(observations, (&rows, &ends), &outputs, &mut generator)
                }
                (None, _) => scattered(observations, &rows, &outputs, &mut generator),
            };
            Self::new(observations, &rows, &outputs, cells)
        };
        (0..count).map(fold).collect()
    }

    fn new(
        observations: &Observations,
        rows: &[RowIndex],
        outputs: &[OutputIndex],
        cells: Vec<HeldOutCell>,
    ) -> Self {
        let n_outputs = observations.n_outputs();
        let place = |row: RowIndex, output: OutputIndex| row.get() * n_outputs + output.get();
        let (mut held_out, mut gaps) = (vec![], vec![]);
        for (at, output, gap) in cells {
            let (row, output) = (rows[at], outputs[output]);
            if let Some(cell) = observations.row(row).find(|cell| cell.output == output) {
                held_out.push((place(row, output), cell.value));
                gaps.push(gap);
            }
        }
        let is_held_out: HashSet<usize> = held_out.iter().map(|(at, _)| *at).collect();
        let training = observations.filter(|row, cell| !is_held_out.contains(&place(row, cell.output)));
        Self { training, held_out, gaps }
    }
}

/// Rows sorted by their groups and inputs, then by their cells.
fn rows_in_order(dataset: &Dataset) -> Vec<RowIndex> {
    let (inputs, observations) = (dataset.inputs(), dataset.observations());
    let mut rows: Vec<RowIndex> = inputs.rows().collect();
    let sum = |row: RowIndex| observations.row(row).map(|cell| cell.value).sum::<f64>();
    rows.sort_by(|&a, &b| {
        let coordinates = inputs.point(a).iter().zip(inputs.point(b));
        let by_inputs = coordinates.map(|(x, y)| x.total_cmp(y)).find(|order| order.is_ne());
        let by_group = Some(inputs.group(a).cmp(&inputs.group(b))).filter(|order| order.is_ne());
        by_group.or(by_inputs).unwrap_or_else(|| sum(a).total_cmp(&sum(b)))
    });
    rows
}

/// Outputs sorted by their numbers of cells, then by their values along the rows.
fn outputs_in_order(observations: &Observations, rows: &[RowIndex]) -> Vec<OutputIndex> {
    let mut keys = vec![(0_usize, 0.0_f64); observations.n_outputs()];
    for (place, &row) in rows.iter().enumerate() {
        for cell in observations.row(row) {
            let (count, sum) = &mut keys[cell.output.get()];
            *count += 1;
            // Weights along the rows tell outputs with the same values in another order apart.
            *sum += cell.value * (1.0 + place as f64 / rows.len() as f64);
        }
    }
    let mut outputs: Vec<OutputIndex> = (0..keys.len()).map(OutputIndex::new).collect();
    outputs.sort_by(|a, b| {
        let (one, other) = (keys[a.get()], keys[b.get()]);
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    outputs
}

/// Single cells at random, each a gap of its own.
fn scattered(
    observations: &Observations,
    rows: &[RowIndex],
    outputs: &[OutputIndex],
    generator: &mut ChaCha8Rng,
) -> Vec<HeldOutCell> {
    let can_be = can_be_held_out(observations);
    let mut cells: Vec<HeldOutCell> = vec![];
    for (number, output) in outputs.iter().enumerate().filter(|(_, output)| can_be[output.get()]) {
        for (at, &row) in rows.iter().enumerate() {
            if observations.is_observed(row, *output) && uniform(generator) < SCATTERED {
                cells.push((at, number, cells.len()));
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::InputPoints;

    /// Two outputs over 400 rows of a plane or a line; the second has a gap of 60 rows.
    fn table(dim: usize, order: impl Fn(usize) -> usize, swapped: bool) -> Dataset {
        let n_rows = 400;
        let place = |row: usize| [row as f64, ((row * 7) % 13) as f64];
        let inputs: Vec<f64> = (0..n_rows).flat_map(|at| place(order(at))[..dim].to_vec()).collect();
        let values = |at: usize| {
            let row = order(at);
            let second = if (100..160).contains(&row) { f64::NAN } else { (row as f64).cos() };
            if swapped { [second, (row as f64).sin()] } else { [(row as f64).sin(), second] }
        };
        let observations =
            Observations::from_dense(n_rows, 2, &(0..n_rows).flat_map(values).collect::<Vec<_>>()).unwrap();
        Dataset::new(InputPoints::new(n_rows, dim, inputs).unwrap(), observations).unwrap()
    }

    fn held_out_values(dataset: &Dataset) -> Vec<Vec<u64>> {
        let values = |fold: Fold| {
            let mut values: Vec<u64> = fold.held_out.iter().map(|(_, value)| value.to_bits()).collect();
            values.sort_unstable();
            values
        };
        Fold::several(dataset, dataset, 3, 3).into_iter().map(values).collect()
    }

    #[test]
    fn folds_depend_on_the_contents_and_not_on_the_order_of_rows_and_columns() {
        for dim in [1, 2] {
            let plain = held_out_values(&table(dim, |row| row, false));
            assert!(plain.iter().all(|values| !values.is_empty()));
            assert_eq!(plain, held_out_values(&table(dim, |row| 399 - row, false)), "rows, {dim} inputs");
            assert_eq!(
                plain,
                held_out_values(&table(dim, |row| (row * 7) % 400, true)),
                "columns, {dim} inputs"
            );
        }
    }

    #[test]
    fn no_cells_of_a_constant_output_are_held_out() {
        for (dim, has_gap) in [(1, true), (1, false), (2, true), (2, false)] {
            let plain = table(dim, |row| row, false);
            let values: Vec<f64> = (0..400)
                .flat_map(|row| {
                    [7.0, if has_gap && (100..160).contains(&row) { f64::NAN } else { row as f64 }]
                })
                .collect();
            let observations = Observations::from_dense(400, 2, &values).unwrap();
            let constant = Dataset::new(plain.inputs().clone(), observations).unwrap();
            for fold in Fold::several(&constant, &constant, 5, 2) {
                assert!(!fold.held_out.is_empty());
                assert!(fold.held_out.iter().all(|(at, _)| at % 2 == 1), "{dim} inputs, gap: {has_gap}");
            }
        }
    }

    #[test]
    fn training_and_held_out_cells_are_all_cells() {
        let table = table(1, |row| row, false);
        for fold in Fold::several(&table, &table, 1, 4) {
            assert_eq!(fold.training.n_observed() + fold.held_out.len(), table.observations().n_observed());
            assert_eq!(fold.held_out.len(), fold.gaps.len());
        }
    }
}
