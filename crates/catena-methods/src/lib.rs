//! The rivals of catena: exact, sparse variational and nearest-neighbor coregionalization, and trivial predictors.
//!
//! They share the model, the table and the prediction with the core and nothing of its sweep, so that each can judge
//! the other. Every method divides Euclidean distances by one [`DistanceScale`](catena::units::DistanceScale) and
//! treats private latents like any other column of the mixing matrix.
//!
//! Reading order: [`Problem`] (what is asked), `channel` (observed cells brought to unit noise, losslessly reduced),
//! [`exact`], [`svgp`], [`nngp`], [`fullscale`], [`simple_rules`].

pub mod bounds;
mod channel;
mod cholesky;
mod correlation;

mod error;
pub mod exact;
pub mod fullscale;
mod gradient;
mod jitter;
mod joint;
pub mod kmeans;
pub mod maxmin;
mod memory;
pub mod nngp;
mod problem;
pub mod simple_rules;
pub mod svgp;
mod target;

pub use channel::CellReduction;
pub use error::DenseMethodError;
pub use gradient::Gradient;
pub use jitter::Jitter;
pub use joint::Joint;
pub use memory::MemoryLimit;
pub use problem::Problem;
