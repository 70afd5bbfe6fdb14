//! Which model: smoothness by evidence, the number of latents and the variants by what they predict of hidden cells.

mod candidate;
mod fold;
mod holes;
mod result;
mod plan;
mod references;
mod relevance;
mod rows;
mod skew;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use catena::data::Dataset;
use catena::kernel::{Kernel, StateKind};
use catena::learning::{Family, Learned, Priors};
use catena::model::Lmc;
use rayon::prelude::*;

use candidate::FamilyCandidate;
pub use candidate::CandidateSummary;
pub(crate) use fold::{Fold, below, fold};
pub(crate) use result::is_better;
pub(crate) use plan::{Plan, cost_per_row};
pub(crate) use references::references;
pub(crate) use rows::{part, random_rows, topped_up};

use crate::scores::self;
use crate::error::FitError;
use crate::learn::LearningTask;
use crate::monitor::{Event, FitMonitor, Stage};
use crate::options::{FitOptions, KernelPair, MeanChoice, TransformChoice};
use crate::prepare::{InputUnits, Preparation, PreparedTable, some_rows};
use crate::scores::{HeldOutScores, Scores, score};
use result::{TrialResult, best, pooled};
use skew::{positive_outputs, skewed_outputs};

/// Numbers of shared latents that are tried.
const LADDER: [usize; 8] = [0, 1, 2, 3, 4, 6, 8, 12];
/// The model with one shared latent per output is only tried up to here.
const MOST_OUTPUTS_OF_FULL: usize = 16;

/// What was decided.
#[derive(Clone, Debug)]
pub(crate) struct FamilyChoice {
    pub(crate) family: Family,
    pub(crate) transforms: TransformChoice,
    pub(crate) trials: Vec<CandidateSummary>,
    pub(crate) reasons: Vec<String>,
    /// How the chosen model and simple predictors did on hidden cells.
    pub(crate) held_out: Vec<(String, Scores)>,
    /// The chosen model on them, output by output and value by value.
    pub(crate) held_out_scores: Option<HeldOutScores>,
    /// What the budget allows for learning it.
    pub(crate) plan: Plan,
    /// The chosen model as it was learned to be compared, and its units: where learning goes on from.
    pub(crate) earlier: Option<(Lmc, Preparation)>,
}

/// Runs stages of selection on a part of the table.
struct FamilySelection<'a> {
    /// The part, in the user's units.
    part: Dataset,
    /// Which outputs are positive in the whole table: the part may miss the one cell that has no logarithm.
    positive: Vec<bool>,
    options: &'a FitOptions,
    units: InputUnits,
    plan: Plan,
    folds: Vec<Fold>,
    /// The standard deviation of each output, in which scores are counted.
    scales: Vec<f64>,
    monitor: &'a FitMonitor<'a>,
    /// What the monitor was told last.
    latest: Mutex<Event>,
    is_stopped: AtomicBool,
}

/// Decides what the options leave open.
pub(crate) fn choose(
    table: &Dataset,
    options: &FitOptions,
    units: InputUnits,
    monitor: &FitMonitor<'_>,
) -> Result<FamilyChoice, FitError> {
    let n_wanted = selection_rows(Size::of(table), options);
    let part = some_rows(table, &rows::part(table, n_wanted, options.seed))?;
    let positive = positive_outputs(table.observations());
    choose_on(part, table.n_rows(), positive, options, units, monitor)
}

/// How large a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) n_rows: usize,
    pub(crate) n_inputs: usize,
    pub(crate) n_outputs: usize,
}

impl Size {
    fn of(table: &Dataset) -> Self {
        let (n_inputs, n_outputs) = (table.inputs().dim(), table.observations().n_outputs());
        Self { n_rows: table.n_rows(), n_inputs, n_outputs }
    }
}

/// On how many rows of a table models are compared.
pub(crate) fn selection_rows(size: Size, options: &FitOptions) -> usize {
    plan_for(size, options).2.selection_rows
}

