//! What a check finds, in the user's units.

use catena::index::{OutputIndex, RowIndex};

/// The probability of the bands of findings.
pub const BAND: f64 = 0.95;

/// Kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// A single cell.
    Spike,
    /// Consecutive cells that deviate to the same side.
    Stretch,
    /// A value repeated for longer than other repetitions of its output.
    Stuck,
    /// From some row on, an output is higher or lower against the others.
    Step,
    /// An output moves away from the others.
    Drift,
}

impl FindingKind {
    /// The word in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spike => "spike",
            Self::Stretch => "stretch",
            Self::Stuck => "stuck",
            Self::Step => "step",
            Self::Drift => "drift",
        }
    }

    /// Whether the cells are set aside. A step or a drift is all of an output: which part is wrong is not known.
    pub const fn is_set_aside(self) -> bool {
        matches!(self, Self::Spike | Self::Stretch | Self::Stuck)
    }
}

/// Cells that all other cells contradict.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// The output.
    pub output: OutputIndex,
    /// The rows of its cells in the given table, in their order along the input. Those of a step follow it.
    pub rows: Vec<RowIndex>,
    /// The value; the mean of several.
    pub value: f64,
    /// What all other cells say: the mean of the cells' predictive distributions without all cells that are set aside.
    pub expected: f64,
    /// Lower end of the central interval of probability [`BAND`]; the mean of several.
    pub lower: f64,
    /// Upper end of the interval.
    pub upper: f64,
    /// The deviation in standard deviations; infinite for a value that the transform of its output does not have. For a stuck sensor
    /// that of the mean of its cells.
    pub deviation: f64,
    /// The probability of an ordinary cell, stretch or run this surprising.
    pub p_value: f64,
}

impl Finding {
    /// The first and the last row.
    pub fn ends(&self) -> Option<(RowIndex, RowIndex)> {
        Some((*self.rows.first()?, *self.rows.last()?))
    }
}
