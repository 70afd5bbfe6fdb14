//! Scores of predictive distributions on known values.

mod densities;
mod held_out;
mod score;
mod widening;

pub(crate) use densities::{Densities, MixtureDensities, mean_with_error};
pub use held_out::HeldOutScores;
pub(crate) use score::is_better;
pub use score::{Scores, normal_crps, score};
pub(crate) use widening::Widening;
