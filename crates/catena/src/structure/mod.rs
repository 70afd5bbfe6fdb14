//! Structures over the points: rooted trees, a chain being a path. They know the inputs and nothing else.
//!
//! A builder is a function from [`InputPoints`](crate::data::InputPoints) to a [`Tree`], in a file of its own, that
//! ends in one of the tree's checked constructors. Ties break by the lowest row, so that equal input gives equal bits.

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
pub use choice::{StructureChoice, StructureKind, automatic_structure};
pub use ensemble::chain_ensemble;
pub use greedy_chain::{NeighborSearch, Start, greedy_chain, greedy_chain_by};
pub use kd_tree::{KdTree, Neighbor};
pub use sorted::sorted_chain;
pub use spanning_tree::{spanning_tree, spanning_tree_by};
pub use tree::{StructureError, Tree};
