//! Simple rules with which every fit is compared.
//!
//! Their variances are those of a new *observation*, noise included.
//!
//! - [`TrainingMean`]: the mean and variance of each output, everywhere.
//! - [`LinearInterpolation`]: between the neighbors along one input.
//! - [`RidgeRegression`]: from the other outputs of the same row.
//! - [`RowGaussian`], [`NearestRows`]: means of cells from the other outputs of their rows, without variances.

mod interpolation;
mod mean;
mod nearest_rows;
mod ridge;
mod row_gaussian;

pub use interpolation::LinearInterpolation;
pub use mean::TrainingMean;
pub use nearest_rows::NearestRows;
pub use ridge::RidgeRegression;
pub use row_gaussian::{RowCovariance, RowGaussian};
