//! Learns the chosen forecast on the whole table, with the scores of its forecasts of known rows.

use catena_methods::simple_rules::AheadRule;

use super::origins::Origins;
use super::rules::rules_that_do_better;
use super::setting::{AheadModel, Choice, powers_of};
use crate::error::FitError;
use crate::families::CandidateSummary;
use crate::fit::{Fit, FitParts, HeldOut, MemberSummary, OriginSummary};
use crate::options::CombineChoice;
use crate::scores::{HeldOutScores, Scores};
use crate::stack::{AheadCandidate, AheadPool, Combination, Member, MemberKind, PoolComponent, RuleAhead};

/// The most probabilities of a summary.
const MOST_PROBABILITIES: usize = 4000;

/// A candidate on the origins: a model, or a rule.
pub(super) enum Source {
    Model(AheadModel),
    Rule(AheadRule),
}

impl Choice<'_> {
    /// The fit on the whole table, with its scores.
    pub(super) fn concluded(
        &self,
        origins: &Origins,
        candidates: &[AheadCandidate],
        sources: &[Source],
        (best, is_open): (usize, bool),
        (mut reasons, tried): (Vec<String>, Vec<CandidateSummary>),
    ) -> Result<Fit, FitError> {
        let scored = &origins.scored;
        let alone: Vec<(f64, HeldOutScores)> =
            candidates.iter().map(|one| scored.alone(&one.densities)).collect();
        reasons.extend(rules_that_do_better(candidates, &alone, best));
        let pool = (is_open && self.options.combine == CombineChoice::Auto)
            .then(|| scored.pool(candidates, best))
            .filter(|pool| pool.gain.0 > 0.0 && pool.members.len() > 1);
        let heaviest =
            |pool: &AheadPool| pool.members.iter().map(|(at, _)| *at).find(|&at| candidates[at].is_model);
        let main = pool.as_ref().and_then(heaviest).unwrap_or(best);
        let Source::Model(model) = &sources[main] else { return Err(FitError::NoStart) };
        let fitted = self.learned(self.table, model, (None, false))?;
        let powers = powers_of(&fitted);
        let mut parts: FitParts = fitted.parts().clone();
        let mut held_out = vec![];
        let mut members = vec![];
        let (first, combination) = match pool {
            Some(pool) => {
                let n_members = pool.members.iter().filter(|(_, weight)| *weight > 0.0).count();
                reasons.push(format!(
                    "a pool of {n_members} members: its log score is {:.3} \u{b1} {:.3} nats per forecast above that of a choice of one model; for a \
                     single model use --combine none",
                    pool.gain.0, pool.gain.1
                ));
                reasons.push(format!(
                    "latents and outputs are shown for {}, the heaviest model of the pool; edits, streams and partitions use it alone",
                    candidates[main].name
                ));
                held_out.push(("best single model".to_owned(), alone[best].1.scores));
                let mut kinds = vec![];
                for &(at, weight) in &pool.members {
                    let kind = match &sources[at] {
                        Source::Model(_) if at == main => MemberKind::Best,
                        Source::Model(model) => {
                            let other = self.learned(self.table, model, (Some(0.5), false))?;
                            let FitParts { preparation, model, .. } = other.parts().clone();
                            MemberKind::Model { preparation, model }
                        }
                        Source::Rule(rule) => {
                            MemberKind::Ahead(RuleAhead { rule: *rule, powers: powers.clone() })
                        }
                    };
                    kinds.push(Member { name: candidates[at].name.clone(), weight, kind });
                    let (widening, own) = &alone[at];
                    let alone = held_out_of(candidates[at].name.clone(), own.scores);
                    members.push(MemberSummary { weight, widening: *widening, alone });
                }
                let combination = Combination { is_ahead: true, members: kinds, components: pool.components };
                (("pool".to_owned(), pool.held_out), Some(combination))
            }
            None => {
                let (factor, scores) = &alone[main];
                let combination = (*factor > 1.0 && is_open).then(|| {
                    reasons.push(format!(
                        "standard deviations of forecasts are multiplied by {factor:.2}: those of known rows were too small"
                    ));
                    let mut widened = Combination::widened(candidates[main].name.clone(), *factor);
                    widened.is_ahead = true;
                    widened.components = widened
                        .components
                        .into_iter()
                        .map(|component| PoolComponent { at_rows: vec![1.0], ..component })
                        .collect();
                    widened
                });
                let scores = match combination.is_some() {
                    true => scores.clone(),
                    false => scored.unwidened(&candidates[main].densities),
                };
                ((candidates[main].name.clone(), scores), combination)
            }
        };
        let rules = (0..candidates.len()).filter(|&at| !candidates[at].is_model);
        held_out.extend(rules.map(|at| (candidates[at].name.clone(), alone[at].1.scores)));
        let summary = &mut parts.summary;
        summary.origins = Some(OriginSummary {
            n_origins: origins.n_origins,
            n_folds: origins.folds.len(),
            reach: origins.reach,
        });
        let outputs = summary.outputs.iter().zip(&first.1.by_output).filter(|(_, scores)| scores.n_cells > 0);
        summary.held_out_by_output =
            outputs.map(|(output, scores)| held_out_of(output.name.clone(), *scores)).collect();
        let every = first.1.probabilities.len().div_ceil(MOST_PROBABILITIES).max(1);
        summary.probabilities = first.1.probabilities.iter().copied().step_by(every).collect();
        let own = std::iter::once((first.0, first.1.scores));
        summary.held_out = own.chain(held_out).map(|(name, scores)| held_out_of(name, scores)).collect();
        summary.members = members;
        summary.tried = tried;
        summary.decisions.extend(reasons);
        parts.combination = combination;
        Fit::from_parts(parts)
    }
}

fn held_out_of(name: String, scores: Scores) -> HeldOut {
    let Scores { n_cells, rmse, log_score, coverage, .. } = scores;
    HeldOut { name, n_cells, rmse, log_score, coverage }
}
