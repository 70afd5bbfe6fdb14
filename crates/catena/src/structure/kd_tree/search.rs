//! Searches of the tree: from the root for any point, from its leaf for a point of the tree.

use super::nodes::{BUCKET, KdTree, NO_ROW, Neighbor, Width};
use crate::index::RowIndex;

/// A point found by a search.
#[derive(Clone, Copy, Debug)]
pub(in crate::structure) struct Candidate {
    pub(in crate::structure) squared_distance: f64,
    pub(in crate::structure) row: usize,
    pub(in crate::structure) slot: usize,
}

impl Candidate {
    /// Whether this one is nearer, or as near with a lower row.
    #[inline(always)]
    pub(in crate::structure) fn is_before(&self, other: &Self) -> bool {
        is_below(self.squared_distance, self.row, (other.squared_distance, other.row))
    }

    pub(super) fn neighbor(self) -> Neighbor {
        Neighbor { row: RowIndex::new(self.row), squared_distance: self.squared_distance }
    }
}

/// The rule of a search.
pub(in crate::structure) trait Search {
    /// Only candidates below this (squared distance, row) are passed to [`Search::meet`].
    fn limit(&self) -> (f64, usize);

    /// Whether a node can be skipped, however near it is.
    fn passes_over(&self, node: usize, lowest_row: usize) -> bool;

    /// Called before the points of a leaf are compared.
    fn enter_leaf(&mut self) {}

    /// Called with a candidate below the limit.
    fn meet(&mut self, candidate: Candidate);
}

/// Whether a point at this distance, with this row or a higher one, can be below the limit.
#[inline(always)]
fn is_below(squared_distance: f64, row: usize, limit: (f64, usize)) -> bool {
    squared_distance < limit.0 || (squared_distance == limit.0 && row < limit.1)
}

impl KdTree {
    /// Searches the whole tree, nearer halves first.
    pub(in crate::structure) fn search_from_root<W: Width>(
        &self,
        width: W,
        point: &[f64],
        search: &mut impl Search,
    ) {
        let point = &point[..width.get()];
        self.descend_if_near(width, point, 1, search);
    }

    /// Searches the whole tree, first the leaf, then the sibling of each node above it: near points are mostly near in the tree.
    #[inline(always)]
    pub(in crate::structure) fn search_from_leaf<W: Width>(
        &self,
        width: W,
        point: &[f64],
        leaf: usize,
        search: &mut impl Search,
    ) {
        let point = &point[..width.get()];
        let mut node = self.n_leaves + leaf;
        if !search.passes_over(node, self.lowest_row[node]) {
            self.scan(width, point, leaf, search);
        }
        while node > 1 {
            self.descend_if_near(width, point, node ^ 1, search);
            node /= 2;
        }
    }

    #[inline(always)]
    fn descend_if_near<W: Width>(&self, width: W, point: &[f64], node: usize, search: &mut impl Search) {
        let nearest = self.distance_to_box(width, point, node);
        if self.is_of_interest(node, nearest, search) {
            self.descend(width, point, node, search);
        }
    }

    #[inline(always)]
    fn is_of_interest(&self, node: usize, nearest: f64, search: &impl Search) -> bool {
        let limit = search.limit();
        nearest <= limit.0
            && is_below(nearest, self.lowest_row[node], limit)
            && !search.passes_over(node, self.lowest_row[node])
    }

    /// Searches below a node. As deep as the tree, which is the logarithm of the number of points.
    fn descend<W: Width>(&self, width: W, point: &[f64], node: usize, search: &mut impl Search) {
        if node >= self.n_leaves {
            self.scan(width, point, node - self.n_leaves, search);
            return;
        }
        let (left, right) = (2 * node, 2 * node + 1);
        let to_left = self.distance_to_box(width, point, left);
        let to_right = self.distance_to_box(width, point, right);
        let is_left_first = is_below(to_left, self.lowest_row[left], (to_right, self.lowest_row[right]));
        let (first, to_first, second, to_second) =
            if is_left_first { (left, to_left, right, to_right) } else { (right, to_right, left, to_left) };
        if self.is_of_interest(first, to_first, search) {
            self.descend(width, point, first, search);
        }
        if self.is_of_interest(second, to_second, search) {
            self.descend(width, point, second, search);
        }
    }

