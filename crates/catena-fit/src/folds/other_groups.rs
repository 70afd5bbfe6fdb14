//! Ridge regression of every output on all outputs of the other groups at the same input.

use std::collections::BTreeMap;

use catena::data::{Cell, Dataset, InputPoints, Observations};
use catena::index::{GroupIndex, OutputIndex, RowIndex};
use catena::prediction::Prediction;
use catena_methods::simple_rules::{RidgeRegression, TrainingMean};

use crate::error::FitError;

/// Regressions on the other groups have at most this many outputs of all groups.
const MOST_OF_GROUPS: usize = 64;
/// They need groups that report at the same inputs: on average this many rows at an input.
const LEAST_TOGETHER: f64 = 1.5;

/// The rows of groups at the same inputs as rows of one wide table.
pub(super) struct Together {
    /// By row of the table: the wide row, and the number of its group.
    places: Vec<(usize, usize)>,
    n_rows: usize,
    n_groups: usize,
}

impl Together {
    pub(super) fn of(inputs: &InputPoints) -> Self {
        let mut wide: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
        let mut groups: BTreeMap<Option<GroupIndex>, usize> = BTreeMap::new();
        let mut place = |row: RowIndex| {
            let point = inputs.point(row).iter().map(|x| (x + 0.0).to_bits()).collect();
            let (next_row, next_group) = (wide.len(), groups.len());
            let at = *wide.entry(point).or_insert(next_row);
            (at, *groups.entry(inputs.group(row)).or_insert(next_group))
        };
        let places: Vec<(usize, usize)> = inputs.rows().map(&mut place).collect();
        Self { places, n_rows: wide.len(), n_groups: groups.len() }
    }

    pub(super) fn suits(&self, n_outputs: usize) -> bool {
        let is_together = self.places.len() as f64 >= LEAST_TOGETHER * self.n_rows as f64;
        self.n_groups > 1 && self.n_groups * n_outputs <= MOST_OF_GROUPS && is_together
    }

    /// Regressions of every output of every group on the others. Of several rows of a group at one input the last counts. An output
    /// that was never observed in a group has its mean over all groups.
    pub(super) fn predict(&self, table: &Dataset) -> Result<Prediction, FitError> {
        let (observations, n_outputs) = (table.observations(), table.observations().n_outputs());
        let n_wide = self.n_groups * n_outputs;
        let mut values = vec![f64::NAN; self.n_rows * n_wide];
        let at = |row: RowIndex, output: usize| {
            let (wide, group) = self.places[row.get()];
            (wide, group * n_outputs + output)
        };
        for (row, cell) in observations.cells() {
            let (wide, column) = at(row, cell.output.get());
            values[wide * n_wide + column] = cell.value;
        }
        let seen: Vec<usize> = (0..n_wide)
            .filter(|column| values.iter().skip(*column).step_by(n_wide).any(|x| !x.is_nan()))
            .collect();
        let cells = |wide: usize| {
            let cell = |(output, column): (usize, &usize)| {
                let value = values[wide * n_wide + column];
                let output = OutputIndex::new(output);
                (!value.is_nan()).then_some(Cell { output, value, noise_variance: None })
            };
            seen.iter().enumerate().filter_map(cell).collect::<Vec<Cell>>()
        };
        let whole = Observations::from_rows(seen.len(), (0..self.n_rows).map(cells))?;
        let found = RidgeRegression::fit(&whole, 1.0)?.predict(&whole)?;
        let rest = TrainingMean::fit(observations)?.predict(table.n_rows())?;
        let (mut means, mut variances) = (rest.means().to_vec(), rest.variances().to_vec());
        for (place, (mean, variance)) in means.iter_mut().zip(&mut variances).enumerate() {
            let (wide, column) = at(RowIndex::new(place / n_outputs), place % n_outputs);
            if let Ok(own) = seen.binary_search(&column) {
                let from = wide * seen.len() + own;
                (*mean, *variance) = (found.means()[from], found.variances()[from]);
            }
        }
        Ok(Prediction::new(table.n_rows(), n_outputs, means, variances)?)
    }
}
