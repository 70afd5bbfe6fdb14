//! Finding stale elements again: those below one node, deepest paths first.
//!
//! A question needs few of them, and only these are found: what is stale far away waits until somebody asks about it.

use super::forest::{Forest, NodeKind};
use super::query::{Segment, Sides};
use crate::index::RowIndex;
use crate::inference::{Element, InformationRows, SquareRootModel, StepAt};
use crate::model::Lmc;
use crate::threads::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// How much work was done: every number is a count of messages that were sent anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recomputed {
    /// Positions whose step and cells were folded again.
    pub positions: usize,
    /// Pairs of segments that were joined again.
    pub pairs: usize,
}

/// From so many stale blocks on they are shared among threads.
const MANY: usize = 64;

/// The elements of a forest, by node. Those of stale nodes mean nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    by_node: Vec<Element>,
}

/// Stale nodes of paths of one depth.
#[derive(Default)]
struct Stale {
    /// Nodes, and the blocks they stand for.
    blocks: Vec<(usize, usize)>,
    /// Nodes with their left and right sides, listed before what is below them.
    pairs: Vec<(usize, usize, usize)>,
}

impl Elements {
    /// The element of a node that is not stale.
    pub(super) fn of(&self, node: usize) -> &Element {
        &self.by_node[node]
    }

    /// Finds all stale elements below a node again, and its own.
    pub(super) fn refresh(
        &mut self,
        forest: &mut Forest,
        (model, fold): (&Lmc, &mut SquareRootModel),
        top: usize,
        done: &mut Recomputed,
    ) {
        if !forest.nodes()[top].is_stale {
            return;
        }
        if self.by_node.len() < forest.nodes().len() {
            self.by_node.resize(forest.nodes().len(), Element::empty(fold.size()));
        }
        // What hangs on a point is known before the point's block is folded.
        for Stale { blocks, pairs } in stale_below(forest, top).into_values().rev() {
            self.fold_blocks(forest, model, fold, &blocks, done);
            for &(node, left, right) in pairs.iter().rev() {
                let mut element = std::mem::replace(&mut self.by_node[node], Element::nothing(0));
                fold.algebra().combine(&self.by_node[left], &self.by_node[right], &mut element);
                self.by_node[node] = element;
            }
            done.pairs += pairs.len();
            blocks.iter().for_each(|&(node, _)| forest.set_fresh(node));
            pairs.iter().for_each(|&(node, _, _)| forest.set_fresh(node));
        }
    }

    /// Finds again what a question about a point needs: the segments on both sides of its block as far as they matter, and what
    /// hangs on the points of its block, but for one path.
    pub(super) fn refresh_around(
        &mut self,
        forest: &mut Forest,
        (model, fold): (&Lmc, &mut SquareRootModel),
        (row, except): (RowIndex, Option<usize>),
        done: &mut Recomputed,
    ) {
        let (rows, _) = forest.block_of(row);
        let hanging: Vec<usize> = rows.iter().flat_map(|&row| forest.hanging_on(row)).copied().collect();
        for path in hanging {
            if except != Some(path) {
                let node = forest.paths()[path].node;
                self.refresh(forest, (model, fold), node, done);
            }
        }
        let sides = Sides::new(forest.beside_the_way_up(row), |is_before, node| {
            // Where the nearer half has forgotten the other one when it was last known, it most likely has again.
            if let Some(Segment::Two { near, far }) = forest.halves_if_stale(node, is_before)
                && self.by_node.get(near).is_some_and(Element::has_forgotten)
            {
                return Segment::Two { near, far };
            }
            self.refresh(forest, (model, fold), node, done);
            Segment::Whole { has_forgotten: self.of(node).has_forgotten() }
        });
        let path = forest.path_of(row);
        if let Some(parent) = forest.paths()[path].hangs_on
            && sides.reaches_the_start()
        {
            self.refresh_around(forest, (model, fold), (parent, Some(path)), done);
        }
    }

    fn fold_blocks(
        &mut self,
        forest: &Forest,
        model: &Lmc,
        fold: &mut SquareRootModel,
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
    fn fold_block(&self, forest: &Forest, model: &Lmc, fold: &mut SquareRootModel, block: usize) -> Element {
        let mut element = Element::empty(fold.size());
        let rows = forest.block_rows(block);
        self.extend_by_rows(forest, model, fold, &mut element, (rows, 0..rows.len()));
        element
    }

    /// Lengthens a segment by some points that follow one another on a path.
    pub(super) fn extend_by_rows(
        &self,
        forest: &Forest,
        model: &Lmc,
        fold: &mut SquareRootModel,
        segment: &mut Element,
        (rows, range): (&[RowIndex], Range<usize>),
    ) {
        let rows = &rows[range];
        let lengths: Vec<f64> = rows.iter().map(|&row| forest.point(row).step).collect();
        fold.set_steps(model, &lengths);
        let mut said = InformationRows::default();
        for (at, &row) in rows.iter().enumerate() {
            said.clear();
            let share = self.say(forest, fold, row, None, &mut said);
            let step = if row == forest.root() { StepAt::Root } else { StepAt::Length(at) };
            fold.extend(segment, step, said.view());
            segment.add_log_normalizer(share);
        }
    }

    /// Adds what is said about a point by its own cells and by the paths that hang on it, but for one; returns the share of the
    /// log evidence that the rows leave out.
    pub(super) fn say(
        &self,
        forest: &Forest,
        fold: &SquareRootModel,
        row: RowIndex,
        except: Option<usize>,
        said: &mut InformationRows,
    ) -> f64 {
        let mut share = 0.0;
        for cell in &forest.point(row).cells {
            share += fold.push_cell(cell.output.get(), cell.value, cell.own_noise, said);
        }
        for &path in forest.hanging_on(row) {
            if except != Some(path) {
                let element = self.of(forest.paths()[path].node);
                said.extend(element.rows());
                share += element.log_normalizer();
            }
        }
        share
    }
}

/// Stale nodes below one, by the depth of their paths: along its own path, and along those that hang on points of stale blocks.
fn stale_below(forest: &Forest, top: usize) -> BTreeMap<usize, Stale> {
    let mut found: BTreeMap<usize, Stale> = BTreeMap::new();
    let mut stack = vec![top];
    while let Some(node) = stack.pop() {
        let known = &forest.nodes()[node];
        if known.is_stale {
            let stale = found.entry(forest.depth_of(node)).or_default();
            match known.kind {
                NodeKind::Block(block) => {
                    stale.blocks.push((node, block));
                    let rows = forest.block_rows(block).iter();
                    stack.extend(rows.flat_map(|&row| forest.hanging_nodes(row)));
                }
                NodeKind::Pair(left, right) => {
                    stale.pairs.push((node, left, right));
                    stack.extend([left, right]);
                }
            }
        }
    }
    found
}
