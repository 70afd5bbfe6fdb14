//! The SVG drawing, plate by plate, in the style of Fig. 2.

use super::Presence;
use super::canvas::{Anchor, Canvas, Symbol, Toward};
use super::layout::{
    ASIDE, CHAIN_Y, CIRCLE, JOIN_Y, LARGE, Layout, MIXING_Y, OBSERVATION_Y, OUTPUT_SPACING, PARAMETER_Y,
    PLATE_HEIGHT, SELECTION_Y, SMALL, SQUARE, STATE_X, VALUE_Y,
};
use crate::edge::{Edge, Node};
use crate::explicit::ExplicitGraph;
use catena::index::{OutputIndex, RowIndex};

const PRIOR_HALF_WIDTH: f64 = 30.0;
/// From an edge to the arrow beside it, and to the circle beside that.
const ARROW_OFFSET: f64 = 11.0;
const CIRCLE_OFFSET: f64 = 30.0;

pub(super) fn svg(graph: &ExplicitGraph) -> String {
    let layout = Layout::new(graph);
    let mut drawing = Drawing { graph, layout, canvas: Canvas::new() };
    for row in graph.rows() {
        drawing.plate(row);
        drawing.way_to_children(row);
    }
    for row in graph.rows() {
        drawing.chain_part(row);
        for output in graph.outputs() {
            drawing.output_part(row, output);
        }
        drawing.messages(row);
    }
    let Drawing { layout, mut canvas, .. } = drawing;
    let (width, height) = layout.size();
    canvas.words((24.0, height - 36.0), 12.0, "Circled: the numbers of the paper's figure 2.");
    canvas.words((24.0, height - 18.0), 12.0, "Dashed: no message, because nothing was observed.");
    canvas.finish((width, height), "Factor graph")
}

struct Drawing<'a> {
    graph: &'a ExplicitGraph,
    layout: Layout,
    canvas: Canvas,
}

