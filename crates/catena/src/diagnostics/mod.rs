//! The truth about a structure: how long its edges are, how much it distorts distances, and what the paper's bounds
//! make of that.
//!
//! [`StructureQuality`] is the report. Its parts: gaps ([`GapStatistics`]), the distortion ε_π ([`Distortion`]), and the
//! right-hand sides of Lemma 1, Lemma 2, Theorem 1 and Proposition 1. Their left-hand sides need dense algebra and are
//! evaluated by `catena-methods`.

mod bounds;
mod distortion;
mod quality;

pub use bounds::{chain_start_factor, covariance_gap_bound, latent_gap_bound};
pub use distortion::{Distortion, GapStatistics, PairSampling, distortion};
pub use quality::StructureQuality;
