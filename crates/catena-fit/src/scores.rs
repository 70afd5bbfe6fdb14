//! Scores of predictive distributions on known values.

use crate::normal::cumulative;
use crate::normal::density;
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

/// Scores of predictions on held-out cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeldOutScores {
    /// Over all cells.
    pub(crate) scores: Scores,
    /// Over the cells of each output.
    pub(crate) by_output: Vec<Scores>,
    /// The predictive probability below each value.
    pub(crate) probabilities: Vec<f64>,
}

impl HeldOutScores {
    /// For the cells `(place, value)`, as in [`score`].
    pub(crate) fn new(predictive: &Predictive, cells: &[(usize, f64)], scales: &[f64]) -> Self {
        let n_outputs = scales.len();
        let of_output = |output: usize| {
            let own = cells.iter().copied().filter(|(at, _)| at % n_outputs == output);
            score(predictive, own, scales)
        };
        Self {
            scores: score(predictive, cells.iter().copied(), scales),
            by_output: (0..n_outputs).map(of_output).collect(),
            probabilities: cells.iter().map(|&(at, value)| predictive.probability_below(at, value)).collect(),
        }
    }

    /// Several sets of held-out cells together.
    pub(crate) fn pooled(all: Vec<Self>) -> Option<Self> {
        let n_outputs = all.first()?.by_output.len();
        let of_output = |output: usize| -> Scores {
            pooled(&all.iter().map(|one| one.by_output[output]).collect::<Vec<_>>())
        };
        Some(Self {
            scores: pooled(&all.iter().map(|one| one.scores).collect::<Vec<_>>()),
            by_output: (0..n_outputs).map(of_output).collect(),
            probabilities: all.into_iter().flat_map(|one| one.probabilities).collect(),
        })
    }
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
    fn outputs_are_scored_apart_and_sets_of_cells_together() {
        let predictive = Predictive::normal(2, vec![0.0; 6], vec![1.0; 6]);
        let scales = [1.0, 1.0];
        let cells = [(0, 1.0), (1, 3.0), (2, -1.0), (4, 0.5)];
        let whole = HeldOutScores::new(&predictive, &cells, &scales);
        assert_eq!(whole.by_output.iter().map(|scores| scores.n_cells).collect::<Vec<_>>(), [3, 1]);
        assert!((whole.by_output[0].rmse - 0.75_f64.sqrt()).abs() < 1e-15);
        assert_eq!((whole.by_output[1].rmse, whole.by_output[1].coverage), (3.0, 0.0));
        // The second set has no cell of the second output.
        let sets = [&cells[..2], &cells[2..]].map(|cells| HeldOutScores::new(&predictive, cells, &scales));
        let together = HeldOutScores::pooled(sets.to_vec()).unwrap();
        assert_eq!(together.probabilities, whole.probabilities);
        let pairs = [(together.scores, whole.scores)].into_iter();
        for (left, right) in pairs.chain(together.by_output.into_iter().zip(whole.by_output)) {
            assert_eq!(left.n_cells, right.n_cells);
            let numbers = |scores: Scores| [scores.rmse, scores.log_score, scores.crps, scores.coverage];
            for (left, right) in numbers(left).into_iter().zip(numbers(right)) {
                assert!((left - right).abs() < 1e-14, "{left} instead of {right}");
            }
        }
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
