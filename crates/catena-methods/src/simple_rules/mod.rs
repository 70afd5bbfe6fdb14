//! The predictors every table must be compared with.
//!
//! Their variances are those of a new *observation*, noise included: they know no function apart from its noise.
//!
//! - [`TrainingMean`]: the mean and variance of each output, everywhere.
//! - [`LinearInterpolation`]: between the neighbors along one input.
//! - [`RidgeRegression`]: from the other outputs of the same row.

mod interpolation;
mod mean;
mod ridge;

pub use interpolation::LinearInterpolation;
pub use mean::TrainingMean;
pub use ridge::RidgeRegression;
