//! Compares candidate families on a sample of the table: smoothness by log evidence, everything else by held-out cells or, with
//! the quick budget, by a parsimony score.

use std::sync::atomic::{AtomicUsize, Ordering};

use catena::data::Dataset;
use catena::kernel::Kernel;
use catena::learning::{Family, MultiStartSettings};
use catena::model::Lmc;
use rayon::prelude::*;

use super::candidate::{CandidateSummary, FamilyCandidate, TrialResult, best, promising};
use super::plan::{plan_for, sample_reasons};
use super::requested::requested_on;
use super::skew::positive_outputs;
use super::trials::{Comparison, FamilyTrial};
use crate::cost::{RowSize, SelectionPlan, TableSize, final_settings};
use crate::error::FitError;
use crate::folds::{Fold, HeldOutFolds, gaps, representative_rows, scales_of};
use crate::learn::LearningTask;
use crate::monitor::{FitMonitor, Reporter, Stage};
use crate::options::{Budget, FitOptions, GroupScaling, MeanChoice, TransformChoice, TransformKind};
use crate::prepare::{InputUnits, Preparation, PreparedTable};
use crate::scores::{Densities, HeldOutScores, Widening};

/// The family with one shared latent per output is tried up to this many outputs.
const MOST_OUTPUTS_OF_FULL: usize = 16;

/// Groups are alike, so that with the quick budget this many rows of some of them tell candidates apart.
const MOST_ROWS_OF_GROUPS: usize = 1000;

/// The chosen family and the reasons for it.
#[derive(Clone, Debug)]
pub(crate) struct FamilyChoice {
    pub(crate) family: Family,
    pub(crate) transforms: TransformChoice,
    pub(crate) tried: Vec<CandidateSummary>,
    pub(crate) reasons: Vec<String>,
    /// Held-out scores of the chosen model, if it has any, and of simple rules.
    pub(crate) held_out: Vec<(String, HeldOutScores)>,
    /// Multi-start settings for learning the family on the whole table, and length-scale multipliers of further starts.
    pub(crate) settings: MultiStartSettings,
    pub(crate) multipliers: &'static [f64],
    /// The model learned for the comparison with its units: the first start.
    pub(crate) earlier: (Lmc, Preparation),
    /// All candidates, and what they were compared on.
    pub(crate) comparison: Comparison,
    /// What methods were compared on, with the models of the chosen method by fold and their units, if methods were compared.
    pub(crate) method_folds: Option<(HeldOutFolds, Vec<(Lmc, Preparation)>)>,
}

/// The comparison of families on a sample of the table.
pub(super) struct FamilySelection<'a> {
    /// Rows of the table, in the user's units.
    pub(super) sample: Dataset,
    /// Which outputs are positive in the whole table.
    pub(super) positive: Vec<bool>,
    /// The requested transform of each output.
    pub(super) kinds: Vec<TransformKind>,
    /// The requested transforms, with learned exponents.
    requested: TransformChoice,
    pub(super) options: &'a FitOptions,
    pub(super) units: InputUnits,
    pub(super) plan: SelectionPlan,
    pub(super) folds: Vec<Fold>,
    /// The standard deviation of each output, in which errors are scored.
    scales: Vec<f64>,
    pub(super) reporter: Reporter<'a>,
}

/// Decides what the options leave open.
pub(crate) fn choose(
    table: &Dataset,
    options: &FitOptions,
    units: InputUnits,
    monitor: &FitMonitor<'_>,
) -> Result<FamilyChoice, FitError> {
    let plan = plan_for(TableSize::of(table), options).2;
    let mut n_rows = if table.inputs().dim() == 1 { plan.compared_rows } else { plan.n_rows };
    if options.budget == Budget::Quick && table.inputs().n_groups() > 1 {
        n_rows = n_rows.min(MOST_ROWS_OF_GROUPS);
    }
    let sample = table.select_rows(&representative_rows(table, n_rows, options.seed))?;
    let positive = positive_outputs(table.observations());
    choose_on((sample, Some(table)), table.n_rows(), positive, options, units, monitor)
}

