//! Chooses the members of a mixture and their weights on held-out cells.

use catena::data::Dataset;

use super::member::{Member, MemberKind};
use super::rows::{RowRegression, RowRule};
use super::weights::{few_gaps, mixture, mixture_weights};
use crate::cost::limits;
use crate::error::FitError;
use crate::families::{Comparison, FamilyTrial};
use crate::folds::Fold;
use crate::learn::LearningTask;
use crate::monitor::{FitMonitor, Reporter, Stage};
use crate::options::{CombineChoice, FitOptions, MethodChoice, StructureOption, TransformChoice};
use crate::prepare::{InputUnits, Preparation, PreparedTable, rescaled};
use crate::scores::{Densities, HeldOutScores, MixtureDensities, Scores, mean_with_error};

/// A mixture must be better than the best single model by this many nats per cell, and by the standard error of the gain.
const WORTHWHILE: f64 = 0.01;

/// Iterations with which a member continues on the whole table if it was compared on a sample of it.
const CONTINUED: usize = 12;

/// The members of a mixture and their scores.
pub(crate) struct Stacked {
    pub(crate) members: Vec<Member>,
    /// Scores of the mixture on the held-out cells.
    pub(crate) held_out: HeldOutScores,
    /// Scores of each member alone, with its factor on the standard deviations.
    pub(crate) alone: Vec<Scores>,
    pub(crate) reasons: Vec<String>,
    /// The family of [`MemberKind::Best`]: the heaviest of the mixture, or the best single one if the mixture has none.
    pub(crate) best: FamilyTrial,
}

/// A candidate for a mixture.
struct Candidate<'a> {
    name: String,
    densities: Densities,
    source: Source<'a>,
}

enum Source<'a> {
    Family(&'a FamilyTrial),
    Rows(RowRegression),
}

/// The mixture of the compared families and of regressions on the other outputs; `None` if a single model does as well, or if the
/// options ask for one.
pub(crate) fn stacked(
    table: &Dataset,
    comparison: &Comparison,
    options: &FitOptions,
    units: InputUnits,
    monitor: &FitMonitor<'_>,
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
    let reporter = Reporter::new(monitor, Stage::Candidates, 1.0);
    let mut candidates: Vec<Candidate<'_>> = comparison
        .trials
        .iter()
        .filter(|trial| trial.densities.len() == cells.len() && trial.densities.is_finite())
        .map(|trial| Candidate {
            name: trial.name.clone(),
            densities: trial.densities.clone(),
            source: Source::Family(trial),
        })
        .collect();
    candidates.extend(row_regressions(table.n_rows(), comparison, options, units, &reporter)?);
    let all: Vec<&Densities> = candidates.iter().map(|candidate| &candidate.densities).collect();
    let n_gaps = gaps.iter().max().map_or(0, |last| last + 1);
    let weights = mixture_weights(&all, n_gaps);
    let together = mixture(&all, &weights);
    let gains: Vec<f64> = together
        .log_densities()
        .iter()
        .zip(best.densities.log_densities(1.0))
        .map(|(together, alone)| together - alone)
        .collect();
    let (gain, error) = mean_with_error(&gains, &gaps);
    if !(gain > WORTHWHILE && gain > error.min(gain / 2.0)) {
        return Ok(None);
    }
    let held_out = together.scores(&cells, &comparison.scales);
    let heaviest = candidates
        .iter()
        .zip(&weights)
        .filter_map(|(candidate, weight)| match candidate.source {
            Source::Family(trial) if weight.weight > 0.0 => Some((weight.weight, trial)),
            _ => None,
        })
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let best = heaviest.map_or(best, |(_, trial)| trial);
    let mut members = vec![];
    let used = candidates.into_iter().zip(&weights).filter(|(_, weight)| weight.weight > 0.0);
    for (candidate, weight) in used {
        let kind = match candidate.source {
            Source::Family(trial) if std::ptr::eq(trial, best) => MemberKind::Best,
            Source::Family(trial) => model_member(table, comparison, trial, (options, units), &reporter)?,
            Source::Rows(regression) => MemberKind::Rows(regression),
        };
        let widening = weight.widening * few_gaps(n_gaps);
        let alone = MixtureDensities(vec![(1.0, widening, &candidate.densities)]);
        let alone = alone.scores(&cells, &comparison.scales).scores;
        members.push((Member { name: candidate.name, weight: weight.weight, widening, kind }, alone));
    }
    members.sort_by(|a, b| b.0.weight.total_cmp(&a.0.weight));
    let (members, alone): (Vec<Member>, Vec<Scores>) = members.into_iter().unzip();
    let reasons = vec![
        format!(
            "a mixture of {} members: its log score is {gain:.3} ± {error:.3} nats per held-out cell above that of the best single \
             model; for a single model use --combine none",
            members.len()
        ),
        format!("for edits, streams and partitions the single model is {}", best.name),
    ];
    Ok(Some(Stacked { members, held_out, alone, reasons, best: best.clone() }))
}