impl Drawing<'_> {
    /// A place in a row's plate.
    fn at(&self, row: RowIndex, x: f64, y: f64) -> (f64, f64) {
        let (left, top) = self.layout.corner(row);
        (left + x, top + y)
    }

    fn plate(&mut self, row: RowIndex) {
        let (corner, width) = (self.layout.corner(row), self.layout.plate_width());
        self.canvas.plate(corner, (width, PLATE_HEIGHT));
        let messages = self.graph.figure_messages(row);
        let n_sent = messages.values().filter(|(_, presence)| *presence == Presence::Sent).count();
        let (left, top) = self.layout.title(row);
        self.canvas.words((left, top), 14.0, &format!("row {row}"));
        let count = format!("{n_sent} of {} messages", messages.len());
        self.canvas.words((left, top + 18.0), 11.0, &count);
    }

    /// The state's edges to its children: straight on to the first, and down the gutter, copy by copy, to the others.
    fn way_to_children(&mut self, row: RowIndex) {
        let children: Vec<RowIndex> = self.graph.child_rows(row).collect();
        let (mut here, gutter) = (self.layout.place(row, Node::State(row)), self.layout.gutter_x(row));
        let label = self.at(row, STATE_X + 30.0, CHAIN_Y + 18.0);
        self.canvas.symbol(label, &Symbol::new("z", row), Anchor::Middle, Presence::Sent);
        let mut copies = vec![];
        for &child in &children {
            let end = self.layout.place(child, Node::Drift(child));
            let corner = (gutter, end.1);
            self.canvas.path(&[here, corner, end], Presence::Sent);
            copies.push(corner);
            here = corner;
        }
        // The last child needs no copy: the edge just turns.
        copies.pop();
        for copy in copies {
            self.canvas.factor(copy, (SMALL, SMALL), "=", Presence::Sent);
        }
    }

    /// Prior or transition, the copies of the state, and the mixing.
    fn chain_part(&mut self, row: RowIndex) {
        let [drift, noise, state, mixing] =
            [Node::Drift(row), Node::Noise(row), Node::State(row), Node::Mixing(row)]
                .map(|node| self.layout.place(row, node));
        self.canvas.path(&[noise, state], Presence::Sent);
        self.canvas.path(&[state, mixing], Presence::Sent);
        if self.graph.parent_row(row).is_some() {
            self.canvas.path(&[drift, noise], Presence::Sent);
            self.parameter_above(drift, Symbol::new("A", row));
            self.parameter_above(noise, Symbol::new("Q", row));
            self.canvas.factor(drift, (SMALL, SMALL), "×", Presence::Sent);
            self.canvas.factor(noise, (LARGE, LARGE), "N", Presence::Sent);
        } else {
            let sign = "p(z<tspan dy=\"3.5\" font-size=\"11\">0</tspan><tspan dy=\"-3.5\">)</tspan>";
            self.canvas.factor(noise, (PRIOR_HALF_WIDTH, LARGE), sign, Presence::Sent);
        }
        self.parameter_beside(mixing, Symbol::new("H", ""), Presence::Sent);
        self.canvas.factor(state, (SMALL, SMALL), "=", Presence::Sent);
        self.canvas.factor(mixing, (SMALL, SMALL), "×", Presence::Sent);
        let middle = 0.5 * (noise.0 + state.0) + 0.5 * (PRIOR_HALF_WIDTH - SMALL);
        self.canvas.arrow((middle, state.1 - 10.0), Toward::Right, Presence::Sent);
        self.canvas.arrow((middle, state.1 + 10.0), Toward::Left, Presence::Sent);
    }

    /// One output from its = down to its value; the factors of a missing one are dashed.
    fn output_part(&mut self, row: RowIndex, output: OutputIndex) {
        let is_observed = self.graph.is_observed(row, output);
        let presence = if is_observed { Presence::Sent } else { Presence::Absent };
        let [join, selection, observation, value] = [
            Node::Join(row, output),
            Node::Selection(row, output),
            Node::Observation(row, output),
            Node::Value(row, output),
        ]
        .map(|node| self.layout.place(row, node));
        // From the mixing box above the first =, or from the right side of the = before: those are drawn already.
        let start = if output.get() == 0 {
            (join.0, join.1 - JOIN_Y + MIXING_Y + SMALL)
        } else {
            (join.0 - OUTPUT_SPACING + SMALL, join.1)
        };
        self.canvas.path(&[start, join], Presence::Sent);
        self.canvas.path(&[join, selection], Presence::Sent);
        self.canvas.path(&[selection, observation], presence);
        self.canvas.path(&[observation, value], presence);
        let number = output.get() + 1;
        self.parameter_beside(selection, Symbol::new("e", number), Presence::Sent);
        self.parameter_beside(observation, Symbol::new("τ", number), presence);
        self.canvas.factor(join, (SMALL, SMALL), "=", Presence::Sent);
        self.canvas.factor(selection, (SMALL, SMALL), "×", Presence::Sent);
        self.canvas.factor(observation, (LARGE, LARGE), "N", presence);
        self.canvas.square(value, presence);
        let label = Symbol::new("y", format!("{row},{number}"));
        self.canvas.symbol((value.0, value.1 + 22.0), &label, Anchor::Middle, presence);
    }

    /// The circled numbers, each beside its edge.
    fn messages(&mut self, row: RowIndex) {
        for (number, (edge, presence)) in self.graph.figure_messages(row) {
            let (output, (top, bottom)) = match edge {
                Edge::Outputs(_) => (OutputIndex::new(0), (MIXING_Y + SMALL, JOIN_Y - SMALL)),
                Edge::Selection(_, output) => (output, (JOIN_Y + SMALL, SELECTION_Y - SMALL)),
                Edge::Output(_, output) => (output, (SELECTION_Y + SMALL, OBSERVATION_Y - LARGE)),
                Edge::Observation(_, output) => (output, (OBSERVATION_Y + LARGE, VALUE_Y - SQUARE)),
                Edge::Join(_, output) => {
                    let x = Layout::output_x(output) - 0.5 * OUTPUT_SPACING;
                    self.canvas.arrow(self.at(row, x, JOIN_Y - 10.0), Toward::Left, presence);
                    self.canvas.circle(self.at(row, x, JOIN_Y - 18.0 - CIRCLE), number, presence);
                    continue;
                }
                _ => continue,
            };
            let (x, y) = self.at(row, Layout::output_x(output), 0.5 * (top + bottom));
            self.canvas.arrow((x + ARROW_OFFSET, y), Toward::Up, presence);
            self.canvas.circle((x + CIRCLE_OFFSET, y), number, presence);
        }
    }

    fn parameter_above(&mut self, (x, y): (f64, f64), symbol: Symbol) {
        let square = (x, y - CHAIN_Y + PARAMETER_Y);
        self.canvas.path(&[square, (x, y)], Presence::Sent);
        self.canvas.square(square, Presence::Sent);
        self.canvas.symbol((x - 11.0, square.1 + 4.0), &symbol, Anchor::End, Presence::Sent);
    }

    fn parameter_beside(&mut self, (x, y): (f64, f64), symbol: Symbol, presence: Presence) {
        let square = (x - ASIDE, y);
        self.canvas.path(&[square, (x, y)], presence);
        self.canvas.square(square, presence);
        self.canvas.symbol((square.0 - 11.0, y + 4.0), &symbol, Anchor::End, presence);
    }
}
