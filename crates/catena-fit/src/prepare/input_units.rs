//! The scaling of the inputs: median gaps along one input, standard deviations of several.

use catena::data::{DataError, InputPoints, InputScaling};

/// The scaling of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputUnits {
    /// One input: in median gaps from the first point, so that a regular grid stays exact. Several: each column with mean 0 and
    /// standard deviation 1.
    Scaled,
    /// Not scaled.
    AsGiven,
}

/// The median of the positive gaps between sorted values; `None` if all are equal.
pub fn median_gap(places: &[f64]) -> Option<f64> {
    let mut sorted = places.to_vec();
    sorted.sort_by(f64::total_cmp);
    median(sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0).collect())
}

/// The median of the positive gaps between sorted values of the first input within each group; `None` if all are equal.
pub fn median_gap_within_groups(inputs: &InputPoints) -> Option<f64> {
    let mut places: Vec<_> = inputs.rows().map(|row| (inputs.group(row), inputs.point(row)[0])).collect();
    places.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let pairs = places.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    median(pairs.map(|pair| pair[1].1 - pair[0].1).filter(|gap| *gap > 0.0).collect())
}

fn median(mut gaps: Vec<f64>) -> Option<f64> {
    let middle = gaps.len() / 2;
    if gaps.is_empty() { None } else { Some(*gaps.select_nth_unstable_by(middle, f64::total_cmp).1) }
}

/// Shift and scale of each input.
pub(super) fn input_scales(inputs: &InputPoints, units: InputUnits) -> Vec<(f64, f64)> {
    match (units, inputs.dim()) {
        (InputUnits::AsGiven, dim) => vec![(0.0, 1.0); dim],
        (InputUnits::Scaled, 1) => {
            let (first, last) = inputs
                .values()
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
            let gap = median_gap_within_groups(inputs).unwrap_or(1.0);
            let usable = ((last - first) / gap).is_finite();
            vec![(first, if usable { gap } else { 1.0 })]
        }
        (InputUnits::Scaled, _) => {
            let scaling = InputScaling::standardizing(&with_sorted_columns(inputs));
            scaling.shifts().zip(scaling.scales()).collect()
        }
    }
}

/// The inputs with each column sorted. Sums over rows in any order are rounded differently, and a last digit of the scales decides
/// which of several equally distant points is nearest.
fn with_sorted_columns(inputs: &InputPoints) -> InputPoints {
    let dim = inputs.dim();
    let mut values = inputs.values().to_vec();
    for column in 0..dim {
        let mut sorted: Vec<f64> = inputs.values().iter().skip(column).step_by(dim).copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        values.iter_mut().skip(column).step_by(dim).zip(sorted).for_each(|(value, one)| *value = one);
    }
    inputs.with_values(dim, values).unwrap_or_else(|_| inputs.clone())
}

/// Inputs with these shifts and scales.
pub(super) fn scaled_inputs(scales: &[(f64, f64)], inputs: &InputPoints) -> Result<InputPoints, DataError> {
    InputScaling::with_shifts_and_scales(scales)?.apply(inputs)
}
