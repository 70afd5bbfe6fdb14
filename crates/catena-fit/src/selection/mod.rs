//! Which model: smoothness by evidence, the number of latents and the variants by what they predict of hidden cells.

mod candidate;
mod holdout;
mod holes;
mod judged;
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

use candidate::Candidate;
pub use candidate::Tried;
pub(crate) use holdout::{Holdout, below, holdout};
pub(crate) use judged::beats;
pub(crate) use plan::{Plan, cost_per_row};
pub(crate) use references::references;
pub(crate) use rows::{part, random_rows, topped_up};

use crate::fit::{Event, FitError, FitMonitor, FitOptions, KernelPair, MeanChoice, Stage};
use crate::ground::{Course, Ground};
use crate::preparation::{InputUnits, Preparation, Wanted};
use crate::rows::some_rows;
use crate::scores::{self, OnHidden, Scores, score};
use judged::{Judged, best, pooled};
use skew::{positive_outputs, skewed_outputs};

/// Numbers of shared latents that are tried.
const LADDER: [usize; 8] = [0, 1, 2, 3, 4, 6, 8, 12];
/// The model with one shared latent per output is only tried up to here.
const MOST_OUTPUTS_OF_FULL: usize = 16;

/// What was decided.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) family: Family,
    pub(crate) wanted: Wanted,
    pub(crate) tried: Vec<Tried>,
    pub(crate) reasons: Vec<String>,
    /// How the chosen model and simple predictors did on hidden cells.
    pub(crate) held_out: Vec<(String, Scores)>,
    /// The chosen model on them, output by output and value by value.
    pub(crate) on_hidden: Option<OnHidden>,
    /// What the budget allows for learning it.
    pub(crate) plan: Plan,
    /// The chosen model as it was learned to be compared, and its units: where learning goes on from.
    pub(crate) earlier: Option<(Lmc, Preparation)>,
}

