//! How candidates did, and which did best.

use catena::learning::Learned;

use super::candidate::Candidate;
use crate::scores::Scores;

/// A later candidate must be better by this many nats per cell: simpler ones come first.
const WORTHWHILE: f64 = 0.003;

/// How a candidate did.
pub(super) struct Judged {
    pub(super) learned: Option<Learned>,
    pub(super) score: f64,
    pub(super) held_out: Option<Scores>,
    pub(super) probabilities: Vec<f64>,
}

/// The best score; a later candidate must be worth its complexity.
pub(super) fn best(tried: &[(Candidate, Judged)]) -> &(Candidate, Judged) {
    let mut best = &tried[0];
    for one in &tried[1..] {
        let enough = if one.1.held_out.is_some() { WORTHWHILE } else { 0.0 };
        if beats(one.1.score, best.1.score, enough) {
            best = one;
        }
    }
    best
}

/// Whether a score is better than the best so far by more than a margin. What is no number is worse than any number.
pub(crate) fn beats(score: f64, best: f64, margin: f64) -> bool {
    score > best + margin || (best.is_nan() && !score.is_nan())
}

/// The same candidate on several masks.
pub(super) fn pooled(mut judged: Vec<Judged>) -> Judged {
    if judged.len() == 1 {
        return judged.remove(0);
    }
    let scores: Vec<Scores> = judged.iter().filter_map(|judged| judged.held_out).collect();
    let pooled = mean_scores(&scores);
    let probabilities =
        judged.iter_mut().flat_map(|judged| std::mem::take(&mut judged.probabilities)).collect();
    let learned = judged.into_iter().next().and_then(|judged| judged.learned);
    Judged { learned, score: -pooled.mnll, held_out: Some(pooled), probabilities }
}

/// Scores over the cells of all masks together.
pub(super) fn mean_scores(scores: &[Scores]) -> Scores {
    let n_cells: usize = scores.iter().map(|scores| scores.n_cells).sum();
    let mean = |of: &dyn Fn(&Scores) -> f64| {
        scores.iter().map(|scores| of(scores) * scores.n_cells as f64).sum::<f64>() / n_cells as f64
    };
    Scores {
        n_cells,
        rmse: mean(&|scores| scores.rmse * scores.rmse).sqrt(),
        mnll: mean(&|scores| scores.mnll),
        crps: mean(&|scores| scores.crps),
        coverage: mean(&|scores| scores.coverage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_never_wins() {
        assert!(beats(1.0, 0.5, 0.1) && !beats(0.55, 0.5, 0.1));
        assert!(beats(-1e9, f64::NAN, 0.1));
        assert!(!beats(f64::NAN, -1e9, 0.1) && !beats(f64::NAN, f64::NAN, 0.0));
    }
}
