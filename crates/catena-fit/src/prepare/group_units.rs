//! Means and scales of each group's own cells.

use std::collections::BTreeMap;

use catena::data::{ColumnMoments, InputPoints};
use catena::index::RowIndex;

use super::output_transform::OutputTransform;

/// The fewest values of a group from which its mean, and its scale, are taken.
const FEWEST_FOR_MEAN: usize = 3;
const FEWEST_FOR_SCALE: usize = 8;

/// Adds the transforms of an output with the mean and scale of each group, by group and output. Groups with few values have the
/// median scale of all groups.
pub(super) fn add_own_of_groups(
    own: &mut BTreeMap<usize, BTreeMap<usize, OutputTransform>>,
    scaled: &InputPoints,
    output: usize,
    shared: &OutputTransform,
    cells: &[(RowIndex, f64)],
) {
    let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for &(row, value) in cells {
        if let Some(group) = scaled.group(row) {
            values.entry(group.get()).or_default().push(value - shared.along(scaled.point(row)));
        }
    }
    let with_moments =
        |(group, values): (usize, Vec<f64>)| (group, values.len(), ColumnMoments::of(values.iter().copied()));
    let moments: Vec<(usize, usize, ColumnMoments)> = values.into_iter().map(with_moments).collect();
    let is_usable = |n_values: usize, deviation: f64| n_values >= FEWEST_FOR_SCALE && deviation.is_finite();
    let usable = moments.iter().filter_map(|(_, n_values, moments)| {
        moments.deviation.filter(|deviation| is_usable(*n_values, *deviation))
    });
    let mut usable: Vec<f64> = usable.collect();
    usable.sort_by(f64::total_cmp);
    let median = usable.get(usable.len() / 2).copied().unwrap_or(shared.scale);
    for (group, n_values, ColumnMoments { mean, deviation }) in moments {
        if n_values < FEWEST_FOR_MEAN {
            continue;
        }
        let own_scale = deviation.filter(|deviation| is_usable(n_values, *deviation));
        let scale = own_scale.unwrap_or(median);
        let transform = OutputTransform { intercept: mean, scale, ..shared.clone() };
        own.entry(group).or_default().insert(output, transform);
    }
}
