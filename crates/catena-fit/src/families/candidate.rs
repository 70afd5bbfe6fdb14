//! Candidate families and their results.

use catena::learning::{Family, Learned};
use serde::{Deserialize, Serialize};

use crate::options::{FitOptions, TransformChoice};
use crate::scores::{HeldOutScores, Scores, is_better};

/// A later candidate must be better by this many nats per cell: simpler ones come first.
const WORTHWHILE: f64 = 0.003;

/// A candidate model and its score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateSummary {
    /// Description.
    pub name: String,
    /// The score; larger is better.
    pub score: f64,
    /// The kind of score.
    pub score_name: String,
    /// Root mean squared error on held-out cells, in standard deviations, if cells were held out.
    pub rmse: Option<f64>,
    /// The fraction of held-out cells inside 95 % intervals, if cells were held out.
    pub coverage: Option<f64>,
    /// Whether it was chosen.
    pub chosen: bool,
}

/// A family with the transforms of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FamilyCandidate {
    pub(super) family: Family,
    pub(super) transforms: TransformChoice,
}

impl FamilyCandidate {
    pub(super) fn name(&self, options: &FitOptions) -> String {
        family_name(&self.family, &self.transforms, options)
    }
}

/// Describes a family with the transforms of the table.
pub(crate) fn family_name(family: &Family, transforms: &TransformChoice, options: &FitOptions) -> String {
    let Family { n_shared, shared_kernel, private_kernel, tied, .. } = family;
    let plural = if *n_shared == 1 { "" } else { "s" };
    let mut name = format!("{n_shared} shared latent{plural}");
    if *n_shared > 0 {
        name += &format!(" ({})", shared_kernel.name());
    }
    if *tied {
        name += " with one length-scale";
    }
    if let Some(kernel) = private_kernel {
        name += &format!(" + private ({})", kernel.name());
    }
    if !transforms.log.is_empty() {
        let logs: Vec<String> =
            transforms.log.iter().map(|output| options.output_name(output.get())).collect();
        name += &format!(", logarithm of {}", logs.join(", "));
    }
    if transforms.trend {
        name += ", linear trend";
    }
    if !transforms.factors.is_empty() {
        let factors: Vec<String> = transforms.factors.iter().map(|factor| format!("{factor:.2}")).collect();
        name += &format!(", inputs scaled by {}", factors.join(", "));
    }
    name
}

/// The result of a candidate.
pub(super) struct TrialResult {
    pub(super) learned: Learned,
    pub(super) score: f64,
    pub(super) held_out: Option<HeldOutScores>,
}

impl TrialResult {
    /// The scores on held-out cells, if there are any.
    pub(super) fn scores(&self) -> Option<Scores> {
        self.held_out.as_ref().map(|held_out| held_out.scores)
    }

    /// The results of one candidate on several folds, with the model learned on the first.
    pub(super) fn pooled(first: Self, others: Vec<Self>) -> Self {
        if others.is_empty() {
            return first;
        }
        let all = [first.held_out].into_iter().chain(others.into_iter().map(|result| result.held_out));
        let held_out = HeldOutScores::pooled(all.flatten().collect());
        let score = held_out.as_ref().map_or(f64::NAN, |held_out| held_out.scores.log_score);
        Self { learned: first.learned, score, held_out }
    }
}

/// The candidate with the best score.
pub(super) fn best(trials: &[(FamilyCandidate, TrialResult)]) -> &(FamilyCandidate, TrialResult) {
    let mut best = &trials[0];
    for one in &trials[1..] {
        let margin = if one.1.held_out.is_some() { WORTHWHILE } else { 0.0 };
        if is_better(one.1.score, best.1.score, margin) {
            best = one;
        }
    }
    best
}
