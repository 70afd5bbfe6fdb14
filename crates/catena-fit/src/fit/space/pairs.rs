//! The length-scale between places by the correlations of all pairs of places, where learning begins.

use catena::data::Dataset;

use crate::space::Places;

/// Times from which correlations are computed, at most.
const MOST_TIMES: usize = 500;
/// A pair has at least this many common times.
const FEWEST_COMMON: usize = 8;
/// Correlations beyond these say no more than that the length-scale is short or long.
const CORRELATIONS: [f64; 2] = [0.01, 0.9999];

/// The median over pairs and outputs of the ℓ with exp(−distance/ℓ) equal to the correlation of the pair over time; `None` if no pair has
/// enough common times. Output d of place p is output p·D + d of the table of times.
pub(super) fn length_scale_of_pairs(times: &Dataset, places: &Places) -> Option<f64> {
    let (n_places, width) = (places.len(), times.observations().n_outputs());
    let n_outputs = width / n_places;
    let step = times.n_rows().div_ceil(MOST_TIMES).max(1);
    let rows: Vec<_> = times.inputs().rows().step_by(step).collect();
    let mut values = vec![f64::NAN; width * rows.len()];
    for (at, row) in rows.iter().enumerate() {
        for cell in times.observations().row(*row) {
            values[cell.output.get() * rows.len() + at] = cell.value;
        }
    }
    let column =
        |place: usize, output: usize| &values[(place * n_outputs + output) * rows.len()..][..rows.len()];
    let distances = places.distances();
    let mut found = vec![];
    for one in 0..n_places {
        for other in 0..one {
            for output in 0..n_outputs {
                if let Some(correlation) = correlation(column(one, output), column(other, output)) {
                    found.push(
                        -distances[one * n_places + other]
                            / correlation.clamp(CORRELATIONS[0], CORRELATIONS[1]).ln(),
                    );
                }
            }
        }
    }
    let middle = found.len() / 2;
    (!found.is_empty()).then(|| *found.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// The correlation of two columns over their common rows; NaN is missing.
fn correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let common = || one.iter().zip(other).filter(|(a, b)| !a.is_nan() && !b.is_nan());
    let count = common().count();
    if count < FEWEST_COMMON {
        return None;
    }
    let mean = |sum: f64| sum / count as f64;
    let (a, b) = (mean(common().map(|(a, _)| a).sum()), mean(common().map(|(_, b)| b).sum()));
    let product: f64 = common().map(|(x, y)| (x - a) * (y - b)).sum();
    let squares: f64 = common().map(|(x, _)| (x - a).powi(2)).sum::<f64>()
        * common().map(|(_, y)| (y - b).powi(2)).sum::<f64>();
    Some(product / squares.sqrt()).filter(|correlation| correlation.is_finite())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;
    use crate::space::{Geometry, Pivot};
    use catena::data::{InputPoints, Observations};

    #[test]
    fn the_length_scale_is_that_of_the_correlation_of_pairs() {
        // Three places on a line with independent steps: values at distance 1 have correlation 0.8.
        let n_times = 4000;
        let mut state = 1_u64;
        let mut normal = || -> f64 {
            let mut uniform = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1_u64 << 53) as f64
            };
            (0..12).map(|_| uniform()).sum::<f64>() - 6.0
        };
        let (mut inputs, mut values) = (vec![], vec![]);
        for time in 0..n_times {
            let mut value = normal();
            for place in 0..3 {
                inputs.extend([f64::from(place), f64::from(time)]);
                values.push(value);
                value = 0.8 * value + 0.6 * normal();
            }
        }
        let count = values.len();
        let inputs = InputPoints::new(count, 2, inputs).unwrap();
        let table = Dataset::new(inputs, Observations::from_dense(count, 1, &values).unwrap()).unwrap();
        let places = Places::of(table.inputs(), Geometry::Plane);
        let found = length_scale_of_pairs(&Pivot::new(&table, &places).unwrap().table, &places).unwrap();
        assert!((found / (-1.0 / 0.8_f64.ln()) - 1.0).abs() < 0.2, "{found}");
    }
}
