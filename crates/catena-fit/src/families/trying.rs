//! Tries candidates on the folds of a comparison until the time of its stage is used.

use std::sync::atomic::AtomicUsize;

use rayon::prelude::*;

use super::candidate::{FamilyCandidate, TrialResult, promising, promising_variants};
use super::selection::FamilySelection;
use super::variant_base::VariantBase;
use crate::error::FitError;
use crate::monitor::Stage;

impl FamilySelection<'_> {
    /// Tries candidates on the first fold and the promising ones on the others, in parallel. A fold learns from its own training
    /// cells alone: a start that had seen the held-out cells would favor candidates with many parameters.
    pub(super) fn try_all(
        &mut self,
        candidates: Vec<FamilyCandidate>,
        trials: &mut Vec<(FamilyCandidate, TrialResult)>,
    ) -> Result<(), FitError> {
        self.try_on_folds(candidates, None, &|results| promising(results), trials)
    }

    /// Tries variants of a candidate. Those with the same latents start from its model of the same fold; those that are clearly
    /// worse on the first fold are not tried on the others.
    pub(super) fn try_variants(
        &mut self,
        variants: Vec<FamilyCandidate>,
        base: &VariantBase,
        trials: &mut Vec<(FamilyCandidate, TrialResult)>,
    ) -> Result<(), FitError> {
        let kept = |results: &[TrialResult]| promising_variants(results, base.first_score);
        self.try_on_folds(variants, Some(base), &kept, trials)
    }

    /// Tries candidates on the first fold and those that are kept on the others.
    ///
    /// When the time of the stage is used, candidates that are not the first are left out, and so are folds on which not all could
    /// be tried.
    fn try_on_folds(
        &mut self,
        candidates: Vec<FamilyCandidate>,
        base: Option<&VariantBase>,
        keep: &dyn Fn(&[TrialResult]) -> Vec<usize>,
        trials: &mut Vec<(FamilyCandidate, TrialResult)>,
    ) -> Result<(), FitError> {
        let prepared: Result<Vec<_>, FitError> =
            candidates.iter().map(|candidate| self.prepared(&candidate.transforms)).collect();
        let prepared = prepared?;
        let (done, count) = (AtomicUsize::new(0), candidates.len() * self.plan.n_folds.max(1) as usize);
        let is_needed = |at: usize| at == 0 && trials.is_empty();
        let run = |jobs: Vec<(usize, Option<usize>)>,
                   is_first: bool|
         -> Result<Vec<Option<TrialResult>>, FitError> {
            let job = |(at, fold): (usize, Option<usize>)| {
                if self.reporter.is_stopped() && !(is_first && is_needed(at)) {
                    return Ok(None);
                }
                let start = base.and_then(|base| base.start_of(&candidates[at], fold?));
                let result = self.trial(&candidates[at], &prepared[at], fold, start);
                self.report(Stage::Candidates, &done, count);
                result.map(Some)
            };
            jobs.into_par_iter().map(job).collect()
        };
        let first = (self.plan.n_folds > 0).then_some(0);
        let others: Vec<usize> = if first.is_some() { (1..self.folds.len()).collect() } else { vec![] };
        let results = run((0..candidates.len()).map(|at| (at, first)).collect(), true)?;
        let tried: Vec<usize> = (0..results.len()).filter(|&at| results[at].is_some()).collect();
        let results: Vec<TrialResult> = results.into_iter().flatten().collect();
        let kept: Vec<usize> = keep(&results).into_iter().map(|place| tried[place]).collect();
        let mut by_candidate: Vec<Vec<TrialResult>> = candidates.iter().map(|_| vec![]).collect();
        let mut n_complete = 0;
        // With a limit a fold is begun when the one before is complete, without one all are tried at once.
        let at_once = if self.reporter.watch.has_limit() { 1 } else { others.len().max(1) };
        for some in others.chunks(at_once) {
            let jobs = some.iter().flat_map(|&fold| kept.iter().map(move |&at| (at, Some(fold)))).collect();
            let mut on_others = run(jobs, false)?.into_iter();
            for _ in some {
                let on_fold: Vec<Option<TrialResult>> = on_others.by_ref().take(kept.len()).collect();
                let Some(on_fold) = on_fold.into_iter().collect::<Option<Vec<_>>>() else { break };
                kept.iter().zip(on_fold).for_each(|(&at, result)| by_candidate[at].push(result));
                n_complete += 1;
            }
        }
        self.tried.n_candidates += tried.len();
        self.tried.n_left_out += candidates.len() - tried.len();
        if n_complete < others.len() {
            if !trials.is_empty() {
                // Those that were tried before on more folds are still the choice.
                self.tried.n_candidates -= tried.len();
                self.tried.n_left_out += tried.len();
                return Ok(());
            }
            self.folds.truncate(1 + n_complete);
        }
        let folds = self.held_out_folds();
        let mut results = results.into_iter();
        for (at, (candidate, others)) in candidates.into_iter().zip(by_candidate).enumerate() {
            if tried.contains(&at)
                && let Some(first) = results.next()
            {
                trials.push((candidate, TrialResult::pooled(first, others).with_widening(&folds)));
            }
        }
        Ok(())
    }
}
