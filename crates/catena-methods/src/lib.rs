//! Dense methods (exact, sparse variational, nearest-neighbor and full-scale inference) and simple rules.
//!
//! They share the model, the table and the prediction type with the core, but no code of its sweep. Every method divides
//! Euclidean distances by one [`DistanceScale`](catena::units::DistanceScale) and treats private latents like any other
//! column of the mixing matrix.
//!
//! Reading order: [`Problem`] (the input of every method), `channel` (observed cells reduced to channels of unit noise),
//! [`exact`], [`svgp`], [`nngp`], [`fullscale`], [`simple_rules`].

pub mod bounds;
mod channel;
mod cholesky;
mod correlation;
mod error;
pub mod exact;
pub mod fullscale;
mod gradient;
mod inducing;
mod jitter;
mod joint;
pub mod kmeans;
mod maxmin;
mod memory;
mod neighbors;
pub mod nngp;
mod normal_equations;
mod problem;
pub mod simple_rules;
pub mod structure_error;
pub mod structure_report;
pub mod svgp;
mod targets;

pub use error::DenseMethodError;
pub use gradient::Gradient;
pub use jitter::Jitter;
pub use joint::Joint;
pub use memory::{Bytes, MemoryLimit};
pub use problem::Problem;
