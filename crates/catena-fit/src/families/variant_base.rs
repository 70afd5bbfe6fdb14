//! A candidate whose variants are tried, with its models as their starts.

use catena::learning::Family;
use catena::model::Lmc;

use super::candidate::{FamilyCandidate, TrialResult};

/// A candidate whose variants are tried.
pub(super) struct VariantBase {
    candidate: FamilyCandidate,
    fold_models: Vec<Lmc>,
    /// Its score on the first fold.
    pub(super) first_score: f64,
}

impl VariantBase {
    pub(super) fn of((candidate, result): &(FamilyCandidate, TrialResult)) -> Self {
        let (fold_models, first_score) = (result.fold_models.clone(), result.first_score);
        Self { candidate: candidate.clone(), fold_models, first_score }
    }

    /// The model from which a variant starts on a fold, if it has the same latents.
    pub(super) fn start_of(&self, variant: &FamilyCandidate, fold: usize) -> Option<&Lmc> {
        let is_same = Family { tied: self.candidate.family.tied, ..variant.family } == self.candidate.family;
        self.fold_models.get(fold).filter(|_| is_same)
    }
}
