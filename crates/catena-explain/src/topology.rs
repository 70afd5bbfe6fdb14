//! The edges of a graph and the boxes they join.

use crate::edge::{Edge, Node};
use crate::explicit::ExplicitGraph;
use catena::index::{OutputIndex, RowIndex};

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
