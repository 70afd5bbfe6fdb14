//! Chooses the members of a pool and their exponents on held-out cells.

use catena::data::Dataset;
use catena::model::Lmc;

use super::candidates::{Candidate, Source, row_regressions};
use super::member::{Combination, Member, MemberKind, PoolComponent};
use super::pool::{Pool, Split, single_widening};
use super::rows::RowRegression;
use super::scales::Scale;
use crate::cost::{FinalPlan, RowSize};
use crate::error::FitError;
use crate::families::{Comparison, FamilyTrial};
use crate::folds::in_stretches;
use crate::learn::LearningTask;
use crate::methods::{InTime, Known};
use crate::monitor::{Reporter, Stage, Step, Watch};
use crate::options::{CombineChoice, FitOptions, MethodChoice, StructureOption};
use crate::prepare::{InputUnits, Preparation, PreparedTable, rescaled};
use crate::scores::{Densities, HeldOutScores, MixtureDensities, Scores, mean_with_error};

/// The share of the time left in which regressions are tried, if there is a limit.
const SHARE_OF_REGRESSIONS: f64 = 0.5;
/// A pool must be better than the best single model by this many nats per cell.
const WORTHWHILE: f64 = 0.02;

/// The members of a pool and their scores.
pub(crate) struct Stacked {
    pub(crate) combination: Combination,
    /// Scores of the pool on the held-out cells.
    pub(crate) held_out: HeldOutScores,
    /// Of each member alone: the factor on its standard deviations, and its scores with it.
    pub(crate) alone: Vec<(f64, Scores)>,
    pub(crate) reasons: Vec<String>,
    /// The family of [`MemberKind::Best`]: the heaviest of the pool, or the best single one if the pool has none.
    pub(crate) best: FamilyTrial,
}

