//! The table: inputs, observed cells, and their scaling.
//!
//! `NaN` marks a missing cell in the arrays of [`Observations::from_dense`] and [`Observations::to_dense`] only. A missing cell is
//! not stored.

mod dataset;
mod error;
mod inputs;
mod observations;
mod scaling;

pub use dataset::Dataset;
pub use error::DataError;
pub(crate) use error::check_shape;
pub(crate) use inputs::distance;
pub use inputs::{InputPoints, squared_distance};
pub use observations::{Cell, Observations};
pub use scaling::{ColumnMoments, InputScaling, OutputScaling};
