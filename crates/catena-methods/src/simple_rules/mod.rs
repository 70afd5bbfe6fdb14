//! Simple rules with which every fit is compared, and rules that predict a cell from other outputs.
//!
//! Variances are those of a new *observation*, noise included.
//!
//! - [`TrainingMean`]: the mean and variance of each output, everywhere.
//! - [`LinearInterpolation`]: between the neighbors along one input.
//! - [`RidgeRegression`]: from the other outputs of the same row.
//! - [`RowGaussian`], [`NearestRows`], [`LaggedRidge`]: means of cells from the other outputs of their rows and, for the last,
//!   of neighboring rows; [`RowPredictions`].
//! - [`SeasonalMeans`]: means of cells from the season of their output.
//! - [`WeightedRegression`]: weighted least squares with priors.
//! - [`AheadRule`]: forecasts of one [`Series`] from its last value, last season, drift or mean, or by exponential [`Smoothing`].

mod ahead;
mod common_factors;
mod interpolation;
mod lagged_ridge;
mod mean;
mod nearest_rows;
mod ridge;
mod row_gaussian;
mod seasonal;
mod smoothing;
mod weighted;

pub use ahead::{AheadRule, LearnedRule, RuleOrigin, Series};
pub use interpolation::LinearInterpolation;
pub use lagged_ridge::LaggedRidge;
pub use mean::TrainingMean;
pub use nearest_rows::NearestRows;
pub use ridge::RidgeRegression;
pub use row_gaussian::{RowCovariance, RowGaussian};
pub use seasonal::SeasonalMeans;
pub use smoothing::{SmoothedState, Smoothing};
pub use weighted::WeightedRegression;

/// Predictions of every cell of a table from other outputs, row-major. A cell's own value is not used.
#[derive(Clone, Debug, PartialEq)]
pub struct RowPredictions {
    /// Means.
    pub means: Vec<f64>,
    /// The variance that a cell has because other outputs of its row are missing, in variances of the output: 0 in a complete
    /// row, up to 1 in an empty one.
    pub excess: Vec<f64>,
}