/// Decides what the options leave open for a table of `n_rows` rows by comparing families on a sample of it. Held-out cells have
/// the gaps of the table, or of the sample if the table is not at hand. `positive` tells which outputs are positive in the whole
/// table.
pub(crate) fn choose_on(
    (sample, table): (Dataset, Option<&Dataset>),
    n_rows: usize,
    positive: Vec<bool>,
    options: &FitOptions,
    units: InputUnits,
    monitor: &FitMonitor<'_>,
) -> Result<FamilyChoice, FitError> {
    let (private, ladder, mut plan) = plan_for(TableSize { n_rows, ..TableSize::of(&sample) }, options);
    let mut reasons = sample_reasons(&sample, n_rows, &plan, options);
    let mut folds = Fold::several(&sample, table.unwrap_or(&sample), options.seed, plan.n_folds.max(1));
    // A fold without held-out cells has no score; one is kept if all are so.
    if folds.iter().any(|fold| !fold.held_out.is_empty()) {
        folds.retain(|fold| !fold.held_out.is_empty());
    } else {
        folds.truncate(1);
        reasons.push("too few cells to hold any out".to_owned());
        plan.n_folds = 0;
    }
    let scales = scales_of(&sample)?;
    let reporter = Reporter::new(monitor, Stage::Smoothness, 0.0);
    let kinds = options.transform_kinds(sample.observations().n_outputs())?;
    let requested = requested_on(&sample, options, units, plan.smoothness, &reporter)?;
    let selection =
        FamilySelection { sample, positive, kinds, requested, options, units, plan, folds, scales, reporter };
    selection.run(&ladder, private, n_rows, reasons)
}

