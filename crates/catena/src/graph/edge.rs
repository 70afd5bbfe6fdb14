//! The names of the boxes and of the edges between them.

use super::explicit::ExplicitGraph;
use super::message::{Moment, Upward};
use crate::index::{OutputIndex, RowIndex};
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

impl ExplicitGraph {
    /// The edges that belong to a row, from the root down.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn edges_of(&self, row: RowIndex) -> Vec<Edge> {
        let mut edges = vec![];
        if self.parent_row(row).is_some() {
            edges.extend([Edge::Parent(row), Edge::Drift(row)]);
        }
        edges.extend([Edge::State(row), Edge::Readout(row), Edge::Outputs(row)]);
        for output in self.outputs() {
            if output.get() > 0 {
                edges.push(Edge::Join(row, output));
            }
            edges.extend([Edge::Selection(row, output), Edge::Output(row, output)]);
            if self.is_observed(row, output) {
                edges.push(Edge::Observation(row, output));
            }
        }
        edges
    }

    /// All edges, row by row in visiting order.
    pub fn edges(&self) -> Vec<Edge> {
        self.rows().flat_map(|row| self.edges_of(row)).collect()
    }

    /// The box at the end of an edge nearer the root.
    ///
    /// # Panics
    /// When the edge is of another graph and out of range.
    pub fn upper_end(&self, edge: Edge) -> Node {
        match edge {
            Edge::Parent(row) => self.parent_row(row).map_or(Node::Prior, Node::State),
            Edge::Drift(row) => Node::Drift(row),
            Edge::State(row) if self.parent_row(row).is_none() => Node::Prior,
            Edge::State(row) => Node::Noise(row),
            Edge::Readout(row) => Node::State(row),
            Edge::Outputs(row) => Node::Mixing(row),
            Edge::Join(row, output) => Node::Join(row, OutputIndex::new(output.get().saturating_sub(1))),
            Edge::Selection(row, output) => Node::Join(row, output),
            Edge::Output(row, output) => Node::Selection(row, output),
            Edge::Observation(row, output) => Node::Observation(row, output),
        }
    }

    /// The box at the other end; `None` where an output without observation ends in nothing.
    ///
    /// # Panics
    /// When the edge is of another graph and out of range.
    pub fn lower_end(&self, edge: Edge) -> Option<Node> {
        Some(match edge {
            Edge::Parent(row) => Node::Drift(row),
            Edge::Drift(row) => Node::Noise(row),
            Edge::State(row) => Node::State(row),
            Edge::Readout(row) => Node::Mixing(row),
            Edge::Outputs(row) => Node::Join(row, OutputIndex::new(0)),
            Edge::Join(row, output) => Node::Join(row, output),
            Edge::Selection(row, output) => Node::Selection(row, output),
            Edge::Output(row, output) if !self.is_observed(row, output) => return None,
            Edge::Output(row, output) => Node::Observation(row, output),
            Edge::Observation(row, output) => Node::Value(row, output),
        })
    }
}
