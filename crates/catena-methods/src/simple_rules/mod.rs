//! Simple rules with which every fit is compared.
//!
//! Their variances are those of a new *observation*, noise included.
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
