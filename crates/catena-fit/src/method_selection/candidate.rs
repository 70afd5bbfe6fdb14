//! Candidate methods and their results.

use catena::learning::Family;
use catena::model::Lmc;

use crate::options::{MethodChoice, StructureOption, TransformChoice};
use crate::prepare::Preparation;
use crate::scores::{HeldOutScores, is_better};

/// A costlier method must be better by this many nats per cell.
pub(super) const WORTHWHILE: f64 = 0.01;

/// A method with its model and held-out scores.
pub(super) struct MethodCandidate {
    pub(super) method: MethodChoice,
    pub(super) structure: StructureOption,
    pub(super) family: Family,
    pub(super) transforms: TransformChoice,
    /// The learned model and its units.
    pub(super) model: (Lmc, Preparation),
    pub(super) held_out: HeldOutScores,
    /// Estimated seconds of one core for the whole table.
    pub(super) seconds: f64,
}

/// The best log score; candidates are sorted by cost, and a costlier one must be worth it.
pub(super) fn best(candidates: &[MethodCandidate]) -> usize {
    let mut best = 0;
    for (at, candidate) in candidates.iter().enumerate() {
        if is_better(
            candidate.held_out.scores.log_score,
            candidates[best].held_out.scores.log_score,
            WORTHWHILE,
        ) {
            best = at;
        }
    }
    best
}

impl MethodCandidate {
    pub(super) fn name(&self) -> String {
        match (self.method, self.structure) {
            (MethodChoice::Catena, StructureOption::Auto) => "catena".to_owned(),
            (MethodChoice::Catena, structure) => format!("catena on {structure}"),
            (method, _) => method.to_string(),
        }
    }
}
