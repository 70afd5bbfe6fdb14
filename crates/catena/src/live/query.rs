//! What is known at one point: from both sides along its path, and from above where the path hangs on another.

use super::forest::Forest;
use super::refresh::Elements;
use crate::index::RowIndex;
use crate::inference::{Element, InformationRows, SquareRootModel, StepAt};
use crate::model::Lmc;
use std::ops::Range;

/// Reads elements, which are fresh wherever they matter.
pub(super) struct Query<'a> {
    pub(super) forest: &'a Forest,
    pub(super) elements: &'a Elements,
    pub(super) model: &'a Lmc,
    pub(super) fold: &'a mut SquareRootModel,
}

/// What surrounds a point on its path.
struct Around {
    /// The moments of the state before the point's own step.
    before: Element,
    /// What all later points of the path say about the point's state.
    after: InformationRows,
}

/// The segments before and after the block of a point, as nodes, the nearest first: as far as anything is heard of them.
pub(super) struct Sides {
    before: Side,
    after: Side,
}

/// How a segment beside a point is heard.
pub(super) enum Segment {
    /// By its element, which may have forgotten what lies beyond it.
    Whole { has_forgotten: bool },
    /// By those of its halves.
    Two { near: usize, far: usize },
}

#[derive(Default)]
struct Side {
    segments: Vec<usize>,
    /// Whether the last of them has forgotten what lies beyond it.
    is_closed: bool,
}

impl Sides {
    /// From all segments beside the way up, each with whether it lies before the point. Those that are not needed are not looked at.
    pub(super) fn new(
        beside: impl IntoIterator<Item = (bool, usize)>,
        mut look: impl FnMut(bool, usize) -> Segment,
    ) -> Self {
        let mut sides = Self { before: Side::default(), after: Side::default() };
        for (is_before, node) in beside {
            let side = if is_before { &mut sides.before } else { &mut sides.after };
            let mut parts = vec![node];
            while !side.is_closed
                && let Some(node) = parts.pop()
            {
                match look(is_before, node) {
                    Segment::Two { near, far } => parts.extend([far, near]),
                    Segment::Whole { has_forgotten } => {
                        side.is_closed = has_forgotten;
                        side.segments.push(node);
                    }
                }
            }
        }
        sides
    }

    /// Whether what lies before the path is heard.
    pub(super) fn reaches_the_start(&self) -> bool {
        !self.before.is_closed
    }
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
        let mut after = InformationRows::default();
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
                let mut said = InformationRows::default();
                self.elements.say(self.forest, self.fold, left, None, &mut said);
                self.fold.set_steps(self.model, &[self.forest.point(left).step, to_left]);
                let own = if left == self.forest.root() { StepAt::Root } else { StepAt::Length(0) };
                self.fold.extend(&mut state, own, said.view());
                StepAt::Length(1)
            }
            Place::Before(root, distance) => {
                state = self.state(root, None);
                self.fold.set_steps(self.model, &[distance]);
                self.fold.step_back(&mut state, 0);
                return state;
            }
        };
        self.fold.extend(&mut state, step, after.view());
        state
    }

    /// What all later points of its path say about the state of a point.
    pub(super) fn after(&mut self, row: RowIndex) -> InformationRows {
        self.around(row).after
    }

    /// What a point, and all after it on its path, say about a state that lies before it by this distance.
    fn heard_across(&mut self, row: RowIndex, distance: f64) -> InformationRows {
        let mut said = self.around(row).after;
        self.elements.say(self.forest, self.fold, row, None, &mut said);
        self.fold.set_steps(self.model, &[distance]);
        let mut gap = Element::empty(self.fold.size());
        self.fold.extend(&mut gap, StepAt::Length(0), InformationRows::default().view());
        let mut heard = InformationRows::default();
        self.fold.algebra().pull(&gap, said.view(), &mut heard);
        heard
    }

    fn around(&mut self, row: RowIndex) -> Around {
        let Self { forest, elements, .. } = *self;
        let mut sides = Sides::new(forest.beside_the_way_up(row), |is_before, node| {
            // A segment that is still stale has halves that are not, as far as they matter.
            let halves = forest.halves_if_stale(node, is_before);
            halves.unwrap_or_else(|| Segment::Whole { has_forgotten: elements.of(node).has_forgotten() })
        });
        let path = forest.path_of(row);
        let mut before = match forest.paths()[path].hangs_on {
            Some(parent) if sides.reaches_the_start() => self.state(parent, Some(path)),
            _ => Element::nothing(self.fold.size()),
        };
        if sides.before.is_closed
            && let Some(last) = sides.before.segments.pop()
        {
            before.end_as(elements.of(last));
        }
        for node in sides.before.segments.into_iter().rev() {
            self.fold.algebra().extend(&mut before, elements.of(node));
        }
        let (mut after, mut heard) = (InformationRows::default(), InformationRows::default());
        for node in sides.after.segments.into_iter().rev() {
            self.fold.algebra().pull(elements.of(node), after.view(), &mut heard);
            std::mem::swap(&mut after, &mut heard);
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

    /// Lengthens a segment, or moments, by some of the points of a block.
    pub(super) fn extend_by_rows(&mut self, segment: &mut Element, rows: &[RowIndex], range: Range<usize>) {
        self.elements.extend_by_rows(self.forest, self.model, self.fold, segment, (rows, range));
    }
}
