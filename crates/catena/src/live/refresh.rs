//! Finding stale elements again, deepest paths first.

use super::forest::{Forest, NodeKind};
use crate::index::RowIndex;
use crate::inference::{Element, Fold, OwnedRows, StepAt};
use crate::model::Lmc;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;

/// How much work was done: every number is a count of messages that were sent anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recomputed {
    /// Positions whose step and cells were folded again.
    pub positions: usize,
    /// Pairs of stretches that were joined again.
    pub pairs: usize,
}

/// From so many stale blocks on they are shared among threads.
const MANY: usize = 64;

/// The elements of a forest, by node, and which paths have stale ones.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    by_node: Vec<Element>,
    /// Depth and number of every path with stale nodes.
    stale: BTreeSet<(usize, usize)>,
}

impl Elements {
    /// No element is known yet.
    pub(super) fn new(forest: &Forest) -> Self {
        let stale = forest.paths().iter().enumerate().map(|(path, known)| (known.depth, path)).collect();
        Self { by_node: vec![], stale }
    }

    /// The element of a node that is not stale.
    pub(super) fn of(&self, node: usize) -> &Element {
        &self.by_node[node]
    }

    /// Whether every element is as its cells are.
    pub(super) fn is_fresh(&self) -> bool {
        self.stale.is_empty()
    }

    /// Something about a point has changed.
    pub(super) fn mark(&mut self, forest: &mut Forest, row: RowIndex) {
        if let Some(path) = forest.mark(row) {
            self.mark_path(forest, path);
        }
    }

    /// A path has nodes that were never known.
    pub(super) fn mark_path(&mut self, forest: &Forest, path: usize) {
        self.stale.insert((forest.paths()[path].depth, path));
    }

    /// Finds all stale elements again.
    pub(super) fn refresh(&mut self, forest: &mut Forest, model: &Lmc, fold: &mut Fold) -> Recomputed {
        let mut done = Recomputed::default();
        let size = fold.size();
        if self.by_node.len() < forest.nodes().len() {
            self.by_node.resize(forest.nodes().len(), Element::empty(size));
        }
        while let Some(&(depth, _)) = self.stale.last() {
            let mut paths: Vec<usize> = vec![];
            while let Some(&(at, path)) = self.stale.last() {
                if at < depth {
                    break;
                }
                self.stale.pop_last();
                paths.push(path);
            }
            let (mut blocks, mut pairs) = (vec![], vec![]);
            paths
                .iter()
                .for_each(|&path| stale_nodes(forest, forest.paths()[path].node, &mut blocks, &mut pairs));
            self.fold_blocks(forest, model, fold, &blocks, &mut done);
            // Pairs were listed before what is below them.
            for &(node, left, right) in pairs.iter().rev() {
                let mut element = std::mem::replace(&mut self.by_node[node], Element::nothing(0));
                fold.algebra().combine(&self.by_node[left], &self.by_node[right], &mut element);
                self.by_node[node] = element;
            }
            done.pairs += pairs.len();
            blocks.iter().for_each(|&(node, _)| forest.set_fresh(node));
            pairs.iter().for_each(|&(node, _, _)| forest.set_fresh(node));
            for path in paths {
                if let Some(row) = forest.paths()[path].hangs_on {
                    self.mark(forest, row);
                }
            }
        }
        done
    }

    fn fold_blocks(
        &mut self,
        forest: &Forest,
        model: &Lmc,
        fold: &mut Fold,
        blocks: &[(usize, usize)],
        done: &mut Recomputed,
    ) {
        done.positions += blocks.iter().map(|&(_, block)| forest.block_rows(block).len()).sum::<usize>();
        if blocks.len() < MANY {
            for &(node, block) in blocks {
                self.by_node[node] = self.fold_block(forest, model, fold, block);
            }
            return;
        }
        let found: Vec<Element> = blocks
            .par_iter()
            .map_init(|| fold.clone(), |fold, &(_, block)| self.fold_block(forest, model, fold, block))
            .collect();
        for (&(node, _), element) in blocks.iter().zip(found) {
            self.by_node[node] = element;
        }
    }

    /// The element of a block.
    fn fold_block(&self, forest: &Forest, model: &Lmc, fold: &mut Fold, block: usize) -> Element {
        let mut element = Element::empty(fold.size());
        let rows = forest.block_rows(block);
        self.extend_by_rows(forest, model, fold, &mut element, (rows, 0..rows.len()));
        element
    }

    /// Lengthens a stretch by some points that follow one another on a path.
    pub(super) fn extend_by_rows(
        &self,
        forest: &Forest,
        model: &Lmc,
        fold: &mut Fold,
        stretch: &mut Element,
        (rows, range): (&[RowIndex], Range<usize>),
    ) {
        let rows = &rows[range];
        let lengths: Vec<f64> = rows.iter().map(|&row| forest.point(row).step).collect();
        fold.set_steps(model, &lengths);
        let mut said = OwnedRows::default();
        for (at, &row) in rows.iter().enumerate() {
            said.clear();
            let share = self.say(forest, fold, row, None, &mut said);
            let step = if row == forest.root() { StepAt::Root } else { StepAt::Length(at) };
            fold.extend(stretch, step, said.view());
            stretch.add_log_share(share);
        }
    }

    /// Adds what is said about a point by its own cells and by the paths that hang on it, but for one; returns the share of the
    /// log evidence that the rows leave out.
    pub(super) fn say(
        &self,
        forest: &Forest,
        fold: &Fold,
        row: RowIndex,
        except: Option<usize>,
        said: &mut OwnedRows,
    ) -> f64 {
        let mut share = 0.0;
        for cell in &forest.point(row).cells {
            share += fold.push_cell(cell.output.get(), cell.value, cell.own_noise, said);
        }
        for &path in forest.hanging_on(row) {
            if except != Some(path) {
                let element = self.of(forest.paths()[path].node);
                said.extend(element.rows());
                share += element.log_share();
            }
        }
        share
    }
}

/// Lists stale nodes, pairs before what is below them.
fn stale_nodes(
    forest: &Forest,
    top: usize,
    blocks: &mut Vec<(usize, usize)>,
    pairs: &mut Vec<(usize, usize, usize)>,
) {
    let mut stack = vec![top];
    while let Some(node) = stack.pop() {
        let known = &forest.nodes()[node];
        if known.is_stale {
            match known.kind {
                NodeKind::Block(block) => blocks.push((node, block)),
                NodeKind::Pair(left, right) => {
                    pairs.push((node, left, right));
                    stack.extend([left, right]);
                }
            }
        }
    }
}
