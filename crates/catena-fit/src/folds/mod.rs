//! Held-out cells, by which models and methods are compared.

mod blocks;
mod cell;
mod fold;
mod gaps;
mod held_out;
mod neighborhoods;
mod other_groups;
mod random;
mod sample;
mod simple_rules;

pub(crate) use fold::Fold;
pub use held_out::HeldOutFolds;
pub(crate) use held_out::{gaps, scales_of};
pub(crate) use random::below;
pub(crate) use sample::{in_stretches, random_rows, representative_rows, topped_up};
pub use simple_rules::SimpleRule;
