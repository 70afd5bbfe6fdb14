//! Simple rules, beside which models are scored: training mean, interpolation, ridge regression on the other outputs or on the
//! other groups.

use catena::data::{Dataset, InputPoints};
use catena::prediction::Prediction;
use catena_methods::simple_rules::{LinearInterpolation, RidgeRegression, TrainingMean};

use super::other_groups::Together;
use crate::error::FitError;
use crate::prepare::Predictive;

/// A simple rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimpleRule {
    /// The mean of the observed cells of each output.
    TrainingMean,
    /// Ridge regression on the other outputs of the same row.
    Ridge,
    /// Linear interpolation of each output along a single input.
    Interpolation,
    /// Ridge regression on all outputs of the other groups at the same input.
    OtherGroups,
}

impl SimpleRule {
    /// All rules.
    pub const ALL: [Self; 4] = [Self::TrainingMean, Self::Ridge, Self::Interpolation, Self::OtherGroups];

    /// The rules that apply to tables of these inputs and this many outputs.
    pub fn applicable(inputs: &InputPoints, n_outputs: usize) -> Vec<Self> {
        let mut rules = vec![Self::TrainingMean];
        if n_outputs > 1 {
            rules.push(Self::Ridge);
        }
        if inputs.dim() == 1 {
            rules.push(Self::Interpolation);
        }
        if Together::of(inputs).suits(n_outputs) {
            rules.push(Self::OtherGroups);
        }
        rules
    }

    /// The name in summaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::TrainingMean => "training mean",
            Self::Ridge => "ridge on the other outputs",
            Self::Interpolation => "interpolation",
            Self::OtherGroups => "ridge on the other groups",
        }
    }

    /// Predictive distributions of observations at all rows of a table.
    ///
    /// # Errors
    /// When the rule does not apply to the table.
    pub fn predict(self, table: &Dataset) -> Result<Predictive, FitError> {
        let observations = table.observations();
        if self == Self::OtherGroups {
            return Ok(predictive(&Together::of(table.inputs()).predict(table)?));
        }
        let prediction = match self {
            Self::TrainingMean => TrainingMean::fit(observations)?.predict(table.n_rows())?,
            Self::Ridge => RidgeRegression::fit(observations, 1.0)?.predict(observations)?,
            Self::Interpolation | Self::OtherGroups => {
                LinearInterpolation::fit(table)?.predict(table.inputs())?
            }
        };
        Ok(predictive(&prediction))
    }
}

/// Variances of a rule are those of an observation. A variance of zero is widened to the rounding of the mean, so that a
/// density exists.
fn predictive(prediction: &Prediction) -> Predictive {
    let cells = prediction.means().iter().zip(prediction.variances());
    let deviations = cells.map(|(mean, variance)| variance.sqrt().max(1e-9 * mean.abs()).max(1e-150));
    Predictive::normal(prediction.n_outputs(), prediction.means().to_vec(), deviations.collect())
}
