//! The few shapes an SVG drawing of a factor graph is made of.

use super::Presence;
use super::layout::{CIRCLE, SQUARE};

const INK: &str = "#1a1a1a";
const FAINT: &str = "#9a9a9a";
const MESSAGE: &str = "#1f5fa8";
const DASHES: &str = " stroke-dasharray=\"4 3\"";

/// A label: a symbol with a subscript.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) base: &'static str,
    pub(super) subscript: String,
}

impl Symbol {
    pub(super) fn new(base: &'static str, subscript: impl ToString) -> Self {
        Self { base, subscript: subscript.to_string() }
    }

    fn to_svg(&self) -> String {
        if self.subscript.is_empty() {
            return self.base.to_owned();
        }
        format!("{}<tspan dy=\"3.5\" font-size=\"10\">{}</tspan>", self.base, self.subscript)
    }
}

/// Which side of its place a label stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Middle,
    End,
}

/// Where a message's arrow points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Toward {
    Up,
    Left,
    Right,
}

/// The drawing so far. Later shapes cover earlier ones, so lines come before the boxes they end in.
pub(super) struct Canvas {
    shapes: String,
}

impl Canvas {
    pub(super) fn new() -> Self {
        Self { shapes: String::new() }
    }

    /// The finished document.
    pub(super) fn finish(self, (width, height): (f64, f64), title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"'DejaVu Sans', Helvetica, Arial, sans-serif\">\n\
             <title>{title}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{}</svg>\n",
            self.shapes
        )
    }

    fn push(&mut self, shape: &str) {
        self.shapes.push_str(shape);
        self.shapes.push('\n');
    }

    pub(super) fn path(&mut self, points: &[(f64, f64)], presence: Presence) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        let (color, dashes) = look(presence);
        let points = points.join(" ");
        self.push(&format!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.3\"{dashes}/>"
        ));
    }

    /// A factor: a box around its sign.
    pub(super) fn factor(&mut self, (x, y): (f64, f64), half: (f64, f64), sign: &str, presence: Presence) {
        let (color, dashes) = look(presence);
        let (left, top, width, height) = (x - half.0, y - half.1, 2.0 * half.0, 2.0 * half.1);
        self.push(&format!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"white\" \
             stroke=\"{color}\" stroke-width=\"1.3\"{dashes}/>"
        ));
        self.push(&format!(
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-size=\"17\" fill=\"{color}\">{sign}</text>",
            y + 6.0
        ));
    }

    /// A known value: a black square; hollow where it is absent.
    pub(super) fn square(&mut self, (x, y): (f64, f64), presence: Presence) {
        let (color, dashes) = look(presence);
        let fill = if presence == Presence::Sent { color } else { "white" };
        let (left, top, side) = (x - SQUARE, y - SQUARE, 2.0 * SQUARE);
        self.push(&format!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{side}\" height=\"{side}\" fill=\"{fill}\" \
             stroke=\"{color}\" stroke-width=\"1.2\"{dashes}/>"
        ));
    }

    pub(super) fn symbol(&mut self, (x, y): (f64, f64), symbol: &Symbol, anchor: Anchor, presence: Presence) {
        let (color, anchor, text) = (look(presence).0, anchor_name(anchor), symbol.to_svg());
        self.push(&format!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" font-size=\"14\" font-style=\"italic\" \
             fill=\"{color}\">{text}</text>"
        ));
    }

    /// A line of words.
    pub(super) fn words(&mut self, (x, y): (f64, f64), size: f64, words: &str) {
        self.push(&format!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{INK}\">{words}</text>"));
    }

    /// A message's number in a circle.
    pub(super) fn circle(&mut self, (x, y): (f64, f64), number: usize, presence: Presence) {
        let (color, dashes) = message_look(presence);
        self.push(&format!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{CIRCLE}\" fill=\"white\" stroke=\"{color}\" \
             stroke-width=\"1.3\"{dashes}/>"
        ));
        self.push(&format!(
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-size=\"12\" fill=\"{color}\">{number}</text>",
            y + 4.3
        ));
    }

    /// A short arrow centered here.
    pub(super) fn arrow(&mut self, (x, y): (f64, f64), toward: Toward, presence: Presence) {
        let (dx, dy) = match toward {
            Toward::Up => (0.0, -1.0),
            Toward::Left => (-1.0, 0.0),
            Toward::Right => (1.0, 0.0),
        };
        let (tip, tail) = ((x + 8.0 * dx, y + 8.0 * dy), (x - 8.0 * dx, y - 8.0 * dy));
        // The two barbs lie behind the tip, to either side of the shaft.
        let barb = |side: f64| (tip.0 - 5.0 * dx + side * dy, tip.1 - 5.0 * dy + side * dx);
        let (left, right) = (barb(3.5), barb(-3.5));
        let color = message_look(presence).0;
        self.push(&format!(
            "<path d=\"M{} {} L{} {} M{} {} L{} {} L{} {}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.3\"/>",
            tail.0, tail.1, tip.0, tip.1, left.0, left.1, tip.0, tip.1, right.0, right.1
        ));
    }

    /// The dashed frame around a row.
    pub(super) fn plate(&mut self, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.push(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"none\" \
             stroke=\"{FAINT}\" stroke-width=\"1\" stroke-dasharray=\"7 4\"/>"
        ));
    }
}

fn look(presence: Presence) -> (&'static str, &'static str) {
    match presence {
        Presence::Sent => (INK, ""),
        Presence::Absent => (FAINT, DASHES),
    }
}

fn message_look(presence: Presence) -> (&'static str, &'static str) {
    match presence {
        Presence::Sent => (MESSAGE, ""),
        Presence::Absent => (FAINT, DASHES),
    }
}

fn anchor_name(anchor: Anchor) -> &'static str {
    match anchor {
        Anchor::Middle => "middle",
        Anchor::End => "end",
    }
}
