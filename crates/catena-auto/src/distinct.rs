//! The cells that learning may take as separate measurements.
//!
//! A cell that repeats another at the very same place to the last digit is a copy (a stuck sensor, a joined table), not a
//! second measurement: under any noise two measurements differ. Counted as evidence, copies drive the noise to zero and
//! leak hidden cells. They are left out when parameters are learned and models compared; the posterior sees every cell.

use std::borrow::Cow;
use std::collections::HashSet;

use catena::data::{Dataset, Observations};
use catena::index::RowIndex;

use crate::fit::FitError;

/// The table with copies missing, and how many there were.
pub(crate) fn distinct(table: &Dataset) -> Result<(Cow<'_, Dataset>, usize), FitError> {
    let (inputs, observations) = (table.inputs(), table.observations());
    // −0 and 0 are one place; NaN cannot occur.
    let bits = |value: f64| (value + 0.0).to_bits();
    let place = |row: RowIndex| -> Vec<u64> { inputs.point(row).iter().map(|&value| bits(value)).collect() };
    let mut rows: Vec<RowIndex> = inputs.rows().collect();
    rows.sort_by_cached_key(|&row| (place(row), row));
    let n_outputs = observations.n_outputs();
    let mut is_copy = vec![];
    for group in rows.chunk_by(|&a, &b| inputs.point(a) == inputs.point(b)).filter(|group| group.len() > 1) {
        let mut seen = HashSet::new();
        for &row in group {
            for cell in observations.row(row) {
                if !seen.insert((cell.output, bits(cell.value))) {
                    is_copy.push(row.get() * n_outputs + cell.output.get());
                }
            }
        }
    }
    if is_copy.is_empty() {
        return Ok((Cow::Borrowed(table), 0));
    }
    let mut values = vec![f64::NAN; table.n_rows() * n_outputs];
    let mut noise = values.clone();
    for (row, cell) in observations.cells() {
        let at = row.get() * n_outputs + cell.output.get();
        values[at] = cell.value;
        noise[at] = cell.noise_variance.unwrap_or(f64::NAN);
    }
    is_copy.iter().for_each(|&at| values[at] = f64::NAN);
    let mut kept = Observations::from_dense(table.n_rows(), n_outputs, &values)?;
    if observations.has_cell_noise() {
        kept = kept.with_cell_noise(&noise)?;
    }
    Ok((Cow::Owned(Dataset::new(inputs.clone(), kept)?), is_copy.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::InputPoints;

    #[test]
    fn copies_are_missing_and_conflicts_stay() {
        let inputs = InputPoints::from_column(vec![1.0, 0.0, 1.0, 1.0, 2.0]).unwrap();
        let values = [5.0, 7.0, 5.0, 7.0, 5.0, 8.0, 6.0, f64::NAN, 5.0, 7.0];
        let table = Dataset::new(inputs, Observations::from_dense(5, 2, &values).unwrap()).unwrap();
        let (kept, n_copies) = distinct(&table).unwrap();
        // Only the first output of row 2 repeats row 0.
        assert_eq!((n_copies, kept.observations().n_observed()), (1, 8));
        assert!(!kept.observations().is_observed(RowIndex::new(2), catena::index::OutputIndex::new(0)));
        assert_eq!(distinct(&kept).unwrap().1, 0);
    }
}
