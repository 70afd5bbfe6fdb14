//! How candidates did, and which did best.

use catena::learning::Learned;

use super::candidate::FamilyCandidate;
use crate::scores::{HeldOutScores, Scores};

/// A later candidate must be better by this many nats per cell: simpler ones come first.
const WORTHWHILE: f64 = 0.003;

/// How a candidate did.
pub(super) struct TrialResult {
    pub(super) learned: Option<Learned>,
    pub(super) score: f64,
    pub(super) held_out_scores: Option<HeldOutScores>,
}

impl TrialResult {
    /// The scores on hidden cells, if there were any.
    pub(super) fn scores(&self) -> Option<Scores> {
        self.held_out_scores.as_ref().map(|held_out_scores| held_out_scores.scores)
    }
}

/// The best score; a later candidate must be worth its complexity.
pub(super) fn best(trials: &[(FamilyCandidate, TrialResult)]) -> &(FamilyCandidate, TrialResult) {
    let mut best = &trials[0];
    for one in &trials[1..] {
        let enough = if one.1.held_out_scores.is_some() { WORTHWHILE } else { 0.0 };
        if is_better(one.1.score, best.1.score, enough) {
            best = one;
        }
    }
    best
}

/// Whether a score is better than the best so far by more than a margin. What is no number is worse than any number.
pub(crate) fn is_better(score: f64, best: f64, margin: f64) -> bool {
    score > best + margin || (best.is_nan() && !score.is_nan())
}

/// The same candidate on several masks.
pub(super) fn pooled(mut result: Vec<TrialResult>) -> TrialResult {
    if result.len() == 1 {
        return result.remove(0);
    }
    let held_out_scores =
        HeldOutScores::pooled(result.iter_mut().filter_map(|result| result.held_out_scores.take()).collect());
    let score = held_out_scores.as_ref().map_or(f64::NAN, |held_out_scores| -held_out_scores.scores.mnll);
    let learned = result.into_iter().next().and_then(|result| result.learned);
    TrialResult { learned, score, held_out_scores }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_never_wins() {
        assert!(is_better(1.0, 0.5, 0.1) && !is_better(0.55, 0.5, 0.1));
        assert!(is_better(-1e9, f64::NAN, 0.1));
        assert!(!is_better(f64::NAN, -1e9, 0.1) && !is_better(f64::NAN, f64::NAN, 0.0));
    }
}
