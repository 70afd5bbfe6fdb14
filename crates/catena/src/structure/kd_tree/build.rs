//! Building the tree: nodes are split at the median of their widest column.

use super::nodes::{BUCKET, KdTree, NO_ROW, Width, with_width};
use crate::data::InputPoints;

/// A balanced tree over these rows.
pub(super) fn build(inputs: &InputPoints, mut rows: Vec<usize>) -> KdTree {
    let (dim, n_points) = (inputs.dim(), rows.len());
    let n_leaves = n_points.div_ceil(BUCKET).max(1).next_power_of_two();
    let mut tree = KdTree {
        dim,
        n_points,
        n_leaves,
        bounds: [vec![f64::INFINITY; dim], vec![f64::NEG_INFINITY; dim]].concat().repeat(2 * n_leaves),
        lowest_row: vec![NO_ROW; 2 * n_leaves],
        rows: vec![NO_ROW; n_leaves * BUCKET],
        coordinates: vec![f64::INFINITY; n_leaves * BUCKET * dim],
        leaf_of: vec![NO_ROW; inputs.n_rows()],
    };
    let mut coordinates = Vec::with_capacity(n_points * dim);
    rows.iter().for_each(|row| coordinates.extend_from_slice(&inputs.values()[row * dim..][..dim]));
    let mut members = Members {
        dim,
        rows: &mut rows,
        moved_rows: &mut vec![0; n_points],
        moved_coordinates: &mut vec![0.0; coordinates.len()],
        coordinates: &mut coordinates,
        keys: &mut vec![(0.0, 0); n_points],
    };
    with_width!(dim, width => tree.fill(width, 1, &mut members));
    tree
}

/// The points of one node, with their coordinates side by side and room to reorder them.
struct Members<'a> {
    dim: usize,
    rows: &'a mut [usize],
    coordinates: &'a mut [f64],
    moved_rows: &'a mut [usize],
    moved_coordinates: &'a mut [f64],
    keys: &'a mut [(f64, usize)],
}

impl Members<'_> {
    /// Puts the half with the smaller values of a column first.
    fn partition<W: Width>(&mut self, width: W, column: usize) {
        let (dim, middle) = (width.get(), self.rows.len().div_ceil(2));
        for (at, key) in self.keys.iter_mut().enumerate() {
            *key = (self.coordinates[at * dim + column], at);
        }
        if middle < self.keys.len() {
            self.keys.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        for (to, &(_, from)) in self.keys.iter().enumerate() {
            self.moved_rows[to] = self.rows[from];
            self.moved_coordinates[to * dim..][..dim].copy_from_slice(&self.coordinates[from * dim..][..dim]);
        }
        std::mem::swap(&mut self.rows, &mut self.moved_rows);
        std::mem::swap(&mut self.coordinates, &mut self.moved_coordinates);
    }

    fn halves(&mut self) -> [Members<'_>; 2] {
        let (dim, middle) = (self.dim, self.rows.len().div_ceil(2));
        let rows = self.rows.split_at_mut(middle);
        let coordinates = self.coordinates.split_at_mut(middle * dim);
        let moved_rows = self.moved_rows.split_at_mut(middle);
        let moved_coordinates = self.moved_coordinates.split_at_mut(middle * dim);
        let keys = self.keys.split_at_mut(middle);
        let half = |rows, coordinates, moved_rows, moved_coordinates, keys| Members {
            dim,
            rows,
            coordinates,
            moved_rows,
            moved_coordinates,
            keys,
        };
        [
            half(rows.0, coordinates.0, moved_rows.0, moved_coordinates.0, keys.0),
            half(rows.1, coordinates.1, moved_rows.1, moved_coordinates.1, keys.1),
        ]
    }
}

impl KdTree {
    /// Fills a node and all below it. As deep as the tree, which is the logarithm of the number of points.
    fn fill<W: Width>(&mut self, width: W, node: usize, members: &mut Members<'_>) {
        self.enclose(width, node, members);
        if node >= self.n_leaves {
            self.fill_leaf(node - self.n_leaves, members);
            return;
        }
        let (lower, upper) = self.bounds[node * 2 * self.dim..][..2 * self.dim].split_at(self.dim);
        let mut widest = (f64::NEG_INFINITY, 0);
        for (column, (low, high)) in lower.iter().zip(upper).enumerate() {
            if high - low > widest.0 {
                widest = (high - low, column);
            }
        }
        members.partition(width, widest.1);
        let [mut left, mut right] = members.halves();
        self.fill(width, 2 * node, &mut left);
        self.fill(width, 2 * node + 1, &mut right);
    }

    /// Sets a node's box and lowest row.
    fn enclose<W: Width>(&mut self, width: W, node: usize, members: &Members<'_>) {
        let dim = width.get();
        let bounds = &mut self.bounds[node * 2 * dim..][..2 * dim];
        for point in members.coordinates.chunks_exact(dim) {
            for k in 0..dim {
                bounds[k] = if point[k] < bounds[k] { point[k] } else { bounds[k] };
                bounds[dim + k] = if point[k] > bounds[dim + k] { point[k] } else { bounds[dim + k] };
            }
        }
        self.lowest_row[node] = members.rows.iter().copied().min().unwrap_or(NO_ROW);
    }

    fn fill_leaf(&mut self, leaf: usize, members: &Members<'_>) {
        for (at, &row) in members.rows.iter().enumerate() {
            self.rows[leaf * BUCKET + at] = row;
            self.leaf_of[row] = leaf;
            for k in 0..self.dim {
                self.coordinates[(leaf * self.dim + k) * BUCKET + at] =
                    members.coordinates[at * self.dim + k];
            }
        }
    }
}
