//! Held-out scores of simple rules: training mean, interpolation, ridge regression on the other outputs.

use catena::data::Dataset;
use catena::prediction::Prediction;
use catena_methods::simple_rules::{LinearInterpolation, RidgeRegression, TrainingMean};

use super::fold::Fold;
use crate::error::FitError;
use crate::prepare::Predictive;
use crate::scores::{Scores, pooled, score};

/// The held-out scores of each simple rule that applies, by name. Errors of each output are in units of its scale.
pub(crate) fn simple_rule_scores(
    dataset: &Dataset,
    fold: &Fold,
    scales: &[f64],
) -> Result<Vec<(&'static str, Scores)>, FitError> {
    let training = &fold.training;
    let mut found = vec![("training mean", TrainingMean::fit(training)?.predict(training.n_rows())?)];
    if training.n_outputs() > 1 {
        let ridge = RidgeRegression::fit(training, 1.0)?.predict(training)?;
        found.push(("ridge on the other outputs", ridge));
    }
    if dataset.inputs().dim() == 1 {
        let table = Dataset::new(dataset.inputs().clone(), training.clone())?;
        found.push(("interpolation", LinearInterpolation::fit(&table)?.predict(dataset.inputs())?));
    }
    let scored = |(name, prediction): (&'static str, Prediction)| {
        (name, score(&predictive(&prediction), fold.held_out.iter().copied(), scales))
    };
    Ok(found.into_iter().map(scored).collect())
}

/// The held-out scores of each simple rule over all folds together.
pub(crate) fn pooled_simple_rule_scores(
    dataset: &Dataset,
    folds: &[Fold],
    scales: &[f64],
) -> Result<Vec<(String, Scores)>, FitError> {
    let mut by_name: Vec<(String, Vec<Scores>)> = vec![];
    for fold in folds {
        for (at, (name, scores)) in simple_rule_scores(dataset, fold, scales)?.into_iter().enumerate() {
            match by_name.get_mut(at) {
                Some((_, all)) => all.push(scores),
                None => by_name.push((name.to_owned(), vec![scores])),
            }
        }
    }
    Ok(by_name.into_iter().map(|(name, all)| (name, pooled(&all))).collect())
}

/// Variances of a rule are those of an observation. A variance of zero is widened to the rounding of the mean, so that a
/// density exists.
fn predictive(prediction: &Prediction) -> Predictive {
    let cells = prediction.means().iter().zip(prediction.variances());
    let deviations = cells.map(|(mean, variance)| variance.sqrt().max(1e-9 * mean.abs()).max(1e-150));
    Predictive::normal(prediction.n_outputs(), prediction.means().to_vec(), deviations.collect())
}
