//! Simple rules beside the models of a forecast.

use catena::data::Dataset;
use catena_methods::simple_rules::{AheadRule, LearnedRule, RuleOrigin, Series};

use super::origins::{OriginFold, Origins};
use crate::options::{Term, TimeSpec};
use crate::power::PowerTransform;
use crate::prepare::Predictive;
use crate::scores::{Densities, HeldOutScores};
use crate::stack::{AheadCandidate, center_of, series_of};

/// The rules for a table with seasons of these periods, with their names.
pub(super) fn rules(periods: &[f64], length: fn(f64) -> String) -> Vec<(AheadRule, String)> {
    let season = |period: &f64| AheadRule::LastSeason { period: *period };
    let seasons = periods.iter().map(season);
    let smoothed = |period: &f64| AheadRule::Smoothing { period: Some(*period) };
    let smoothings =
        std::iter::once(AheadRule::Smoothing { period: None }).chain(periods.iter().map(smoothed));
    let walks =
        std::iter::once(AheadRule::LastValue).chain(seasons).chain([AheadRule::Drift, AheadRule::Mean]);
    let all = walks.chain(smoothings);
    let name = |rule: AheadRule| match rule {
        AheadRule::LastSeason { period } if periods.len() > 1 => format!("last season of {}", length(period)),
        AheadRule::Smoothing { period: Some(period) } if periods.len() > 1 => {
            format!("smoothing, season of {}", length(period))
        }
        AheadRule::Smoothing { period: Some(_) } => "seasonal smoothing".to_owned(),
        _ => rule.name().to_owned(),
    };
    all.map(|rule| (rule, name(rule))).collect()
}

/// The periods of seasonal rules: those of the seasons, or of a requested sum.
pub(super) fn periods_of(found: &[Term], spec: Option<&TimeSpec>) -> Vec<f64> {
    let terms = found.iter().chain(spec.into_iter().flat_map(TimeSpec::terms));
    let mut periods: Vec<f64> = terms
        .filter_map(|term| match *term {
            Term::Season { period, .. } | Term::Shared { period, .. } => Some(period),
            _ => None,
        })
        .collect();
    periods.sort_by(f64::total_cmp);
    periods.dedup_by(|a, b| (*a / *b - 1.0).abs() < 1e-6);
    periods
}

/// The densities of a rule at all scored cells. It learns from the rows that models learn from, and knows the values up to each origin.
/// `None` for a smoothing that cannot be learned for any output.
pub(super) fn rule_densities(
    rule: AheadRule,
    origins: &Origins,
    table: &Dataset,
    powers: &[Vec<PowerTransform>],
) -> Option<Densities> {
    let is_smoothing = matches!(rule, AheadRule::Smoothing { .. });
    let mut densities = Densities::default();
    for (OriginFold { cut, pairs, cells, .. }, powers) in origins.folds.iter().zip(powers) {
        let series = series_of(table, powers);
        let learned: Vec<LearnedRule> = series.iter().map(|own| rule.learn(own, own.n_known(*cut))).collect();
        if is_smoothing && !learned.iter().any(|rule| matches!(rule, LearnedRule::Smoothing(_))) {
            return None;
        }
        let (mut centers, mut deviations) = (vec![], vec![]);
        for pairs in pairs.chunk_by(|one, other| one.0 == other.0) {
            let time = origins.rows.times[pairs[0].0];
            let place = |(rule, own): (&LearnedRule, &Series)| {
                let n_known = own.n_known(time);
                (rule.origin(own, n_known), n_known)
            };
            let places: Vec<(RuleOrigin, usize)> = learned.iter().zip(&series).map(place).collect();
            for &(_, target) in pairs {
                for ((rule, own), (origin, n_known)) in learned.iter().zip(&series).zip(&places) {
                    let (center, deviation) =
                        center_of(rule, own, (origin, *n_known), origins.rows.times[target]);
                    centers.push(center);
                    deviations.push(deviation);
                }
            }
        }
        let predictive = Predictive::new(centers, deviations, powers.clone());
        densities.extend(Densities::at(&predictive, cells));
    }
    Some(densities)
}

/// What is said of simple rules whose errors are smaller than those of the best model.
pub(super) fn rules_that_do_better(
    candidates: &[AheadCandidate],
    alone: &[(f64, HeldOutScores)],
    best: usize,
) -> Option<String> {
    let error = |at: usize| alone[at].1.scores.rmse;
    let rules = (0..candidates.len()).filter(|&at| !candidates[at].is_model);
    let first = rules.min_by(|&a, &b| error(a).total_cmp(&error(b)))?;
    (error(first) < error(best)).then(|| {
        format!(
            "a simple rule had smaller errors than the best model from origins inside the table: {}, {:.3} against {:.3} standard \
             deviations",
            candidates[first].name,
            error(first),
            error(best)
        )
    })
}
