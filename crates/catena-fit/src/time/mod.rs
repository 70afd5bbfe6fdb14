//! Models along time: level, season and oscillator, learned output by output and then together.
//!
//! A latent is a sum of terms ([`TimeSpec`]); there are as many latents as outputs, and seasons may be shared by all of them. Each output is first fitted alone, which is
//! cheap and chooses the terms by a parsimony score. The joint model starts where the single ones ended, with weights from the
//! correlation of their one-step errors, and is climbed for a few iterations more.

mod again;
mod ahead;
mod alone;
mod drift;
mod given;
mod periodogram;
mod phases;
mod rolling;
mod spec;
mod sums;

pub(crate) use again::learn_again;
pub(crate) use drift::warnings as drift_warnings;
pub use given::{PieceKind, PieceParameters, SharedHarmonic, SharedSeason, TimeParameters};
pub use rolling::{Horizon, Rolling, later_rows, rolling};
pub use spec::{SpecError, Term, TimeSpec};

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use catena::data::Dataset;
use catena::index::{OutputIndex, RowIndex};
use catena::inference::{Form, Workspace};
use catena::kernel::Kernel;
use catena::learning::{
    GraphEvidence, Learned, MultiStartSettings, OptimizerSettings, OutputMoments, Parameters, Priors,
    Progress, multi_start,
};
use catena::model::Lmc;
use catena::structure::sorted_chain;

use crate::carry::carried;
use crate::fit::{Budget, Event, FitError, FitMonitor, FitOptions, Stage};
use crate::ground::Ground;
use crate::preparation::{InputUnits, Preparation};
use crate::rows::some_rows;
use crate::selection::topped_up;
use alone::{Effort, Series, Singles, Terms, learn_singles};

/// With more outputs the joint state is too large to be carried along the rows.
pub const MOST_OUTPUTS: usize = 32;
/// With more outputs a season in every latent is too much: they share it, with a phase of its own in each.
pub const MOST_WITH_OWN_SEASONS: usize = 16;
/// Groups of a shared season that is not asked for.
const GROUPS: usize = 2;

/// What is asked of a model along time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TimeOptions {
    /// The sum; `None` for a level, an oscillator or a rough process, and what seasons there are.
    pub spec: Option<TimeSpec>,
    /// Periods of seasons, in units of the input; empty to look for them, unless the sum is given.
    pub periods: Vec<f64>,
    /// Parameters that are given, with all pieces and periods; `None` to learn them.
    pub parameters: Option<TimeParameters>,
}

/// How much is spent on what.
struct Plan {
    /// Rows, the latest ones, that models are learned from.
    rows: usize,
    /// While terms are compared.
    comparing: Effort,
    /// For the start of the joint model.
    starting: Effort,
    /// Iterations of the joint model.
    joint: usize,
    /// Numbers of harmonics to choose from, the first one while periods are compared.
    harmonics: &'static [usize],
}

impl Plan {
    fn new(budget: Budget, n_outputs: usize) -> Self {
        let plan = match budget {
            Budget::Quick => Self {
                rows: 2000,
                comparing: Effort { heat: 8, iterations: 8 },
                starting: Effort { heat: 12, iterations: 30 },
                joint: 10,
                harmonics: &[3],
            },
            Budget::Default => Self {
                rows: 4000,
                comparing: Effort { heat: 12, iterations: 20 },
                starting: Effort { heat: 15, iterations: 60 },
                joint: 40,
                harmonics: &[3, 2, 4],
            },
            Budget::Thorough => Self {
                rows: usize::MAX,
                comparing: Effort { heat: 15, iterations: 40 },
                starting: Effort { heat: 20, iterations: 150 },
                joint: 150,
                harmonics: &[3, 2, 4, 1, 6],
            },
        };
        // A row costs as much as its outputs cubed: beyond sixteen fewer rows must do.
        let rows = match n_outputs > MOST_WITH_OWN_SEASONS && budget != Budget::Thorough {
            true => plan.rows * MOST_WITH_OWN_SEASONS / n_outputs,
            false => plan.rows,
        };
        Self { rows, ..plan }
    }
}