    /// The squared distance to a node's box, no more than that of any point in it; ∞ where it is empty.
    #[inline(always)]
    fn distance_to_box<W: Width>(&self, width: W, point: &[f64], node: usize) -> f64 {
        let dim = width.get();
        let bounds = &self.bounds[node * 2 * dim..][..2 * dim];
        let mut sum = 0.0;
        for k in 0..dim {
            let (below, above) = (bounds[k] - point[k], point[k] - bounds[dim + k]);
            let gap = if below > above { below } else { above };
            let gap = if gap > 0.0 { gap } else { 0.0 };
            sum += gap * gap;
        }
        sum
    }

    /// Compares every point of a leaf.
    #[inline(always)]
    fn scan<W: Width>(&self, width: W, point: &[f64], leaf: usize, search: &mut impl Search) {
        search.enter_leaf();
        let dim = width.get();
        let columns = &self.coordinates[leaf * dim * BUCKET..][..dim * BUCKET];
        let mut squared = [0.0; BUCKET];
        for k in 0..dim {
            let column = &columns[k * BUCKET..][..BUCKET];
            for at in 0..BUCKET {
                let gap = column[at] - point[k];
                squared[at] += gap * gap;
            }
        }
        let rows = &self.rows[leaf * BUCKET..][..BUCKET];
        for at in 0..BUCKET {
            let limit = search.limit();
            if squared[at] <= limit.0 && is_below(squared[at], rows[at], limit) {
                let candidate =
                    Candidate { squared_distance: squared[at], row: rows[at], slot: leaf * BUCKET + at };
                search.meet(candidate);
            }
        }
    }
}

/// The nearest point.
#[derive(Clone, Copy, Debug)]
pub(in crate::structure) struct Nearest {
    best: Candidate,
    n_leaves: usize,
}

impl Default for Nearest {
    fn default() -> Self {
        let best = Candidate { squared_distance: f64::INFINITY, row: NO_ROW, slot: 0 };
        Self { best, n_leaves: 0 }
    }
}

impl Nearest {
    pub(in crate::structure) fn found(self) -> Option<Candidate> {
        (self.best.row != NO_ROW).then_some(self.best)
    }

    /// The number of leaves searched.
    pub(in crate::structure) fn n_leaves_searched(self) -> usize {
        self.n_leaves
    }
}

impl Search for Nearest {
    #[inline(always)]
    fn limit(&self) -> (f64, usize) {
        (self.best.squared_distance, self.best.row)
    }

    #[inline(always)]
    fn passes_over(&self, _: usize, _: usize) -> bool {
        false
    }

    #[inline(always)]
    fn enter_leaf(&mut self) {
        self.n_leaves += 1;
    }

    #[inline(always)]
    fn meet(&mut self, candidate: Candidate) {
        self.best = candidate;
    }
}

/// The k nearest points among the rows below `before`, in order.
pub(super) struct KNearest<'a> {
    pub(super) k: usize,
    pub(super) before: usize,
    pub(super) neighbors: &'a mut Vec<Neighbor>,
}

impl Search for KNearest<'_> {
    #[inline(always)]
    fn limit(&self) -> (f64, usize) {
        match self.neighbors.last() {
            Some(farthest) if self.neighbors.len() == self.k => {
                (farthest.squared_distance, farthest.row.get())
            }
            _ => (f64::INFINITY, NO_ROW),
        }
    }

    #[inline(always)]
    fn passes_over(&self, _: usize, lowest_row: usize) -> bool {
        lowest_row >= self.before
    }

    fn meet(&mut self, candidate: Candidate) {
        if candidate.row >= self.before {
            return;
        }
        if self.neighbors.len() == self.k {
            self.neighbors.pop();
        }
        let after = self.neighbors.partition_point(|kept| {
            is_below(kept.squared_distance, kept.row.get(), (candidate.squared_distance, candidate.row))
        });
        self.neighbors.insert(after, candidate.neighbor());
    }
}

/// Every point at most this far.
pub(super) struct Within<'a> {
    pub(super) squared_distance: f64,
    pub(super) neighbors: &'a mut Vec<Neighbor>,
}

impl Search for Within<'_> {
    #[inline(always)]
    fn limit(&self) -> (f64, usize) {
        (self.squared_distance, NO_ROW)
    }

    #[inline(always)]
    fn passes_over(&self, _: usize, _: usize) -> bool {
        false
    }

    fn meet(&mut self, candidate: Candidate) {
        self.neighbors.push(candidate.neighbor());
    }
}
