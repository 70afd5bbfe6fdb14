//! The paper's greedy nearest-neighbor chain in O(C log C).

use super::all_pairs::Unvisited;
use super::kd_tree::{BUCKET, KdTree, Nearest, Width, with_width};
use super::{StructureError, Tree};
use crate::data::InputPoints;
use crate::index::RowIndex;

/// The first row of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Start {
    /// The first row of the table, as in the paper's studies.
    #[default]
    FirstRow,
    /// This row.
    Row(RowIndex),
}

/// Up to this many points, all pairs are faster than building a tree.
const FEW_POINTS: usize = 200;
/// Searching one leaf of the tree, with the path to it, takes as long as comparing this many points.
const LEAF_COST_IN_POINTS: usize = 40;
/// Steps between two comparisons of the tree's work with that of all pairs.
const STEPS_BETWEEN_CHECKS: usize = 64;

/// The chain that continues from each row at the nearest unvisited one; the lowest row breaks ties.
///
/// Time is O(C log C) while the points vary in a few directions; where a kd-tree would visit most points anyway, all
/// pairs are compared.
///
/// # Errors
/// When rows have groups, the start is not a row of the inputs, or a distance overflows.
pub fn greedy_chain(inputs: &InputPoints, start: Start) -> Result<Tree, StructureError> {
    if inputs.groups().is_some() {
        return Err(StructureError::NoGroups { structure: "greedy chain" });
    }
    let n_rows = inputs.n_rows();
    let row = match start {
        Start::FirstRow => RowIndex::new(0),
        Start::Row(row) => row,
    };
    if row.get() >= n_rows {
        return Err(StructureError::UnknownRow { row, n_rows });
    }
    let order = if n_rows <= FEW_POINTS {
        walk_over_all_pairs(Unvisited::new(inputs), row, vec![])
    } else {
        with_width!(inputs.dim(), width => walk_by_kd_tree(width, inputs, row, true))
    };
    Tree::chain(inputs, order)
}

/// Walks with a kd-tree; with `gives_up`, changes to all pairs once that is faster.
pub(super) fn walk_by_kd_tree<W: Width>(
    width: W,
    inputs: &InputPoints,
    start: RowIndex,
    gives_up: bool,
) -> Vec<RowIndex> {
    let mut unvisited = KdTree::new(inputs);
    let mut order = Vec::with_capacity(inputs.n_rows());
    let mut here = vec![0.0; inputs.dim()];
    let mut n_leaves_searched = 0;
    let mut next = unvisited.slot_of(start);
    while let Some(slot) = next {
        let row = RowIndex::new(unvisited.row_in(slot));
        if gives_up && order.len() % STEPS_BETWEEN_CHECKS == 0 {
            if n_leaves_searched * LEAF_COST_IN_POINTS > STEPS_BETWEEN_CHECKS * unvisited.len() {
                return walk_over_all_pairs(Unvisited::except(inputs, &order), row, order);
            }
            n_leaves_searched = 0;
        }
        order.push(row);
        unvisited.copy_point(width, slot, &mut here);
        unvisited.remove_slot(width, slot);
        let mut nearest = Nearest::default();
        unvisited.search_from_leaf(width, &here, slot / BUCKET, &mut nearest);
        n_leaves_searched += nearest.n_leaves_searched();
        next = nearest.found().map(|found| found.slot);
    }
    order
}

/// Appends all unvisited rows to `order`, from `start` on.
pub(super) fn walk_over_all_pairs(
    mut unvisited: Unvisited,
    start: RowIndex,
    mut order: Vec<RowIndex>,
) -> Vec<RowIndex> {
    let mut here = vec![0.0; unvisited.dim()];
    let mut next = unvisited.find(start);
    while let Some(at) = next {
        order.push(unvisited.take(at, &mut here));
        next = unvisited.nearest(&here);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::clouds::{KINDS, Kind, any_cloud, cloud};
    use proptest::prelude::*;

    fn check(inputs: &InputPoints, start: RowIndex) {
        let expected = greedy_chain(inputs, Start::Row(start));
        let by_kd_tree = with_width!(inputs.dim(), width => walk_by_kd_tree(width, inputs, start, false));
        let by_all_pairs = walk_over_all_pairs(Unvisited::new(inputs), start, vec![]);
        for order in [by_kd_tree, by_all_pairs] {
            assert!(Tree::chain(inputs, order) == expected, "{} × {}", inputs.n_rows(), inputs.dim());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn kd_tree_and_all_pairs_give_the_same_chain(
            inputs in any_cloud(300),
            start in any::<prop::sample::Index>(),
        ) {
            check(&inputs, RowIndex::new(start.index(inputs.n_rows())));
        }
    }

    #[test]
    fn kd_tree_and_all_pairs_give_the_same_chain_on_larger_clouds() {
        for (kind, dim) in KINDS.into_iter().flat_map(|kind| (1..=8).map(move |dim| (kind, dim))) {
            check(&cloud(kind, 2500, dim, dim as u64), RowIndex::new(17));
        }
        check(&cloud(Kind::Random, 1200, 24, 5), RowIndex::new(0));
        check(&cloud(Kind::Lattice, 1200, 24, 5), RowIndex::new(0));
    }
}