/// A model along time, and what there is to say of it.
pub(crate) struct TimeModel {
    pub(crate) model: Lmc,
    /// How it was learned, if it was.
    pub(crate) learned: Option<Learned>,
    pub(crate) reasons: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// By latent, the sum that it is a piece of.
    pub(crate) sums: Vec<usize>,
}

/// Learns a model along time on a table in the model's units, of which one is `unit` of the user's input.
pub(crate) fn learn(
    table: &Dataset,
    unit: f64,
    asked: &TimeOptions,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<TimeModel, FitError> {
    let plan = Plan::new(options.budget, table.observations().n_outputs());
    let mut reasons = vec![];
    let part = latest_rows(table, plan.rows, options, &mut reasons)?;
    let table = part.as_ref().unwrap_or(table);
    let bench = Bench::new(table, unit, &plan, options, monitor)?;
    bench.tell(0.0);
    let specs = bench.candidates(asked, &mut reasons)?;
    bench.tell(1.0 / 3.0);
    let mut best: Option<(f64, TimeSpec, Start)> = None;
    for spec in &specs {
        let start = bench.start(spec)?;
        let evidence = start.log_evidence;
        let name = spec.text(|period| (options.length_text)(period * unit));
        if specs.len() > 1 {
            reasons.push(format!("{name} starts at a log evidence of {evidence:.0}"));
        }
        if best.as_ref().is_none_or(|(highest, ..)| evidence > *highest) {
            best = Some((evidence, spec.clone(), start));
        }
        bench.tell(2.0 / 3.0);
        if bench.is_over() {
            break;
        }
    }
    let Some((_, spec, start)) = best else { return Err(FitError::NoStart) };
    let priors = options.priors.clone().unwrap_or_else(|| bench.ground.priors());
    let learned = climb(&bench, start, &priors, plan.joint)?;
    let n_outputs = table.observations().n_outputs();
    reasons.push(format!(
        "each of {n_outputs} latents is the sum {}: its motion as learned from one output, weights and noise from all",
        spec.text(|period| (options.length_text)(period * unit))
    ));
    bench.told(learned, reasons)
}

/// A joint model to climb from.
struct Start {
    model: Lmc,
    parameters: Parameters,
    log_evidence: f64,
}

/// The table and its outputs one by one, where sums are compared.
struct Bench<'a> {
    ground: Ground,
    series: Vec<Option<Series>>,
    unit: f64,
    plan: &'a Plan,
    options: &'a FitOptions,
    monitor: &'a FitMonitor<'a>,
    /// The share of the comparison that is done.
    done: Mutex<f64>,
    is_stopped: AtomicBool,
}

impl<'a> Bench<'a> {
    fn new(
        table: &Dataset,
        unit: f64,
        plan: &'a Plan,
        options: &'a FitOptions,
        monitor: &'a FitMonitor<'a>,
    ) -> Result<Self, FitError> {
        let n_outputs = table.observations().n_outputs();
        let series: Result<Vec<Option<Series>>, FitError> =
            (0..n_outputs).map(|output| Series::of(table, OutputIndex::new(output))).collect();
        let series = series?;
        if series.iter().all(Option::is_none) {
            return Err(FitError::Learning("no output varies, so there is nothing to learn".to_owned()));
        }
        let ground = Ground::on(table.clone(), Arc::new(sorted_chain(table.inputs())?));
        let (done, is_stopped) = (Mutex::new(0.0), AtomicBool::new(false));
        Ok(Self { ground, series, unit, plan, options, monitor, done, is_stopped })
    }

    /// Says how much of the comparison is done.
    fn tell(&self, done: f64) {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = done;
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = self.go_on();
    }