/// A family as a member, learned on the whole table as it was learned on the folds. On a table that was compared by a sample, it
/// continues from the model of the sample.
fn model_member(
    table: &Dataset,
    comparison: &Comparison,
    trial: &FamilyTrial,
    (options, units): (&FitOptions, InputUnits),
    reporter: &Reporter<'_>,
) -> Result<MemberKind, FitError> {
    let preparation = Preparation::fitted(table, units, &trial.transforms)?;
    let prepared = PreparedTable::of(table, &preparation, options)?;
    let (settings, starts, multipliers) = if comparison.sample.n_rows() < table.n_rows() {
        let of_sample = Preparation::fitted(&comparison.sample, units, &trial.transforms)?;
        (limits(CONTINUED, CONTINUED), vec![rescaled(&trial.model, &of_sample, &preparation)?], &[][..])
    } else {
        (comparison.settings, vec![], comparison.multipliers)
    };
    let task = LearningTask::new(trial.family, settings, &prepared.statistics, options)
        .with_starts(starts, multipliers);
    let learned = task.learn(&prepared, &|_| reporter.go_on())?;
    Ok(MemberKind::Model { preparation, model: learned.model })
}

/// Regressions on the other outputs with their densities. A rule that fails on the table is left out.
fn row_regressions<'a>(
    n_rows: usize,
    comparison: &Comparison,
    options: &FitOptions,
    units: InputUnits,
    reporter: &Reporter<'_>,
) -> Result<Vec<Candidate<'a>>, FitError> {
    let sample = &comparison.sample;
    let preparation = Preparation::fitted(sample, units, &TransformChoice::default())?;
    let prepared = PreparedTable::new(preparation.dataset(sample)?, StructureOption::Auto)?;
    let folds: Result<Vec<PreparedTable>, FitError> = comparison
        .folds
        .iter()
        .map(|fold| {
            let training = Dataset::new(sample.inputs().clone(), fold.training.clone())?;
            prepared.with_observations(preparation.dataset(&training)?.observations())
        })
        .collect();
    let folds = folds?;
    let mut found = vec![];
    let half_gap = half_gap(&prepared.dataset, &comparison.folds);
    for rule in RowRule::candidates(&prepared.dataset, n_rows, half_gap) {
        let regression =
            RowRegression::learn(rule, (&preparation, &prepared), options, &|_| reporter.go_on());
        let Ok(regression) = regression else { continue };
        let mut densities = Densities::default();
        for (fold, training) in comparison.folds.iter().zip(&folds) {
            if let Ok(predictive) = regression.predictive(training) {
                densities.extend(Densities::at(&predictive, &fold.held_out));
            }
        }
        let n_cells: usize = comparison.folds.iter().map(|fold| fold.held_out.len()).sum();
        if densities.len() == n_cells && densities.is_finite() {
            found.push(Candidate { name: rule.name(), densities, source: Source::Rows(regression) });
        }
    }
    Ok(found)
}

/// Half the length of the gap in which a held-out cell lies, on average, along the first input.
fn half_gap(table: &Dataset, folds: &[Fold]) -> f64 {
    let n_outputs = table.observations().n_outputs();
    let (mut sum, mut count) = (0.0, 0.0);
    for fold in folds {
        let n_gaps = fold.gaps.iter().max().map_or(0, |last| last + 1);
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY, 0.0); n_gaps];
        for (&(at, _), &gap) in fold.held_out.iter().zip(&fold.gaps) {
            let place = table.inputs().values()[at / n_outputs * table.inputs().dim()];
            let (low, high, cells) = &mut ranges[gap];
            (*low, *high, *cells) = (low.min(place), high.max(place), *cells + 1.0);
        }
        for (low, high, cells) in ranges.into_iter().filter(|range| range.2 > 0.0) {
            sum += cells * (high - low);
            count += cells;
        }
    }
    if count > 0.0 { 0.5 * sum / count } else { 0.0 }
}