/// The pool of the compared families and of regressions on other outputs; `None` if a single model does as well, or if the
/// options ask for one. Members have the same transforms.
pub(crate) fn stacked(
    table: &Dataset,
    comparison: &Comparison,
    options: &FitOptions,
    units: InputUnits,
    watch: &Watch<'_>,
) -> Result<Option<Stacked>, FitError> {
    let is_open = options.combine == CombineChoice::Auto
        && options.method == MethodChoice::Auto
        && options.structure == StructureOption::Auto
        && options.candidates.is_none()
        && options.latents.is_none()
        && options.private.is_none()
        && options.kernel.is_none()
        && table.inputs().dim() == 1
        && !table.observations().has_cell_noise();
    let Some(best) = comparison.trials.iter().find(|trial| trial.is_chosen) else { return Ok(None) };
    let (cells, gaps) = (comparison.held_out(), comparison.gaps());
    if !is_open || cells.is_empty() || best.densities.len() != cells.len() || !best.densities.is_finite() {
        return Ok(None);
    }
    let reporter = Reporter::new(watch, Stage::Candidates, 1.0);
    reporter.end_within(SHARE_OF_REGRESSIONS);
    watch.reach(Step::Regressions, 0.0);
    if reporter.is_stopped() {
        watch.cut("no pool was tried".to_owned());
        return Ok(None);
    }
    let n_gaps = gaps.iter().max().map_or(0, |last| last + 1);
    let sizes = comparison.folds.iter().map(|fold| fold.held_out.len()).collect();
    let split = Split { sizes, n_gaps };
    let mut fitted = FittedPool::new(table, comparison, best, &split, units, &reporter)?;
    // Members of a pool model the same transforms. Those of the best single model must pay by log score and not cost accuracy.
    if let Some(plain) = best_without(&comparison.trials, best, cells.len()) {
        let plain = FittedPool::new(table, comparison, plain, &split, units, &reporter)?;
        let error = |pool: &FittedPool<'_>| pool.together().scores(&cells, &comparison.scales).scores.rmse;
        let (gain, noise) = gain_over(&fitted.together(), &plain.together().log_densities(), &gaps);
        if gain.is_nan() || gain <= noise || error(&fitted) > error(&plain) {
            fitted = plain;
        }
    }
    let FittedPool { candidates, pool, pooled } = fitted;
    let all: Vec<&Densities> = candidates.iter().map(|candidate| &candidate.densities).collect();
    let together = pool.mixture(&pooled);
    let alone = best.widening.widened(&best.densities, &split.sizes).log_densities(1.0);
    let (gain, error) = gain_over(&together, &alone, &gaps);
    let n_members = pool.exponents.iter().filter(|exponent| **exponent > 0.0).count();
    let is_best = |candidate: &Candidate<'_>| match candidate.source {
        Source::Family(trial) => std::ptr::eq(trial, best),
        Source::Rows(..) => false,
    };
    // The best single model as the only member stays a single model.
    let is_single = n_members == 1 && candidates.first().is_some_and(is_best);
    if is_single || gain.is_nan() || gain <= WORTHWHILE {
        return Ok(None);
    }
    let held_out = together.scores(&cells, &comparison.scales);
    let heaviest =
        candidates.iter().zip(&pool.shares).filter_map(|(candidate, share)| match candidate.source {
            Source::Family(trial) => Some((*share, trial)),
            Source::Rows(..) => None,
        });
    // A pool of regressions has one family with exponent 0, for inputs between the rows.
    let best = heaviest.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(best, |(_, trial)| trial);
    let elsewhere =
        pool.of_some(&all, &candidates.iter().map(Candidate::is_family).collect::<Vec<_>>(), &split);
    let component = |Scale { weight, variance }: &Scale| {
        let scaled = |exponents: &[f64]| exponents.iter().map(|exponent| exponent / variance).collect();
        PoolComponent { weight: *weight, at_rows: scaled(&pool.exponents), elsewhere: scaled(&elsewhere) }
    };
    let components = pool.scales.iter().map(component).collect();
    let (mut members, mut alone, mut n_cut) = (vec![], vec![], 0);
    for candidate in &candidates {
        if let Source::Rows(_, seconds) = candidate.source {
            watch.reserve(seconds);
        }
    }
    // The best model is learned after the members.
    let mut n_models = candidates.iter().filter(|candidate| candidate.is_family()).count();
    for (candidate, &weight) in candidates.into_iter().zip(&pool.shares) {
        let widening = single_widening(&candidate.densities, n_gaps);
        let single = MixtureDensities(vec![(1.0, widening, &candidate.densities)]);
        alone.push((widening, single.scores(&cells, &comparison.scales).scores));
        let kind = match candidate.source {
            Source::Family(trial) if std::ptr::eq(trial, best) => MemberKind::Best,
            Source::Family(trial) => {
                reporter.end_within(1.0 / n_models.max(1) as f64);
                watch.reach(Step::Members, 1.0 / n_models.max(1) as f64);
                n_models -= 1;
                let (member, is_cut) = model_member(table, comparison, trial, (options, units), &reporter)?;
                n_cut += usize::from(is_cut);
                member
            }
            Source::Rows(regression, _) if best.transforms.own_of_groups => {
                // The sample may lack groups.
                let preparation = Preparation::fitted(table, units, &best.transforms)?;
                MemberKind::Rows(RowRegression { preparation, ..regression })
            }
            Source::Rows(regression, _) => MemberKind::Rows(regression),
        };
        members.push(Member { name: candidate.name, weight, kind });
    }
    if n_cut > 0 {
        let of = members.len();
        watch.cut(format!("learning of {n_cut} of {of} members was shortened"));
    }
    let plural = if n_members == 1 { "" } else { "s" };
    let reasons = vec![
        format!(
            "a pool of {n_members} member{plural}: its log score is {gain:.3} ± {error:.3} nats per held-out cell above that of the best \
             single model; for a single model use --combine none"
        ),
        format!(
            "latents and outputs are shown for {}, the heaviest model of the pool; edits, streams and partitions use it alone",
            best.name
        ),
    ];
    let combination = Combination { is_ahead: false, members, components };
    Ok(Some(Stacked { combination, held_out, alone, reasons, best: best.clone() }))
}

/// A pool of candidates with the same transforms.
struct FittedPool<'a> {
    /// Those with positive exponents, and a family.
    candidates: Vec<Candidate<'a>>,
    pool: Pool,
    /// The densities at the held-out cells.
    pooled: Densities,
}

impl<'a> FittedPool<'a> {
    /// The pool of the families and regressions with the transforms of `single`.
    fn new(
        table: &Dataset,
        comparison: &'a Comparison,
        single: &'a FamilyTrial,
        split: &Split,
        units: InputUnits,
        reporter: &Reporter<'_>,
    ) -> Result<Self, FitError> {
        let n_cells: usize = split.sizes.iter().sum();
        let family = |trial: &'a FamilyTrial| Candidate {
            name: trial.name.clone(),
            densities: trial.densities.clone(),
            source: Source::Family(trial),
        };
        let same = comparison.trials.iter().filter(|trial| trial.transforms == single.transforms);
        let mut candidates: Vec<Candidate<'_>> = same.map(family).collect();
        candidates.extend(row_regressions(table.n_rows(), comparison, single, units, reporter)?);
        candidates.retain(|candidate| is_complete(&candidate.densities, n_cells));
        let pool = Pool::fitted(&candidates.iter().map(|one| &one.densities).collect::<Vec<_>>(), split);
        let (candidates, pool) = used(candidates, pool, family(single));
        let all: Vec<&Densities> = candidates.iter().map(|candidate| &candidate.densities).collect();
        let pooled = pool.densities(&all, split);
        Ok(Self { candidates, pool, pooled })
    }

    /// The predictive densities of the held-out cells.
    fn together(&self) -> MixtureDensities<'_> {
        self.pool.mixture(&self.pooled)
    }
}

