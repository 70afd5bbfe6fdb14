//! A bucket kd-tree over input points, of any dimension, with removal; duplicates and ties are its normal case.
//!
//! The tree is balanced by count, so a million equal points are as deep as a million different ones, and lies in an
//! array: node i has the children 2i and 2i + 1, the root is 1. A node keeps the smallest box around its points and
//! the lowest of their rows; both shrink as points are removed. Answers are ordered by (squared distance, row), which
//! is what looking at every point in row order gives:
//! - distances are summed in the order of [`squared_distance`](crate::data::squared_distance);
//! - a box's distance is summed in that same order from gaps that are no larger, and rounding is monotone, so it never
//!   exceeds the computed distance of a point inside;
//! - a box at exactly the best distance is opened only if it holds a lower row.

mod build;
mod removal;
mod search;

use crate::data::InputPoints;
use crate::index::RowIndex;
pub(super) use search::Nearest;
pub(super) use search::{Candidate, Search};
use search::{KNearest, Rows, Within};

/// Points in a leaf. Eight make one leaf a few cache lines, and its distances a loop without branches.
pub(super) const BUCKET: usize = 8;

/// What an empty slot holds, and an empty node has as its lowest row; above every row.
pub(super) const NO_ROW: usize = usize::MAX;

/// A row and how far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// The row.
    pub row: RowIndex,
    /// The squared distance to it, as [`squared_distance`](crate::data::squared_distance) computes it.
    pub squared_distance: f64,
}

/// Points that can be asked for their nearest, and taken out one by one.
#[derive(Clone, Debug)]
pub struct KdTree {
    dim: usize,
    n_points: usize,
    /// A power of two; the leaves are the nodes from here on.
    n_leaves: usize,
    /// For each node its box: `dim` lower ends, then `dim` upper ends; ∞ and −∞ where it is empty.
    bounds: Vec<f64>,
    /// For each node the lowest row in it.
    lowest_row: Vec<usize>,
    /// The row in each slot; leaf j owns the slots from j·BUCKET on.
    rows: Vec<usize>,
    /// Leaf by leaf, column by column; ∞ in empty slots, so that they are never near.
    coordinates: Vec<f64>,
    /// The leaf of each row of the table; meaningless for rows that never were in the tree.
    leaf_of: Vec<usize>,
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
pub(super) use with_width;

/// The number of columns, for loops that are unrolled when the compiler knows it.
pub(super) trait Width: Copy {
    fn get(self) -> usize;
}

/// A dimension known to the compiler: the loops over so few columns are half of a search's time.
#[derive(Clone, Copy)]
pub(super) struct Fixed<const M: usize>;

/// A dimension known at run time.
#[derive(Clone, Copy)]
pub(super) struct Any(pub(super) usize);

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

    /// Takes a row out; says whether it was there. O(log C).
    pub fn remove(&mut self, row: RowIndex) -> bool {
        let Some(slot) = self.slot_of(row) else { return false };
        with_width!(self.dim, width => self.remove_slot(width, slot));
        true
    }

    /// The nearest row to a point, equal distances by the lowest row; `None` when the tree is empty.
    ///
    /// # Panics
    /// When the point has not M coordinates.
    pub fn nearest(&self, point: &[f64]) -> Option<Neighbor> {
        self.check(point);
        let mut search = Nearest::default();
        with_width!(self.dim, width => self.search_from_root(width, point, &mut search));
        search.found().map(|found| found.neighbor())
    }

    /// The `k` nearest rows to a point, nearest first, equal distances by the lowest row; fewer when there are fewer.
    /// They replace what was in `neighbors`.
    ///
    /// # Panics
    /// When the point has not M coordinates.
    pub fn k_nearest(&self, point: &[f64], k: usize, neighbors: &mut Vec<Neighbor>) {
        self.k_nearest_among(point, k, Rows::All, neighbors);
    }

    /// As [`k_nearest`](Self::k_nearest), passing over one row: for the neighbors of a point of the tree itself.
    ///
    /// # Panics
    /// When the point has not M coordinates.
    pub fn k_nearest_except(&self, point: &[f64], k: usize, except: RowIndex, neighbors: &mut Vec<Neighbor>) {
        self.k_nearest_among(point, k, Rows::Except(except.get()), neighbors);
    }

    /// As [`k_nearest`](Self::k_nearest), among the rows below `before` only: for conditioning on the points that come
    /// earlier in the order of the table.
    ///
    /// # Panics
    /// When the point has not M coordinates.
    pub fn k_nearest_before(&self, point: &[f64], k: usize, before: RowIndex, neighbors: &mut Vec<Neighbor>) {
        self.k_nearest_among(point, k, Rows::Before(before.get()), neighbors);
    }

    /// Every row at most this squared distance from a point, in no particular order. They replace what was in `neighbors`.
    ///
    /// # Panics
    /// When the point has not M coordinates.
    pub fn within(&self, point: &[f64], squared_distance: f64, neighbors: &mut Vec<Neighbor>) {
        self.check(point);
        neighbors.clear();
        let mut search = Within { squared_distance, neighbors };
        with_width!(self.dim, width => self.search_from_root(width, point, &mut search));
    }

    fn k_nearest_among(&self, point: &[f64], k: usize, among: Rows, neighbors: &mut Vec<Neighbor>) {
        self.check(point);
        neighbors.clear();
        if k == 0 {
            return;
        }
        let mut search = KNearest { k, among, neighbors };
        with_width!(self.dim, width => self.search_from_root(width, point, &mut search));
    }

    fn check(&self, point: &[f64]) {
        assert_eq!(point.len(), self.dim, "a point of the tree's dimension");
    }

    /// Where a row is, if it still is.
    pub(super) fn slot_of(&self, row: RowIndex) -> Option<usize> {
        let first = self.leaf_of.get(row.get())? * BUCKET;
        let slots = self.rows.get(first..first + BUCKET)?;
        slots.iter().position(|&held| held == row.get()).map(|at| first + at)
    }

    /// The row in a slot, [`NO_ROW`] if there is none.
    pub(super) fn row_in(&self, slot: usize) -> usize {
        self.rows[slot]
    }

    pub(super) fn n_slots(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn n_leaves(&self) -> usize {
        self.n_leaves
    }

    /// Copies the coordinates of the point in a slot.
    #[inline(always)]
    pub(super) fn copy_point<W: Width>(&self, width: W, slot: usize, point: &mut [f64]) {
        let (leaf, at) = (slot / BUCKET, slot % BUCKET);
        let columns = &self.coordinates[leaf * width.get() * BUCKET..][..width.get() * BUCKET];
        for k in 0..width.get() {
            point[k] = columns[k * BUCKET + at];
        }
    }
}
