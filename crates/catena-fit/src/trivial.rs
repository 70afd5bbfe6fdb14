//! The trivial predictors behind the common interface. They know no function apart from its noise, so both
//! quantities get the variance of an observation, and they have no evidence.

use catena::data::{InputPoints, Observations};
use catena::prediction::Prediction;
use catena_methods::Problem;
use catena_methods::simple_rules::{LinearInterpolation, RidgeRegression, TrainingMean};

use crate::method::{Evidence, Fitted, Method, MethodError, Quantity};

/// The training mean and variance everywhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MeanMethod;

/// Linear interpolation along one input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InterpolationMethod;

/// Ridge regression on the other outputs of the row; at new inputs, where a row has no outputs, the training mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RidgeMethod {
    /// The penalty, in rows without signal.
    pub penalty: f64,
}

impl Default for RidgeMethod {
    /// A penalty of one row.
    fn default() -> Self {
        Self { penalty: 1.0 }
    }
}

struct FittedMean {
    mean: TrainingMean,
    n_rows: usize,
}

struct FittedLines {
    lines: LinearInterpolation,
    rows: InputPoints,
}

struct FittedRidge {
    ridge: RidgeRegression,
    mean: TrainingMean,
    observations: Observations,
}

impl Method for MeanMethod {
    fn name(&self) -> &'static str {
        "mean"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        let mean = TrainingMean::fit(problem.dataset().observations())?;
        Ok(Box::new(FittedMean { mean, n_rows: problem.dataset().n_rows() }))
    }
}

impl Fitted for FittedMean {
    fn evidence(&self) -> Result<Option<Evidence>, MethodError> {
        Ok(None)
    }

    fn predict(&self, at: &InputPoints, _: Quantity) -> Result<Prediction, MethodError> {
        Ok(self.mean.predict(at.n_rows())?)
    }

    fn predict_rows(&self, _: Quantity) -> Result<Prediction, MethodError> {
        Ok(self.mean.predict(self.n_rows)?)
    }
}

impl Method for InterpolationMethod {
    fn name(&self) -> &'static str {
        "interpolation"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        let lines = LinearInterpolation::fit(problem.dataset())?;
        Ok(Box::new(FittedLines { lines, rows: problem.dataset().inputs().clone() }))
    }
}

impl Fitted for FittedLines {
    fn evidence(&self) -> Result<Option<Evidence>, MethodError> {
        Ok(None)
    }

    fn predict(&self, at: &InputPoints, _: Quantity) -> Result<Prediction, MethodError> {
        Ok(self.lines.predict(at)?)
    }

    fn predict_rows(&self, quantity: Quantity) -> Result<Prediction, MethodError> {
        self.predict(&self.rows, quantity)
    }
}

impl Method for RidgeMethod {
    fn name(&self) -> &'static str {
        "ridge"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        let observations = problem.dataset().observations().clone();
        let ridge = RidgeRegression::fit(&observations, self.penalty)?;
        let mean = TrainingMean::fit(&observations)?;
        Ok(Box::new(FittedRidge { ridge, mean, observations }))
    }
}

impl Fitted for FittedRidge {
    fn evidence(&self) -> Result<Option<Evidence>, MethodError> {
        Ok(None)
    }

    fn predict(&self, at: &InputPoints, _: Quantity) -> Result<Prediction, MethodError> {
        Ok(self.mean.predict(at.n_rows())?)
    }

    fn predict_rows(&self, _: Quantity) -> Result<Prediction, MethodError> {
        Ok(self.ridge.predict(&self.observations)?)
    }
}