    /// Asks the monitor, at every step of a climb too; whoever asked to stop once need not ask again.
    fn go_on(&self) -> ControlFlow<()> {
        let done = *self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let event = Event { stage: Stage::Candidates, done, log_posterior: None };
        if self.is_over() || (self.monitor)(event).is_break() {
            self.is_stopped.store(true, Ordering::Relaxed);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn is_over(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Learns every output alone.
    fn learn_singles(&self, spec: &TimeSpec, earlier: &[Lmc], effort: Effort) -> Result<Singles, FitError> {
        let FitOptions { priors, noise_floor, .. } = self.options;
        let go_on = || self.go_on();
        let terms = Terms { priors: priors.as_ref(), noise_floor: *noise_floor, go_on: &go_on };
        learn_singles(&self.series, spec, earlier, effort, &terms)
    }

    /// The parsimony score of a sum, each output alone; lower is better.
    fn score(&self, spec: &TimeSpec) -> Result<f64, FitError> {
        Ok(self.learn_singles(spec, &[], self.plan.comparing)?.score)
    }

    /// The sums to choose from, with every number of harmonics decided: the one asked for, or one with an oscillator and one
    /// without.
    fn candidates(&self, asked: &TimeOptions, reasons: &mut Vec<String>) -> Result<Vec<TimeSpec>, FitError> {
        let season = |period: f64| Term::Season { period, harmonics: None };
        let given: Vec<Term> = asked.periods.iter().map(|period| season(period / self.unit)).collect();
        if let Some(spec) = &asked.spec {
            let seasons = given.into_iter().map(TimeSpec::of);
            let seasons = seasons.map(|season| match self.series.len() > MOST_WITH_OWN_SEASONS {
                true => season.with_shared_seasons(GROUPS),
                false => season,
            });
            let terms: Vec<Term> = seasons.flat_map(|season| season.terms().to_vec()).collect();
            let spec = terms.into_iter().fold(spec.in_units(self.unit), |spec, term| spec.with(term));
            return Ok(vec![self.with_harmonics(spec, reasons)?]);
        }
        let oscillator = TimeSpec::of(Term::Oscillator).with(Term::Level);
        let spec = match given.is_empty() {
            true => self.with_seasons_found(oscillator, reasons)?,
            false => given.into_iter().fold(oscillator, |spec, term| spec.with(term)),
        };
        let mut spec = self.with_harmonics(spec, reasons)?;
        if self.series.len() > MOST_WITH_OWN_SEASONS && spec.has_own_season() {
            spec = spec.with_shared_seasons(GROUPS);
            reasons.push(format!(
                "more than {MOST_WITH_OWN_SEASONS} outputs: they share {GROUPS} groups of each season, with a phase of their own"
            ));
        }
        let rough = spec.beginning_with(Term::Kernel(Kernel::Matern12));
        Ok(vec![spec, rough])
    }

    /// The sum with those periods of the periodogram that lower the parsimony score.
    fn with_seasons_found(
        &self,
        mut spec: TimeSpec,
        reasons: &mut Vec<String>,
    ) -> Result<TimeSpec, FitError> {
        let mut lowest = self.score(&spec)?;
        for period in periodogram::strong_periods(&self.ground.dataset) {
            if self.is_over() {
                break;
            }
            let trial = spec.with(Term::Season { period, harmonics: None });
            let reached = self.score(&trial.with_harmonics(self.plan.harmonics[0]))?;
            let (named, gain) = ((self.options.length_text)(period * self.unit), lowest - reached);
            if gain > 0.0 {
                reasons
                    .push(format!("a season of {named} is kept: it lowers the parsimony score by {gain:.0}"));
                (lowest, spec) = (reached, trial);
            } else {
                reasons.push(format!(
                    "a season of {named} stands out and is not kept: the parsimony score rises"
                ));
            }
        }
        Ok(spec)
    }

    /// The sum with the number of harmonics that has the best parsimony score.
    fn with_harmonics(&self, spec: TimeSpec, reasons: &mut Vec<String>) -> Result<TimeSpec, FitError> {
        let counts = self.plan.harmonics;
        if !spec.is_open() || counts.len() == 1 {
            return Ok(spec.with_harmonics(counts[0]));
        }
        let mut best = (f64::INFINITY, counts[0]);
        for &count in counts {
            if self.is_over() {
                return Ok(spec.with_harmonics(best.1));
            }
            let reached = self.score(&spec.with_harmonics(count))?;
            if reached < best.0 {
                best = (reached, count);
            }
        }
        reasons.push(format!("{} harmonics have the best parsimony score among {counts:?}", best.1));
        Ok(spec.with_harmonics(best.1))
    }

    /// The joint model under a sum: motion from each output alone, weights from the correlation of their one-step errors.
    fn start(&self, spec: &TimeSpec) -> Result<Start, FitError> {
        let singles = self.singles(spec, &[])?;
        let loadings = loadings(&self.series, &singles, self.ground.dataset.n_rows())?;
        let groups = phases::groups(spec, &self.series, &singles)?;
        let (model, parameters) =
            sums::together(spec, &singles, &loadings, &groups, self.options.noise_floor)?;
        self.rated(model, parameters)
    }

    /// Each output alone, from `earlier` models too if there are any.
    fn singles(&self, spec: &TimeSpec, earlier: &[Lmc]) -> Result<Vec<Lmc>, FitError> {
        let singles = self.learn_singles(spec, earlier, self.plan.starting)?.models;
        let any = singles.iter().flatten().next().cloned().ok_or(FitError::NoStart)?;
        // An output that never varies takes part in no latent; any motion will do for its own.
        Ok(singles.iter().map(|model| model.clone().unwrap_or_else(|| any.clone())).collect())
    }

    /// A joint model with its evidence; of its parameters the motion is held.
    fn rated(&self, model: Lmc, parameters: Parameters) -> Result<Start, FitError> {
        // Motion is what single outputs tell best. Freed, levels wander off while weights find their places, and forecasts
        // with them: docs/decisions/0008.
        let mut parameters = parameters.with_fixed_length_scales().with_fixed_qualities();
        for (output, _) in &self.ground.facts.constant {
            parameters = parameters.with_fixed_weights_of(*output).with_fixed_noise_of(*output);
        }
        let model = self.ground.facts.silenced(model)?;
        let graph = self.ground.graph(model.clone())?;
        let log_evidence = Workspace::with_form(Form::Covariance).log_evidence(&graph);
        let log_evidence = log_evidence.map_err(crate::method::MethodError::from)?;
        Ok(Start { model, parameters, log_evidence })
    }

    /// What was learned, with what there is to say of it.
    fn told(&self, learned: Learned, reasons: Vec<String>) -> Result<TimeModel, FitError> {
        let Ground { dataset, tree, .. } = &self.ground;
        let model = learned.model.clone();
        let warnings = drift::latest_warnings(dataset, tree, &model, self.options)?;
        let sums = sums::numbers(&model);
        Ok(TimeModel { model, learned: Some(learned), reasons, warnings, sums })
    }
}

/// A model whose parameters are given in the user's units, for a table in the units of a preparation.
pub(crate) fn given(
    table: &Dataset,
    preparation: &Preparation,
    parameters: &TimeParameters,
    options: &FitOptions,
) -> Result<TimeModel, FitError> {
    let n_outputs = table.observations().n_outputs();
    let units = Preparation::identity(table.inputs(), n_outputs, InputUnits::AsGiven);
    let model = carried(&parameters.model(n_outputs)?, &units, preparation)?;
    let tree = Arc::new(sorted_chain(table.inputs())?);
    let warnings = drift::latest_warnings(table, &tree, &model, options)?;
    let unit = preparation.inputs[0].1;
    let spec = sums::spec_of(&model).text(|period| (options.length_text)(period * unit));
    let sums = sums::numbers(&model);
    Ok(TimeModel {
        model,
        learned: None,
        reasons: vec![format!("parameters as given, of {spec}")],
        warnings,
        sums,
    })
}

/// Climbs the joint model.
fn climb(bench: &Bench<'_>, start: Start, priors: &Priors, iterations: usize) -> Result<Learned, FitError> {
    let Start { model, parameters, .. } = start;
    let graph = bench.ground.graph(model.clone())?;
    let optimizer = OptimizerSettings { max_iterations: iterations, ..OptimizerSettings::default() };
    let settings = MultiStartSettings { trial_iterations: iterations, optimizer };
    let watch = |progress: Progress| -> ControlFlow<()> {
        let done = progress.iteration as f64 / iterations as f64;
        let log_posterior = Some(progress.value);
        let asked = (bench.monitor)(Event { stage: Stage::Learning, done, log_posterior });
        if bench.is_over() { ControlFlow::Break(()) } else { asked }
    };
    Ok(multi_start(&|| GraphEvidence::new(graph.clone()), &parameters, priors, &[model], settings, &watch)?)
}

/// The latest rows of a table, if it has more than are wanted. An output that is silent in them brings the latest rows in which
/// it was not: a tenth as many, at most.
fn latest_rows(
    table: &Dataset,
    count: usize,
    options: &FitOptions,
    reasons: &mut Vec<String>,
) -> Result<Option<Dataset>, FitError> {
    if table.n_rows() <= count {
        return Ok(None);
    }
    let mut rows: Vec<RowIndex> = table.inputs().rows().collect();
    rows.sort_by(|&a, &b| table.inputs().point(a)[0].total_cmp(&table.inputs().point(b)[0]));
    let kept = rows.split_off(rows.len() - count);
    rows.reverse();
    reasons.push(format!("learned from the latest {count} of {} rows", table.n_rows()));
    let silent = silent_outputs(table, &kept);
    if silent.is_empty() {
        let kept = topped_up(table, kept, &[], 0);
        return Ok(Some(some_rows(table, &kept)?));
    }
    let speaks = |row: &RowIndex| table.observations().row(*row).any(|cell| silent.contains(&cell.output));
    let others: Vec<RowIndex> = rows.into_iter().filter(speaks).collect();
    let kept = topped_up(table, kept, &others, count.div_ceil(10));
    let names: Vec<String> = silent.iter().map(|output| options.output_name(output.get())).collect();
    reasons.push(format!(
        "{} earlier rows were added for {}, which had next to no value in the latest",
        kept.len() - count,
        names.join(", ")
    ));
    Ok(Some(some_rows(table, &kept)?))
}

/// Outputs with too few cells in these rows to tell how they move.
fn silent_outputs(table: &Dataset, rows: &[RowIndex]) -> Vec<OutputIndex> {
    let mut counts = vec![0; table.observations().n_outputs()];
    for &row in rows {
        table.observations().row(row).for_each(|cell| counts[cell.output.get()] += 1);
    }
    (0..counts.len()).filter(|&output| counts[output] < 8).map(OutputIndex::new).collect()
}

/// The symmetric square root of the correlation of one-step errors, row-major D×D.
fn loadings(series: &[Option<Series>], models: &[Lmc], n_rows: usize) -> Result<Vec<f64>, FitError> {
    let n_outputs = series.len();
    let mut errors = vec![f64::NAN; n_rows * n_outputs];
    for (output, (series, model)) in series.iter().zip(models).enumerate() {
        if let Some(series) = series {
            for (row, surprise) in series.surprises(model)? {
                // One wild error must not decide a correlation.
                errors[row.get() * n_outputs + output] = surprise.clamp(-4.0, 4.0);
            }
        }
    }
    let moments = OutputMoments::of(&catena::data::Observations::from_dense(n_rows, n_outputs, &errors)?);
    Ok(moments.correlation_root())
}
