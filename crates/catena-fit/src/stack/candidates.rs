//! Candidates for a pool: families that were compared, and regressions on other outputs with their densities at held-out cells.

use catena::data::Dataset;

use super::rows::{RowRegression, RowRule};
use super::seasons::seasons;
use crate::error::FitError;
use crate::families::{Comparison, FamilyTrial};
use crate::folds::Fold;
use crate::monitor::{Reporter, Step};
use crate::options::StructureOption;
use crate::prepare::{InputUnits, Preparation, PreparedTable};
use crate::scores::Densities;

/// A regression whose prediction of the whole table takes more than this share of the time left is no member.
const MOST_OF_MEMBER: f64 = 0.2;
/// Residual processes of fewer cells per output are learned on each fold, others once.
const FEWEST_CELLS: usize = 200;

/// A candidate for a pool.
pub(super) struct Candidate<'a> {
    pub(super) name: String,
    pub(super) densities: Densities,
    pub(super) source: Source<'a>,
}

/// What a candidate predicts by.
pub(super) enum Source<'a> {
    Family(&'a FamilyTrial),
    /// A regression, with the seconds for a prediction of the whole table.
    Rows(RowRegression, f64),
}

impl Candidate<'_> {
    pub(super) fn is_family(&self) -> bool {
        matches!(self.source, Source::Family(_))
    }
}

/// Regressions on other outputs with their densities, in the units of the best single model. A rule that fails on the table is
/// left out.
pub(super) fn row_regressions<'a>(
    n_rows: usize,
    comparison: &Comparison,
    best: &FamilyTrial,
    units: InputUnits,
    reporter: &Reporter<'_>,
) -> Result<Vec<Candidate<'a>>, FitError> {
    let sample = &comparison.sample;
    let preparation = Preparation::fitted(sample, units, &best.transforms)?;
    let prepared = PreparedTable::new(preparation.dataset(sample)?, StructureOption::Auto)?;
    let folds: Result<Vec<(Preparation, PreparedTable)>, FitError> = comparison
        .folds
        .iter()
        .map(|fold| {
            // Means and scales of groups are those of few cells, which must not have been held out.
            let units = match best.transforms.own_of_groups {
                true => preparation.refitted_to(sample, &fold.training)?,
                false => preparation.clone(),
            };
            let training = Dataset::new(sample.inputs().clone(), fold.training.clone())?;
            let prepared = prepared.with_observations(units.dataset(&training)?.observations())?;
            Ok((units, prepared))
        })
        .collect();
    let folds = folds?;
    let mut found = vec![];
    let half_gap = half_gap(&prepared.dataset, &comparison.folds);
    let periods = match prepared.dataset.inputs().n_groups() {
        1 => seasons(&prepared.dataset, &|| reporter.go_on()).unwrap_or_default(),
        _ => vec![],
    };
    let rules = RowRule::candidates(&prepared.dataset, n_rows, half_gap, &periods);
    let (n_rules, mut n_left_out) = (rules.len(), 0);
    // The processes of short residuals depend on each of their cells, so that they are learned without the held-out ones.
    let is_short = sample.observations().n_observed() < FEWEST_CELLS * sample.observations().n_outputs();
    for (number, (rule, kinds)) in rules.into_iter().enumerate() {
        reporter.watch.reach(Step::Regressions, number as f64 / n_rules as f64);
        if reporter.go_on().is_break() {
            n_left_out += n_rules - number;
            break;
        }
        let begin = reporter.watch.elapsed();
        let Ok(centers) = rule.predict(&prepared.dataset) else { continue };
        let taken = reporter.watch.elapsed() - begin;
        // As a member it predicts the whole table.
        let seconds = taken * n_rows as f64 / prepared.dataset.n_rows() as f64;
        let is_slow = seconds > MOST_OF_MEMBER * reporter.watch.seconds_left();
        if is_slow || taken * folds.len() as f64 > reporter.seconds_left() {
            n_left_out += 1;
            continue;
        }
        let of_folds: Result<Vec<_>, _> = folds.iter().map(|(_, fold)| rule.predict(&fold.dataset)).collect();
        let Ok(of_folds) = of_folds else { continue };
        for &kind in kinds {
            if reporter.go_on().is_break() {
                break;
            }
            let regression = RowRegression::learn((rule, kind), &centers, (&preparation, &prepared.dataset));
            let mut densities = Densities::default();
            for ((fold, (units, training)), centers) in comparison.folds.iter().zip(&folds).zip(&of_folds) {
                let of_fold = match is_short {
                    true => RowRegression::learn((rule, kind), centers, (units, &training.dataset)),
                    false => RowRegression { preparation: units.clone(), ..regression.clone() },
                };
                if let Ok(predictive) = of_fold.predictive(training, centers) {
                    densities.extend(Densities::at(&predictive, &fold.held_out));
                }
            }
            found.push(Candidate {
                name: rule.name(kind),
                densities,
                source: Source::Rows(regression, seconds),
            });
        }
    }
    if n_left_out > 0 {
        let n_tried = n_rules - n_left_out;
        reporter.watch.cut(format!("{n_tried} of {n_rules} regressions on other outputs were tried"));
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
