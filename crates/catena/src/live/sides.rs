//! The segments on both sides of a point's block along its path, as far as they carry information about it.

/// A segment beside a point.
pub(super) enum Beside {
    /// To be used as a whole; it may have forgotten the state beyond it.
    Whole { has_forgotten: bool },
    /// To be used by its halves.
    Halves { near: usize, far: usize },
}

/// The segments before and after the block of a point, as nodes, the nearest first.
pub(super) struct Sides {
    pub(super) before: Side,
    pub(super) after: Side,
}

/// The segments on one side.
#[derive(Default)]
pub(super) struct Side {
    pub(super) nodes: Vec<usize>,
    /// Whether the last of them has forgotten the state beyond it.
    pub(super) is_closed: bool,
}

impl Sides {
    /// Collects segments, each with whether it lies before the point, until one on each side has forgotten what lies beyond it.
    pub(super) fn new(
        siblings: impl IntoIterator<Item = (bool, usize)>,
        mut look: impl FnMut(bool, usize) -> Beside,
    ) -> Self {
        let mut sides = Self { before: Side::default(), after: Side::default() };
        for (is_before, node) in siblings {
            let side = if is_before { &mut sides.before } else { &mut sides.after };
            let mut nodes = vec![node];
            while !side.is_closed
                && let Some(node) = nodes.pop()
            {
                match look(is_before, node) {
                    Beside::Halves { near, far } => nodes.extend([far, near]),
                    Beside::Whole { has_forgotten } => {
                        side.is_closed = has_forgotten;
                        side.nodes.push(node);
                    }
                }
            }
        }
        sides
    }

    /// Whether the state before the path matters.
    pub(super) fn reaches_the_start(&self) -> bool {
        !self.before.is_closed
    }
}
