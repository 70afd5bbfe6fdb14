//! The operations on elements, each compiled for this machine's instruction set.

use super::super::steps::StepView;
use super::element::{Element, InformationRows, RowsView, Scratch};
use crate::linalg::{Arithmetic, Job, Layout, StateAlgebra, dispatch_lanes};

/// Elements of one layout, and the scratch to work on them.
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

    /// Two segments that follow one another, as one.
    pub(crate) fn combine(&mut self, first: &Element, second: &Element, out: &mut Element) {
        out.copy_from(first);
        self.extend(out, second);
    }

    /// Lengthens a segment by the one that follows it.
    pub(crate) fn extend(&mut self, first: &mut Element, second: &Element) {
        dispatch_lanes(&self.layout, Extend { first, second, scratch: &mut self.scratch });
    }

    /// Lengthens a segment by one position: its step, and the rows that say something about it.
    pub(super) fn extend_by_position(&mut self, first: &mut Element, step: StepView<'_>, rows: RowsView<'_>) {
        dispatch_lanes(&self.layout, ExtendByPosition { first, step, rows, scratch: &mut self.scratch });
    }

    /// Learns rows about the last state of a segment.
    pub(crate) fn absorb(&mut self, element: &mut Element, rows: RowsView<'_>) {
        dispatch_lanes(&self.layout, Absorb { element, rows, scratch: &mut self.scratch });
    }

    /// What a segment, and rows about its last state, say about the state before it.
    pub(crate) fn pull(&mut self, element: &Element, rows: RowsView<'_>, out: &mut InformationRows) {
        dispatch_lanes(&self.layout, Pull { element, rows, out, scratch: &mut self.scratch });
    }
}

struct Extend<'a> {
    first: &'a mut Element,
    second: &'a Element,
    scratch: &'a mut Scratch,
}

impl Job for Extend<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) {
        self.first.join::<A>(shape.size(), self.second, self.scratch);
    }
}

struct ExtendByPosition<'a> {
    first: &'a mut Element,
    step: StepView<'a>,
    rows: RowsView<'a>,
    scratch: &'a mut Scratch,
}

impl Job for ExtendByPosition<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) {
        self.first.step::<A, S>(shape, self.step, self.scratch);
        self.first.absorb::<A>(shape.size(), self.rows, self.scratch);
    }
}

struct Absorb<'a> {
    element: &'a mut Element,
    rows: RowsView<'a>,
    scratch: &'a mut Scratch,
}

impl Job for Absorb<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) {
        self.element.absorb::<A>(shape.size(), self.rows, self.scratch);
    }
}

struct Pull<'a> {
    element: &'a Element,
    rows: RowsView<'a>,
    out: &'a mut InformationRows,
    scratch: &'a mut Scratch,
}

impl Job for Pull<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arithmetic, S: StateAlgebra>(self, shape: S) {
        self.element.pull::<A>(shape.size(), self.rows, self.out, self.scratch);
    }
}
