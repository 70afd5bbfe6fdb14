//! Compares sums of components and transforms by forecasts of known rows.

use super::origins::Origins;
use super::rolling::forecasts;
use super::setting::{AheadModel, Choice, powers_of};
use crate::error::FitError;
use crate::families::CandidateSummary;
use crate::options::{TimeSpec, TransformKind, TransformOptions};
use crate::power::PowerTransform;
use crate::scores::{Densities, Scores};

/// A model with the densities of its forecasts.
pub(super) struct ScoredModel {
    pub(super) model: AheadModel,
    pub(super) densities: Densities,
    /// The transform of each output in each fold.
    pub(super) powers: Vec<Vec<PowerTransform>>,
}

impl Choice<'_> {
    /// Models with all sums under the chosen transforms, and the candidates for the summary.
    pub(super) fn compared(
        &self,
        origins: &Origins,
        sums: Vec<TimeSpec>,
        reasons: &mut Vec<String>,
    ) -> Result<(Vec<ScoredModel>, Vec<CandidateSummary>), FitError> {
        let mut sums = sums.into_iter();
        let (mut models, mut tried) = (vec![], vec![]);
        // Transforms are compared under the second sum, which has a trend.
        let (first, second) = (sums.next(), sums.next());
        let mut transforms = self.requested_transforms(TransformKind::None)?;
        if let Some(spec) = second {
            let (chosen, with_trend) = self.transforms(origins, &spec, reasons, &mut tried)?;
            transforms = chosen;
            models.extend(with_trend);
        }
        for spec in first.into_iter().chain(sums) {
            if self.is_stopped() {
                break;
            }
            models.extend(self.tried(origins, self.model(spec, transforms.clone()), &mut tried));
        }
        if let Some(best) = best_of(&models) {
            let name = &models[best].model.name;
            tried.iter_mut().for_each(|one| one.chosen = one.name == *name);
        }
        Ok((models, tried))
    }

    /// Transforms of all outputs: those requested, and the logarithm of open ones whose forecasts then have the better log score; with
    /// the model of this sum that has them.
    fn transforms(
        &self,
        origins: &Origins,
        spec: &TimeSpec,
        reasons: &mut Vec<String>,
        tried: &mut Vec<CandidateSummary>,
    ) -> Result<(TransformOptions, Option<ScoredModel>), FitError> {
        let n_outputs = origins.rows.n_outputs;
        let kinds = self.options.transform_kinds(n_outputs)?;
        let mut is_positive = vec![true; n_outputs];
        for (_, cell) in self.table.observations().cells() {
            is_positive[cell.output.get()] &= cell.value > 0.0;
        }
        let may_be_log = |output: usize| kinds[output] == TransformKind::Auto && is_positive[output];
        let plain = self.requested_transforms(TransformKind::None)?;
        let as_is = self.tried(origins, self.model(spec.clone(), plain.clone()), tried);
        let open: Vec<usize> = (0..n_outputs).filter(|&output| may_be_log(output)).collect();
        if open.is_empty() || self.is_stopped() {
            return Ok((plain, as_is));
        }
        let with_log = |is_log: &dyn Fn(usize) -> bool| -> TransformOptions {
            let kind = |output: usize| match kinds[output] {
                TransformKind::Auto if is_log(output) => TransformKind::Log,
                TransformKind::Auto => TransformKind::None,
                kind => kind,
            };
            self.transforms_of(&(0..n_outputs).map(kind).collect::<Vec<_>>())
        };
        let all = with_log(&may_be_log);
        let logged = self.tried(origins, self.model(spec.clone(), all.clone()), tried);
        let (Some(as_is), Some(logged)) = (as_is, logged) else { return Ok((plain, None)) };
        let is_better = better_outputs(origins, &as_is.densities, &logged.densities);
        let better: Vec<usize> = open.iter().copied().filter(|&output| is_better[output]).collect();
        if better.is_empty() {
            return Ok((plain, Some(as_is)));
        }
        let names: Vec<String> = better.iter().map(|&output| self.options.output_name(output)).collect();
        reasons.push(format!(
            "forecasts of the logarithm have the better log score, and errors that are no larger: {}",
            names.join(", ")
        ));
        if better.len() == open.len() {
            return Ok((all, Some(logged)));
        }
        let chosen = with_log(&|output| better.contains(&output));
        let some = self.tried(origins, self.model(spec.clone(), chosen.clone()), tried);
        Ok((chosen, some))
    }

    /// A scored candidate, with its scores for the summary.
    fn tried(
        &self,
        origins: &Origins,
        model: AheadModel,
        tried: &mut Vec<CandidateSummary>,
    ) -> Option<ScoredModel> {
        let found = self.scored(origins, model)?;
        let Scores { rmse, log_score, coverage, .. } = origins.scored.unwidened(&found.densities).scores;
        tried.push(CandidateSummary {
            name: found.model.name.clone(),
            score: log_score,
            score_name: "log score of forecasts".to_owned(),
            rmse: Some(rmse),
            coverage: Some(coverage),
            chosen: false,
        });
        Some(found)
    }

    /// The densities of a candidate at all scored cells; `None` if it cannot be learned or predicts no number.
    pub(super) fn scored(&self, origins: &Origins, model: AheadModel) -> Option<ScoredModel> {
        let (mut densities, mut powers) = (Densities::default(), vec![]);
        for fold in &origins.folds {
            let fitted = self.learned(&fold.training, &model, (Some(0.2), true)).ok()?;
            let predictive = forecasts(&fitted, self.recent, &origins.rows, &fold.pairs).ok()?;
            densities.extend(Densities::at(&predictive, &fold.cells));
            powers.push(powers_of(&fitted));
        }
        origins.scored.are_scored(&densities).then_some(ScoredModel { model, densities, powers })
    }
}

/// Whether each output has the better log score with the second densities, and errors that are no larger; both with their best factors
/// on standard deviations.
fn better_outputs(origins: &Origins, one: &Densities, other: &Densities) -> Vec<bool> {
    let scores = |densities: &Densities| origins.scored.alone(densities).1.by_output;
    let pairs = scores(one).into_iter().zip(scores(other));
    pairs.map(|(one, other)| other.log_score > one.log_score && other.rmse <= one.rmse).collect()
}

/// The model with the best log score, each with its best factor on the standard deviations.
pub(super) fn best_of(models: &[ScoredModel]) -> Option<usize> {
    let score = |at: &usize| models[*at].densities.best_log_score();
    (0..models.len()).filter(|at| score(at).is_finite()).max_by(|a, b| score(a).total_cmp(&score(b)))
}
