//! Draws panels as SVG.

use std::fmt::Write as _;

use super::axis::{Range, tick_text};
use super::style::{Marker, Stroke};
use super::{Look, Panel, Series};

const INK: &str = "#1a1a1a";
const GRID: &str = "#e3e3e3";
const PLOT: (f64, f64) = (290.0, 205.0);
/// Room for labels: left, top, right, bottom.
const MARGIN: (f64, f64, f64, f64) = (66.0, 30.0, 14.0, 50.0);
const LEGEND_LINE: f64 = 20.0;
/// Room for the key of a legend's entry, and for a letter of its name.
const LEGEND_KEY: f64 = 46.0;
const LETTER: f64 = 6.4;

pub(super) fn chart(title: &str, panels: &[Panel], columns: usize) -> String {
    let columns = columns.clamp(1, panels.len().max(1));
    let cell = (PLOT.0 + MARGIN.0 + MARGIN.2, PLOT.1 + MARGIN.1 + MARGIN.3);
    let width = cell.0 * columns as f64;
    let entries = legend_entries(panels);
    let longest = entries.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let entry_width = LEGEND_KEY + LETTER * longest as f64;
    let per_line = ((width / entry_width) as usize).max(1);
    let panels_height = cell.1 * panels.len().div_ceil(columns) as f64;
    let height = panels_height + LEGEND_LINE * entries.len().div_ceil(per_line) as f64 + 8.0;
    let mut shapes = String::new();
    for (at, panel) in panels.iter().enumerate() {
        let corner = ((at % columns) as f64 * cell.0 + MARGIN.0, (at / columns) as f64 * cell.1 + MARGIN.1);
        Drawing { shapes: &mut shapes, corner }.panel(panel);
    }
    for (line, row) in entries.chunks(per_line).enumerate() {
        let left = 0.5 * (width - entry_width * row.len() as f64);
        let y = panels_height + 8.0 + LEGEND_LINE * line as f64;
        for (at, (name, look)) in row.iter().enumerate() {
            legend_entry(&mut shapes, (left + entry_width * at as f64, y), name, *look);
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"'DejaVu Sans', Helvetica, Arial, sans-serif\" font-size=\"11\">\n<title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{shapes}</svg>\n",
        escaped(title)
    )
}

/// Every name once, in order of appearance, the paper's after ours.
fn legend_entries(panels: &[Panel]) -> Vec<(&str, Look)> {
    let mut entries: Vec<(&str, Look)> = vec![];
    for series in panels.iter().flat_map(|panel| &panel.series) {
        if entries.iter().all(|(name, _)| *name != series.name) {
            entries.push((&series.name, series.look));
        }
    }
    entries.sort_by_key(|(_, look)| look.is_hollow);
    entries
}

fn legend_entry(shapes: &mut String, (x, y): (f64, f64), name: &str, look: Look) {
    stroke(shapes, &[(x, y), (x + 24.0, y)], look);
    marker(shapes, (x + 12.0, y), look);
    let (left, base, name) = (x + 30.0, y + 4.0, escaped(name));
    let _ = writeln!(shapes, "<text x=\"{left:.1}\" y=\"{base:.1}\" fill=\"{INK}\">{name}</text>");
}

/// One panel, its plot area beginning at a corner.
struct Drawing<'a> {
    shapes: &'a mut String,
    corner: (f64, f64),
}

