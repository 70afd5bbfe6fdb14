//! Structures over the points: rooted trees; a chain is a path. They depend on the inputs alone.
//!
//! A builder is a function from [`InputPoints`](crate::data::InputPoints) to a [`Tree`], in a file of its own, which
//! ends in one of the checked constructors of the tree. The lowest row breaks ties, so equal inputs give equal bits.

mod all_pairs;
mod attach;
mod choice;
mod ensemble;
mod greedy_chain;
mod kd_tree;
mod sorted;
mod spanning_tree;
mod tree;

pub use attach::{AttachedTo, Attachment, Tie};
pub use choice::StructureChoice;
pub use ensemble::chain_ensemble;
pub use greedy_chain::{Start, greedy_chain};
pub use kd_tree::{KdTree, Neighbor};
pub use sorted::sorted_chain;
pub use spanning_tree::spanning_tree;
pub use tree::{StructureError, Tree};

#[cfg(test)]
#[path = "../../tests/clouds/mod.rs"]
mod clouds;
