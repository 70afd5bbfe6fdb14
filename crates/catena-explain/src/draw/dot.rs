//! The graph in the DOT language: boxes with their parameters, black squares for observed values, and edges labelled with
//! the numbers of their messages. Places are those of the SVG drawing.

use super::Presence;
use super::layout::Layout;
use crate::edge::{Edge, Node};
use crate::explicit::ExplicitGraph;
use catena::index::RowIndex;

/// Graphviz's `neato` keeps the places that boxes are given.
const HEADER: &str = "graph catena {
  layout=neato; splines=line;
  node [fontname=\"Helvetica\", fontsize=12, shape=box, width=0.5, height=0.35, fixedsize=true];
  edge [fontname=\"Helvetica\", fontsize=10];";
const ABSENT: &str = "style=dashed, color=gray60, fontcolor=gray60";
const POINTS_PER_INCH: f64 = 72.0;

pub(super) fn dot(graph: &ExplicitGraph) -> String {
    let layout = Layout::new(graph);
    let mut lines = vec![HEADER.to_owned()];
    for row in graph.rows() {
        let (left, top) = layout.title(row);
        let place = place((left + 30.0, top));
        lines.push(format!("  row_{row} [label=\"row {row}\", shape=plaintext, width=0.7, {place}];"));
        row_nodes(graph, &layout, row, &mut lines);
        way_to_children(graph, &layout, row, &mut lines);
    }
    for row in graph.rows() {
        row_edges(graph, row, &mut lines);
    }
    lines.push("}\n".to_owned());
    lines.join("\n")
}

/// A place in inches, counted upward.
fn place((x, y): (f64, f64)) -> String {
    format!("pos=\"{:.3},{:.3}!\"", x / POINTS_PER_INCH, -y / POINTS_PER_INCH)
}

/// An identifier for a box.
fn name(node: Node) -> String {
    match node {
        Node::Prior => "prior".to_owned(),
        Node::Drift(row) => format!("drift_{row}"),
        Node::Noise(row) => format!("noise_{row}"),
        Node::State(row) => format!("state_{row}"),
        Node::Mixing(row) => format!("mixing_{row}"),
        Node::Join(row, output) => format!("join_{row}_{output}"),
        Node::Selection(row, output) => format!("selection_{row}_{output}"),
        Node::Observation(row, output) => format!("observation_{row}_{output}"),
        Node::Value(row, output) => format!("value_{row}_{output}"),
    }
}

/// The boxes of a row.
fn row_nodes(graph: &ExplicitGraph, layout: &Layout, row: RowIndex, lines: &mut Vec<String>) {
    let mut boxed = |node: Node, label: &str, look: &str| {
        let place = place(layout.place(row, node));
        lines.push(format!("  {} [label=\"{label}\", {place}{look}];", name(node)));
    };
    if graph.parent_row(row).is_none() {
        boxed(Node::Prior, "p(z0)", ", width=0.6");
    } else {
        boxed(Node::Drift(row), &format!("× A{row}"), "");
        boxed(Node::Noise(row), &format!("N Q{row}"), "");
    }
    boxed(Node::State(row), "=", "");
    boxed(Node::Mixing(row), "× H", "");
    for output in graph.outputs() {
        let (number, is_observed) = (output.get() + 1, graph.is_observed(row, output));
        let look = if is_observed { String::new() } else { format!(", {ABSENT}") };
        let square = if is_observed { "style=filled, fillcolor=black" } else { ABSENT };
        let square = format!(", shape=square, width=0.12, height=0.12, xlabel=\"y{row},{number}\", {square}");
        boxed(Node::Join(row, output), "=", "");
        boxed(Node::Selection(row, output), &format!("× e{number}"), "");
        boxed(Node::Observation(row, output), &format!("N τ{number}"), &look);
        boxed(Node::Value(row, output), "", &square);
    }
}

/// The state's edges to its children: straight to an only child, else copy by copy, the last one around a corner.
fn way_to_children(graph: &ExplicitGraph, layout: &Layout, row: RowIndex, lines: &mut Vec<String>) {
    let children: Vec<RowIndex> = graph.child_rows(row).collect();
    let mut here = name(Node::State(row));
    for (at, &child) in children.iter().enumerate() {
        let drift = name(Node::Drift(child));
        if children.len() == 1 {
            lines.push(format!("  {here} -- {drift};"));
            continue;
        }
        let look =
            if at + 1 < children.len() { "label=\"=\"" } else { "shape=point, width=0.01, height=0.01" };
        let place = place((layout.gutter_x(row), layout.place(child, Node::Drift(child)).1));
        lines.push(format!("  copy_{child} [{look}, {place}];"));
        lines.push(format!("  {here} -- copy_{child};"));
        lines.push(format!("  copy_{child} -- {drift};"));
        here = format!("copy_{child}");
    }
}

fn row_edges(graph: &ExplicitGraph, row: RowIndex, lines: &mut Vec<String>) {
    let messages = graph.figure_messages(row);
    let mut edges = graph.edges_of(row);
    edges.retain(|edge| !matches!(edge, Edge::Parent(_)));
    let missing = graph.outputs().filter(|&output| !graph.is_observed(row, output));
    edges.extend(missing.map(|output| Edge::Observation(row, output)));
    for edge in edges {
        let numbered = messages.iter().find(|(_, (of, _))| *of == edge);
        let look = match numbered {
            None => String::new(),
            Some((number, (_, Presence::Sent))) => format!(" [label=\"{number} {}\"]", arrow(edge)),
            Some((number, (_, Presence::Absent))) => {
                format!(" [label=\"{number} {}\", {ABSENT}]", arrow(edge))
            }
        };
        let (upper, lower) = (name(graph.upper_end(edge)), name(drawn_lower_end(graph, edge)));
        lines.push(format!("  {upper} -- {lower}{look};"));
    }
}

fn arrow(edge: Edge) -> &'static str {
    if matches!(edge, Edge::Join(..)) { "←" } else { "↑" }
}

/// The box below an edge; an edge that ends in nothing is drawn down to the factor that is absent.
fn drawn_lower_end(graph: &ExplicitGraph, edge: Edge) -> Node {
    match (graph.lower_end(edge), edge) {
        (None, Edge::Output(row, output)) => Node::Observation(row, output),
        (Some(node), _) => node,
        (None, _) => graph.upper_end(edge),
    }
}
