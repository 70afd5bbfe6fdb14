//! Scores of predictions on held-out cells, over all cells and by output.

use super::score::{Scores, pooled, score};
use crate::prepare::Predictive;

/// Scores of predictions on held-out cells.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOutScores {
    /// Over all cells.
    pub scores: Scores,
    /// Over the cells of each output.
    pub by_output: Vec<Scores>,
    /// The predictive probability below each value.
    pub(crate) probabilities: Vec<f64>,
    /// The log density of each value, in the user's units.
    pub(crate) log_densities: Vec<f64>,
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
            log_densities: cells.iter().map(|&(at, value)| predictive.log_density(at, value)).collect(),
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
            probabilities: all.iter().flat_map(|one| one.probabilities.iter().copied()).collect(),
            log_densities: all.into_iter().flat_map(|one| one.log_densities).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

    use super::*;

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
        assert_eq!(together.log_densities, whole.log_densities);
        let pairs = [(together.scores, whole.scores)].into_iter();
        for (left, right) in pairs.chain(together.by_output.into_iter().zip(whole.by_output)) {
            assert_eq!(left.n_cells, right.n_cells);
            let numbers = |scores: Scores| [scores.rmse, scores.log_score, scores.crps, scores.coverage];
            for (left, right) in numbers(left).into_iter().zip(numbers(right)) {
                assert!((left - right).abs() < 1e-14, "{left} instead of {right}");
            }
        }
    }
}
