//! The textbook Gaussian process in 32 digits: the judge of every fast path.
//!
//! It writes down the covariance of every pair of states, conditions on the observed cells with one Cholesky
//! factorization, and reads everything off. [`DensePrior::on_structure`] uses the structure's own covariance,
//! [`DensePrior::euclidean`] the kernel of the distance between the points. Transition matrices come from the
//! exponential series of the drift, not from the library's closed forms. Cost is O((C·D)³) in double-double
//! arithmetic: about two seconds at 600 observed cells.

mod cholesky;
mod covariance;
mod gradient;
mod piece;
mod posterior;
mod transition;

pub use gradient::DenseGradient;
pub use posterior::DensePosterior;
pub use transition::{correlation, drift, matrix_exponential, stationary_covariance};

use catena::data::{InputPoints, Observations};
use catena::index::{OutputIndex, RowIndex};
use catena::model::Lmc;
use catena::structure::Tree;
use catena::units::DistanceScale;
use covariance::StateCovariance;
use thiserror::Error;

use crate::double_double::DoubleDouble;

/// A dense process that cannot be written down.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DenseError {
    /// The observations are of another table.
    #[error("the process has {process} rows, the observations have {observations}")]
    RowCount {
        /// Rows of the process.
        process: usize,
        /// Rows of the observations.
        observations: usize,
    },
    /// The observations are of another model.
    #[error("the model has {model} outputs, the observations have {observations}")]
    OutputCount {
        /// Outputs of the model.
        model: usize,
        /// Outputs of the observations.
        observations: usize,
    },
    /// The covariance of the observed cells is singular to 30 digits.
    #[error("the covariance of the observed cells is not positive definite at row {row}, output {output}")]
    NotPositiveDefinite {
        /// The row of the cell where it was noticed.
        row: RowIndex,
        /// The output of that cell.
        output: OutputIndex,
    },
}

/// Where the covariance of two rows comes from.
#[derive(Clone, Copy)]
enum Metric<'a> {
    Structure(&'a Tree),
    Euclidean(&'a InputPoints, DistanceScale),
}

/// The prior over all rows: for each latent, the covariance of its state at every pair of rows.
pub struct DensePrior<'a> {
    model: &'a Lmc,
    metric: Metric<'a>,
    n_rows: usize,
    latents: Vec<StateCovariance>,
}

impl<'a> DensePrior<'a> {
    /// The structure's own covariance, `Cov(z_i, z_j) = A_{i←a} P₀ A_{j←a}ᵀ` with a the common ancestor.
    pub fn on_structure(model: &'a Lmc, tree: &'a Tree) -> Self {
        Self::with_metric(model, tree.len(), Metric::Structure(tree))
    }

    /// The Euclidean covariance κ(|x_i − x_j|/scale) of the latents' values; states are values only.
    pub fn euclidean(model: &'a Lmc, inputs: &'a InputPoints, scale: DistanceScale) -> Self {
        Self::with_metric(model, inputs.n_rows(), Metric::Euclidean(inputs, scale))
    }

    fn with_metric(model: &'a Lmc, n_rows: usize, metric: Metric<'a>) -> Self {
        let latents = model
            .latents()
            .iter()
            .map(|latent| {
                let numbers = (latent.length_scale().get(), latent.shape().unwrap_or(1.0));
                StateCovariance::new(
                    latent,
                    metric,
                    (DoubleDouble::new(numbers.0), DoubleDouble::new(numbers.1)),
                )
            })
            .collect();
        Self { model, metric, n_rows, latents }
    }

    /// Conditions on the observed cells.
    ///
    /// # Errors
    /// When the observations are of another table, or their covariance is singular to 30 digits.
    pub fn condition(self, observations: &Observations) -> Result<DensePosterior<'a>, DenseError> {
        DensePosterior::new(self, observations)
    }
}
