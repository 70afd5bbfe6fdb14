//! Scores of predictive distributions on known values, over some cells of a table.

use crate::normal::{cumulative, density};
use crate::prepare::Predictive;

/// Scores over some cells of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// The number of cells.
    pub n_cells: usize,
    /// Root mean squared error, each output in units of its own scale.
    pub rmse: f64,
    /// Mean log predictive density per cell in nats, outputs in the same units; larger is better.
    pub log_score: f64,
    /// Mean continuous ranked probability score, in the same units.
    pub crps: f64,
    /// The fraction of cells inside the central 95 % interval.
    pub coverage: f64,
}

/// Scores of the cells `(place, value)` with row-major places; each output is in units of its scale. Without cells all scores
/// are NaN.
///
/// # Panics
/// When a place is outside the prediction, or `scales` does not have one entry per output.
pub fn score(
    predictive: &Predictive,
    cells: impl IntoIterator<Item = (usize, f64)>,
    scales: &[f64],
) -> Scores {
    let (mut n_cells, mut squares, mut log_densities, mut crps, mut inside) = (0, 0.0, 0.0, 0.0, 0.0);
    for (at, truth) in cells {
        let scale = scales[at % scales.len()];
        let (mean, deviation) = (predictive.mean(at), predictive.deviation(at));
        let error = (truth - mean) / scale;
        squares += error * error;
        log_densities += predictive.log_density(at, truth) + scale.ln();
        crps += normal_crps(truth, mean, deviation) / scale;
        let below = predictive.probability_below(at, truth);
        inside += f64::from(u8::from((0.025..=0.975).contains(&below)));
        n_cells += 1;
    }
    let count = n_cells as f64;
    Scores {
        n_cells,
        rmse: (squares / count).sqrt(),
        log_score: log_densities / count,
        crps: crps / count,
        coverage: inside / count,
    }
}

/// Scores over several sets of cells together.
pub(crate) fn pooled(scores: &[Scores]) -> Scores {
    let scores: Vec<&Scores> = scores.iter().filter(|scores| scores.n_cells > 0).collect();
    let n_cells: usize = scores.iter().map(|scores| scores.n_cells).sum();
    let mean = |of: &dyn Fn(&Scores) -> f64| {
        scores.iter().map(|scores| of(scores) * scores.n_cells as f64).sum::<f64>() / n_cells as f64
    };
    Scores {
        n_cells,
        rmse: mean(&|scores| scores.rmse * scores.rmse).sqrt(),
        log_score: mean(&|scores| scores.log_score),
        crps: mean(&|scores| scores.crps),
        coverage: mean(&|scores| scores.coverage),
    }
}

/// Whether a score is better than the best so far by more than a margin. NaN is worse than any number.
pub(crate) fn is_better(score: f64, best: f64, margin: f64) -> bool {
    score > best + margin || (best.is_nan() && !score.is_nan())
}

/// The continuous ranked probability score of a normal distribution, in the units of the value.
pub fn normal_crps(value: f64, mean: f64, deviation: f64) -> f64 {
    if deviation <= 0.0 {
        return (value - mean).abs();
    }
    let z = (value - mean) / deviation;
    deviation * (z * (2.0 * cumulative(z) - 1.0) + 2.0 * density(z) - std::f64::consts::PI.sqrt().recip())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

    #[test]
    fn scores_of_two_cells_by_hand() {
        let predictive = Predictive::normal(2, vec![1.0, 10.0, 0.0, 0.0], vec![1.0, 2.0, 1.0, 1.0]);
        let scores = score(&predictive, [(0, 1.0), (1, 14.0)], &[1.0, 2.0]);
        assert_eq!(scores.n_cells, 2);
        assert!((scores.rmse - 2.0_f64.sqrt()).abs() < 1e-15);
        let expected = -0.5 * std::f64::consts::TAU.ln() - 0.5 * 0.5 * 4.0;
        assert!((scores.log_score - expected).abs() < 1e-12, "{}", scores.log_score);
        assert_eq!(scores.coverage, 0.5);
    }

    #[test]
    fn nan_never_wins() {
        assert!(is_better(1.0, 0.5, 0.1) && !is_better(0.55, 0.5, 0.1));
        assert!(is_better(-1e9, f64::NAN, 0.1));
        assert!(!is_better(f64::NAN, -1e9, 0.1) && !is_better(f64::NAN, f64::NAN, 0.0));
    }

    #[test]
    fn crps_agrees_with_its_integral() {
        // ∫ (Φ((x − mean)/deviation) − [x ≥ value])² dx by the midpoint rule.
        let (value, mean, deviation) = (0.7, -0.2, 1.3);
        let width = 1e-3;
        let integral: f64 = (-20_000..20_000)
            .map(|i| {
                let x = (f64::from(i) + 0.5) * width;
                let step = if x >= value { 1.0 } else { 0.0 };
                (cumulative((x - mean) / deviation) - step).powi(2) * width
            })
            .sum();
        assert!((normal_crps(value, mean, deviation) - integral).abs() < 1e-6);
    }
}
