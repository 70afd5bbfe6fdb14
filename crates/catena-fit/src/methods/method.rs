//! The interface of inference methods: condition with given parameters, predict, and compute the log evidence.
//!
//! Learning needs only [`Differentiable::gradient`].

use catena::data::InputPoints;
use catena::live::LivePosterior;
use catena::prediction::Prediction;
use catena_methods::{Gradient, Problem};

use crate::error::MethodError;

/// The predicted quantity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantity {
    /// The function without noise.
    Function,
    /// A new observation, with noise.
    Observation,
}

/// The log evidence of the observed cells, in nats.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Evidence {
    /// Under the model.
    Exact(f64),
    /// Under an approximation of the model.
    Approximate(f64),
    /// A lower bound.
    LowerBound(f64),
}

impl Evidence {
    /// The value.
    pub fn get(self) -> f64 {
        match self {
            Self::Exact(value) | Self::Approximate(value) | Self::LowerBound(value) => value,
        }
    }
}

/// An inference method.
///
/// # Laws
/// - Fitting the same problem twice gives the same bits.
/// - A method without parameters ignores the problem's model except its number of outputs.
pub trait Method: Sync {
    /// The name used on the command line.
    fn name(&self) -> &'static str;

    /// Conditions on the observed cells with given parameters.
    ///
    /// # Errors
    /// When the method cannot handle the problem.
    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError>;
}

/// A method with a gradient of the evidence.
///
/// # Laws
/// - `gradient(p)?.value` is the evidence of `fit(p)?`.
/// - The gradient is that of this value.
pub trait Differentiable: Method {
    /// The evidence and its gradient.
    ///
    /// # Errors
    /// When the method cannot handle the problem.
    fn gradient(&self, problem: Problem<'_>) -> Result<Gradient, MethodError>;
}

/// A posterior.
///
/// # Laws
/// - The prediction at a point does not depend on the other points.
/// - Variances of an observation are at least those of the function.
pub trait Fitted: Send + Sync {
    /// The log evidence; `None` for methods without a model.
    ///
    /// # Errors
    /// When it cannot be computed.
    fn evidence(&self) -> Result<Option<Evidence>, MethodError>;

    /// Means and variances at any inputs.
    ///
    /// # Errors
    /// When the points have another number of columns, or a variance is lost to cancellation.
    fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Prediction, MethodError>;

    /// Means and variances at the rows of the table.
    ///
    /// # Errors
    /// As [`Fitted::predict`].
    fn predict_rows(&self, quantity: Quantity) -> Result<Prediction, MethodError>;

    /// The covariance of the function at each input, D×D blocks one after the other.
    ///
    /// # Errors
    /// As [`Fitted::predict`], or when the method has variances only.
    fn covariances(&self, _at: &InputPoints) -> Result<Vec<f64>, MethodError> {
        Err(MethodError::NotOffered { what: "covariances of outputs" })
    }

    /// Joint draws of the function at any inputs, each row-major n×D, one after the other; the same for the same seed. Their
    /// marginals are those of [`Fitted::predict`].
    ///
    /// # Errors
    /// As [`Fitted::predict`], or when the method has variances only.
    fn draws(&self, _at: &InputPoints, _n_draws: usize, _seed: u64) -> Result<Vec<f64>, MethodError> {
        Err(MethodError::NotOffered { what: "joint draws" })
    }

    /// The same posterior for edits, over the rows and then the candidates; `None` for methods that are not on one structure.
    ///
    /// # Errors
    /// When the live posterior cannot be built.
    fn live(&self) -> Result<Option<LivePosterior>, MethodError> {
        Ok(None)
    }

    /// The number of sweeps over the structure so far.
    fn n_sweeps(&self) -> usize {
        0
    }
}
