//! The table as the rest of the library sees it: inputs, observed cells, and their scaling.
//!
//! `NaN` means "not observed" only in [`Observations::from_dense`]; past this module a missing cell does not exist.

mod dataset;
mod error;
mod inputs;
mod observations;
mod scaling;

pub use dataset::Dataset;
pub use error::DataError;
pub(crate) use error::check_shape;
pub use inputs::{InputPoints, distance, squared_distance};
pub use observations::{Cell, Observations};
pub use scaling::{InputScaling, OutputScaling};
