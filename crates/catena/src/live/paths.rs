//! The heavy-path decomposition of a structure: paths cut into blocks, and over the blocks of each path a balanced tree.
//!
//! A chain is one path. In a tree a path follows the child with the most points, and every other child begins a path of its own,
//! *attached* to its parent. From any point to the root there are at most log₂ C paths, and the tree over a path has a depth of at most about
//! 2 log₂ of its length.

use super::sides::Beside;
use crate::index::{OutputIndex, RowIndex};
use crate::structure::Tree;
use std::collections::HashMap;

/// The number of positions in a block; above blocks, segments are joined in pairs.
pub(super) const BLOCK: usize = 16;

/// A block of more positions is split.
const LARGEST_BLOCK: usize = 2 * BLOCK;

/// A node whose heavier side has more than this share of its blocks is rebalanced.
const UNBALANCED: f64 = 0.72;

/// An observed cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LiveCell {
    pub(super) output: OutputIndex,
    pub(super) value: f64,
    /// The known noise variance of this cell, if cells have their own.
    pub(super) own_noise: Option<f64>,
}

/// A point: the step into it, its cells by ascending output, and its block.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) step: f64,
    pub(super) cells: Vec<LiveCell>,
    block: usize,
}

/// Consecutive points of a path.
#[derive(Clone, Debug)]
struct Block {
    rows: Vec<RowIndex>,
    node: usize,
}

/// A node of the balanced tree over the blocks of a path.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) parent: Option<usize>,
    pub(super) kind: NodeKind,
    /// The number of blocks below.
    weight: usize,
    path: usize,
    /// Whether its segment must be recomputed.
    pub(super) is_stale: bool,
}

/// The segment of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    /// The positions of a block.
    Block(usize),
    /// Two consecutive segments.
    Pair(usize, usize),
}

/// A path of the structure.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) node: usize,
    /// The parent of its first point; `None` for the path of the root.
    pub(super) attached_to: Option<RowIndex>,
    /// The number of paths between it and the root.
    pub(super) depth: usize,
}

/// All points and their paths.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    points: Vec<Point>,
    blocks: Vec<Block>,
    nodes: Vec<Node>,
    paths: Vec<Path>,
    /// The paths attached to a point.
    attached: HashMap<RowIndex, Vec<usize>>,
    root: RowIndex,
}

impl Paths {
    /// The paths of a structure, with points that have no cells. Every node is stale.
    pub(super) fn new(tree: &Tree) -> Self {
        let n = tree.len();
        let mut weight = vec![1_usize; n];
        let mut heavy = vec![None; n];
        for position in tree.positions().rev() {
            if let Some(parent) = tree.parent(position) {
                weight[parent.get()] += weight[position.get()];
                // The lower position wins ties, and positions descend here.
                let best: &mut Option<usize> = &mut heavy[parent.get()];
                if best.is_none_or(|other| weight[position.get()] >= weight[other]) {
                    *best = Some(position.get());
                }
            }
        }
        let points = (0..n)
            .map(|row| {
                let step = tree.step_into(tree.position_of(RowIndex::new(row)));
                Point { step, cells: vec![], block: 0 }
            })
            .collect();
        let root = tree.positions().next().map_or(RowIndex::new(0), |first| tree.row_at(first));
        let mut paths =
            Self { points, blocks: vec![], nodes: vec![], paths: vec![], attached: HashMap::new(), root };
        for position in tree.positions() {
            let parent = tree.parent(position);
            if parent.is_some_and(|parent| heavy[parent.get()] == Some(position.get())) {
                continue;
            }
            let mut rows = vec![];
            let mut next = Some(position.get());
            while let Some(at) = next {
                rows.push(tree.row_at(crate::index::Position::new(at)));
                next = heavy[at];
            }
            paths.add_path(&rows, parent.map(|parent| tree.row_at(parent)));
        }
        paths
    }

    /// Adds a path over existing points.
    pub(super) fn add_path(&mut self, rows: &[RowIndex], attached_to: Option<RowIndex>) {
        let path = self.paths.len();
        let depth = attached_to.map_or(0, |row| self.paths[self.path_of(row)].depth + 1);
        let leaves: Vec<usize> = rows.chunks(BLOCK).map(|rows| self.add_block(rows.to_vec(), path)).collect();
        let mut spare = vec![];
        let node = self.balanced(&leaves, path, &mut spare);
        self.nodes[node].parent = None;
        self.paths.push(Path { node, attached_to, depth });
        if let Some(row) = attached_to {
            self.attached.entry(row).or_default().push(path);
        }
    }

    fn add_block(&mut self, rows: Vec<RowIndex>, path: usize) -> usize {
        let (block, node) = (self.blocks.len(), self.nodes.len());
        rows.iter().for_each(|row| self.points[row.get()].block = block);
        self.blocks.push(Block { rows, node });
        let kind = NodeKind::Block(block);
        self.nodes.push(Node { parent: None, kind, weight: 1, path, is_stale: true });
        node
    }

