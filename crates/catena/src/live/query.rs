//! What is known at one point: from both sides along its path, and from above where the path hangs on another.

use super::forest::{Forest, NodeKind};
use super::refresh::Elements;
use crate::index::RowIndex;
use crate::inference::{Element, Fold, OwnedRows, StepAt};
use crate::model::Lmc;
use std::ops::Range;

/// Reads fresh elements.
pub(super) struct Query<'a> {
    pub(super) forest: &'a Forest,
    pub(super) elements: &'a Elements,
    pub(super) model: &'a Lmc,
    pub(super) fold: &'a mut Fold,
}

/// What surrounds a point on its path.
struct Around {
    /// The moments of the state before the point's own step.
    before: Element,
    /// What all later points of the path say about the point's state.
    after: OwnedRows,
}

/// Where a point that is not of the structure would lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// Off the structure, hanging on this point.
    On(RowIndex, f64),
    /// Between a point and the one after it on its path.
    Between((RowIndex, f64), (RowIndex, f64)),
    /// Before the root.
    Before(RowIndex, f64),
}

impl Query<'_> {
    /// The moments of a point's state given everything, or everything but one path that hangs on it.
    pub(super) fn state(&mut self, row: RowIndex, except: Option<usize>) -> Element {
        let Around { before: mut state, mut after } = self.around(row);
        self.elements.say(self.forest, self.fold, row, except, &mut after);
        self.fold.set_steps(self.model, &[self.forest.point(row).step]);
        let step = if row == self.forest.root() { StepAt::Root } else { StepAt::Length(0) };
        self.fold.extend(&mut state, step, after.view());
        state
    }

    /// The moments of the state at a place that is not of the structure.
    pub(super) fn state_at(&mut self, place: Place) -> Element {
        let mut state;
        let mut after = OwnedRows::default();
        let step = match place {
            Place::On(row, distance) => {
                state = self.state(row, None);
                self.fold.set_steps(self.model, &[distance]);
                StepAt::Length(0)
            }
            Place::Between((left, to_left), (right, to_right)) => {
                after = self.heard_across(right, to_right);
                let around = self.around(left);
                state = around.before;
                let mut said = OwnedRows::default();
                self.elements.say(self.forest, self.fold, left, None, &mut said);
                self.fold.set_steps(self.model, &[self.forest.point(left).step, to_left]);
                let own = if left == self.forest.root() { StepAt::Root } else { StepAt::Length(0) };
                self.fold.extend(&mut state, own, said.view());
                StepAt::Length(1)
            }
            Place::Before(root, distance) => {
                after = self.heard_across(root, distance);
                state = Element::nothing(self.fold.size());
                StepAt::Root
            }
        };
        self.fold.extend(&mut state, step, after.view());
        state
    }

    /// What all later points of its path say about the state of a point.
    pub(super) fn after(&mut self, row: RowIndex) -> OwnedRows {
        self.around(row).after
    }

    /// What a point, and all after it on its path, say about a state that lies before it by this distance.
    fn heard_across(&mut self, row: RowIndex, distance: f64) -> OwnedRows {
        let mut said = self.around(row).after;
        self.elements.say(self.forest, self.fold, row, None, &mut said);
        self.fold.set_steps(self.model, &[distance]);
        let mut gap = Element::empty(self.fold.size());
        self.fold.extend(&mut gap, StepAt::Length(0), OwnedRows::default().view());
        let mut heard = OwnedRows::default();
        self.fold.algebra().pull(&gap, said.view(), &mut heard);
        heard
    }

    fn around(&mut self, row: RowIndex) -> Around {
        let Self { forest, elements, .. } = *self;
        let path = forest.path_of(row);
        let mut before = match forest.paths()[path].hangs_on {
            None => Element::nothing(self.fold.size()),
            Some(parent) => self.state(parent, Some(path)),
        };
        let mut branches = vec![];
        let mut node = forest.leaf_of(row);
        while let Some(parent) = forest.nodes()[node].parent {
            branches.push((parent, node));
            node = parent;
        }
        let (mut after, mut heard) = (OwnedRows::default(), OwnedRows::default());
        for (parent, below) in branches.into_iter().rev() {
            if let NodeKind::Pair(left, right) = forest.nodes()[parent].kind {
                if below == left {
                    self.fold.algebra().pull(elements.of(right), after.view(), &mut heard);
                    std::mem::swap(&mut after, &mut heard);
                } else {
                    self.fold.algebra().extend(&mut before, elements.of(left));
                }
            }
        }
        let (rows, at) = forest.block_of(row);
        if at + 1 < rows.len() {
            let mut later = Element::empty(self.fold.size());
            self.extend_by_rows(&mut later, rows, at + 1..rows.len());
            self.fold.algebra().pull(&later, after.view(), &mut heard);
            std::mem::swap(&mut after, &mut heard);
        }
        self.extend_by_rows(&mut before, rows, 0..at);
        Around { before, after }
    }

    /// Lengthens a stretch, or moments, by some of the points of a block.
    pub(super) fn extend_by_rows(&mut self, stretch: &mut Element, rows: &[RowIndex], range: Range<usize>) {
        self.elements.extend_by_rows(self.forest, self.model, self.fold, stretch, (rows, range));
    }
}
