//! The Euclidean minimum spanning tree.
//!
//! Edges are compared by (squared distance, lower row, higher row). No two are equal, so the tree is unique, whatever the
//! algorithm.

mod boruvka;
mod prim;
mod rooting;

use super::kd_tree::with_width;
use super::{StructureError, Tree};
use crate::data::InputPoints;

/// Up to this many points, all pairs are faster than a kd-tree.
const FEW_POINTS: usize = 400;

/// An edge, ordered without ties.
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
/// With this root a tree that is a path becomes a chain. The visiting order is a pre-order, so most children follow their
/// parents directly.
///
/// # Errors
/// When rows have groups, or a distance overflows.
pub fn spanning_tree(inputs: &InputPoints) -> Result<Tree, StructureError> {
    if inputs.groups().is_some() {
        return Err(StructureError::NoGroups { structure: "spanning tree" });
    }
    let by_kd_tree = || with_width!(inputs.dim(), width => boruvka::edges(width, inputs, true));
    let edges = (inputs.n_rows() > FEW_POINTS).then(by_kd_tree).flatten();
    from_edges(inputs, &edges.unwrap_or_else(|| prim::edges(inputs)))
}

fn from_edges(inputs: &InputPoints, edges: &[Edge]) -> Result<Tree, StructureError> {
    Tree::from_parents(inputs, &rooting::parents(inputs.n_rows(), edges))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::clouds::{KINDS, Kind, any_cloud, cloud};
    use proptest::prelude::*;

    fn check(inputs: &InputPoints) {
        let expected = spanning_tree(inputs).unwrap();
        let by_kd_tree = with_width!(inputs.dim(), width => boruvka::edges(width, inputs, false)).unwrap();
        for edges in [by_kd_tree, prim::edges(inputs)] {
            assert!(
                from_edges(inputs, &edges).unwrap() == expected,
                "{} × {}",
                inputs.n_rows(),
                inputs.dim()
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn kd_tree_and_all_pairs_give_the_same_tree(inputs in any_cloud(300)) {
            check(&inputs);
        }
    }

    #[test]
    fn kd_tree_and_all_pairs_give_the_same_tree_on_larger_clouds() {
        for (kind, dim) in KINDS.into_iter().flat_map(|kind| (1..=8).map(move |dim| (kind, dim))) {
            check(&cloud(kind, 1500, dim, dim as u64));
        }
        check(&cloud(Kind::Random, 1000, 24, 5));
        check(&cloud(Kind::Lattice, 1000, 24, 5));
    }
}