    /// A balanced tree over these leaves; pairs reuse the indices of `spare` nodes first.
    fn balanced(&mut self, leaves: &[usize], path: usize, spare: &mut Vec<usize>) -> usize {
        if let &[leaf] = leaves {
            return leaf;
        }
        let (left, right) = leaves.split_at(leaves.len() / 2);
        let (left, right) = (self.balanced(left, path, spare), self.balanced(right, path, spare));
        let kind = NodeKind::Pair(left, right);
        let pair = Node { parent: None, kind, weight: leaves.len(), path, is_stale: true };
        let node = match spare.pop() {
            Some(node) => {
                self.nodes[node] = pair;
                node
            }
            None => {
                self.nodes.push(pair);
                self.nodes.len() - 1
            }
        };
        self.nodes[left].parent = Some(node);
        self.nodes[right].parent = Some(node);
        node
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// The root of the structure.
    pub(super) fn root(&self) -> RowIndex {
        self.root
    }

    /// The paths, the root's first.
    pub(super) fn all(&self) -> &[Path] {
        &self.paths
    }

    /// The nodes of all paths.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Marks a node as up to date.
    pub(super) fn set_fresh(&mut self, node: usize) {
        self.nodes[node].is_stale = false;
    }

    /// A point.
    pub(super) fn point(&self, row: RowIndex) -> &Point {
        &self.points[row.get()]
    }

    /// A point, mutable; the caller marks it by [`Paths::mark`].
    pub(super) fn point_mut(&mut self, row: RowIndex) -> &mut Point {
        &mut self.points[row.get()]
    }

    /// The points of a block, in order.
    pub(super) fn block_rows(&self, block: usize) -> &[RowIndex] {
        &self.blocks[block].rows
    }

    /// The node of a point's block.
    pub(super) fn leaf_of(&self, row: RowIndex) -> usize {
        self.blocks[self.points[row.get()].block].node
    }

    /// The points of a point's block, in order, and its index among them.
    pub(super) fn block_of(&self, row: RowIndex) -> (&[RowIndex], usize) {
        let rows = &self.blocks[self.points[row.get()].block].rows;
        let at = rows.iter().position(|&other| other == row).unwrap_or(0);
        (rows, at)
    }

    /// The path of a point.
    pub(super) fn path_of(&self, row: RowIndex) -> usize {
        self.nodes[self.leaf_of(row)].path
    }

    /// The paths attached to a point.
    pub(super) fn attached_paths(&self, row: RowIndex) -> &[usize] {
        self.attached.get(&row).map_or(&[], |paths| paths)
    }

    /// The depth of a node's path.
    pub(super) fn depth_of(&self, node: usize) -> usize {
        self.paths[self.nodes[node].path].depth
    }

    /// The top node of the root's path.
    pub(super) fn top(&self) -> usize {
        self.paths[0].node
    }

    /// The parent of a point.
    pub(super) fn parent_of(&self, row: RowIndex) -> Option<RowIndex> {
        let before = self.beside(row, true);
        before.or_else(|| self.paths[self.path_of(row)].attached_to)
    }

    /// The point after this one on its path.
    pub(super) fn next_on_path(&self, row: RowIndex) -> Option<RowIndex> {
        self.beside(row, false)
    }

    fn beside(&self, row: RowIndex, before: bool) -> Option<RowIndex> {
        let (rows, at) = self.block_of(row);
        let here = if before { at.checked_sub(1).map(|at| rows[at]) } else { rows.get(at + 1).copied() };
        if here.is_some() {
            return here;
        }
        // Up to the first node on the other side, and down again.
        let mut node = self.leaf_of(row);
        loop {
            let parent = self.nodes[node].parent?;
            let NodeKind::Pair(left, right) = self.nodes[parent].kind else { return None };
            let (near, far) = if before { (left, right) } else { (right, left) };
            if node == far {
                let end = self.end_of(near, !before);
                return Some(end);
            }
            node = parent;
        }
    }

    /// The siblings on the way from a point's block to the top of its path, the nearest first, and whether each lies before it.
    pub(super) fn siblings_above(&self, row: RowIndex) -> Vec<(bool, usize)> {
        let mut found = vec![];
        let mut node = self.leaf_of(row);
        while let Some(parent) = self.nodes[node].parent {
            if let NodeKind::Pair(left, right) = self.nodes[parent].kind {
                found.push(if node == left { (false, right) } else { (true, left) });
            }
            node = parent;
        }
        found
    }

    /// The halves of a stale segment of more than one block, seen from a point after or before it.
    pub(super) fn halves_if_stale(&self, node: usize, is_before: bool) -> Option<Beside> {
        match self.nodes[node].kind {
            NodeKind::Pair(left, right) if self.nodes[node].is_stale => {
                let (near, far) = if is_before { (right, left) } else { (left, right) };
                Some(Beside::Halves { near, far })
            }
            _ => None,
        }
    }

    /// The first or last point below a node.
    pub(super) fn end_of(&self, mut node: usize, first: bool) -> RowIndex {
        loop {
            match self.nodes[node].kind {
                NodeKind::Pair(left, right) => node = if first { left } else { right },
                NodeKind::Block(block) => {
                    let rows = &self.blocks[block].rows;
                    let end = if first { rows.first() } else { rows.last() };
                    return end.copied().unwrap_or(self.root);
                }
            }
        }
    }

    /// Marks everything that depends on a point as stale. All nodes above a stale node are stale, along its path and the paths it is
    /// attached to.
    pub(super) fn mark(&mut self, row: RowIndex) {
        let mut node = self.leaf_of(row);
        while !self.nodes[node].is_stale {
            self.nodes[node].is_stale = true;
            node = match (self.nodes[node].parent, self.paths[self.nodes[node].path].attached_to) {
                (Some(parent), _) => parent,
                (None, Some(row)) => self.leaf_of(row),
                (None, None) => return,
            };
        }
    }

    /// Inserts a point on the path of `beside`, before or after it. Its path becomes stale from there up; the caller sets the step of the
    /// point that now follows.
    pub(super) fn insert(&mut self, beside: RowIndex, after: bool, step: f64) -> RowIndex {
        let row = RowIndex::new(self.points.len());
        let block = self.points[beside.get()].block;
        let (_, at) = self.block_of(beside);
        let at = at + usize::from(after);
        self.points.push(Point { step, cells: vec![], block });
        let rows = &mut self.blocks[block].rows;
        // A path that grows at its end leaves full blocks behind.
        let is_end = at == rows.len() && rows.len() >= BLOCK && self.next_on_path(beside).is_none() && after;
        let rows = &mut self.blocks[block].rows;
        rows.insert(at, row);
        if is_end {
            let tail = rows.split_off(at);
            self.split(block, tail);
        } else if rows.len() > LARGEST_BLOCK {
            let tail = rows.split_off(rows.len() / 2);
            self.split(block, tail);
        }
        if beside == self.root && !after {
            self.root = row;
        }
        row
    }

    /// Splits the last rows of a block off into a block of their own.
    fn split(&mut self, block: usize, tail: Vec<RowIndex>) {
        let leaf = self.blocks[block].node;
        let (above, path) = (self.nodes[leaf].parent, self.nodes[leaf].path);
        let new = self.add_block(tail, path);
        let mut spare = vec![];
        let pair = self.balanced(&[leaf, new], path, &mut spare);
        self.replace_child(above, path, leaf, pair);
        self.nodes[leaf].is_stale = true;
        let (mut node, mut unbalanced) = (above, None);
        while let Some(at) = node {
            self.nodes[at].weight += 1;
            if let NodeKind::Pair(left, right) = self.nodes[at].kind {
                let heavier = self.nodes[left].weight.max(self.nodes[right].weight);
                if heavier as f64 > UNBALANCED * self.nodes[at].weight as f64 + 1.0 {
                    unbalanced = Some(at);
                }
            }
            self.nodes[at].is_stale = true;
            node = self.nodes[at].parent;
        }
        if let Some(row) = self.paths[path].attached_to {
            self.mark(row);
        }
        if let Some(node) = unbalanced {
            self.rebuild(node);
        }
    }

    fn replace_child(&mut self, above: Option<usize>, path: usize, old: usize, new: usize) {
        self.nodes[new].parent = above;
        match above {
            None => self.paths[path].node = new,
            Some(above) => {
                if let NodeKind::Pair(left, right) = &mut self.nodes[above].kind {
                    *(if *left == old { left } else { right }) = new;
                }
            }
        }
    }

    /// Rebalances the tree below a node; blocks keep their segments.
    fn rebuild(&mut self, top: usize) {
        let (mut leaves, mut pairs, mut stack) = (vec![], vec![], vec![top]);
        while let Some(node) = stack.pop() {
            match self.nodes[node].kind {
                NodeKind::Block(_) => leaves.push(node),
                NodeKind::Pair(left, right) => {
                    pairs.push(node);
                    stack.extend([right, left]);
                }
            }
        }
        let (above, path) = (self.nodes[top].parent, self.nodes[top].path);
        let new = self.balanced(&leaves, path, &mut pairs);
        self.replace_child(above, path, top, new);
    }

    /// Adds a point as a leaf attached to another, with a path of its own.
    pub(super) fn attach_leaf(&mut self, on: RowIndex, step: f64) -> RowIndex {
        let row = RowIndex::new(self.points.len());
        self.points.push(Point { step, cells: vec![], block: 0 });
        self.add_path(&[row], Some(on));
        self.mark(on);
        row
    }
}
