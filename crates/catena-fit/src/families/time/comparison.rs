//! Compares sums of components and learns the joint model.

use std::collections::BTreeMap;
use std::sync::Arc;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::{GroupIndex, OutputIndex};
use catena::inference::{Form, Workspace};
use catena::kernel::Kernel;
use catena::learning::{
    GraphEvidence, Learned, MultiStartSettings, OutputMoments, Parameters, StopReason, multi_start,
};
use catena::model::Lmc;
use catena::structure::sorted_chain;

use super::latest::latest_rows;
use super::plan::TimePlan;
use super::single::{Series, SingleSettings, Singles, learn_singles};
use super::{calendar, drift, periodogram, phases, sums};
use crate::cost::limits;
use crate::error::{FitError, MethodError};
use crate::monitor::{Pace, Reporter, Stage, Step, Watch};
use crate::options::{FitOptions, MOST_WITH_OWN_SEASONS, Term, TimeOptions, TimeSpec};
use crate::prepare::PreparedTable;

/// The longest period, in steps, of which forecasts have all harmonics, and the most outputs of such tables.
const WHOLE_PROFILE: f64 = 12.0;
const FEW_OUTPUTS: usize = 4;
/// Groups of a shared season by default.
const GROUPS: usize = 2;

/// Shares of the time left for the comparison of sums and then for single outputs, if there is a limit.
const SHARE_OF_SUMS: f64 = 0.4;
const SHARE_OF_SINGLES: f64 = 0.5;
/// The share of a limit for which the work of learning is planned, and the fewest rows.
const SHARE_OF_LIMIT: f64 = 0.6;
const FEWEST_ROWS: usize = 300;

/// The latest rows, at most `n_rows`, whose planned work fits the time left.
fn rows_in_time(n_rows: usize, watch: &Watch<'_>) -> usize {
    let planned = watch.planned(Step::Candidates) + watch.planned(Step::Learning);
    let share = SHARE_OF_LIMIT * watch.seconds_left() / planned;
    if share < 1.0 { ((share * n_rows as f64) as usize).max(FEWEST_ROWS.min(n_rows)) } else { n_rows }
}

/// A time model with its reasons and warnings.
pub(crate) struct TimeModel {
    pub(crate) model: Lmc,
    /// The result of learning; `None` if parameters were given.
    pub(crate) learned: Option<Learned>,
    pub(crate) reasons: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// The sum that each latent is a component of.
    pub(crate) sums: Vec<usize>,
}

