//! How far an edit reaches along a chain.
//!
//! Given the observations, the state at one point explains a share of an output's variance at another. All dependence passes through the
//! states between, so the share decreases with distance, and the farthest point above a threshold is found by search in the tree of
//! segments. The square root of the share bounds every correlation between the two points.

use super::paths::NodeKind;
use super::query::Query;
use crate::index::RowIndex;
use crate::inference::Conditional;

impl Query<'_> {
    /// The first and last point of the chain whose state explains at least this share of some output's variance at a point.
    pub(super) fn reach(&mut self, row: RowIndex, share: f64) -> (RowIndex, RowIndex) {
        (self.reach_to_one_side(row, share, true), self.reach_to_one_side(row, share, false))
    }

    fn reach_to_one_side(&mut self, row: RowIndex, share: f64, earlier: bool) -> RowIndex {
        let paths = self.paths;
        let mut farthest = row;
        // Up: segment after segment on this side, as long as its far end is reached.
        let mut unsure = None;
        let mut node = paths.leaf_of(row);
        let own_end = paths.end_of(node, earlier);
        if self.explains(row, own_end, earlier) >= share {
            farthest = own_end;
            while let Some(parent) = paths.nodes()[node].parent {
                if let NodeKind::Pair(left, right) = paths.nodes()[parent].kind {
                    let beside = if earlier { left } else { right };
                    if beside != node {
                        let end = paths.end_of(beside, earlier);
                        if self.explains(row, end, earlier) < share {
                            unsure = Some(beside);
                            break;
                        }
                        farthest = end;
                    }
                }
                node = parent;
            }
        } else {
            unsure = Some(node);
        }
        // Down: into the half of the segment in which the reach ends.
        while let Some(node) = unsure {
            unsure = None;
            match paths.nodes()[node].kind {
                NodeKind::Pair(left, right) => {
                    let (near, far) = if earlier { (right, left) } else { (left, right) };
                    let end = paths.end_of(near, earlier);
                    let is_reached = self.explains(row, end, earlier) >= share;
                    farthest = if is_reached { end } else { farthest };
                    unsure = Some(if is_reached { far } else { near });
                }
                NodeKind::Block(block) => {
                    let rows = paths.block_rows(block);
                    let from = rows.iter().position(|&other| other == farthest);
                    let candidates: Vec<RowIndex> = match (earlier, from) {
                        (true, from) => rows[..from.unwrap_or(rows.len())].iter().rev().copied().collect(),
                        (false, from) => rows[from.map_or(0, |at| at + 1)..].to_vec(),
                    };
                    for candidate in candidates {
                        if self.explains(row, candidate, earlier) < share {
                            break;
                        }
                        farthest = candidate;
                    }
                }
            }
        }
        farthest
    }

    /// The share of an output's variance at a point that the state at another point, earlier or later, explains; 1 for the point itself.
    fn explains(&mut self, row: RowIndex, other: RowIndex, is_earlier: bool) -> f64 {
        if row == other {
            return 1.0;
        }
        let (earlier, later) = if is_earlier { (other, row) } else { (row, other) };
        let mut between = self.between(earlier, later);
        let after = self.after(later);
        self.model.algebra().absorb(&mut between, after.view());
        let (first, last) = (self.state(earlier, None), self.state(later, None));
        let shares = self.model.shared_variance(&first, &between, &last);
        if is_earlier { shares.of_later } else { shares.of_earlier }
    }

    /// The segment after one point up to and including a later one of its path.
    fn between(&mut self, earlier: RowIndex, later: RowIndex) -> Conditional {
        let paths = self.paths;
        let mut segment = Conditional::identity(self.model.size());
        let (rows, at) = paths.block_of(earlier);
        if let Some(end) = rows.iter().position(|&row| row == later) {
            self.extend_by_rows(&mut segment, rows, at + 1..end + 1);
            return segment;
        }
        self.extend_by_rows(&mut segment, rows, at + 1..rows.len());
        // Right siblings on the way up from the earlier point, then left siblings on the way down to the later one.
        let (up, down) = (self.way_up(earlier), self.way_up(later));
        let shared = up.iter().rev().zip(down.iter().rev()).take_while(|(a, b)| a == b).count();
        let beside = |node: usize, is_right: bool| -> Option<usize> {
            let NodeKind::Pair(left, right) = paths.nodes()[paths.nodes()[node].parent?].kind else {
                return None;
            };
            let other = if is_right { right } else { left };
            (other != node).then_some(other)
        };
        for &node in &up[..(up.len() - shared).saturating_sub(1)] {
            if let Some(right) = beside(node, true) {
                self.model.algebra().extend(&mut segment, self.elements.of(right));
            }
        }
        for &node in down[..(down.len() - shared).saturating_sub(1)].iter().rev() {
            if let Some(left) = beside(node, false) {
                self.model.algebra().extend(&mut segment, self.elements.of(left));
            }
        }
        let (rows, at) = paths.block_of(later);
        self.extend_by_rows(&mut segment, rows, 0..at + 1);
        segment
    }

    /// The nodes above a point, its block's first.
    fn way_up(&self, row: RowIndex) -> Vec<usize> {
        let above = |node: &usize| self.paths.nodes()[*node].parent;
        std::iter::successors(Some(self.paths.leaf_of(row)), above).collect()
    }
}
