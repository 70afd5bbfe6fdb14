//! What simple predictors make of the same hidden cells.

use catena::data::{Dataset, Observations};
use catena::prediction::Prediction;
use catena_methods::simple_rules::{LinearInterpolation, RidgeRegression, TrainingMean};

use crate::fit::FitError;
use crate::preparation::Predictive;

/// Predictions of every cell by each simple predictor that applies, by name; in the table's own units.
pub(crate) fn references(
    dataset: &Dataset,
    left: &Observations,
) -> Result<Vec<(&'static str, Predictive)>, FitError> {
    let table = Dataset::new(dataset.inputs().clone(), left.clone())?;
    let mut found = vec![("training mean", TrainingMean::fit(left)?.predict(left.n_rows())?)];
    if left.n_outputs() > 1 {
        found.push(("ridge on the other outputs", RidgeRegression::fit(left, 1.0)?.predict(left)?));
    }
    if dataset.inputs().dim() == 1 {
        let lines = LinearInterpolation::fit(&table)?;
        found.push(("interpolation", lines.predict(dataset.inputs())?));
    }
    Ok(found.into_iter().map(|(name, prediction)| (name, normal(&prediction))).collect())
}

/// Their variances are those of an observation. A variance of zero, as of a constant, is widened to the rounding of the
/// mean so that a density exists.
fn normal(prediction: &Prediction) -> Predictive {
    let cells = prediction.means().iter().zip(prediction.variances());
    let deviations = cells.map(|(mean, variance)| variance.sqrt().max(1e-9 * mean.abs()).max(1e-150));
    Predictive::normal(prediction.n_outputs(), prediction.means().to_vec(), deviations.collect())
}