/// The mean gain in log density over other densities of the same cells, with its standard error.
fn gain_over(together: &MixtureDensities<'_>, others: &[f64], gaps: &[usize]) -> (f64, f64) {
    let log_densities = together.log_densities();
    let gains: Vec<f64> = log_densities.iter().zip(others).map(|(own, other)| own - other).collect();
    mean_with_error(&gains, gaps)
}

fn is_complete(densities: &Densities, n_cells: usize) -> bool {
    densities.len() == n_cells && densities.is_finite()
}

/// The best family with the transforms of the first candidates, if the best single model has others.
fn best_without<'a>(
    trials: &'a [FamilyTrial],
    best: &FamilyTrial,
    n_cells: usize,
) -> Option<&'a FamilyTrial> {
    let plain = &trials.first()?.transforms;
    let is_other =
        |trial: &&FamilyTrial| trial.transforms == *plain && is_complete(&trial.densities, n_cells);
    let score = |trial: &FamilyTrial| trial.densities.log_densities(1.0).iter().sum::<f64>();
    let others = trials.iter().filter(is_other).filter(|_| *plain != best.transforms);
    others.max_by(|a, b| score(a).total_cmp(&score(b)))
}

/// The candidates with positive exponents, by share. If no family is among them, `best` is added with exponent 0 for inputs at
/// which regressions do not predict.
fn used<'a>(candidates: Vec<Candidate<'a>>, pool: Pool, best: Candidate<'a>) -> (Vec<Candidate<'a>>, Pool) {
    let mut order: Vec<usize> = (0..candidates.len()).filter(|&at| pool.exponents[at] > 0.0).collect();
    order.sort_by(|&a, &b| pool.shares[b].total_cmp(&pool.shares[a]));
    let has_family = order.iter().any(|&at| candidates[at].is_family());
    let picked = |numbers: &[f64]| -> Vec<f64> {
        let of_best = (!has_family).then_some(0.0);
        order.iter().map(|&at| numbers[at]).chain(of_best).collect()
    };
    let pool = Pool {
        exponents: picked(&pool.exponents),
        shares: picked(&pool.shares),
        scales: pool.scales.clone(),
        without: pool.without.iter().map(|exponents| picked(exponents)).collect(),
    };
    let mut candidates: Vec<Option<Candidate<'a>>> = candidates.into_iter().map(Some).collect();
    let kept = order.iter().filter_map(|&at| candidates[at].take());
    let kept = kept.chain((!has_family).then_some(best)).collect();
    (kept, pool)
}

/// A family as a member, learned on the whole table as it was learned on the folds. If it was learned from some rows only, it
/// continues from that model, on as many rows as the budget allows. Also whether its learning was cut short.
fn model_member(
    table: &Dataset,
    comparison: &Comparison,
    trial: &FamilyTrial,
    (options, units): (&FitOptions, InputUnits),
    reporter: &Reporter<'_>,
) -> Result<(MemberKind, bool), FitError> {
    let preparation = Preparation::fitted(table, units, &trial.transforms)?;
    let prepared = PreparedTable::of(table, &preparation, options)?;
    let known = || -> Result<Lmc, FitError> {
        let of_sample = Preparation::fitted(&comparison.sample, units, &trial.transforms)?;
        Ok(rescaled(&trial.model, &of_sample, &preparation)?)
    };
    let plan = FinalPlan::new(options.budget, table.n_rows(), RowSize::of_model(&trial.model)).continued();
    let (settings, starts, multipliers) = if comparison.n_learning < table.n_rows() {
        (plan.settings, vec![known()?], &[][..])
    } else {
        (comparison.settings, vec![], comparison.multipliers)
    };
    let prepared = in_stretches(&prepared, plan.n_rows, options.structure)?.unwrap_or(prepared);
    let task = LearningTask::new(trial.family, settings, &prepared.statistics, options)
        .with_starts(starts, multipliers);
    let known = known().ok().map(|model| Known { model, n_rows: comparison.n_learning });
    let in_time = InTime { task: &task, table: &prepared, known, options, reporter };
    let (learned, cut) = in_time.learn(&|_| reporter.go_on())?;
    Ok((MemberKind::Model { preparation, model: learned.model }, cut.is_some()))
}
