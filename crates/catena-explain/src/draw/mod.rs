//! A small graph as text with all numbers, as DOT, and as an SVG drawing in the style of Fig. 2.

mod canvas;
mod dot;
mod layout;
mod svg;
mod text;

use crate::edge::Edge;
use crate::explicit::ExplicitGraph;
use crate::listing::figure_number;
use catena::index::RowIndex;
use std::collections::BTreeMap;

/// Whether a message of the figure is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Sent,
    Absent,
}

impl ExplicitGraph {
    /// Every message at every row with its numbers, and the posterior of every state.
    pub fn to_text(&self) -> String {
        text::text(self)
    }

    /// The graph in the DOT language of Graphviz; `dot -Tsvg` draws it, with every box at the place it has in the SVG drawing.
    pub fn to_dot(&self) -> String {
        dot::dot(self)
    }

    /// The graph as an SVG drawing: one plate per row, the chain from left to right, further branches below. Messages
    /// that are absent, and the factors that would send them, are dashed.
    pub fn to_svg(&self) -> String {
        svg::svg(self)
    }

    /// Every number of Fig. 2 at a row, with its edge, sent or not: also on the edges of factors that are absent.
    fn figure_messages(&self, row: RowIndex) -> BTreeMap<usize, (Edge, Presence)> {
        let n_outputs = self.outputs().len();
        let mut edges = vec![Edge::Outputs(row)];
        for output in self.outputs() {
            edges.extend([Edge::Selection(row, output), Edge::Output(row, output)]);
            edges.extend([Edge::Join(row, output), Edge::Observation(row, output)]);
        }
        let numbered = edges.into_iter().filter_map(|edge| {
            let number = figure_number(edge, n_outputs)?;
            let is_sent = self.messages_on(edge).is_some_and(|messages| messages.toward_root.is_some());
            Some((number, (edge, if is_sent { Presence::Sent } else { Presence::Absent })))
        });
        numbered.collect()
    }
}
