//! Automatic relevance: factors on the inputs, learned with the best candidate so far and compared like any other candidate.

use catena::learning::{RelevanceSettings, learn_relevance};

use super::candidate::{FamilyCandidate, TrialResult, best};
use super::selection::FamilySelection;
use crate::error::FitError;
use crate::options::TransformChoice;

/// The most structures that are built.
const ROUNDS: usize = 3;
/// Factors with a smaller ratio are treated as equal.
const SAME: f64 = 1.1;

impl FamilySelection<'_> {
    /// Tries the best candidate so far with a factor on every input. The factors are learned on the training cells of the first
    /// fold.
    pub(super) fn try_relevance(
        &mut self,
        trials: &mut Vec<(FamilyCandidate, TrialResult)>,
    ) -> Result<(), FitError> {
        let is_open = self.options.ard.unwrap_or(self.plan.n_folds > 0);
        if self.sample.inputs().dim() < 2 || !is_open || self.reporter.is_stopped() {
            return Ok(());
        }
        let (candidate, result) = best(trials, &self.gaps());
        let candidate = candidate.clone();
        let (preparation, mut table) = self.prepared(&candidate.transforms)?;
        if let Some(fold) = self.folds.first().filter(|fold| !fold.held_out.is_empty()) {
            table = self.training(&preparation, &table, fold)?;
        }
        let task = self.task(&candidate, &table);
        let structure = self.options.structure;
        let settings = RelevanceSettings { max_rounds: ROUNDS, optimizer: task.settings.optimizer };
        let model = &result.learned.model;
        let found = learn_relevance(
            table.dataset.inputs(),
            table.dataset.observations(),
            &|inputs| structure.build(inputs),
            model,
            (&task.parameters(&table.statistics, model.clone()), &task.priors),
            settings,
            &mut |_| self.reporter.go_on(),
        )?;
        let smallest = found.factors.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = found.factors.iter().copied().fold(0.0, f64::max);
        if largest < SAME * smallest {
            return Ok(());
        }
        // Only ratios matter; dividing by the geometric mean keeps length-scales near their values.
        let logs = found.factors.iter().map(|factor| factor.ln());
        let center = (logs.sum::<f64>() / found.factors.len() as f64).exp();
        let factors = found.factors.iter().map(|factor| factor / center).collect();
        let transforms = TransformChoice { factors, ..candidate.transforms.clone() };
        if self.options.ard == Some(true) {
            trials.clear();
        }
        self.try_all(vec![FamilyCandidate { transforms, ..candidate }], trials)
    }
}
