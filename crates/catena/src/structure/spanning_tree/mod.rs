//! The Euclidean minimum spanning tree: the shortest way to connect all points.
//!
//! Edges are compared by (squared distance, lower row, higher row). No two are equal, so there is exactly one tree,
//! whichever way it is found.

mod boruvka;
mod prim;
mod rooting;

use super::greedy_chain::NeighborSearch;
use super::kd_tree::with_width;
use super::{StructureError, Tree};
use crate::data::InputPoints;

/// Up to this many points, a kd-tree and its rounds take longer than looking at all pairs.
const FEW_POINTS: usize = 400;

/// An edge under the order that leaves no ties.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Edge {
    squared_distance: f64,
    lower_row: usize,
    higher_row: usize,
}

impl Edge {
    fn new(squared_distance: f64, row: usize, other: usize) -> Self {
        Self { squared_distance, lower_row: row.min(other), higher_row: row.max(other) }
    }
}

/// The minimum spanning tree, ties by (lower row, higher row), rooted at an end of a path with the most edges.
///
/// Time is O(C log C) while the points vary in a few directions, and O(C²·M) where a kd-tree does not help.
///
/// Rooted at such an end, a tree that happens to be a path is a chain. Whatever the root, the visiting order is a
/// pre-order: most children stand right behind their parents.
///
/// # Errors
/// When a distance overflows.
pub fn spanning_tree(inputs: &InputPoints) -> Result<Tree, StructureError> {
    spanning_tree_by(NeighborSearch::Automatic, inputs)
}

/// [`spanning_tree`] with the search of one's choice.
///
/// # Errors
/// As [`spanning_tree`].
pub fn spanning_tree_by(search: NeighborSearch, inputs: &InputPoints) -> Result<Tree, StructureError> {
    let by_kd_tree =
        |gives_up: bool| with_width!(inputs.dim(), width => boruvka::edges(width, inputs, gives_up));
    let edges = match search {
        NeighborSearch::AllPairs => None,
        NeighborSearch::Automatic if inputs.n_rows() <= FEW_POINTS => None,
        NeighborSearch::Automatic => by_kd_tree(true),
        NeighborSearch::KdTree => by_kd_tree(false),
    };
    let edges = edges.unwrap_or_else(|| prim::edges(inputs));
    Tree::from_parents(inputs, &rooting::parents(inputs.n_rows(), &edges))
}