/// Runs stages of selection on a part of the table.
struct Selection<'a> {
    /// The part, in the user's units.
    part: Dataset,
    /// Which outputs are positive in the whole table: the part may miss the one cell that has no logarithm.
    positive: Vec<bool>,
    options: &'a FitOptions,
    units: InputUnits,
    plan: Plan,
    holdouts: Vec<Holdout>,
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
) -> Result<Choice, FitError> {
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
) -> Result<Choice, FitError> {
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
    let masks = (0..plan.n_masks.max(1)).map(|mask| holdout(&part, options.seed, mask));
    let mut holdouts: Vec<Holdout> = masks.collect::<Result<_, _>>()?;
    let mut plan = plan;
    // A mask that hides nothing has no score; one is kept where all are so.
    if holdouts.iter().any(|holdout| !holdout.hidden.is_empty()) {
        holdouts.retain(|holdout| !holdout.hidden.is_empty());
    } else {
        holdouts.truncate(1);
        reasons.push("too few cells to hide any".to_owned());
        plan.n_masks = 0;
    }
    let is_stopped = AtomicBool::new(false);
    let latest = Mutex::new(Event { stage: Stage::Smoothness, done: 0.0, log_posterior: None });
    let plain = Preparation::fitted(&part, units, &Wanted::default())?;
    let scales = plain.outputs.iter().map(|output| output.scale).collect();
    let selection =
        Selection { part, positive, options, units, plan, holdouts, scales, monitor, latest, is_stopped };
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

impl Selection<'_> {
    fn run(self, ladder: &[usize], private: bool, mut reasons: Vec<String>) -> Result<Choice, FitError> {
        let asked = self.options.wanted();
        let plain = self.ground(&asked)?;
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
        let candidate = |family: Family| Candidate { family, wanted: asked.clone() };
        let mut candidates: Vec<Candidate> =
            ladder.iter().map(|&count| candidate(family(count, false, private))).collect();
        let is_open = self.options.latents.is_none();
        if is_open && (2..=MOST_OUTPUTS_OF_FULL).contains(&n_outputs) {
            candidates.push(candidate(family(n_outputs, true, false)));
        }
        let mut tried: Vec<(Candidate, Judged)> = vec![];
        self.try_all(candidates, &mut tried)?;
        let best = best(&tried).0.clone();
        let mut variants = vec![];
        if is_open && best.family.n_shared >= 2 && !best.family.tied {
            variants.push(Candidate { family: Family { tied: true, ..best.family }, ..best.clone() });
        }
        // Off a line a rough private latent can pass for noise, which shows where points coincide: hidden cells decide.
        if self.options.private.is_none() && best.family.private_kernel.is_some() {
            let n_shared = best.family.n_shared.max(1);
            variants.push(Candidate {
                family: Family { n_shared, private_kernel: None, ..best.family },
                ..best.clone()
            });
        }
        // Parsimony cannot compare densities before and after a transform of the data; hidden cells can.
        if self.plan.n_masks > 0 && self.options.transforms {
            let mut log = skewed_outputs(self.part.observations());
            log.retain(|output| self.positive[output.get()]);
            if !log.is_empty() {
                variants.push(Candidate { wanted: Wanted { log, ..asked.clone() }, ..best.clone() });
            }
            if self.part.inputs().dim() > 1 && self.options.mean == MeanChoice::Auto {
                variants
                    .push(Candidate { wanted: Wanted { trend: true, ..Wanted::default() }, ..best.clone() });
            }
        }
        self.try_all(variants, &mut tried)?;
        self.try_relevance(&mut tried)?;
        self.finish(tried, reasons)
    }

    fn ground(&self, wanted: &Wanted) -> Result<Ground, FitError> {
        let preparation = Preparation::fitted(&self.part, self.units, wanted)?;
        Ground::new(preparation.dataset(&self.part)?, &self.options.structure.learned_on())
    }

    fn priors(&self, ground: &Ground) -> Priors {
        self.options.priors.clone().unwrap_or_else(|| ground.priors())
    }

    /// Shared and private smoothness by evidence at a small number of latents.
    fn smoothness(
        &self,
        ground: &Ground,
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
        let priors = self.priors(ground);
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
                let course = Course {
                    family,
                    multipliers: &[1.0],
                    earlier: vec![],
                    settings: self.plan.short(self.plan.smoothness_iterations),
                    priors: &priors,
                    noise_floor: self.options.noise_floor,
                };
                let learned = ground.learn(&course, &|_| self.go_on())?;
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
        candidates: Vec<Candidate>,
        tried: &mut Vec<(Candidate, Judged)>,
    ) -> Result<(), FitError> {
        let grounds: Result<Vec<Ground>, FitError> =
            candidates.iter().map(|candidate| self.ground(&candidate.wanted)).collect();
        let grounds = grounds?;
        let by_parsimony = self.plan.n_masks == 0;
        let masks = if by_parsimony { 1 } else { self.holdouts.len() };
        let jobs: Vec<(usize, usize)> = (0..candidates.len())
            .flat_map(|candidate| (0..masks).map(move |mask| (candidate, mask)))
            .collect();
        let (done, count) = (AtomicUsize::new(0), jobs.len());
        let results: Result<Vec<Judged>, FitError> = jobs
            .par_iter()
            .map(|&(at, mask)| {
                let judged = if by_parsimony {
                    self.by_parsimony(&candidates[at], &grounds[at])
                } else {
                    self.by_hidden_cells(&candidates[at], &grounds[at], &self.holdouts[mask])
                };
                self.tell(Stage::Candidates, &done, count);
                judged
            })
            .collect();
        let mut results = results?.into_iter();
        for candidate in candidates {
            let judged: Vec<Judged> = results.by_ref().take(masks).collect();
            tried.push((candidate, pooled(judged)));
        }
        Ok(())
    }

    fn course<'a>(&self, candidate: &Candidate, priors: &'a Priors) -> Course<'a> {
        Course {
            family: candidate.family,
            multipliers: self.plan.candidate_multipliers,
            earlier: vec![],
            settings: self.plan.short(self.plan.candidate_iterations),
            priors,
            noise_floor: self.options.noise_floor,
        }
    }

    /// Log evidence less half the logarithm of the number of cells for every parameter.
    fn by_parsimony(&self, candidate: &Candidate, ground: &Ground) -> Result<Judged, FitError> {
        let priors = self.priors(ground);
        let course = self.course(candidate, &priors);
        let learned = ground.learn(&course, &|_| self.go_on())?;
        let n_cells = ground.dataset.observations().n_observed() as f64;
        let score = learned.log_evidence - 0.5 * ground.n_free(&course)? as f64 * n_cells.ln();
        Ok(Judged { learned: Some(learned), score, on_hidden: None })
    }

    fn by_hidden_cells(
        &self,
        candidate: &Candidate,
        ground: &Ground,
        holdout: &Holdout,
    ) -> Result<Judged, FitError> {
        let preparation = Preparation::fitted(&self.part, self.units, &candidate.wanted)?;
        let left = Dataset::new(self.part.inputs().clone(), holdout.left.clone())?;
        let ground = ground.with_observations(preparation.dataset(&left)?.observations().clone())?;
        let priors = self.priors(&ground);
        let learned = ground.learn(&self.course(candidate, &priors), &|_| self.go_on())?;
        let (prediction, _) = ground.marginals(&learned.model)?;
        let predictive = preparation.predictive_unchecked(prediction, ground.dataset.inputs());
        let on_hidden = OnHidden::new(&predictive, &holdout.hidden, &self.scales);
        Ok(Judged { learned: Some(learned), score: -on_hidden.scores.mnll, on_hidden: Some(on_hidden) })
    }

    fn finish(
        self,
        mut tried: Vec<(Candidate, Judged)>,
        mut reasons: Vec<String>,
    ) -> Result<Choice, FitError> {
        let (chosen, judged) = best(&tried);
        let chosen = chosen.clone();
        let earlier = match &judged.learned {
            Some(learned) => {
                let units = Preparation::fitted(&self.part, self.units, &chosen.wanted)?;
                Some((learned.model.clone(), units))
            }
            None => None,
        };
        let by_parsimony = self.plan.n_masks == 0;
        let mut on_hidden = None;
        for (candidate, judged) in &mut tried {
            if *candidate == chosen {
                // Without masks the chosen model alone is judged on one, beside the simple predictors.
                if by_parsimony && !self.holdouts[0].hidden.is_empty() {
                    let ground = self.ground(&chosen.wanted)?;
                    let on_mask = self.by_hidden_cells(&chosen, &ground, &self.holdouts[0])?;
                    judged.on_hidden = on_mask.on_hidden;
                }
                on_hidden = judged.on_hidden.clone();
            }
        }
        let scores = on_hidden.as_ref().map(|on_hidden| ("catena".to_owned(), on_hidden.scores));
        let mut held_out: Vec<(String, Scores)> = scores.into_iter().collect();
        if !self.holdouts[0].hidden.is_empty() {
            held_out.extend(self.reference_scores()?);
        }
        let what = if by_parsimony {
            "parsimony (log evidence less the cost of parameters)"
        } else {
            "log score per hidden cell"
        };
        let name = chosen.name(self.options);
        reasons.push(if tried.len() > 1 {
            format!("{name}: best of {} by {what}", tried.len())
        } else {
            format!("{name}: as asked")
        });
        let listed = tried.iter().map(|(candidate, judged)| Tried {
            name: candidate.name(self.options),
            score: judged.score,
            score_name: what.to_owned(),
            rmse: judged.scores().map(|scores| scores.rmse),
            coverage: judged.scores().map(|scores| scores.coverage),
            chosen: *candidate == chosen,
        });
        Ok(Choice {
            family: chosen.family,
            wanted: chosen.wanted.clone(),
            tried: listed.collect(),
            reasons,
            held_out,
            on_hidden,
            plan: self.plan,
            earlier,
        })
    }

    fn reference_scores(&self) -> Result<Vec<(String, Scores)>, FitError> {
        let mut by_name: Vec<(String, Vec<Scores>)> = vec![];
        for holdout in &self.holdouts {
            for (at, (name, predictive)) in references(&self.part, &holdout.left)?.into_iter().enumerate() {
                let scores = score(&predictive, holdout.hidden.iter().copied(), &self.scales);
                match by_name.get_mut(at) {
                    Some((_, all)) => all.push(scores),
                    None => by_name.push((name.to_owned(), vec![scores])),
                }
            }
        }
        Ok(by_name.into_iter().map(|(name, all)| (name, scores::pooled(&all))).collect())
    }
}
