//! The conditionals of all segments, and how stale ones are recomputed: those below one node, deepest paths first.
//!
//! A query needs few of them and recomputes only these; stale elements elsewhere wait for a query that needs them.

use super::paths::{NodeKind, Paths};
use super::sides::{Beside, Sides};
use crate::index::RowIndex;
use crate::inference::{Conditional, InformationRows, SquareRootModel, StepAt};
use crate::threads::*;
use std::collections::BTreeMap;

/// How many messages a query recomputed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recomputed {
    /// Positions whose step and cells were processed.
    pub positions: usize,
    /// Pairs of segments that were joined.
    pub pairs: usize,
}

/// From this many stale blocks on they are shared among threads.
const MANY: usize = 64;

/// The conditional of each node. Those of stale nodes are undefined.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    by_node: Vec<Conditional>,
}

/// Stale nodes of paths of one depth.
#[derive(Default)]
struct Stale {
    /// Nodes and their blocks.
    blocks: Vec<(usize, usize)>,
    /// Nodes with their left and right sides, listed before what is below them.
    pairs: Vec<(usize, usize, usize)>,
}

impl Elements {
    /// The conditional of a node that is not stale.
    pub(super) fn of(&self, node: usize) -> &Conditional {
        &self.by_node[node]
    }

    /// Recomputes a node and all stale elements below it.
    pub(super) fn refresh(
        &mut self,
        paths: &mut Paths,
        model: &mut SquareRootModel,
        top: usize,
        done: &mut Recomputed,
    ) {
        if !paths.nodes()[top].is_stale {
            return;
        }
        if self.by_node.len() < paths.nodes().len() {
            self.by_node.resize(paths.nodes().len(), Conditional::identity(model.size()));
        }
        // Paths attached to a point come before the point's block.
        for Stale { blocks, pairs } in stale_below(paths, top).into_values().rev() {
            self.compute_blocks(paths, model, &blocks, done);
            for &(node, left, right) in pairs.iter().rev() {
                let mut element = std::mem::replace(&mut self.by_node[node], Conditional::zero(0));
                model.algebra().join(&self.by_node[left], &self.by_node[right], &mut element);
                self.by_node[node] = element;
            }
            done.pairs += pairs.len();
            blocks.iter().for_each(|&(node, _)| paths.set_fresh(node));
            pairs.iter().for_each(|&(node, _, _)| paths.set_fresh(node));
        }
    }

    /// Recomputes what a query at a point needs: the segments on both sides of its block as far as they matter, and the paths
    /// attached to the points of its block, except one.
    pub(super) fn refresh_around(
        &mut self,
        paths: &mut Paths,
        model: &mut SquareRootModel,
        (row, except): (RowIndex, Option<usize>),
        done: &mut Recomputed,
    ) {
        let (rows, _) = paths.block_of(row);
        let attached: Vec<usize> = rows.iter().flat_map(|&row| paths.attached_paths(row)).copied().collect();
        for path in attached {
            if except != Some(path) {
                let node = paths.all()[path].node;
                self.refresh(paths, model, node, done);
            }
        }
        let sides = Sides::new(paths.siblings_above(row), |is_before, node| {
            // If the nearer half was independent of the other one when it was last computed, it most likely still is.
            if let Some(Beside::Halves { near, far }) = paths.halves_if_stale(node, is_before)
                && self.by_node.get(near).is_some_and(Conditional::has_forgotten)
            {
                return Beside::Halves { near, far };
            }
            self.refresh(paths, model, node, done);
            Beside::Whole { has_forgotten: self.of(node).has_forgotten() }
        });
        let path = paths.path_of(row);
        if let Some(parent) = paths.all()[path].attached_to
            && sides.reaches_the_start()
        {
            self.refresh_around(paths, model, (parent, Some(path)), done);
        }
    }

    fn compute_blocks(
        &mut self,
        paths: &Paths,
        model: &mut SquareRootModel,
        blocks: &[(usize, usize)],
        done: &mut Recomputed,
    ) {
        done.positions += blocks.iter().map(|&(_, block)| paths.block_rows(block).len()).sum::<usize>();
        if blocks.len() < MANY {
            for &(node, block) in blocks {
                self.by_node[node] = self.block(paths, model, block);
            }
            return;
        }
        let found: Vec<Conditional> = blocks
            .par_iter()
            .map_init(|| model.clone(), |model, &(_, block)| self.block(paths, model, block))
            .collect();
        for (&(node, _), element) in blocks.iter().zip(found) {
            self.by_node[node] = element;
        }
    }

    /// The conditional of a block.
    fn block(&self, paths: &Paths, model: &mut SquareRootModel, block: usize) -> Conditional {
        let mut element = Conditional::identity(model.size());
        self.extend_by_rows(paths, model, &mut element, paths.block_rows(block));
        element
    }

    /// Extends a segment by consecutive points of a path.
    pub(super) fn extend_by_rows(
        &self,
        paths: &Paths,
        model: &mut SquareRootModel,
        segment: &mut Conditional,
        points: &[RowIndex],
    ) {
        let lengths: Vec<f64> = points.iter().map(|&row| paths.point(row).step).collect();
        model.set_steps(&lengths);
        let mut rows = InformationRows::default();
        for (at, &row) in points.iter().enumerate() {
            rows.clear();
            let log_normalizer = self.add_rows(paths, model, row, None, &mut rows);
            let step = if row == paths.root() { StepAt::Root } else { StepAt::Length(at) };
            model.extend(segment, step, rows.view());
            segment.add_log_normalizer(log_normalizer);
        }
    }

    /// Adds the rows about a point from its own cells and from the paths attached to it, except one; returns the log evidence that
    /// the rows leave out.
    pub(super) fn add_rows(
        &self,
        paths: &Paths,
        model: &SquareRootModel,
        row: RowIndex,
        except: Option<usize>,
        rows: &mut InformationRows,
    ) -> f64 {
        let mut log_normalizer = 0.0;
        for cell in &paths.point(row).cells {
            log_normalizer += model.push_cell(cell.output.get(), cell.value, cell.own_noise, rows);
        }
        for &path in paths.attached_paths(row) {
            if except != Some(path) {
                let element = self.of(paths.all()[path].node);
                rows.extend(element.rows());
                log_normalizer += element.log_normalizer();
            }
        }
        log_normalizer
    }
}

/// Stale nodes below one, by the depth of their paths: along its own path, and along those attached to points of stale blocks.
fn stale_below(paths: &Paths, top: usize) -> BTreeMap<usize, Stale> {
    let mut found: BTreeMap<usize, Stale> = BTreeMap::new();
    let mut stack = vec![top];
    while let Some(at) = stack.pop() {
        let node = &paths.nodes()[at];
        if node.is_stale {
            let stale = found.entry(paths.depth_of(at)).or_default();
            match node.kind {
                NodeKind::Block(block) => {
                    stale.blocks.push((at, block));
                    let rows = paths.block_rows(block).iter();
                    let attached = rows.flat_map(|&row| paths.attached_paths(row));
                    stack.extend(attached.map(|&path| paths.all()[path].node));
                }
                NodeKind::Pair(left, right) => {
                    stale.pairs.push((at, left, right));
                    stack.extend([left, right]);
                }
            }
        }
    }
    found
}
