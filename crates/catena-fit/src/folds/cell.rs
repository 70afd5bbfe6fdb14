//! Held-out cells in the order of a fold.

/// A held-out cell: its place in the order of the rows, its output, and its gap.
pub(super) type HeldOutCell = (usize, usize, usize);

/// Outputs with fewer cells have none held out.
pub(super) const FEWEST: usize = 8;