/// Whether private latents are tried, how many shared ones, and the plan to compare them.
fn plan_for(size: Size, options: &FitOptions) -> (bool, Vec<usize>, Plan) {
    let Size { n_rows, n_inputs, n_outputs } = size;
    let private = options.private.unwrap_or(n_outputs > 1);
    let mut ladder = ladder(n_outputs, private, options.latents);
    let most = ladder.iter().copied().max().unwrap_or(1);
    // Along a line most latents turn out rough, with one state; some have two.
    let n_latents = most + if private { n_outputs } else { 0 };
    let state_size = if n_inputs == 1 { n_latents + n_latents / 4 } else { n_latents };
    let plan = Plan::new(options.budget, n_rows, n_outputs, state_size);
    if plan.is_frugal {
        // Every second number, the largest among them.
        ladder = ladder.into_iter().rev().step_by(2).collect::<Vec<_>>();
        ladder.reverse();
    }
    (private, ladder, plan)
}

/// Decides what the options leave open for a table of `n_rows` rows, by the part of it on which models are compared. `positive`
/// says which outputs are positive in the whole table.
pub(crate) fn choose_on(
    part: Dataset,
    n_rows: usize,
    positive: Vec<bool>,
    options: &FitOptions,
    units: InputUnits,
    monitor: &FitMonitor<'_>,
) -> Result<FamilyChoice, FitError> {
    let size = Size { n_rows, ..Size::of(&part) };
    let n_outputs = size.n_outputs;
    let (private, ladder, plan) = plan_for(size, options);
    let mut reasons = vec![];
    if part.n_rows() < n_rows {
        reasons.push(format!("models were compared on {} of {n_rows} rows", part.n_rows()));
    }
    if plan.is_frugal {
        let steps = if options.latents.is_none() { "numbers of latents two steps apart, " } else { "" };
        let iterations = plan.candidate_iterations;
        reasons.push(format!(
            "so many outputs are dear to learn together: {steps}models compared after {iterations} iterations"
        ));
    }
    let masks = (0..plan.n_masks.max(1)).map(|mask| fold(&part, options.seed, mask));
    let mut folds: Vec<Fold> = masks.collect::<Result<_, _>>()?;
    let mut plan = plan;
    // A mask that hides nothing has no score; one is kept where all are so.
    if folds.iter().any(|fold| !fold.held_out_cells.is_empty()) {
        folds.retain(|fold| !fold.held_out_cells.is_empty());
    } else {
        folds.truncate(1);
        reasons.push("too few cells to hide any".to_owned());
        plan.n_masks = 0;
    }
    let is_stopped = AtomicBool::new(false);
    let latest = Mutex::new(Event { stage: Stage::Smoothness, done: 0.0, log_posterior: None });
    let plain = Preparation::fitted(&part, units, &TransformChoice::default())?;
    let scales = plain.outputs.iter().map(|output| output.scale).collect();
    let selection =
        FamilySelection { part, positive, options, units, plan, folds, scales, monitor, latest, is_stopped };
    let mut choice = selection.run(&ladder, private, reasons)?;
    let size_of = |kernel: Kernel| kernel.state_dim(choice.family.state_of(kernel)).unwrap_or(1);
    let own = choice.family.private_kernel.map_or(0, |kernel| n_outputs * size_of(kernel));
    let state_size = choice.family.n_shared * size_of(choice.family.shared_kernel) + own;
    choice.plan = choice.plan.with_final_race(options.budget, n_rows, n_outputs, state_size);
    Ok(choice)
}

/// Numbers of shared latents to try.
fn ladder(n_outputs: usize, private: bool, asked: Option<usize>) -> Vec<usize> {
    match asked {
        Some(count) => vec![count],
        // A private latent beside a shared one would be the same thing twice.
        None if n_outputs == 1 => vec![1, 2],
        None => {
            let fewest = if private { 0 } else { 1 };
            LADDER.iter().copied().filter(|&count| count >= fewest && count <= n_outputs).collect()
        }
    }
}

