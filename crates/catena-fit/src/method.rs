//! What every method can do: fit given hyperparameters, predict, and say how well the model explains the table.
//!
//! Learning is a loop around [`Differentiable::gradient`]: it needs nothing else of a method.

use catena::data::{DataError, InputPoints};
use catena::graph::GraphError;
use catena::inference::InferenceError;
use catena::live::{LiveError, LivePosterior};
use catena::model::ModelError;
use catena::posterior::EnsembleError;
use catena::prediction::Prediction;
use catena::structure::StructureError;
use catena_methods::{DenseMethodError, Gradient, Problem};
use thiserror::Error;

/// A method that cannot answer.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MethodError {
    /// A dense method failed.
    #[error(transparent)]
    Dense(#[from] DenseMethodError),
    /// Points of another space.
    #[error("points have {found} input columns but the table has {expected}")]
    InputDim {
        /// Input columns of the table.
        expected: usize,
        /// Input columns of the points.
        found: usize,
    },
    /// The structure cannot be built.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// The model cannot be carried along the structure, or the structure is of another table.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The sweep failed.
    #[error(transparent)]
    Inference(#[from] InferenceError),
    /// The model cannot be built.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The table cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A method without joint answers.
    #[error("this method offers means and variances only, not {what}; use method catena")]
    NotOffered {
        /// What was asked for.
        what: &'static str,
    },
    /// Chains could not be combined.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// The posterior takes no edits.
    #[error(transparent)]
    Live(#[from] LiveError),
}

/// What a prediction is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantity {
    /// The function itself.
    Function,
    /// A new observation of it, noise included.
    Observation,
}

/// How well a model explains the observed cells, in nats.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Evidence {
    /// Their log density under the model.
    Exact(f64),
    /// Their log density under an approximation of the model.
    Approximate(f64),
    /// A lower bound on their log density under the model.
    LowerBound(f64),
}

impl Evidence {
    /// The bare number.
    pub fn get(self) -> f64 {
        match self {
            Self::Exact(value) | Self::Approximate(value) | Self::LowerBound(value) => value,
        }
    }
}

/// A way from a model and a table to predictions.
///
/// # Laws
/// - Fitting the same problem twice gives the same bits.
/// - A method without hyperparameters ignores the problem's model but for its number of outputs.
pub trait Method: Sync {
    /// The name used on the command line.
    fn name(&self) -> &'static str;

    /// Conditions on the observed cells, hyperparameters as given.
    ///
    /// # Errors
    /// When the method cannot handle the problem.
    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError>;
}

/// A method whose evidence can be climbed.
///
/// # Laws
/// - `gradient(p)?.value` is the evidence of `fit(p)?`.
/// - The slopes are those of that value.
pub trait Differentiable: Method {
    /// The evidence and its derivatives in the hyperparameters.
    ///
    /// # Errors
    /// When the method cannot handle the problem.
    fn gradient(&self, problem: Problem<'_>) -> Result<Gradient, MethodError>;
}

/// What a method knows after it has seen the table.
///
/// # Laws
/// - The prediction at a point does not depend on which other points are asked for.
/// - Variances of an observation are at least those of the function.
pub trait Fitted: Send + Sync {
    /// How well the model explains the table; `None` for methods that have no model.
    ///
    /// # Errors
    /// When it has to be computed and cannot be.
    fn evidence(&self) -> Result<Option<Evidence>, MethodError>;

    /// Means and variances at any inputs.
    ///
    /// # Errors
    /// When the points do not fit the table, or a variance is lost to cancellation.
    fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Prediction, MethodError>;

    /// Means and variances at the rows of the table itself: what fills its holes.
    ///
    /// # Errors
    /// As [`Fitted::predict`].
    fn predict_rows(&self, quantity: Quantity) -> Result<Prediction, MethodError>;

    /// The covariance of the function at each input, D×D blocks one after the other.
    ///
    /// # Errors
    /// As [`Fitted::predict`], or when the method knows variances only.
    fn covariances(&self, _at: &InputPoints) -> Result<Vec<f64>, MethodError> {
        Err(MethodError::NotOffered { what: "covariances of outputs" })
    }

    /// Joint draws of the function at any inputs, each row-major n×D, one after the other; the same for the same seed. Their
    /// marginals are those of [`Fitted::predict`].
    ///
    /// # Errors
    /// As [`Fitted::predict`], or when the method knows variances only.
    fn draws(&self, _at: &InputPoints, _n_draws: usize, _seed: u64) -> Result<Vec<f64>, MethodError> {
        Err(MethodError::NotOffered { what: "joint draws" })
    }

    /// The same posterior, ready for edits, over the rows and then the candidates; `None` for methods that are not on one
    /// structure.
    ///
    /// # Errors
    /// When the posterior cannot be taken apart.
    fn live(&self) -> Result<Option<LivePosterior>, MethodError> {
        Ok(None)
    }
}
