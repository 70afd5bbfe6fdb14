//! Multi-output Gaussian process regression by exact message passing.

pub mod data;
pub mod index;
pub mod kernel;
pub mod model;
pub mod prediction;
pub mod structure;
pub mod units;