impl Drawing<'_> {
    fn panel(&mut self, panel: &Panel) {
        let points = || panel.series.iter().flat_map(|series| &series.points);
        let x = Range::of(&panel.x, points().map(|point| point.x));
        let y = Range::of(&panel.y, points().flat_map(|point| [point.y, point.low, point.high]));
        self.frame(panel, &x, &y);
        for series in &panel.series {
            self.series(series, &x, &y);
        }
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (self.corner.0 + PLOT.0 * x, self.corner.1 + PLOT.1 * (1.0 - y))
    }

    fn frame(&mut self, panel: &Panel, x: &Range, y: &Range) {
        let (left, bottom) = self.place(0.0, 0.0);
        let (right, top) = self.place(1.0, 1.0);
        for &tick in &x.ticks {
            let at = self.place(x.place(tick), 0.0).0;
            self.line((at, bottom), (at, top), GRID);
            self.text((at, bottom + 15.0), "middle", &tick_text(tick));
        }
        for &tick in &y.ticks {
            let at = self.place(0.0, y.place(tick)).1;
            self.line((left, at), (right, at), GRID);
            self.text((left - 6.0, at + 4.0), "end", &tick_text(tick));
        }
        self.line((left, bottom), (right, bottom), INK);
        self.line((left, bottom), (left, top), INK);
        let middle = (0.5 * (left + right), 0.5 * (bottom + top));
        self.text((middle.0, bottom + 34.0), "middle", &panel.x.label);
        let (turned_x, turned_y) = (left - 50.0, middle.1);
        let _ = writeln!(
            self.shapes,
            "<text x=\"{turned_x:.1}\" y=\"{turned_y:.1}\" text-anchor=\"middle\" fill=\"{INK}\" \
             transform=\"rotate(-90 {turned_x:.1} {turned_y:.1})\">{}</text>",
            escaped(&panel.y.label)
        );
        let _ = writeln!(
            self.shapes,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"12\" font-weight=\"bold\" fill=\"{INK}\">{}</text>",
            middle.0,
            top - 10.0,
            escaped(&panel.title)
        );
    }

    fn series(&mut self, series: &Series, x: &Range, y: &Range) {
        let places: Vec<(f64, f64)> =
            series.points.iter().map(|point| self.place(x.place(point.x), y.place(point.y))).collect();
        stroke(self.shapes, &places, series.look);
        for (point, &(at, _)) in series.points.iter().zip(&places) {
            if point.high > point.low {
                let (low, high) =
                    (self.place(0.0, y.place(point.low)).1, self.place(0.0, y.place(point.high)).1);
                let color = series.look.color;
                self.line((at, low), (at, high), color);
                self.line((at - 3.0, low), (at + 3.0, low), color);
                self.line((at - 3.0, high), (at + 3.0, high), color);
            }
        }
        for place in places {
            marker(self.shapes, place, series.look);
        }
    }

    fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), color: &str) {
        let _ = writeln!(
            self.shapes,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{color}\"/>"
        );
    }

    fn text(&mut self, (x, y): (f64, f64), anchor: &str, words: &str) {
        let _ = writeln!(
            self.shapes,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{INK}\">{}</text>",
            escaped(words)
        );
    }
}

/// The line that joins a series.
fn stroke(shapes: &mut String, places: &[(f64, f64)], look: Look) {
    let dashes = match look.stroke {
        Stroke::None => return,
        Stroke::Solid => "",
        Stroke::Dashed => " stroke-dasharray=\"5 3\"",
    };
    let points: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(
        shapes,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.4\"{dashes}/>",
        points.join(" "),
        look.color
    );
}

fn marker(shapes: &mut String, (x, y): (f64, f64), look: Look) {
    let Some(shape) = look.marker else { return };
    let (size, fill, width) = if look.is_hollow { (5.6, "none", 1.2) } else { (3.4, look.color, 1.0) };
    let path = match shape {
        Marker::Circle => format!(
            "M{:.1} {y:.1} a{size} {size} 0 1 0 {:.1} 0 a{size} {size} 0 1 0 {:.1} 0",
            x - size,
            2.0 * size,
            -2.0 * size
        ),
        Marker::Square => {
            format!("M{:.1} {:.1} h{w:.1} v{w:.1} h-{w:.1} Z", x - size, y - size, w = 2.0 * size)
        }
        Marker::Triangle => {
            format!(
                "M{x:.1} {:.1} L{:.1} {b:.1} L{:.1} {b:.1} Z",
                y - 1.2 * size,
                x + 1.1 * size,
                x - 1.1 * size,
                b = y + 0.8 * size
            )
        }
        Marker::Diamond => {
            let s = 1.25 * size;
            format!("M{x:.1} {:.1} L{:.1} {y:.1} L{x:.1} {:.1} L{:.1} {y:.1} Z", y - s, x + s, y + s, x - s)
        }
        Marker::Cross => format!(
            "M{:.1} {:.1} L{:.1} {:.1} M{:.1} {:.1} L{:.1} {:.1}",
            x - size,
            y - size,
            x + size,
            y + size,
            x - size,
            y + size,
            x + size,
            y - size
        ),
    };
    // A cross has no inside: its strokes are all there is of it.
    let width = if shape == Marker::Cross { 1.6 } else { width };
    let _ = writeln!(
        shapes,
        "<path class=\"mark\" d=\"{path}\" fill=\"{fill}\" stroke=\"{}\" stroke-width=\"{width}\"/>",
        look.color
    );
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
