//! A fit of a table that lies in parts, in as many processes as one likes.
//!
//! Whoever holds the parts drives: this module has what a part computes where it lies ([`Part`], [`Census`]), and what is
//! decided and learned from the few numbers that they send ([`Outline`]). An evidence with its gradient takes two rounds: the
//! summaries of all parts, then, from [`catena::inference::surroundings`], every part's share of the slopes.

mod census;
mod outline;
mod part;
mod plain;

pub use census::Census;
pub use outline::{EvidenceFailure, EvidenceOfParts, Gathered, Outline, rows_to_compare};
pub use part::{Counted, Part, chain_order};
pub use plain::{LatentKind, PlainModel};
