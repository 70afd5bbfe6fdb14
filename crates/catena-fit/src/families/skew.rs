//! Outputs whose logarithm is a candidate.

use catena::data::Observations;
use catena::index::OutputIndex;

/// The smallest skewness of a candidate.
const SKEWED: f64 = 1.0;

/// By output, whether all of its cells are positive.
pub(super) fn positive_outputs(observations: &Observations) -> Vec<bool> {
    let mut positive = vec![true; observations.n_outputs()];
    for (_, cell) in observations.cells() {
        positive[cell.output.get()] &= cell.value > 0.0;
    }
    positive
}

/// Positive outputs whose values are skewed and whose logarithms are less so.
pub(super) fn skewed_outputs(observations: &Observations) -> Vec<OutputIndex> {
    if observations.has_cell_noise() {
        return vec![];
    }
    let mut values = vec![vec![]; observations.n_outputs()];
    for (_, cell) in observations.cells() {
        values[cell.output.get()].push(cell.value);
    }
    let is_candidate = |values: &[f64]| {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        values.len() >= 20
            && values.iter().all(|value| *value > 0.0)
            && skewness(values) > SKEWED
            && skewness(&logs).abs() < skewness(values)
    };
    (0..values.len()).filter(|&output| is_candidate(&values[output])).map(OutputIndex::new).collect()
}

fn skewness(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let moment = |power: i32| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / count;
    moment(3) / moment(2).powf(1.5)
}
