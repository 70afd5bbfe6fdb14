//! Fits of tables in partitions, in any number of processes.
//!
//! The caller schedules. A partition computes a [`Census`] and, as a [`Part`], summaries and gradients; an [`Outline`] chooses
//! and learns the model from them. The log evidence with its gradient takes two rounds: the summaries of all partitions, then,
//! from [`catena::inference::surroundings`], the share of every partition in the gradient.

mod cell_moments;
mod census;
mod outline;
mod part;
mod plain;

pub use census::Census;
pub use outline::{EvidenceFailure, EvidenceOfParts, Gathered, Outline, rows_to_compare};
pub use part::{Counted, Part, chain_order};
pub use plain::{LatentKind, PlainModel};
