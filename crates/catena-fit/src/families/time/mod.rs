//! Time models: every latent is a sum of components (level, trend, oscillator, season, kernel) along a single input.
//!
//! There are as many latents as outputs, and seasons may be shared by all of them. Each output is first fitted alone, which is
//! cheap and chooses the sum by a parsimony score. The joint model starts from the single models, with weights from the
//! correlation of their one-step innovations, and is optimized for a few iterations more.

mod calendar;
mod comparison;
mod drift;
mod given;
mod latest;
mod one_step;
mod periodogram;
mod phases;
mod plan;
mod relearn;
mod single;
mod sums;

pub(crate) use comparison::{TimeModel, learn, seasons};
pub(crate) use drift::warnings as drift_warnings;
pub(crate) use given::given;
pub(crate) use periodogram::strong_periods;
pub(crate) use plan::TimePlan;
pub(crate) use relearn::relearn;
