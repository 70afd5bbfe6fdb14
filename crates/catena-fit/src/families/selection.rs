//! Compares candidate families on a sample of the table: smoothness by log evidence, everything else by held-out cells or, with
//! the quick budget, by a parsimony score.

use std::sync::atomic::{AtomicUsize, Ordering};

use catena::data::Dataset;
use catena::learning::{Family, MultiStartSettings};
use catena::model::Lmc;

use super::candidate::{CandidateSummary, FamilyCandidate, TrialResult, best};
use super::plan::{TriedSoFar, plan_for, report_left_out, sample_reasons};
use super::requested::requested_on;
use super::skew::positive_outputs;
use super::trials::{Comparison, FamilyTrial};
use super::variant_base::VariantBase;
use crate::cost::{FinalPlan, RowSize, SelectionPlan, TableSize};
use crate::error::FitError;
use crate::folds::{Fold, HeldOutFolds, gaps, representative_rows, scales_of};
use crate::learn::LearningTask;
use crate::monitor::{Reporter, Stage, Step, Watch};
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

/// Shares of the time left that comparisons may take, if there is a limit.
const SHARE_OF_SMOOTHNESS: f64 = 0.12;
const SHARE_OF_CANDIDATES: f64 = 0.45;

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
    pub(super) tried: TriedSoFar,
}

/// Decides what the options leave open.
pub(crate) fn choose(
    table: &Dataset,
    options: &FitOptions,
    units: InputUnits,
    watch: &Watch<'_>,
) -> Result<FamilyChoice, FitError> {
    let plan = plan_for(TableSize::of(table), options).2;
    let mut n_rows = if table.inputs().dim() == 1 { plan.compared_rows } else { plan.n_rows };
    if options.budget == Budget::Quick && table.inputs().n_groups() > 1 {
        n_rows = n_rows.min(MOST_ROWS_OF_GROUPS);
    }
    let sample = table.select_rows(&representative_rows(table, n_rows, options.seed))?;
    let positive = positive_outputs(table.observations());
    choose_on((sample, Some(table)), table.n_rows(), positive, options, units, watch)
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
    watch: &Watch<'_>,
) -> Result<FamilyChoice, FitError> {
    let size = TableSize { n_rows, ..TableSize::of(&sample) };
    let (private, ladder, mut plan) = plan_for(size, options);
    report_left_out(size, options, watch);
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
    let reporter = Reporter::new(watch, Stage::Smoothness, 0.0);
    let kinds = options.transform_kinds(sample.observations().n_outputs())?;
    reporter.end_within(SHARE_OF_SMOOTHNESS);
    let requested = requested_on(&sample, options, units, plan.smoothness, &reporter)?;
    let tried = TriedSoFar { n_candidates: 0, n_left_out: 0, n_folds: folds.len() };
    let selection = FamilySelection {
        sample,
        positive,
        kinds,
        requested,
        options,
        units,
        plan,
        folds,
        scales,
        reporter,
        tried,
    };
    selection.run(&ladder, private, n_rows, reasons)
}

impl FamilySelection<'_> {
    fn run(
        mut self,
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
        self.reporter.end_within(SHARE_OF_CANDIDATES);
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
        self.reporter.watch.reach(Step::Variants, 0.0);
        let found = best(&trials, &self.gaps());
        let best = found.0.clone();
        let base = VariantBase::of(found);
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
        self.try_variants(variants, &base, &mut trials)?;
        self.try_own_of_groups(&mut trials)?;
        self.try_relevance(&mut trials)?;
        self.finish(trials, n_rows, reasons)
    }

    /// Tries means and scales of each group, if the options leave that open.
    fn try_own_of_groups(
        &mut self,
        trials: &mut Vec<(FamilyCandidate, TrialResult)>,
    ) -> Result<(), FitError> {
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
    pub(super) fn held_out_folds(&self) -> HeldOutFolds {
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

    pub(super) fn task(&self, candidate: &FamilyCandidate, table: &PreparedTable) -> LearningTask {
        LearningTask::new(candidate.family, self.plan.candidate, &table.statistics, self.options)
            .with_starts(vec![], self.plan.candidate_multipliers)
    }

    /// Learns a candidate on the training cells of a fold and scores its held-out cells, or learns it on all cells.
    pub(super) fn trial(
        &self,
        candidate: &FamilyCandidate,
        (preparation, table): &(Preparation, PreparedTable),
        fold: Option<usize>,
        start: Option<&Lmc>,
    ) -> Result<TrialResult, FitError> {
        let fold = fold.map(|fold| &self.folds[fold]);
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
        let task = match start {
            None => self.task(candidate, learning),
            Some(start) => {
                let settings = self.plan.variant;
                LearningTask::new(candidate.family, settings, &learning.statistics, self.options)
                    .with_starts(vec![start.clone()], &[])
            }
        };
        let learned = task.learn_reported(learning, &self.reporter)?;
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
                first_score: f64::NAN,
                densities,
                widening,
            });
        };
        let prediction = table.predictions(&learned.model)?;
        let predictive = preparation.predictive_unchecked(prediction, table.dataset.inputs());
        let held_out = Some(HeldOutScores::new(&predictive, &fold.held_out, &self.scales));
        let densities = Densities::at(&predictive, &fold.held_out);
        let fold_models = vec![learned.model.clone()];
        let (widening, first_score) = (Widening::none(1), densities.best_log_score());
        Ok(TrialResult { learned, fold_models, parsimony, held_out, first_score, densities, widening })
    }

    fn finish(
        self,
        mut trials: Vec<(FamilyCandidate, TrialResult)>,
        n_rows: usize,
        mut reasons: Vec<String>,
    ) -> Result<FamilyChoice, FitError> {
        self.tried.report_to(self.reporter.watch, &self.folds);
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
                let trial = self.trial(candidate, &prepared, Some(0), None)?;
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
        let row = RowSize::of(&family, n_outputs);
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
        if has_held_out && self.reporter.watch.seconds_left() > 0.0 {
            held_out.extend(comparison.held_out_folds().simple_rules()?);
        }
        Ok(FamilyChoice {
            family,
            tried,
            transforms: chosen.transforms,
            reasons,
            held_out,
            settings: FinalPlan::new(self.options.budget, n_rows, row).settings,
            multipliers: self.plan.final_multipliers,
            earlier: (model, units),
            comparison,
            method_folds: None,
        })
    }
}
