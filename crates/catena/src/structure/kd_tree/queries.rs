//! The public operations of the tree.

use super::build;
use super::nodes::{KdTree, NO_ROW, Neighbor, with_width};
use super::search::{KNearest, Nearest, Within};
use crate::data::InputPoints;
use crate::index::RowIndex;

impl KdTree {
    /// A tree over all rows. O(C log C).
    pub fn new(inputs: &InputPoints) -> Self {
        build::build(inputs, (0..inputs.n_rows()).collect())
    }

    /// A tree over some of the rows, each given once.
    ///
    /// # Panics
    /// When a row is of another table and out of range.
    pub fn over_rows(inputs: &InputPoints, rows: &[RowIndex]) -> Self {
        build::build(inputs, rows.iter().map(|row| row.get()).collect())
    }

    /// The number of points still in the tree.
    pub fn len(&self) -> usize {
        self.n_points
    }

    /// Whether every point has been removed.
    pub fn is_empty(&self) -> bool {
        self.n_points == 0
    }

    /// The number of input columns, M.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Removes a row; returns whether it was present. O(log C).
    pub fn remove(&mut self, row: RowIndex) -> bool {
        let Some(slot) = self.slot_of(row) else { return false };
        with_width!(self.dim, width => self.remove_slot(width, slot));
        true
    }

    /// The nearest row to a point, equal distances by the lowest row; `None` when the tree is empty.
    ///
    /// # Panics
    /// When the point does not have M coordinates.
    pub fn nearest(&self, point: &[f64]) -> Option<Neighbor> {
        self.check(point);
        let mut search = Nearest::default();
        with_width!(self.dim, width => self.search_from_root(width, point, &mut search));
        search.found().map(|found| found.neighbor())
    }

    /// The `k` nearest rows to a point, nearest first, equal distances by the lowest row; fewer when there are fewer.
    /// They replace the contents of `neighbors`.
    ///
    /// # Panics
    /// When the point does not have M coordinates.
    pub fn k_nearest(&self, point: &[f64], k: usize, neighbors: &mut Vec<Neighbor>) {
        self.search_k_nearest(point, k, NO_ROW, neighbors);
    }

    /// As [`k_nearest`](Self::k_nearest), among the rows below `before` only.
    ///
    /// # Panics
    /// When the point does not have M coordinates.
    pub fn k_nearest_before(&self, point: &[f64], k: usize, before: RowIndex, neighbors: &mut Vec<Neighbor>) {
        self.search_k_nearest(point, k, before.get(), neighbors);
    }

    /// Every row at most this squared distance from a point, in no particular order. They replace the contents of `neighbors`.
    ///
    /// # Panics
    /// When the point does not have M coordinates.
    pub fn within(&self, point: &[f64], squared_distance: f64, neighbors: &mut Vec<Neighbor>) {
        self.check(point);
        neighbors.clear();
        let mut search = Within { squared_distance, neighbors };
        with_width!(self.dim, width => self.search_from_root(width, point, &mut search));
    }

    fn search_k_nearest(&self, point: &[f64], k: usize, before: usize, neighbors: &mut Vec<Neighbor>) {
        self.check(point);
        neighbors.clear();
        if k == 0 {
            return;
        }
        let mut search = KNearest { k, before, neighbors };
        with_width!(self.dim, width => self.search_from_root(width, point, &mut search));
    }

    fn check(&self, point: &[f64]) {
        assert_eq!(point.len(), self.dim, "a point of the tree's dimension");
    }
}
