//! The change of units of one output.

use serde::{Deserialize, Serialize};

use crate::options::{Bounds, LikelihoodChoice};
use crate::power::PowerTransform;

/// The change of units of one output: `(f(y) − intercept − slopes·x)/scale`, where f is its [`PowerTransform`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputTransform {
    /// The modelled function of the output.
    #[serde(flatten)]
    pub power: PowerTransform,
    /// The constant part of the mean.
    pub intercept: f64,
    /// The slope of the mean in each scaled input; empty for a constant mean.
    pub slopes: Vec<f64>,
    /// The scale of the residual.
    pub scale: f64,
    /// The likelihood of the output. Its cells stay in the user's units; intercept and scale are those of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likelihood: Option<LikelihoodChoice>,
    /// The bounds of the output: predictions beyond them are put at them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
}

impl OutputTransform {
    /// The identity.
    pub fn identity() -> Self {
        Self {
            power: PowerTransform::None,
            intercept: 0.0,
            slopes: vec![],
            scale: 1.0,
            likelihood: None,
            bounds: None,
        }
    }

    /// Why a value cannot be observed under this transform and these bounds, if it cannot.
    pub(crate) fn refusal(&self, value: f64) -> Option<&'static str> {
        if !value.is_finite() {
            return Some("not finite; leave the cell empty if it is missing");
        }
        if self.power.needs_positive() && value <= 0.0 {
            return Some("not positive, but a logarithm or power of this output is modelled");
        }
        let is_beyond = self.bounds.is_some_and(|bounds| !bounds.contain(value));
        is_beyond.then_some("beyond the bounds of its output; leave the cell empty if it is missing")
    }

    /// The value of a cell at a scaled input in the model's units.
    pub(crate) fn apply(&self, value: f64, point: &[f64]) -> f64 {
        if self.likelihood.is_some() {
            return value;
        }
        // The intercept first: the difference of close numbers is exact.
        ((self.power.forward(value) - self.intercept) - self.along(point)) / self.scale
    }

    /// The inverse of [`OutputTransform::apply`], except for the power transform.
    pub(crate) fn unscaled(&self, value: f64, point: &[f64]) -> f64 {
        self.intercept + (self.along(point) + value * self.scale)
    }

    /// The log Jacobian of the transform at a value in the user's units.
    pub(crate) fn log_volume(&self, value: f64) -> f64 {
        match self.likelihood {
            Some(_) => 0.0,
            None => self.power.log_derivative(value) - self.scale.ln(),
        }
    }

    /// The mean at a scaled input, without the intercept.
    pub(super) fn along(&self, point: &[f64]) -> f64 {
        dot(&self.slopes, point)
    }
}

/// The sum of slopes times coordinates.
pub(super) fn dot(slopes: &[f64], point: &[f64]) -> f64 {
    slopes.iter().zip(point).map(|(slope, x)| slope * x).sum()
}
