//! Removal of copied cells before learning.
//!
//! A row that repeats another row at the same inputs to the last digit, in every cell that both have, is a copy (a stuck
//! sensor, a joined table) and not a second measurement, which would differ by noise. Copies would drive the noise to zero and
//! leak held-out cells. They are left out of learning and comparisons; the posterior uses all cells.
//!
//! A single equal cell is not enough, since counts and rounded readings repeat by chance. Two cells of a row must be equal or,
//! in a table of one output, values must rarely repeat elsewhere.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use catena::data::{Dataset, Observations};
use catena::index::{OutputIndex, RowIndex};

use crate::error::FitError;

/// With a single output, equal values count as copies if this fraction of values at different inputs is distinct.
const NEARLY_ALL: f64 = 0.9;

/// An output and the bits of its value.
type Bits = (OutputIndex, u64);

/// The table without copied cells, and their number.
pub(crate) fn without_copies(table: &Dataset) -> Result<(Cow<'_, Dataset>, usize), FitError> {
    let (inputs, observations) = (table.inputs(), table.observations());
    let place = |row: RowIndex| {
        (inputs.group(row), inputs.point(row).iter().map(|&value| bits(value)).collect::<Vec<u64>>())
    };
    let mut rows: Vec<RowIndex> = inputs.rows().collect();
    rows.sort_by_cached_key(|&row| (place(row), row));
    let is_same = |&a: &RowIndex, &b: &RowIndex| {
        inputs.group(a) == inputs.group(b) && inputs.point(a) == inputs.point(b)
    };
    let groups: Vec<&[RowIndex]> = rows.chunk_by(is_same).collect();
    let n_outputs = observations.n_outputs();
    let needed = if n_outputs > 1 { 2 } else { 1 };
    let mut copies = vec![];
    if n_outputs > 1 || hardly_repeats(observations, &groups) {
        for group in groups.iter().filter(|group| group.len() > 1) {
            let mut seen = Seen::default();
            for &row in *group {
                let cells = observations.row(row).map(|cell| (cell.output, bits(cell.value))).collect();
                let copied = seen.copied_outputs(cells, needed);
                copies.extend(copied.into_iter().map(|output| (row, output)));
            }
        }
    }
    if copies.is_empty() {
        return Ok((Cow::Borrowed(table), 0));
    }
    let is_copy: HashSet<(RowIndex, OutputIndex)> = copies.into_iter().collect();
    let kept = observations.filter(|row, cell| !is_copy.contains(&(row, cell.output)));
    Ok((Cow::Owned(Dataset::new(inputs.clone(), kept)?), is_copy.len()))
}

/// Bits in which −0 and 0 are equal.
fn bits(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

/// Whether nearly all values of the only output at different inputs are distinct.
fn hardly_repeats(observations: &Observations, groups: &[&[RowIndex]]) -> bool {
    let mut different = HashSet::new();
    let mut n_cells = 0;
    for group in groups {
        let cells = group.iter().flat_map(|&row| observations.row(row)).map(|cell| bits(cell.value));
        let here: HashSet<u64> = cells.collect();
        n_cells += here.len();
        different.extend(here);
    }
    different.len() as f64 >= NEARLY_ALL * n_cells as f64
}

/// Distinct rows at the same inputs, and the rows that contain each cell.
#[derive(Default)]
struct Seen {
    rows: Vec<Vec<Bits>>,
    holders: HashMap<Bits, Vec<usize>>,
}

impl Seen {
    /// The outputs of a row that copy an earlier row with at least `needed` cells. The row is kept if not all of them do.
    fn copied_outputs(&mut self, cells: Vec<Bits>, needed: usize) -> Vec<OutputIndex> {
        let mut lists: Vec<&Vec<usize>> = cells.iter().filter_map(|cell| self.holders.get(cell)).collect();
        // A row that shares two cells is in two lists, so the longest list need not be searched.
        lists.sort_by_key(|list| list.len());
        lists.truncate((lists.len() + 1).saturating_sub(needed));
        let original = lists.into_iter().flatten().map(|&at| &self.rows[at]).find(|earlier| {
            let of = |output: OutputIndex| earlier.iter().find(|(other, _)| *other == output);
            let both = || cells.iter().filter_map(|cell| Some((cell, of(cell.0)?)));
            both().count() >= needed && both().all(|(cell, other)| cell == other)
        });
        let is_copied = |cell: &&Bits| original.is_some_and(|original| original.contains(cell));
        let copied: Vec<OutputIndex> = cells.iter().filter(is_copied).map(|(output, _)| *output).collect();
        if copied.len() < cells.len() {
            cells.iter().for_each(|&cell| self.holders.entry(cell).or_default().push(self.rows.len()));
            self.rows.push(cells);
        }
        copied
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::InputPoints;

    fn table(places: Vec<f64>, n_outputs: usize, values: &[f64]) -> Dataset {
        let observations = Observations::from_dense(places.len(), n_outputs, values).unwrap();
        Dataset::new(InputPoints::from_column(places).unwrap(), observations).unwrap()
    }

    #[test]
    fn copied_rows_are_missing_and_conflicts_stay() {
        let nan = f64::NAN;
        let values = [
            [5.0, 7.0, 1.0],
            [5.0, 7.0, 1.0],
            // Repeats the first row in one cell and differs in another.
            [5.0, 8.0, 1.5],
            // Repeats it in both cells that it has.
            [5.0, 7.0, nan],
            // One cell alone may be chance.
            [5.0, nan, nan],
            [5.0, 7.0, 1.0],
        ];
        let table = table(vec![1.0, 0.0, 1.0, 1.0, 1.0, 2.0], 3, &values.concat());
        let (kept, n_copies) = without_copies(&table).unwrap();
        assert_eq!((n_copies, kept.observations().n_observed()), (2, 13));
        assert_eq!(kept.observations().row(RowIndex::new(3)).len(), 0);
        assert_eq!(without_copies(&kept).unwrap().1, 0);
    }

    #[test]
    fn replicates_of_coarse_values_are_measurements() {
        // Ten answers of yes or no at each of three places.
        let answers = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0];
        let places: Vec<f64> = (0..30).map(|at| f64::from(at / 10)).collect();
        assert_eq!(without_copies(&table(places, 1, &answers.repeat(3))).unwrap().1, 0);
        // A counter beside a measurement with noise.
        let values: Vec<f64> = (0..20).flat_map(|at| [3.0, 0.1 + 0.37 * f64::from(at)]).collect();
        assert_eq!(without_copies(&table(vec![1.0; 20], 2, &values)).unwrap().1, 0);
    }

    #[test]
    fn a_stuck_logger_of_one_output_is_seen() {
        let places: Vec<f64> = (0..40).map(|at| f64::from(at / 2)).collect();
        let values: Vec<f64> = (0..40).map(|at| (f64::from(at / 2) * 0.7).sin()).collect();
        assert_eq!(without_copies(&table(places, 1, &values)).unwrap().1, 20);
    }
}
