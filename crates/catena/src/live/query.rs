//! The state at one point: from both sides along its path, and from above where the path is attached to another.

use super::elements::Elements;
use super::paths::Paths;
use super::sides::{Beside, Sides};
use crate::index::RowIndex;
use crate::inference::{Conditional, InformationRows, SquareRootModel, StepAt};
use crate::structure::AttachedTo;
use std::ops::Range;

/// Reads elements, which are fresh wherever they matter.
pub(super) struct Query<'a> {
    pub(super) paths: &'a Paths,
    pub(super) elements: &'a Elements,
    pub(super) model: &'a mut SquareRootModel,
}

/// The rest of its path around a point.
struct Around {
    /// The state before the point's own step.
    before: Conditional,
    /// Rows about the point's state from all later points of the path.
    after: InformationRows,
}

impl Query<'_> {
    /// The state of a point given everything, or everything but one path attached to it.
    pub(super) fn state(&mut self, row: RowIndex, except: Option<usize>) -> Conditional {
        let Around { before, mut after } = self.around(row);
        self.elements.add_rows(self.paths, self.model, row, except, &mut after);
        self.step_into(row, before, &after)
    }

    /// The state at a new input.
    pub(super) fn state_at(&mut self, place: AttachedTo<RowIndex>) -> Conditional {
        match place {
            AttachedTo::Leaf(tie) | AttachedTo::AfterLast(tie) => {
                let mut state = self.state(tie.point, None);
                self.model.insert(&mut state, tie.distance, None);
                state
            }
            AttachedTo::Between { left, right } => {
                let mut next = self.after(right.point);
                self.elements.add_rows(self.paths, self.model, right.point, None, &mut next);
                let before = self.around(left.point).before;
                let mut own = InformationRows::default();
                self.elements.add_rows(self.paths, self.model, left.point, None, &mut own);
                let mut state = self.step_into(left.point, before, &own);
                self.model.insert(&mut state, left.distance, Some((next.view(), right.distance)));
                state
            }
            AttachedTo::BeforeFirst(tie) => {
                let mut state = self.state(tie.point, None);
                self.model.insert_before(&mut state, tie.distance);
                state
            }
        }
    }

    /// Moves a state over the step into a point, and conditions it on rows.
    fn step_into(&mut self, row: RowIndex, mut state: Conditional, rows: &InformationRows) -> Conditional {
        self.model.set_steps(&[self.paths.point(row).step]);
        let step = if row == self.paths.root() { StepAt::Root } else { StepAt::Length(0) };
        self.model.extend(&mut state, step, rows.view());
        state
    }

    /// Rows about the state of a point from all later points of its path.
    pub(super) fn after(&mut self, row: RowIndex) -> InformationRows {
        self.around(row).after
    }

    fn around(&mut self, row: RowIndex) -> Around {
        let Self { paths, elements, .. } = *self;
        let mut sides = Sides::new(paths.siblings_above(row), |is_before, node| {
            // The halves of a segment that is still stale are fresh as far as they matter.
            let halves = paths.halves_if_stale(node, is_before);
            halves.unwrap_or_else(|| Beside::Whole { has_forgotten: elements.of(node).has_forgotten() })
        });
        let path = paths.path_of(row);
        let mut before = match paths.all()[path].attached_to {
            Some(parent) if sides.reaches_the_start() => self.state(parent, Some(path)),
            _ => Conditional::zero(self.model.size()),
        };
        if sides.before.is_closed
            && let Some(last) = sides.before.nodes.pop()
        {
            before.end_as(elements.of(last));
        }
        for node in sides.before.nodes.into_iter().rev() {
            self.model.algebra().extend(&mut before, elements.of(node));
        }
        let (mut after, mut pulled) = (InformationRows::default(), InformationRows::default());
        for node in sides.after.nodes.into_iter().rev() {
            self.model.algebra().pull(elements.of(node), after.view(), &mut pulled);
            std::mem::swap(&mut after, &mut pulled);
        }
        let (rows, at) = paths.block_of(row);
        if at + 1 < rows.len() {
            let mut later = Conditional::identity(self.model.size());
            self.extend_by_rows(&mut later, rows, at + 1..rows.len());
            self.model.algebra().pull(&later, after.view(), &mut pulled);
            std::mem::swap(&mut after, &mut pulled);
        }
        self.extend_by_rows(&mut before, rows, 0..at);
        Around { before, after }
    }

    /// Extends a segment, or a state, by some of the points of a block.
    pub(super) fn extend_by_rows(
        &mut self,
        segment: &mut Conditional,
        rows: &[RowIndex],
        range: Range<usize>,
    ) {
        self.elements.extend_by_rows(self.paths, self.model, segment, &rows[range]);
    }
}
