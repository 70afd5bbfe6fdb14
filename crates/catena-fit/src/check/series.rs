//! The observed cells of each output in their order along the only input, group by group.

use catena::data::Dataset;
use catena::index::{GroupIndex, RowIndex};

use super::discovery::threshold;
use super::left_out::Cells;
use super::ordinary::OrdinaryErrors;

/// Neighbors on each side with which a cell is compared.
const NEIGHBORS: usize = 2;

/// Consecutive observed cells of one output in one group, by their row-major places.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) output: usize,
    pub(super) cells: Vec<usize>,
}

/// All series of a table; none for several inputs, along which rows have no order.
pub(super) fn series_of(table: &Dataset) -> Vec<Series> {
    let (inputs, observations) = (table.inputs(), table.observations());
    if inputs.dim() != 1 {
        return vec![];
    }
    let n_outputs = observations.n_outputs();
    let group = |row: RowIndex| inputs.group(row).map_or(0, GroupIndex::get);
    let mut order: Vec<RowIndex> = inputs.rows().collect();
    order.sort_by(|a, b| {
        let places = inputs.point(*a)[0].total_cmp(&inputs.point(*b)[0]);
        group(*a).cmp(&group(*b)).then(places).then(a.get().cmp(&b.get()))
    });
    let mut found: Vec<Series> = vec![];
    let mut current: Vec<Option<(usize, usize)>> = vec![None; n_outputs];
    for row in order {
        for cell in observations.row(row) {
            let output = cell.output.get();
            let place = match current[output] {
                Some((own, place)) if own == group(row) => place,
                _ => {
                    found.push(Series { output, cells: vec![] });
                    current[output] = Some((group(row), found.len() - 1));
                    found.len() - 1
                }
            };
            found[place].cells.push(row.get() * n_outputs + output);
        }
    }
    found
}

impl Series {
    /// The cells that are not set aside.
    pub(super) fn without(&self, aside: &Cells) -> Vec<usize> {
        self.cells.iter().copied().filter(|cell| !aside.contains(cell)).collect()
    }
}

/// The cells of an output that are far from the median of their neighbors, judged by the other cells of the output. They are only left
/// out of the first model: a front or a storm is far from its neighbors, too.
pub(super) fn far_from_neighbors<'a>(
    series: impl Iterator<Item = &'a Series>,
    value: impl Fn(usize) -> f64,
) -> Vec<usize> {
    let mut errors: Vec<(usize, f64)> = vec![];
    for Series { cells, .. } in series {
        for (at, cell) in cells.iter().enumerate() {
            let around = at.saturating_sub(NEIGHBORS)..(at + NEIGHBORS + 1).min(cells.len());
            let mut neighbors: Vec<f64> =
                around.filter(|other| *other != at).map(|other| value(cells[other])).collect();
            if neighbors.len() < 2 * NEIGHBORS {
                continue;
            }
            neighbors.sort_by(f64::total_cmp);
            let median = 0.5 * (neighbors[NEIGHBORS - 1] + neighbors[NEIGHBORS]);
            errors.push((*cell, value(*cell) - median));
        }
    }
    let Some(ordinary) = OrdinaryErrors::fitted(errors.iter().map(|(_, error)| *error)) else {
        return vec![];
    };
    let mut tails: Vec<f64> = errors.iter().map(|(_, error)| ordinary.tail(*error)).collect();
    let bound = threshold(&mut tails, errors.len());
    errors.into_iter().filter(|(_, error)| ordinary.tail(*error) <= bound).map(|(cell, _)| cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::{InputPoints, Observations};
    use catena::index::GroupIndex;

    #[test]
    fn series_are_in_the_order_of_their_input_and_end_with_their_group() {
        let nan = f64::NAN;
        let inputs = InputPoints::from_column(vec![3.0, 1.0, 2.0, 0.0]).unwrap();
        let cells = Observations::from_dense(4, 2, &[1.0, 2.0, 3.0, nan, 5.0, 6.0, 7.0, 8.0]).unwrap();
        let series = |output: usize, cells: &[usize]| Series { output, cells: cells.to_vec() };
        let table = Dataset::new(inputs.clone(), cells.clone()).unwrap();
        assert_eq!(series_of(&table), [series(0, &[6, 2, 4, 0]), series(1, &[7, 5, 1])]);
        let groups = [0, 1, 0, 1].map(GroupIndex::new).to_vec();
        let table = Dataset::new(inputs.with_groups(groups).unwrap(), cells).unwrap();
        let expected = [series(0, &[4, 0]), series(1, &[5, 1]), series(0, &[6, 2]), series(1, &[7])];
        assert_eq!(series_of(&table), expected);
    }

    #[test]
    fn a_spike_is_far_from_its_neighbors_and_a_trend_is_not() {
        let values: Vec<f64> = (0..200)
            .map(|at| f64::from(at) + (f64::from(at) * 1.7).sin() + if at == 50 { 90.0 } else { 0.0 })
            .collect();
        let series = [Series { output: 0, cells: (0..200).collect() }];
        assert_eq!(far_from_neighbors(series.iter(), |cell| values[cell]), [50]);
    }
}
