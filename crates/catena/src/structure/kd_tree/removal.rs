//! Removal: boxes shrink from the leaf upward until one does not change.

use super::nodes::{BUCKET, KdTree, NO_ROW, Width};

impl KdTree {
    /// Empties a slot that holds a point.
    #[inline(always)]
    pub(in crate::structure) fn remove_slot<W: Width>(&mut self, width: W, slot: usize) {
        let (leaf, at) = (slot / BUCKET, slot % BUCKET);
        self.rows[slot] = NO_ROW;
        self.n_points -= 1;
        let columns = &mut self.coordinates[leaf * width.get() * BUCKET..][..width.get() * BUCKET];
        for k in 0..width.get() {
            columns[k * BUCKET + at] = f64::INFINITY;
        }
        let mut node = self.n_leaves + leaf;
        let mut has_changed = self.shrink_leaf(width, leaf);
        while has_changed && node > 1 {
            node /= 2;
            has_changed = self.shrink(width, node);
        }
    }

    /// Shrinks the box of a leaf to its points; returns whether it changed.
    #[inline(always)]
    fn shrink_leaf<W: Width>(&mut self, width: W, leaf: usize) -> bool {
        let (dim, node) = (width.get(), self.n_leaves + leaf);
        let columns = &self.coordinates[leaf * dim * BUCKET..][..dim * BUCKET];
        let bounds = &mut self.bounds[node * 2 * dim..][..2 * dim];
        let mut has_changed = false;
        for k in 0..dim {
            let (mut lower, mut upper) = (f64::INFINITY, f64::NEG_INFINITY);
            for &value in &columns[k * BUCKET..][..BUCKET] {
                lower = if value < lower { value } else { lower };
                let value = if value < f64::INFINITY { value } else { f64::NEG_INFINITY };
                upper = if value > upper { value } else { upper };
            }
            has_changed |= lower != bounds[k] || upper != bounds[dim + k];
            bounds[k] = lower;
            bounds[dim + k] = upper;
        }
        let lowest = self.rows[leaf * BUCKET..][..BUCKET].iter().copied().fold(NO_ROW, usize::min);
        has_changed |= lowest != self.lowest_row[node];
        self.lowest_row[node] = lowest;
        has_changed
    }

    /// Shrinks the box of a node to its children; returns whether it changed.
    #[inline(always)]
    fn shrink<W: Width>(&mut self, width: W, node: usize) -> bool {
        let dim = width.get();
        let (above, below) = self.bounds.split_at_mut(2 * node * 2 * dim);
        let bounds = &mut above[node * 2 * dim..][..2 * dim];
        let (left, right) = below[..4 * dim].split_at(2 * dim);
        let mut has_changed = false;
        for k in 0..dim {
            let lower = if left[k] < right[k] { left[k] } else { right[k] };
            let upper = if left[dim + k] > right[dim + k] { left[dim + k] } else { right[dim + k] };
            has_changed |= lower != bounds[k] || upper != bounds[dim + k];
            bounds[k] = lower;
            bounds[dim + k] = upper;
        }
        let lowest = self.lowest_row[2 * node].min(self.lowest_row[2 * node + 1]);
        has_changed |= lowest != self.lowest_row[node];
        self.lowest_row[node] = lowest;
        has_changed
    }
}
