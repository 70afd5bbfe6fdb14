//! Simple rules beside the models of a forecast.

use catena::data::Dataset;
use catena_methods::simple_rules::AheadRule;

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
    let all = std::iter::once(AheadRule::LastValue).chain(seasons).chain([AheadRule::Drift, AheadRule::Mean]);
    let name = |rule: AheadRule| match rule {
        AheadRule::LastSeason { period } if periods.len() > 1 => format!("last season of {}", length(period)),
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

/// The densities of a rule at all scored cells. Its pace is that of the rows learned from, its values those up to each origin.
pub(super) fn rule_densities(
    rule: AheadRule,
    origins: &Origins,
    table: &Dataset,
    powers: &[Vec<PowerTransform>],
) -> Densities {
    let mut densities = Densities::default();
    for (OriginFold { cut, pairs, cells, .. }, powers) in origins.folds.iter().zip(powers) {
        let series = series_of(table, powers);
        let paces: Vec<f64> = series.iter().map(|own| rule.pace(own, own.n_known(*cut))).collect();
        let (mut centers, mut deviations) = (vec![], vec![]);
        for &(origin, target) in pairs {
            let (origin, target) = (origins.rows.times[origin], origins.rows.times[target]);
            for (own, &pace) in series.iter().zip(&paces) {
                let (center, deviation) = center_of(rule, own, own.n_known(origin), (pace, target));
                centers.push(center);
                deviations.push(deviation);
            }
        }
        let predictive = Predictive::new(centers, deviations, powers.clone());
        densities.extend(Densities::at(&predictive, cells));
    }
    densities
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