/// Learns a time model of a scaled table. One unit of its input is `unit` in the user's units.
pub(crate) fn learn(
    table: &Dataset,
    unit: f64,
    requested: &TimeOptions,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<TimeModel, FitError> {
    let mut reasons = vec![];
    let comparison = SumComparison::new(table, unit, options, watch, &mut reasons)?;
    comparison.report(0.0);
    let specs = comparison.candidates(requested, &mut reasons)?;
    comparison.report(1.0 / 3.0);
    comparison.reporter.end_within(SHARE_OF_SINGLES);
    let mut best: Option<(TimeSpec, JointStart)> = None;
    for (number, spec) in specs.iter().enumerate() {
        let (model, parameters) = comparison.assembled(spec, &comparison.singles(spec, &[])?)?;
        let start = comparison.start(model, parameters)?;
        if specs.len() > 1 {
            let (name, evidence) = (comparison.text(spec), start.log_evidence);
            reasons.push(format!("{name}: log evidence {evidence:.0} at the start of the joint model"));
        }
        if best.as_ref().is_none_or(|(_, best)| start.log_evidence > best.log_evidence) {
            best = Some((spec.clone(), start));
        }
        comparison.report(2.0 / 3.0);
        if number + 1 < specs.len() && comparison.reporter.is_stopped() {
            comparison.reporter.watch.cut("sums were compared in part".to_owned());
            break;
        }
    }
    let Some((spec, start)) = best else { return Err(FitError::NoStart) };
    reasons.push(format!(
        "each of {} latents is the sum {}; its dynamics were learned from one output, weights and noise from all",
        comparison.series.len(),
        comparison.text(&spec)
    ));
    comparison.optimize(start, reasons)
}

/// The seasons of a scaled table as terms in the user's units, with their numbers of harmonics: those requested, or those of the
/// calendar and of the periodogram that improve the parsimony score.
pub(crate) fn seasons(
    table: &Dataset,
    unit: f64,
    requested: &TimeOptions,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<(Vec<Term>, Vec<String>), FitError> {
    let mut reasons = vec![];
    let comparison = SumComparison::new(table, unit, options, watch, &mut reasons)?;
    let spec = comparison.with_seasons(requested, &mut reasons)?;
    // The whole profile of a short period, where it costs little.
    let is_short = |term: &Term| !matches!(term, Term::Season { period, .. } if *period > WHOLE_PROFILE);
    let is_whole = comparison.series.len() <= FEW_OUTPUTS && spec.terms().iter().all(is_short);
    let mut spec = match is_whole {
        true => spec.with_harmonics((0.5 * WHOLE_PROFILE) as usize),
        false => comparison.with_harmonics(spec, &mut reasons)?,
    };
    if comparison.series.len() > MOST_WITH_OWN_SEASONS {
        spec = spec.with_shared_seasons(GROUPS);
    }
    let is_season = |term: &&Term| matches!(term, Term::Season { .. } | Term::Shared { .. });
    let terms = spec.in_units(1.0 / unit).terms().iter().filter(is_season).copied().collect();
    Ok((terms, reasons))
}

/// A start of the joint model.
pub(super) struct JointStart {
    model: Lmc,
    parameters: Parameters,
    pub(super) log_evidence: f64,
}

/// The comparison of sums on a table.
pub(super) struct SumComparison<'a> {
    table: PreparedTable,
    /// One per output; `None` for constant outputs.
    series: Vec<Option<Series>>,
    unit: f64,
    plan: TimePlan,
    options: &'a FitOptions,
    reporter: Reporter<'a>,
}

impl<'a> SumComparison<'a> {
    pub(super) fn new(
        table: &Dataset,
        unit: f64,
        options: &'a FitOptions,
        watch: &'a Watch<'a>,
        reasons: &mut Vec<String>,
    ) -> Result<Self, FitError> {
        let n_outputs = table.observations().n_outputs();
        let plan = TimePlan::new(options.budget, n_outputs);
        let n_rows = rows_in_time(plan.n_rows.min(table.n_rows()), watch);
        if n_rows < plan.n_rows.min(table.n_rows()) {
            watch.cut(format!("learned from the latest {n_rows} of {} rows", table.n_rows()));
        }
        let table = latest_rows(table, n_rows, options, reasons)?.unwrap_or_else(|| table.clone());
        let largest = largest_group(table.inputs());
        let series: Result<Vec<Option<Series>>, FitError> =
            (0..n_outputs).map(|output| Series::of(&table, OutputIndex::new(output), largest)).collect();
        let series = series?;
        if series.iter().all(Option::is_none) {
            return Err(FitError::Learning("all outputs are constant; there is nothing to learn".to_owned()));
        }
        let tree = Arc::new(sorted_chain(table.inputs())?);
        let table = PreparedTable::on(table, tree);
        let reporter = Reporter::new(watch, Stage::Candidates, 0.0);
        reporter.end_within(SHARE_OF_SUMS);
        Ok(Self { table, series, unit, plan, options, reporter })
    }

    fn report(&self, done: f64) {
        self.reporter.report(Stage::Candidates, done);
    }

    /// The sum with periods in the user's units.
    pub(super) fn text(&self, spec: &TimeSpec) -> String {
        spec.text(|period| (self.options.length_text)(period * self.unit))
    }

    fn learn_singles(
        &self,
        spec: &TimeSpec,
        earlier: &[Lmc],
        settings: MultiStartSettings,
    ) -> Result<Singles, FitError> {
        let FitOptions { priors, noise_floor, .. } = self.options;
        let go_on = || self.reporter.go_on();
        let (priors, noise_floor) = (priors.as_ref(), *noise_floor);
        let settings = SingleSettings { priors, noise_floor, settings, go_on: &go_on };
        learn_singles(&self.series, spec, earlier, &settings)
    }

    /// The parsimony score of a sum, summed over single outputs; lower is better.
    fn score(&self, spec: &TimeSpec) -> Result<f64, FitError> {
        Ok(self.learn_singles(spec, &[], self.plan.comparison)?.score)
    }

    /// The sums to choose from, with all numbers of harmonics decided: the requested one, or one with an oscillator and one with
    /// a Matérn-1/2 kernel.
    fn candidates(
        &self,
        requested: &TimeOptions,
        reasons: &mut Vec<String>,
    ) -> Result<Vec<TimeSpec>, FitError> {
        let has_many = self.series.len() > MOST_WITH_OWN_SEASONS;
        let season = |period: f64| Term::Season { period, harmonics: None };
        let seasons = requested.periods.iter().map(|period| season(period / self.unit));
        if let Some(spec) = &requested.spec {
            let shared =
                |season: TimeSpec| if has_many { season.with_shared_seasons(GROUPS) } else { season };
            let seasons = seasons.map(TimeSpec::of).flat_map(|season| shared(season).terms().to_vec());
            let spec = seasons.fold(spec.in_units(self.unit), |spec, term| spec.with(term));
            return Ok(vec![self.with_harmonics(spec, reasons)?]);
        }
        let spec = self.with_seasons(requested, reasons)?;
        let mut spec = self.with_harmonics(spec, reasons)?;
        if has_many && spec.has_own_season() {
            spec = spec.with_shared_seasons(GROUPS);
            reasons.push(format!(
                "more than {MOST_WITH_OWN_SEASONS} outputs: each season is shared, as {GROUPS} processes with a phase per output"
            ));
        }
        let rough = spec.beginning_with(Term::Kernel(Kernel::Matern12));
        Ok(vec![spec, rough])
    }

    /// A level and an oscillator with the requested seasons, or with those that are found.
    fn with_seasons(&self, requested: &TimeOptions, reasons: &mut Vec<String>) -> Result<TimeSpec, FitError> {
        let oscillator = TimeSpec::of(Term::Oscillator).with(Term::Level);
        let season = |period: &f64| Term::Season { period: period / self.unit, harmonics: None };
        let requested_seasons = requested.periods.iter().map(season);
        match requested.periods.is_empty() {
            true => self.with_found_seasons(oscillator, reasons),
            false => Ok(requested_seasons.fold(oscillator, |spec, term| spec.with(term))),
        }
    }

    /// Adds the periods of the calendar and of the periodogram that lower the parsimony score.
    fn with_found_seasons(
        &self,
        mut spec: TimeSpec,
        reasons: &mut Vec<String>,
    ) -> Result<TimeSpec, FitError> {
        let mut lowest = self.score(&spec)?;
        let calendar: Vec<f64> = self.options.calendar.iter().map(|period| period / self.unit).collect();
        let peaks = periodogram::strong_periods(&self.table.dataset, &|| self.reporter.go_on());
        let spans = self.series.iter().flatten().filter_map(Series::ends).map(|(first, last)| last - first);
        for period in calendar::proposed(&calendar, &peaks, spans.fold(0.0, f64::max)) {
            if self.reporter.is_stopped() {
                break;
            }
            let trial = spec.with(Term::Season { period, harmonics: None });
            let score = self.score(&trial.with_harmonics(self.plan.harmonics[0]))?;
            let (name, gain) = ((self.options.length_text)(period * self.unit), lowest - score);
            if gain > 0.0 {
                reasons
                    .push(format!("a season of {name} is kept: the parsimony score improves by {gain:.0}"));
                (lowest, spec) = (score, trial);
            } else {
                reasons.push(format!("a season of {name} is not kept: the parsimony score does not improve"));
            }
        }
        Ok(spec)
    }

    /// Sets open numbers of harmonics to the one with the best parsimony score.
    fn with_harmonics(&self, spec: TimeSpec, reasons: &mut Vec<String>) -> Result<TimeSpec, FitError> {
        let counts = self.plan.harmonics;
        if !spec.is_open() || counts.len() == 1 {
            return Ok(spec.with_harmonics(counts[0]));
        }
        let mut best = (f64::INFINITY, counts[0]);
        for &count in counts {
            if self.reporter.is_stopped() {
                return Ok(spec.with_harmonics(best.1));
            }
            let score = self.score(&spec.with_harmonics(count))?;
            if score < best.0 {
                best = (score, count);
            }
        }
        reasons.push(format!("{} harmonics have the best parsimony score among {counts:?}", best.1));
        Ok(spec.with_harmonics(best.1))
    }

    /// The models of single outputs, starting from `earlier` models as well if there are any.
    pub(super) fn singles(&self, spec: &TimeSpec, earlier: &[Lmc]) -> Result<Vec<Lmc>, FitError> {
        let singles = self.learn_singles(spec, earlier, self.plan.single)?.models;
        let any = singles.iter().flatten().next().cloned().ok_or(FitError::NoStart)?;
        // A constant output has zero weights, so the dynamics of its latent are arbitrary.
        Ok(singles.iter().map(|model| model.clone().unwrap_or_else(|| any.clone())).collect())
    }

    /// The joint model from single models: dynamics from each, weights from the correlation of their innovations.
    pub(super) fn assembled(&self, spec: &TimeSpec, singles: &[Lmc]) -> Result<(Lmc, Parameters), FitError> {
        let loadings = self.loadings(singles)?;
        let groups = phases::groups(spec, &self.series, singles)?;
        Ok(sums::together(spec, singles, &loadings, &groups, self.options.noise_floor)?)
    }

    /// The symmetric square root of the correlation of one-step innovations, row-major D×D.
    fn loadings(&self, models: &[Lmc]) -> Result<Vec<f64>, FitError> {
        let (n_rows, n_outputs) = (self.table.dataset.n_rows(), self.series.len());
        let mut innovations = vec![f64::NAN; n_rows * n_outputs];
        for (output, (series, model)) in self.series.iter().zip(models).enumerate() {
            if let Some(series) = series {
                for (row, innovation) in series.innovations(model)? {
                    // A single outlier must not dominate a correlation.
                    innovations[row.get() * n_outputs + output] = innovation.clamp(-4.0, 4.0);
                }
            }
        }
        let innovations = Observations::from_dense(n_rows, n_outputs, &innovations)?;
        Ok(OutputMoments::of(&innovations).correlation_root())
    }

    /// A joint model with fixed dynamics and its log evidence.
    pub(super) fn start(&self, model: Lmc, parameters: Parameters) -> Result<JointStart, FitError> {
        // Single outputs determine dynamics best. With free dynamics levels drift while weights are still wrong, and
        // forecasts with them: docs/decisions/0008.
        let mut parameters = parameters.with_fixed_length_scales().with_fixed_qualities();
        for (output, _) in &self.table.statistics.constant {
            parameters = parameters.with_fixed_weights_of(*output).with_fixed_noise_of(*output);
        }
        let model = self.table.statistics.silenced(model)?;
        let graph = self.table.graph(model.clone())?;
        let log_evidence = Workspace::with_form(Form::Covariance).log_evidence(&graph);
        Ok(JointStart { model, parameters, log_evidence: log_evidence.map_err(MethodError::from)? })
    }

    /// Optimizes the joint model.
    pub(super) fn optimize(self, start: JointStart, reasons: Vec<String>) -> Result<TimeModel, FitError> {
        let JointStart { model, parameters, .. } = start;
        let PreparedTable { dataset, tree, statistics, .. } = &self.table;
        let priors = self.options.priors.clone().unwrap_or_else(|| statistics.priors());
        let graph = self.table.graph(model.clone())?;
        let iterations = self.plan.joint_iterations;
        let settings = limits(iterations, iterations);
        self.reporter.end_within(1.0);
        let pace = Pace::new(&self.reporter, 0.0);
        let watch = |progress| {
            self.reporter.learning(progress, iterations)?;
            pace.step(progress)
        };
        let evidence = || GraphEvidence::new(graph.clone());
        let learned = multi_start(&evidence, &parameters, &priors, &[model], settings, &watch)?;
        if learned.stop == StopReason::Interrupted {
            let iterations = learned.path.len().saturating_sub(1);
            self.reporter.watch.cut(format!("learning stopped after {iterations} iterations"));
        }
        let warnings = drift::latest_warnings(dataset, tree, &learned.model, self.options)?;
        let sums = sums::numbers(&learned.model);
        Ok(TimeModel { model: learned.model.clone(), learned: Some(learned), reasons, warnings, sums })
    }
}

/// The group with the most rows, the first of several; `None` without groups.
fn largest_group(inputs: &InputPoints) -> Option<GroupIndex> {
    let mut counts: BTreeMap<GroupIndex, usize> = BTreeMap::new();
    inputs.groups()?.iter().for_each(|group| *counts.entry(*group).or_default() += 1);
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(group, _)| group)
}
