//! Candidate families and their results.

use catena::learning::{Family, Learned};
use catena::model::Lmc;
use serde::{Deserialize, Serialize};

use crate::folds::HeldOutFolds;
use crate::options::{FitOptions, TransformChoice};
use crate::power::PowerTransform;
use crate::scores::{
    Densities, HeldOutScores, MixtureDensities, Scores, Widening, is_better, mean_with_error,
};

/// Candidates that are worse by more than this many nats per cell are worse, however uncertain the difference is.
const MOST_ERROR: f64 = 0.1;
/// The fewest candidates that are tried on all folds.
const FEWEST_PROMISING: usize = 4;

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
    let powers = transforms.powers.iter().enumerate().filter(|(_, power)| **power != PowerTransform::None);
    let labels: Vec<String> =
        powers.map(|(output, power)| power.label(&options.output_name(output))).collect();
    if !labels.is_empty() {
        name += &format!(", {}", labels.join(", "));
    }
    if transforms.trend {
        name += ", linear trend";
    }
    if transforms.own_of_groups {
        name += ", own mean and scale of each group";
    }
    if !transforms.factors.is_empty() {
        let factors: Vec<String> = transforms.factors.iter().map(|factor| format!("{factor:.2}")).collect();
        name += &format!(", inputs scaled by {}", factors.join(", "));
    }
    name
}

/// The result of a candidate.
pub(super) struct TrialResult {
    /// Learned on all cells of the sample or, if there are folds, on the training cells of the first.
    pub(super) learned: Learned,
    /// The models learned on the training cells of the folds on which it was scored.
    pub(super) fold_models: Vec<Lmc>,
    /// Log evidence minus half the logarithm of the number of cells for every parameter, a mean over the folds.
    pub(super) parsimony: f64,
    /// With the factors of `widening`.
    pub(super) held_out: Option<HeldOutScores>,
    /// The log score on the first fold with the best factor on its standard deviations; NaN without folds.
    pub(super) first_score: f64,
    /// Predictive densities at the held-out cells of all folds, without the factors of `widening`.
    pub(super) densities: Densities,
    /// Factors on the standard deviations, learned on held-out cells.
    pub(super) widening: Widening,
}

impl TrialResult {
    /// The results of one candidate on several folds, with the model learned on the first.
    pub(super) fn pooled(first: Self, others: Vec<Self>) -> Self {
        let count = 1.0 + others.len() as f64;
        let Self { learned, mut fold_models, mut parsimony, held_out, first_score, mut densities, .. } =
            first;
        let mut scores = vec![held_out];
        for other in others {
            parsimony += other.parsimony;
            fold_models.extend(other.fold_models);
            scores.push(other.held_out);
            densities.extend(other.densities);
        }
        let held_out = HeldOutScores::pooled(scores.into_iter().flatten().collect());
        let widening = Widening::none(fold_models.len());
        Self {
            learned,
            fold_models,
            parsimony: parsimony / count,
            held_out,
            first_score,
            densities,
            widening,
        }
    }

    /// The same with standard deviations multiplied by a factor if held-out cells show that they are too small.
    pub(super) fn with_widening(mut self, folds: &HeldOutFolds) -> Self {
        self.widening = Widening::fitted(&self.densities, &folds.sizes(), &folds.gaps());
        if self.widening.is_used() {
            let widened = self.widening.widened(&self.densities, &folds.sizes());
            self.held_out = Some(folds.scores_of(&MixtureDensities(vec![(1.0, 1.0, &widened)])));
        }
        self
    }

    /// The log densities of the held-out cells, with the factors on standard deviations.
    fn log_densities(&self) -> Vec<f64> {
        self.held_out.as_ref().map_or(vec![], |held_out| held_out.log_densities.clone())
    }

    /// The scores on held-out cells, if there are any.
    pub(super) fn scores(&self) -> Option<Scores> {
        self.held_out.as_ref().map(|held_out| held_out.scores)
    }

    /// The log score per held-out cell or, without folds, the parsimony score.
    pub(super) fn score(&self) -> f64 {
        self.scores().map_or(self.parsimony, |scores| scores.log_score)
    }
}

/// The candidates that are tried on further folds: the better half on the first fold, each with the best factor on its standard
/// deviations, and at least four.
pub(super) fn promising(results: &[TrialResult]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..results.len()).collect();
    order.sort_by(|&a, &b| results[b].first_score.total_cmp(&results[a].first_score));
    order.retain(|at| results[*at].densities.is_finite());
    order.truncate((results.len() / 2).max(FEWEST_PROMISING));
    order.sort_unstable();
    order
}

/// The variants of a candidate that are tried on further folds: those that are not clearly worse than it on the first.
pub(super) fn promising_variants(results: &[TrialResult], base: f64) -> Vec<usize> {
    let is_promising = |result: &TrialResult| {
        result.densities.is_finite() && is_better(result.first_score, base - MOST_ERROR, 0.0)
    };
    (0..results.len()).filter(|&at| is_promising(&results[at])).collect()
}

/// The best candidate of those tried on all folds.
///
/// Without held-out cells it has the best parsimony score. With them, candidates are compared by the log scores that they would
/// have as the answer, with a factor on their standard deviations where these are too small. A candidate is equal to the one with the best log score if
/// the difference is within its standard error and at most `MOST_ERROR`. All cells of a gap count as one observation. Among
/// equal candidates the parsimony score decides. Parsimony scores under different transforms are not comparable, so a candidate
/// with other transforms than the first must have the best log score by more than the standard error.
pub(super) fn best<'a>(
    trials: &'a [(FamilyCandidate, TrialResult)],
    gaps: &[usize],
) -> &'a (FamilyCandidate, TrialResult) {
    // Parsimony scores without folds have no densities.
    let is_complete = |one: &&(FamilyCandidate, TrialResult)| one.1.densities.len() == gaps.len();
    let Some(first) = trials.iter().find(is_complete) else { return &trials[0] };
    let is_comparable = |one: &&(FamilyCandidate, TrialResult)| one.0.transforms == first.0.transforms;
    let by = |score: &dyn Fn(&TrialResult) -> f64, among: &mut dyn Iterator<Item = &'a _>| {
        among.fold(
            first,
            |best: &(FamilyCandidate, TrialResult), one: &'a (FamilyCandidate, TrialResult)| {
                if is_better(score(&one.1), score(&best.1), 0.0) { one } else { best }
            },
        )
    };
    let parsimony = |result: &TrialResult| result.parsimony;
    if gaps.is_empty() {
        return by(&parsimony, &mut trials.iter().filter(is_comparable));
    }
    let log_score = |result: &TrialResult| result.score();
    let top = by(&log_score, &mut trials.iter().filter(is_complete));
    let gain = |one: &(FamilyCandidate, TrialResult), over: &(FamilyCandidate, TrialResult)| {
        let (one, over) = (one.1.log_densities(), over.1.log_densities());
        let gains: Vec<f64> = one.iter().zip(over).map(|(one, over)| one - over).collect();
        mean_with_error(&gains, gaps)
    };
    let is_equal = |one: &&(FamilyCandidate, TrialResult)| {
        let (mean, error) = gain(top, one);
        std::ptr::eq(*one, top) || mean <= error.min(MOST_ERROR)
    };
    let mut equals = trials.iter().filter(is_complete).filter(is_comparable).filter(is_equal);
    match equals.next() {
        Some(one) => {
            equals.fold(
                one,
                |best, one| {
                    if is_better(one.1.parsimony, best.1.parsimony, 0.0) { one } else { best }
                },
            )
        }
        None => top,
    }
}
