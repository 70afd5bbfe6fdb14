//! The quality of a structure: edge lengths, distortion of distances, and the paper's error bounds.
//!
//! [`StructureQuality`] is the report. It contains the gaps ([`GapStatistics`]), the distortion ε_π ([`Distortion`]), and the
//! right-hand sides of Theorem 1 and Proposition 1. The left-hand sides need dense algebra and are computed by
//! `catena-methods`.

mod bounds;
mod distortion;
mod quality;

pub use bounds::{chain_start_factor, covariance_gap_bound, latent_gap_bound};
pub use distortion::{Distortion, GapStatistics, PairSampling};
pub use quality::StructureQuality;
