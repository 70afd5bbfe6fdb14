//! The operations on conditionals, compiled for this machine's instruction set.

use super::super::steps::StepView;
use super::conditional::Conditional;
use super::operations::Scratch;
use super::rows::{InformationRows, RowsView};
use crate::linalg::{Arithmetic, Job, Layout, StateAlgebra, dispatch_lanes};

/// Operations on conditionals of one layout, with their scratch.
#[derive(Clone, Debug)]
pub(crate) struct Algebra {
    layout: Layout,
    scratch: Scratch,
}

impl Algebra {
    /// For states of this layout.
    pub(crate) fn new(layout: Layout) -> Self {
        Self { layout, scratch: Scratch::default() }
    }

    /// The layout of a state.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    fn apply(&mut self, conditional: &mut Conditional, operation: Operation<'_>) {
        dispatch_lanes(&self.layout, Apply { conditional, operation, scratch: &mut self.scratch });
    }

    /// Joins two consecutive segments.
    pub(crate) fn join(&mut self, first: &Conditional, second: &Conditional, out: &mut Conditional) {
        out.copy_from(first);
        self.extend(out, second);
    }

    /// Extends a segment by the next one.
    pub(crate) fn extend(&mut self, first: &mut Conditional, second: &Conditional) {
        self.apply(first, Operation::Join(second));
    }

    /// Extends a segment by one position: its step, and rows about its state.
    pub(super) fn extend_by_position(
        &mut self,
        first: &mut Conditional,
        step: StepView<'_>,
        rows: RowsView<'_>,
    ) {
        self.apply(first, Operation::Position(step, rows));
    }

    /// Conditions on rows about the last state of a segment.
    pub(crate) fn absorb(&mut self, conditional: &mut Conditional, rows: RowsView<'_>) {
        self.apply(conditional, Operation::Absorb(rows));
    }

    /// Moves the last state of a segment over another conditional, whose rows it has absorbed.
    pub(crate) fn advance(&mut self, first: &mut Conditional, second: &Conditional) {
        self.apply(first, Operation::Advance(second));
    }

    /// The rows about the state before a segment, from its cells and from rows about its last state.
    pub(crate) fn pull(&mut self, conditional: &Conditional, rows: RowsView<'_>, out: &mut InformationRows) {
        dispatch_lanes(&self.layout, Pull { conditional, rows, out, scratch: &mut self.scratch });
    }
}

enum Operation<'a> {
    Join(&'a Conditional),
    Position(StepView<'a>, RowsView<'a>),
    Absorb(RowsView<'a>),
    Advance(&'a Conditional),
}

struct Apply<'a> {
    conditional: &'a mut Conditional,
    operation: Operation<'a>,
    scratch: &'a mut Scratch,
}

impl Job for Apply<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) {
        let Self { conditional, operation, scratch } = self;
        let size = shape.size();
        match operation {
            Operation::Join(second) => conditional.join::<A>(size, second, scratch),
            Operation::Position(step, rows) => {
                conditional.step::<A, S>(shape, step, scratch);
                conditional.absorb::<A>(size, rows, scratch);
            }
            Operation::Absorb(rows) => conditional.absorb::<A>(size, rows, scratch),
            Operation::Advance(second) => conditional.advance::<A>(size, second, scratch),
        }
    }
}

struct Pull<'a> {
    conditional: &'a Conditional,
    rows: RowsView<'a>,
    out: &'a mut InformationRows,
    scratch: &'a mut Scratch,
}

impl Job for Pull<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) {
        self.conditional.pull::<A>(shape.size(), self.rows, self.out, self.scratch);
    }
}
