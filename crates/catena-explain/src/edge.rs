//! The names of the boxes and of the edges between them.

use crate::message::{Moment, Upward};
use catena::index::{OutputIndex, RowIndex};
use std::fmt;

/// A box of Fig. 2 (or the black square of an observed value), by the row it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// `p(z_0)`.
    Prior,
    /// × beside A.
    Drift(RowIndex),
    /// N beside Q.
    Noise(RowIndex),
    /// = on the chain: the copies of z_i.
    State(RowIndex),
    /// × beside H.
    Mixing(RowIndex),
    /// = above an output: the copies of f_i.
    Join(RowIndex, OutputIndex),
    /// × beside e_d.
    Selection(RowIndex, OutputIndex),
    /// N beside τ_d.
    Observation(RowIndex, OutputIndex),
    /// The known value y_id.
    Value(RowIndex, OutputIndex),
}

/// The label of the box; outputs are counted from 1 as in the paper.
impl fmt::Display for Node {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prior => formatter.write_str("p(z0)"),
            Self::Drift(_) => formatter.write_str("×A"),
            Self::Noise(_) => formatter.write_str("N(Q)"),
            Self::State(row) => write!(formatter, "=(z{row})"),
            Self::Mixing(_) => formatter.write_str("×H"),
            Self::Join(_, output) => write!(formatter, "=(f,{})", output.get() + 1),
            Self::Selection(_, output) => write!(formatter, "×e{}", output.get() + 1),
            Self::Observation(_, output) => write!(formatter, "N(τ{})", output.get() + 1),
            Self::Value(_, output) => write!(formatter, "y{}", output.get() + 1),
        }
    }
}

/// An edge, which is a variable (or a copy of one), by the row it belongs to. From the root down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// The parent's state on its way to this row: z_p, between the parent's = and × beside A.
    Parent(RowIndex),
    /// A z_p, between × and N.
    Drift(RowIndex),
    /// z_i, between the row's N (or the prior) and its =.
    State(RowIndex),
    /// z_i on its way to the outputs, between = and × beside H.
    Readout(RowIndex),
    /// f_i = H z_i, between × and the first output's =.
    Outputs(RowIndex),
    /// f_i, between the = of this output and that of the output before it; the first output has no such edge.
    Join(RowIndex, OutputIndex),
    /// f_i on its way to one output, between = and × beside e_d.
    Selection(RowIndex, OutputIndex),
    /// f_id, between × and N beside τ_d; it ends in nothing where the output was not observed.
    Output(RowIndex, OutputIndex),
    /// y_id, between N and its known value; only where the output was observed.
    Observation(RowIndex, OutputIndex),
}

/// The two messages on an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeMessages {
    /// From the end farther from the root; absent where no observation lies that way within the node.
    pub toward_root: Option<Upward>,
    /// From the end nearer the root.
    pub away_from_root: Moment,
}

impl EdgeMessages {
    /// The product of the two messages: the marginal of the edge's variable, with the log evidence as its log-scale.
    pub fn marginal(&self) -> Moment {
        match &self.toward_root {
            None => self.away_from_root.clone(),
            Some(Upward::Known(value)) => self.away_from_root.known_to_be(*value),
            Some(Upward::Canonical(message)) => self.away_from_root.times(message),
        }
    }
}