impl FamilySelection<'_> {
    fn run(self, ladder: &[usize], private: bool, mut reasons: Vec<String>) -> Result<FamilyChoice, FitError> {
        let asked = self.options.transforms();
        let plain = self.prepared_table(&asked)?;
        let state = self.options.state.unwrap_or_else(|| plain.suited_state());
        let n_outputs = self.part.observations().n_outputs();
        let kernels = match self.options.kernel {
            Some(kernels) => kernels,
            None => self.smoothness(&plain, ladder, private, state, &mut reasons)?,
        };
        let family = |n_shared: usize, tied: bool, private: bool| Family {
            n_shared,
            shared_kernel: kernels.shared,
            private_kernel: private.then_some(kernels.private),
            state,
            tied,
        };
        let candidate = |family: Family| FamilyCandidate { family, transforms: asked.clone() };
        let mut candidates: Vec<FamilyCandidate> =
            ladder.iter().map(|&count| candidate(family(count, false, private))).collect();
        let is_open = self.options.latents.is_none();
        if is_open && (2..=MOST_OUTPUTS_OF_FULL).contains(&n_outputs) {
            candidates.push(candidate(family(n_outputs, true, false)));
        }
        let mut trials: Vec<(FamilyCandidate, TrialResult)> = vec![];
        self.try_all(candidates, &mut trials)?;
        let best = best(&trials).0.clone();
        let mut variants = vec![];
        if is_open && best.family.n_shared >= 2 && !best.family.tied {
            variants.push(FamilyCandidate { family: Family { tied: true, ..best.family }, ..best.clone() });
        }
        // Off a line a rough private latent can pass for noise, which shows where points coincide: hidden cells decide.
        if self.options.private.is_none() && best.family.private_kernel.is_some() {
            let n_shared = best.family.n_shared.max(1);
            variants.push(FamilyCandidate {
                family: Family { n_shared, private_kernel: None, ..best.family },
                ..best.clone()
            });
        }
        // Parsimony cannot compare densities before and after a transform of the data; hidden cells can.
        if self.plan.n_masks > 0 && self.options.transforms {
            let mut log = skewed_outputs(self.part.observations());
            log.retain(|output| self.positive[output.get()]);
            if !log.is_empty() {
                variants.push(FamilyCandidate { transforms: TransformChoice { log, ..asked.clone() }, ..best.clone() });
            }
            if self.part.inputs().dim() > 1 && self.options.mean == MeanChoice::Auto {
                variants
                    .push(FamilyCandidate { transforms: TransformChoice { trend: true, ..TransformChoice::default() }, ..best.clone() });
            }
        }
        self.try_all(variants, &mut trials)?;
        self.try_relevance(&mut trials)?;
        self.finish(trials, reasons)
    }

    fn prepared_table(&self, transforms: &TransformChoice) -> Result<PreparedTable, FitError> {
        let preparation = Preparation::fitted(&self.part, self.units, transforms)?;
        PreparedTable::new(preparation.dataset(&self.part)?, &self.options.structure.learned_on())
    }

    fn priors(&self, prepared_table: &PreparedTable) -> Priors {
        self.options.priors.clone().unwrap_or_else(|| prepared_table.priors())
    }

    /// Shared and private smoothness by evidence at a small number of latents.
    fn smoothness(
        &self,
        prepared_table: &PreparedTable,
        ladder: &[usize],
        private: bool,
        state: StateKind,
        reasons: &mut Vec<String>,
    ) -> Result<KernelPair, FitError> {
        use Kernel::{Matern12, Matern32, Matern52};
        let pairs = if private {
            vec![(Matern12, Matern12), (Matern32, Matern12), (Matern32, Matern32)]
        } else {
            vec![(Matern12, Matern12), (Matern32, Matern32), (Matern52, Matern52)]
        };
        let n_shared = ladder.iter().copied().filter(|&count| count <= 2).max().unwrap_or(ladder[0]);
        let priors = self.priors(prepared_table);
        let (done, count) = (AtomicUsize::new(0), pairs.len());
        let learned: Result<Vec<Learned>, FitError> = pairs
            .par_iter()
            .map(|&(shared, private_kernel)| {
                let family = Family {
                    n_shared,
                    shared_kernel: shared,
                    private_kernel: private.then_some(private_kernel),
                    state,
                    tied: false,
                };
                let task = LearningTask {
                    family,
                    multipliers: &[1.0],
                    earlier: vec![],
                    settings: self.plan.short(self.plan.smoothness_iterations),
                    priors: &priors,
                    noise_floor: self.options.noise_floor,
                };
                let learned = prepared_table.learn(&task, &|_| self.go_on())?;
                self.tell(Stage::Smoothness, &done, count);
                Ok(learned)
            })
            .collect();
        let learned = learned?;
        let evidence = |at: usize| learned[at].log_evidence;
        let chosen =
            (1..pairs.len()).fold(0, |best, at| if evidence(at) > evidence(best) { at } else { best });
        let (shared, private_kernel) = pairs[chosen];
        let names: Vec<String> = pairs
            .iter()
            .zip(&learned)
            .map(|((shared, own), learned)| {
                let name =
                    if private { format!("{}/{}", shared.name(), own.name()) } else { shared.name().into() };
                format!("{name} {:.0}", learned.log_evidence)
            })
            .collect();
        reasons.push(format!("smoothness by log evidence at {n_shared} shared: {}", names.join(", ")));
        Ok(KernelPair { shared, private: private_kernel })
    }

    /// Asks the monitor at every step of a climb: on a large table a candidate takes longer than anyone waits.
    fn go_on(&self) -> ControlFlow<()> {
        let latest = *self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_stopped.load(Ordering::Relaxed) || (self.monitor)(latest).is_break() {
            self.is_stopped.store(true, Ordering::Relaxed);
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn is_over(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    fn tell(&self, stage: Stage, done: &AtomicUsize, count: usize) {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let event = Event { stage, done: done as f64 / count as f64, log_posterior: None };
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = event;
        if (self.monitor)(event).is_break() {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
    }

    /// Tries candidates on every mask, in parallel.
    fn try_all(
        &self,
        candidates: Vec<FamilyCandidate>,
        trials: &mut Vec<(FamilyCandidate, TrialResult)>,
    ) -> Result<(), FitError> {
        let prepared_tables: Result<Vec<PreparedTable>, FitError> =
            candidates.iter().map(|candidate| self.prepared_table(&candidate.transforms)).collect();
        let prepared_tables = prepared_tables?;
        let by_parsimony = self.plan.n_masks == 0;
        let masks = if by_parsimony { 1 } else { self.folds.len() };
        let jobs: Vec<(usize, usize)> = (0..candidates.len())
            .flat_map(|candidate| (0..masks).map(move |mask| (candidate, mask)))
            .collect();
        let (done, count) = (AtomicUsize::new(0), jobs.len());
        let results: Result<Vec<TrialResult>, FitError> = jobs
            .par_iter()
            .map(|&(at, mask)| {
                let result = if by_parsimony {
                    self.by_parsimony(&candidates[at], &prepared_tables[at])
                } else {
                    self.by_hidden_cells(&candidates[at], &prepared_tables[at], &self.folds[mask])
                };
                self.tell(Stage::Candidates, &done, count);
                result
            })
            .collect();
        let mut results = results?.into_iter();
        for candidate in candidates {
            let result: Vec<TrialResult> = results.by_ref().take(masks).collect();
            trials.push((candidate, pooled(result)));
        }
        Ok(())
    }

    fn task<'a>(&self, candidate: &FamilyCandidate, priors: &'a Priors) -> LearningTask<'a> {
        LearningTask {
            family: candidate.family,
            multipliers: self.plan.candidate_multipliers,
            earlier: vec![],
            settings: self.plan.short(self.plan.candidate_iterations),
            priors,
            noise_floor: self.options.noise_floor,
        }
    }

    /// Log evidence less half the logarithm of the number of cells for every parameter.
    fn by_parsimony(&self, candidate: &FamilyCandidate, prepared_table: &PreparedTable) -> Result<TrialResult, FitError> {
        let priors = self.priors(prepared_table);
        let task = self.task(candidate, &priors);
        let learned = prepared_table.learn(&task, &|_| self.go_on())?;
        let n_cells = prepared_table.dataset.observations().n_observed() as f64;
        let score = learned.log_evidence - 0.5 * prepared_table.n_free(&task)? as f64 * n_cells.ln();
        Ok(TrialResult { learned: Some(learned), score, held_out_scores: None })
    }

    fn by_hidden_cells(
        &self,
        candidate: &FamilyCandidate,
        prepared_table: &PreparedTable,
        fold: &Fold,
    ) -> Result<TrialResult, FitError> {
        let preparation = Preparation::fitted(&self.part, self.units, &candidate.transforms)?;
        let left = Dataset::new(self.part.inputs().clone(), fold.left.clone())?;
        let prepared_table = prepared_table.with_observations(preparation.dataset(&left)?.observations().clone())?;
        let priors = self.priors(&prepared_table);
        let learned = prepared_table.learn(&self.task(candidate, &priors), &|_| self.go_on())?;
        let (prediction, _) = prepared_table.marginals(&learned.model)?;
        let predictive = preparation.predictive_unchecked(&prediction, prepared_table.dataset.inputs());
        let held_out_scores = HeldOutScores::new(&predictive, &fold.held_out_cells, &self.scales);
        Ok(TrialResult { learned: Some(learned), score: -held_out_scores.scores.mnll, held_out_scores: Some(held_out_scores) })
    }

    fn finish(
        self,
        mut trials: Vec<(FamilyCandidate, TrialResult)>,
        mut reasons: Vec<String>,
    ) -> Result<FamilyChoice, FitError> {
        let (chosen, result) = best(&trials);
        let chosen = chosen.clone();
        let earlier = match &result.learned {
            Some(learned) => {
                let units = Preparation::fitted(&self.part, self.units, &chosen.transforms)?;
                Some((learned.model.clone(), units))
            }
            None => None,
        };
        let by_parsimony = self.plan.n_masks == 0;
        let mut held_out_scores = None;
        for (candidate, result) in &mut trials {
            if *candidate == chosen {
                // Without masks the chosen model alone is judged on one, beside the simple predictors.
                if by_parsimony && !self.folds[0].held_out_cells.is_empty() {
                    let prepared_table = self.prepared_table(&chosen.transforms)?;
                    let on_mask = self.by_hidden_cells(&chosen, &prepared_table, &self.folds[0])?;
                    result.held_out_scores = on_mask.held_out_scores;
                }
                held_out_scores = result.held_out_scores.clone();
            }
        }
        let scores = held_out_scores.as_ref().map(|held_out_scores| ("catena".to_owned(), held_out_scores.scores));
        let mut held_out: Vec<(String, Scores)> = scores.into_iter().collect();
        if !self.folds[0].held_out_cells.is_empty() {
            held_out.extend(self.reference_scores()?);
        }
        let what = if by_parsimony {
            "parsimony (log evidence less the cost of parameters)"
        } else {
            "log score per hidden cell"
        };
        let name = chosen.name(self.options);
        reasons.push(if trials.len() > 1 {
            format!("{name}: best of {} by {what}", trials.len())
        } else {
            format!("{name}: as asked")
        });
        let listed = trials.iter().map(|(candidate, result)| CandidateSummary {
            name: candidate.name(self.options),
            score: result.score,
            score_name: what.to_owned(),
            rmse: result.scores().map(|scores| scores.rmse),
            coverage: result.scores().map(|scores| scores.coverage),
            chosen: *candidate == chosen,
        });
        Ok(FamilyChoice {
            family: chosen.family,
            transforms: chosen.transforms.clone(),
            trials: listed.collect(),
            reasons,
            held_out,
            held_out_scores,
            plan: self.plan,
            earlier,
        })
    }

    fn reference_scores(&self) -> Result<Vec<(String, Scores)>, FitError> {
        let mut by_name: Vec<(String, Vec<Scores>)> = vec![];
        for fold in &self.folds {
            for (at, (name, predictive)) in references(&self.part, &fold.left)?.into_iter().enumerate() {
                let scores = score(&predictive, fold.held_out_cells.iter().copied(), &self.scales);
                match by_name.get_mut(at) {
                    Some((_, all)) => all.push(scores),
                    None => by_name.push((name.to_owned(), vec![scores])),
                }
            }
        }
        Ok(by_name.into_iter().map(|(name, all)| (name, scores::pooled(&all))).collect())
    }
}
