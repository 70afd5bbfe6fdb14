//! The paper's greedy nearest-neighbor chain in O(C log C): from each point on to the nearest unvisited one.

use super::all_pairs::Unvisited;
use super::kd_tree::{BUCKET, KdTree, Nearest, Width, with_width};
use super::{StructureError, Tree};
use crate::data::InputPoints;
use crate::index::RowIndex;

/// Where a chain begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Start {
    /// The first row of the table, as in the paper's studies.
    #[default]
    FirstRow,
    /// A row of choice.
    Row(RowIndex),
}

/// How a builder finds near points. All ways give the same structure; they differ in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NeighborSearch {
    /// The kd-tree where it is faster, by the number of points and by the work it turns out to do.
    #[default]
    Automatic,
    /// The kd-tree: O(C log C) when inputs vary in a few directions, up to O(C²) with a larger constant when in many.
    KdTree,
    /// Looking at every point, in loops the compiler vectorizes: O(C²·M), whatever the inputs.
    AllPairs,
}

/// Up to this many points, building a tree takes longer than looking at all pairs.
const FEW_POINTS: usize = 200;
/// Searching one leaf of the tree, with the way to it, takes as long as looking at this many points in a row
/// (`catena-bench structure` measures where the two ways cost the same).
const LEAF_COST_IN_POINTS: usize = 40;
/// Steps between two comparisons of the tree's work with that of all pairs.
const STEPS_BETWEEN_CHECKS: usize = 64;

/// The chain that goes from each row on to the nearest unvisited one, equal distances by the lowest row.
///
/// Time is O(C log C) while the points vary in a few directions; where a kd-tree would visit most points anyway, all
/// pairs are compared.
///
/// # Errors
/// When the start is not a row of the inputs, or a distance overflows.
pub fn greedy_chain(inputs: &InputPoints, start: Start) -> Result<Tree, StructureError> {
    greedy_chain_by(NeighborSearch::Automatic, inputs, start)
}

/// [`greedy_chain`] with the search of one's choice.
///
/// # Errors
/// As [`greedy_chain`].
pub fn greedy_chain_by(
    search: NeighborSearch,
    inputs: &InputPoints,
    start: Start,
) -> Result<Tree, StructureError> {
    let n_rows = inputs.n_rows();
    let row = match start {
        Start::FirstRow => RowIndex::new(0),
        Start::Row(row) => row,
    };
    if row.get() >= n_rows {
        return Err(StructureError::UnknownRow { row, n_rows });
    }
    let patience = match search {
        NeighborSearch::AllPairs => None,
        NeighborSearch::Automatic if n_rows <= FEW_POINTS => None,
        NeighborSearch::Automatic => Some(Patience::UntilSlower),
        NeighborSearch::KdTree => Some(Patience::Endless),
    };
    let order = match patience {
        Some(patience) => with_width!(inputs.dim(), width => walk_by_kd_tree(width, inputs, row, patience)),
        None => {
            let mut order = Vec::with_capacity(n_rows);
            walk_over_all_pairs(Unvisited::new(inputs), row, &mut order);
            order
        }
    };
    Tree::chain(inputs, order)
}

/// When to give up on the kd-tree.
#[derive(Clone, Copy, PartialEq)]
enum Patience {
    Endless,
    UntilSlower,
}

fn walk_by_kd_tree<W: Width>(
    width: W,
    inputs: &InputPoints,
    start: RowIndex,
    patience: Patience,
) -> Vec<RowIndex> {
    let mut unvisited = KdTree::new(inputs);
    let mut order = Vec::with_capacity(inputs.n_rows());
    let mut here = vec![0.0; inputs.dim()];
    let mut n_leaves_searched = 0;
    let mut next = unvisited.slot_of(start);
    while let Some(slot) = next {
        let row = RowIndex::new(unvisited.row_in(slot));
        if patience == Patience::UntilSlower && order.len() % STEPS_BETWEEN_CHECKS == 0 {
            if n_leaves_searched * LEAF_COST_IN_POINTS > STEPS_BETWEEN_CHECKS * unvisited.len() {
                walk_over_all_pairs(Unvisited::except(inputs, &order), row, &mut order);
                return order;
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

/// Visits all that is unvisited, from `start` on.
fn walk_over_all_pairs(mut unvisited: Unvisited, start: RowIndex, order: &mut Vec<RowIndex>) {
    let mut here = vec![0.0; unvisited.dim()];
    let mut next = unvisited.find(start);
    while let Some(at) = next {
        order.push(unvisited.take(at, &mut here));
        next = unvisited.nearest(&here);
    }
}
