//! The arrays of the tree, and loops over its columns.

use crate::index::RowIndex;

/// Points in a leaf. Eight make one leaf a few cache lines, and its distances a loop without branches.
pub(in crate::structure) const BUCKET: usize = 8;

/// The row of an empty slot and the lowest row of an empty node; above every row.
pub(in crate::structure) const NO_ROW: usize = usize::MAX;

/// A row and its squared distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// The row.
    pub row: RowIndex,
    /// The squared distance to it, as [`squared_distance`](crate::data::squared_distance) computes it.
    pub squared_distance: f64,
}

/// A kd-tree over points, with nearest-neighbor queries and removal.
#[derive(Clone, Debug)]
pub struct KdTree {
    pub(super) dim: usize,
    pub(super) n_points: usize,
    /// A power of two; the leaves are the nodes from here on.
    pub(super) n_leaves: usize,
    /// For each node its box: `dim` lower ends, then `dim` upper ends; ∞ and −∞ where it is empty.
    pub(super) bounds: Vec<f64>,
    /// For each node the lowest row in it.
    pub(super) lowest_row: Vec<usize>,
    /// The row in each slot; leaf j owns the slots from j·BUCKET on.
    pub(super) rows: Vec<usize>,
    /// Leaf by leaf, column by column; ∞ in empty slots, so that they are never near.
    pub(super) coordinates: Vec<f64>,
    /// The leaf of each row of the table; meaningless for rows that never were in the tree.
    pub(super) leaf_of: Vec<usize>,
}

/// Runs `$body` with `$width` bound to the dimension: known to the compiler where it is small.
macro_rules! with_width {
    ($dim:expr, $width:ident => $body:expr) => {
        match $dim {
            1 => {
                let $width = $crate::structure::kd_tree::Fixed::<1>;
                $body
            }
            2 => {
                let $width = $crate::structure::kd_tree::Fixed::<2>;
                $body
            }
            3 => {
                let $width = $crate::structure::kd_tree::Fixed::<3>;
                $body
            }
            4 => {
                let $width = $crate::structure::kd_tree::Fixed::<4>;
                $body
            }
            dim => {
                let $width = $crate::structure::kd_tree::Any(dim);
                $body
            }
        }
    };
}
pub(in crate::structure) use with_width;

/// The number of columns, for loops that are unrolled when the compiler knows it.
pub(in crate::structure) trait Width: Copy {
    fn get(self) -> usize;
}

/// A dimension known to the compiler: the loops over so few columns are half of a search's time.
#[derive(Clone, Copy)]
pub(in crate::structure) struct Fixed<const M: usize>;

/// A dimension known at run time.
#[derive(Clone, Copy)]
pub(in crate::structure) struct Any(pub(in crate::structure) usize);

impl<const M: usize> Width for Fixed<M> {
    #[inline(always)]
    fn get(self) -> usize {
        M
    }
}

impl Width for Any {
    #[inline(always)]
    fn get(self) -> usize {
        self.0
    }
}

impl KdTree {
    /// The slot of a row, unless it was removed.
    pub(in crate::structure) fn slot_of(&self, row: RowIndex) -> Option<usize> {
        let first = self.leaf_of.get(row.get())? * BUCKET;
        let slots = self.rows.get(first..first + BUCKET)?;
        slots.iter().position(|&held| held == row.get()).map(|at| first + at)
    }

    /// The row in a slot; [`NO_ROW`] if the slot is empty.
    pub(in crate::structure) fn row_in(&self, slot: usize) -> usize {
        self.rows[slot]
    }

    pub(in crate::structure) fn n_slots(&self) -> usize {
        self.rows.len()
    }

    pub(in crate::structure) fn n_leaves(&self) -> usize {
        self.n_leaves
    }

    /// Copies the coordinates of the point in a slot.
    #[inline(always)]
    pub(in crate::structure) fn copy_point<W: Width>(&self, width: W, slot: usize, point: &mut [f64]) {
        let (leaf, at) = (slot / BUCKET, slot % BUCKET);
        let columns = &self.coordinates[leaf * width.get() * BUCKET..][..width.get() * BUCKET];
        for k in 0..width.get() {
            point[k] = columns[k * BUCKET + at];
        }
    }
}