impl FamilySelection<'_> {
    fn run(
        self,
        ladder: &[usize],
        private: bool,
        n_rows: usize,
        mut reasons: Vec<String>,
    ) -> Result<FamilyChoice, FitError> {
        let requested = self.requested.clone();
        let (_, plain) = self.prepared(&requested)?;
        let state = self.options.state.unwrap_or_else(|| plain.default_state());
        let n_outputs = self.sample.observations().n_outputs();
        let kernels = match self.options.kernel {
            Some(kernels) => kernels,
            None => {
                let window = self.window(&plain)?;
                self.smoothness(window.as_ref().unwrap_or(&plain), ladder, private, state, &mut reasons)?
            }
        };
        let candidate = |n_shared: usize, tied: bool, private: bool| {
            let private_kernel = private.then_some(kernels.private);
            let family = Family { n_shared, shared_kernel: kernels.shared, private_kernel, state, tied };
            FamilyCandidate { family, transforms: requested.clone() }
        };
        let mut candidates: Vec<FamilyCandidate> =
            ladder.iter().map(|&count| candidate(count, false, private)).collect();
        let is_open = self.options.latents.is_none();
        if is_open && (2..=MOST_OUTPUTS_OF_FULL).contains(&n_outputs) {
            candidates.push(candidate(n_outputs, true, false));
        }
        let mut trials: Vec<(FamilyCandidate, TrialResult)> = vec![];
        self.try_all(candidates, &mut trials)?;
        let found = best(&trials, &self.gaps());
        let best = found.0.clone();
        let with_family = |family: Family| FamilyCandidate { family, ..best.clone() };
        let with_transforms = |transforms| FamilyCandidate { transforms, ..best.clone() };
        let mut variants = vec![];
        if is_open && best.family.n_shared >= 2 && !best.family.tied {
            variants.push(with_family(Family { tied: true, ..best.family }));
        }
        // With several inputs a rough private latent can act as noise, which shows where points coincide.
        if self.options.private.is_none() && best.family.private_kernel.is_some() {
            let n_shared = best.family.n_shared.max(1);
            variants.push(with_family(Family { n_shared, private_kernel: None, ..best.family }));
        }
        // A parsimony score cannot compare densities before and after a transform of the data; held-out cells can.
        if self.plan.n_folds > 0 && !self.options.transforms.is_none() {
            variants.extend(self.other_transforms(found)?.into_iter().map(with_transforms));
            if self.sample.inputs().dim() > 1 && self.options.mean == MeanChoice::Auto {
                variants.push(with_transforms(TransformChoice { trend: true, ..requested.clone() }));
            }
        }
        self.try_all(variants, &mut trials)?;
        self.try_own_of_groups(&mut trials)?;
        self.try_relevance(&mut trials)?;
        self.finish(trials, n_rows, reasons)
    }

    /// Tries means and scales of each group, if the options leave that open.
    fn try_own_of_groups(&self, trials: &mut Vec<(FamilyCandidate, TrialResult)>) -> Result<(), FitError> {
        let is_open = self.options.group_scaling == GroupScaling::Auto && self.plan.n_folds > 0;
        if !is_open || self.sample.inputs().n_groups() < 2 {
            return Ok(());
        }
        let best = best(trials, &self.gaps()).0.clone();
        let transforms = TransformChoice { own_of_groups: true, ..best.transforms };
        self.try_all(vec![FamilyCandidate { transforms, ..best }], trials)
    }

    /// The sample in the model's units on its structure, and the units.
    pub(super) fn prepared(
        &self,
        transforms: &TransformChoice,
    ) -> Result<(Preparation, PreparedTable), FitError> {
        let preparation = Preparation::fitted(&self.sample, self.units, transforms)?;
        let table = PreparedTable::new(preparation.dataset(&self.sample)?, self.options.structure)?;
        Ok((preparation, table))
    }

    /// The training cells of a fold on the structure of the sample.
    pub(super) fn training(
        &self,
        preparation: &Preparation,
        table: &PreparedTable,
        fold: &Fold,
    ) -> Result<PreparedTable, FitError> {
        let training = Dataset::new(self.sample.inputs().clone(), fold.training.clone())?;
        table.with_observations(preparation.dataset(&training)?.observations())
    }

    /// The window of a table from which a candidate is learned; `None` for the whole table.
    fn window(&self, table: &PreparedTable) -> Result<Option<PreparedTable>, FitError> {
        let dataset = &table.dataset;
        if dataset.inputs().dim() > 1 || dataset.n_rows() <= self.plan.n_rows {
            return Ok(None);
        }
        let rows = representative_rows(dataset, self.plan.n_rows, self.options.seed);
        Ok(Some(PreparedTable::new(dataset.select_rows(&rows)?, self.options.structure)?))
    }

    /// The folds with their held-out cells; without folds if candidates are compared by parsimony.
    fn held_out_folds(&self) -> HeldOutFolds {
        let folds = if self.plan.n_folds == 0 { vec![] } else { self.folds.clone() };
        HeldOutFolds::new(self.sample.inputs().clone(), folds, self.scales.clone())
    }

    /// The gaps of the held-out cells by which candidates are compared.
    pub(super) fn gaps(&self) -> Vec<usize> {
        if self.plan.n_folds == 0 { vec![] } else { gaps(&self.folds) }
    }

    pub(super) fn report(&self, stage: Stage, done: &AtomicUsize, count: usize) {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        self.reporter.report(stage, done as f64 / count as f64);
    }

    /// Tries candidates on the first fold and the promising half of them on the others, in parallel. A fold learns from its own training cells alone: a start that had seen the
    /// held-out cells would favor candidates with many parameters.
    pub(super) fn try_all(
        &self,
        candidates: Vec<FamilyCandidate>,
        trials: &mut Vec<(FamilyCandidate, TrialResult)>,
    ) -> Result<(), FitError> {
        let prepared: Result<Vec<_>, FitError> =
            candidates.iter().map(|candidate| self.prepared(&candidate.transforms)).collect();
        let prepared = prepared?;
        let (done, count) = (AtomicUsize::new(0), candidates.len() * self.plan.n_folds.max(1) as usize);
        let run = |jobs: Vec<(usize, Option<&Fold>)>| -> Result<Vec<TrialResult>, FitError> {
            let job = |(at, fold): (usize, Option<&Fold>)| {
                let result = self.trial(&candidates[at], &prepared[at], fold);
                self.report(Stage::Candidates, &done, count);
                result
            };
            jobs.into_par_iter().map(job).collect()
        };
        let (first, others) = match self.plan.n_folds {
            0 => (None, &[][..]),
            _ => (self.folds.first(), self.folds.get(1..).unwrap_or_default()),
        };
        let results = run((0..candidates.len()).map(|at| (at, first)).collect())?;
        let kept = promising(&results);
        let mut jobs: Vec<(usize, Option<&Fold>)> = vec![];
        for fold in others {
            jobs.extend(kept.iter().map(|&at| (at, Some(fold))));
        }
        let mut on_others = run(jobs)?.into_iter();
        let mut by_candidate: Vec<Vec<TrialResult>> = candidates.iter().map(|_| vec![]).collect();
        for _ in others {
            for (&at, result) in kept.iter().zip(on_others.by_ref()) {
                by_candidate[at].push(result);
            }
        }
        let folds = self.held_out_folds();
        for ((candidate, first), others) in candidates.into_iter().zip(results).zip(by_candidate) {
            trials.push((candidate, TrialResult::pooled(first, others).with_widening(&folds)));
        }
        Ok(())
    }

    pub(super) fn task(&self, candidate: &FamilyCandidate, table: &PreparedTable) -> LearningTask {
        LearningTask::new(candidate.family, self.plan.candidate, &table.statistics, self.options)
            .with_starts(vec![], self.plan.candidate_multipliers)
    }

    /// Learns a candidate on the training cells of a fold and scores its held-out cells, or learns it on all cells.
    fn trial(
        &self,
        candidate: &FamilyCandidate,
        (preparation, table): &(Preparation, PreparedTable),
        fold: Option<&Fold>,
    ) -> Result<TrialResult, FitError> {
        // Means and scales of groups are those of few cells, which must not have been held out.
        let refitted = match fold.filter(|_| candidate.transforms.own_of_groups) {
            Some(fold) => Some(preparation.refitted_to(&self.sample, &fold.training)?),
            None => None,
        };
        let preparation = refitted.as_ref().unwrap_or(preparation);
        let training = fold.map(|fold| self.training(preparation, table, fold)).transpose()?;
        let table = training.as_ref().unwrap_or(table);
        let window = self.window(table)?;
        let learning = window.as_ref().unwrap_or(table);
        let task = self.task(candidate, learning);
        let learned = task.learn(learning, &|_| self.reporter.go_on())?;
        let n_cells = learning.dataset.observations().n_observed() as f64;
        let parsimony = learned.log_evidence - 0.5 * task.n_free(learning)? as f64 * n_cells.ln();
        let Some(fold) = fold else {
            let densities = Densities::default();
            let widening = Widening::none(0);
            return Ok(TrialResult {
                learned,
                fold_models: vec![],
                parsimony,
                held_out: None,
                densities,
                widening,
            });
        };
        let prediction = table.predictions(&learned.model)?;
        let predictive = preparation.predictive_unchecked(prediction, table.dataset.inputs());
        let held_out = Some(HeldOutScores::new(&predictive, &fold.held_out, &self.scales));
        let densities = Densities::at(&predictive, &fold.held_out);
        let fold_models = vec![learned.model.clone()];
        let widening = Widening::none(1);
        Ok(TrialResult { learned, fold_models, parsimony, held_out, densities, widening })
    }

    fn finish(
        self,
        mut trials: Vec<(FamilyCandidate, TrialResult)>,
        n_rows: usize,
        mut reasons: Vec<String>,
    ) -> Result<FamilyChoice, FitError> {
        let (chosen, result) = best(&trials, &self.gaps());
        let (chosen, model) = (chosen.clone(), result.learned.model.clone());
        let units = Preparation::fitted(&self.sample, self.units, &chosen.transforms)?;
        let by_parsimony = self.plan.n_folds == 0;
        let has_held_out = !self.folds[0].held_out.is_empty();
        let mut held_out = vec![];
        for (candidate, result) in trials.iter_mut().filter(|(candidate, _)| *candidate == chosen) {
            // A choice by parsimony is scored on one fold afterwards, beside the simple rules.
            if by_parsimony && has_held_out {
                let prepared = self.prepared(&chosen.transforms)?;
                let trial = self.trial(candidate, &prepared, Some(&self.folds[0]))?;
                (result.held_out, result.fold_models) = (trial.held_out, trial.fold_models);
                result.widening = trial.widening;
            }
            held_out =
                result.held_out.clone().map(|scores| ("catena".to_owned(), scores)).into_iter().collect();
        }
        let score_name = if by_parsimony {
            "parsimony score (log evidence minus ½ log n per parameter)"
        } else {
            "log score per held-out cell"
        };
        let name = chosen.name(self.options);
        reasons.push(if trials.len() > 1 {
            format!("{name}: best of {} by {score_name}", trials.len())
        } else {
            format!("{name}: as requested")
        });
        let tried = trials.iter().map(|(candidate, result)| CandidateSummary {
            name: candidate.name(self.options),
            score: result.score(),
            score_name: score_name.to_owned(),
            rmse: result.scores().map(|scores| scores.rmse),
            coverage: result.scores().map(|scores| scores.coverage),
            chosen: *candidate == chosen,
        });
        let family = chosen.family;
        let n_outputs = self.sample.observations().n_outputs();
        let states = |kernel: Kernel| kernel.state_dim(family.state_of(kernel)).unwrap_or(1);
        let own = family.private_kernel.map_or(0, |kernel| n_outputs * states(kernel));
        let n_private = if family.private_kernel.is_some() { n_outputs } else { 0 };
        let row = RowSize {
            state_size: family.n_shared * states(family.shared_kernel) + own,
            n_latents: family.n_shared + n_private,
            n_outputs,
        };
        let tried: Vec<CandidateSummary> = tried.collect();
        let trials = trials.into_iter().map(|(candidate, result)| FamilyTrial {
            name: candidate.name(self.options),
            family: candidate.family,
            is_chosen: candidate == chosen,
            transforms: candidate.transforms,
            model: result.learned.model,
            fold_models: result.fold_models,
            widening: result.widening,
            densities: result.densities,
        });
        let comparison = Comparison {
            trials: trials.collect(),
            n_learning: self.plan.n_rows.min(self.sample.n_rows()),
            sample: self.sample,
            folds: self.folds,
            scales: self.scales,
            settings: self.plan.candidate,
            multipliers: self.plan.candidate_multipliers,
        };
        if has_held_out {
            held_out.extend(comparison.held_out_folds().simple_rules()?);
        }
        Ok(FamilyChoice {
            family,
            tried,
            transforms: chosen.transforms,
            reasons,
            held_out,
            settings: final_settings(self.options.budget, n_rows, row),
            multipliers: self.plan.final_multipliers,
            earlier: (model, units),
            comparison,
            method_folds: None,
        })
    }
}
