//! From edges to parents, without recursion, since a tree may be as deep as it has points.

use super::Edge;
use crate::index::RowIndex;

/// Each row's neighbors in the tree.
struct Adjacency {
    /// The neighbors of row i are `neighbors[start[i]..start[i + 1]]`.
    start: Vec<usize>,
    neighbors: Vec<usize>,
}

impl Adjacency {
    fn new(n_rows: usize, edges: &[Edge]) -> Self {
        let mut start = vec![0; n_rows + 1];
        for edge in edges {
            start[edge.lower_row + 1] += 1;
            start[edge.higher_row + 1] += 1;
        }
        for row in 0..n_rows {
            start[row + 1] += start[row];
        }
        let mut filled = start.clone();
        let mut neighbors = vec![0; 2 * edges.len()];
        for edge in edges {
            for (row, other) in [(edge.lower_row, edge.higher_row), (edge.higher_row, edge.lower_row)] {
                neighbors[filled[row]] = other;
                filled[row] += 1;
            }
        }
        Self { start, neighbors }
    }

    /// The parents of the tree rooted at `root`, and the deepest row (the lowest of them).
    fn rooted_at(&self, root: usize) -> (Vec<Option<RowIndex>>, usize) {
        let mut parents = vec![None; self.start.len() - 1];
        let (mut level, mut farthest) = (vec![root], root);
        while !level.is_empty() {
            let mut below = vec![];
            for &row in &level {
                for &other in &self.neighbors[self.start[row]..self.start[row + 1]] {
                    if parents[row] != Some(RowIndex::new(other)) {
                        parents[other] = Some(RowIndex::new(row));
                        below.push(other);
                    }
                }
            }
            farthest = level.iter().copied().min().unwrap_or(farthest);
            level = below;
        }
        (parents, farthest)
    }
}

/// The parents of the tree rooted at the row deepest below row 0, which is an end of a path with the most edges.
pub(super) fn parents(n_rows: usize, edges: &[Edge]) -> Vec<Option<RowIndex>> {
    let adjacency = Adjacency::new(n_rows, edges);
    let (_, root) = adjacency.rooted_at(0);
    adjacency.rooted_at(root).0
}
