//! Inputs that count differently: factors on them, learned with the best model so far and judged like any other variant.

use catena::learning::{RelevanceSettings, learn_relevance};

use super::{Candidate, Judged, Selection, best};
use crate::fit::FitError;
use crate::message_passing::build;
use crate::preparation::{Preparation, Wanted};

/// Structures that are built, at most.
const ROUNDS: usize = 3;
/// Factors closer to one another than this are the same: nothing to try.
const SAME: f64 = 1.1;

impl Selection<'_> {
    /// Tries the best candidate so far with a factor on every input. The factors are learned without the cells of the first
    /// mask; the candidate with them is then learned and judged as all others were.
    pub(super) fn try_relevance(&self, tried: &mut Vec<(Candidate, Judged)>) -> Result<(), FitError> {
        let is_wanted = self.options.relevance.unwrap_or(self.plan.n_masks > 0);
        if self.part.inputs().dim() < 2 || !is_wanted || self.is_over() {
            return Ok(());
        }
        let (candidate, judged) = best(tried);
        let Some(learned) = &judged.learned else { return Ok(()) };
        let candidate = candidate.clone();
        let preparation = Preparation::fitted(&self.part, self.units, &candidate.wanted)?;
        let mut table = self.part.clone();
        if let Some(holdout) = self.holdouts.first().filter(|holdout| !holdout.hidden.is_empty()) {
            table = catena::data::Dataset::new(table.inputs().clone(), holdout.left.clone())?;
        }
        let prepared = preparation.dataset(&table)?;
        let ground = self.ground(&candidate.wanted)?.with_observations(prepared.observations().clone())?;
        let priors = self.priors(&ground);
        let course = self.course(&candidate, &priors);
        let structure = self.options.structure.learned_on();
        let settings = RelevanceSettings { max_rounds: ROUNDS, optimizer: course.settings.optimizer };
        let found = learn_relevance(
            prepared.inputs(),
            prepared.observations(),
            &|inputs| build(&structure, inputs),
            &learned.model,
            (&ground.facts.parameters(&course, learned.model.clone()), &priors),
            settings,
            &mut |_| self.go_on(),
        )?;
        let smallest = found.factors.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = found.factors.iter().copied().fold(0.0, f64::max);
        if largest < SAME * smallest {
            return Ok(());
        }
        // Only ratios matter; the mean keeps length-scales near where they were.
        let logs = found.factors.iter().map(|factor| factor.ln());
        let center = (logs.sum::<f64>() / found.factors.len() as f64).exp();
        let factors = found.factors.iter().map(|factor| factor / center).collect();
        let wanted = Wanted { factors, ..candidate.wanted.clone() };
        if self.options.relevance == Some(true) {
            tried.clear();
        }
        self.try_all(vec![Candidate { wanted, ..candidate }], tried)
    }
}
