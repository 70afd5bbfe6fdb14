//! Structures over the points: rooted trees, a chain being a path. They know the inputs and nothing else.
//!
//! A builder is a function from [`InputPoints`](crate::data::InputPoints) to a [`Tree`], in a file of its own, that
//! ends in one of the tree's checked constructors. Ties break by the lowest row, so that equal input gives equal bits.

mod brute_force;
mod sorted;
mod tree;

pub use brute_force::brute_force_greedy_chain;
pub use sorted::sorted_chain;
pub use tree::{StructureError, Tree};
