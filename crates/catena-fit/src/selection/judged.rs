//! How candidates did, and which did best.

use catena::learning::Learned;

use super::candidate::Candidate;
use crate::scores::{OnHidden, Scores};

/// A later candidate must be better by this many nats per cell: simpler ones come first.
const WORTHWHILE: f64 = 0.003;

/// How a candidate did.
pub(super) struct Judged {
    pub(super) learned: Option<Learned>,
    pub(super) score: f64,
    pub(super) on_hidden: Option<OnHidden>,
}

impl Judged {
    /// The scores on hidden cells, if there were any.
    pub(super) fn scores(&self) -> Option<Scores> {
        self.on_hidden.as_ref().map(|on_hidden| on_hidden.scores)
    }
}

/// The best score; a later candidate must be worth its complexity.
pub(super) fn best(tried: &[(Candidate, Judged)]) -> &(Candidate, Judged) {
    let mut best = &tried[0];
    for one in &tried[1..] {
        let enough = if one.1.on_hidden.is_some() { WORTHWHILE } else { 0.0 };
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
    let on_hidden =
        OnHidden::pooled(judged.iter_mut().filter_map(|judged| judged.on_hidden.take()).collect());
    let score = on_hidden.as_ref().map_or(f64::NAN, |on_hidden| -on_hidden.scores.mnll);
    let learned = judged.into_iter().next().and_then(|judged| judged.learned);
    Judged { learned, score, on_hidden }
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
