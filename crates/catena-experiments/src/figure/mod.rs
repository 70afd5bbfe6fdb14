//! Charts in one style: plain values, drawn as SVG (`svg`), turned into pixels (`png`) and kept as CSV (`csv`).
//!
//! Colors are those of Okabe and Ito, which all kinds of color vision tell apart; every color also has its own marker.
//! `plotters` and the like were looked at: their text depends on system fonts and their SVG is large, and a dozen kinds of
//! shapes are all that is needed here.

mod axis;
mod csv;
mod png;
mod style;
mod svg;

pub(crate) use axis::{Axis, Scale};
pub(crate) use style::Look;
pub(crate) use svg::escaped;

use crate::error::ExperimentError;

/// A point with its error bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// The ends of the bar; the value itself where there is none.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Point {
    pub(crate) fn bare(x: f64, y: f64) -> Self {
        Self { x, y, low: y, high: y }
    }

    /// With a bar of one deviation to both sides.
    pub(crate) fn with_spread(x: f64, values: &[f64]) -> Self {
        let (y, spread) = (crate::statistics::mean(values), crate::statistics::deviation(values));
        Self { x, y, low: y - spread, high: y + spread }
    }
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) look: Look,
    pub(crate) points: Vec<Point>,
}

impl Series {
    pub(crate) fn new(name: impl Into<String>, look: Look, points: Vec<Point>) -> Self {
        Self { name: name.into(), look, points }
    }
}

/// One pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// What a figure shows.
#[derive(Clone, Debug, PartialEq)]
enum Body {
    Chart { panels: Vec<Panel>, columns: usize },
    Drawing(String),
}

/// A figure with its name (the file's, without suffix) and caption.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) caption: String,
    body: Body,
}

impl Figure {
    /// Panels in rows of `columns`.
    pub(crate) fn chart(
        name: &'static str,
        caption: impl Into<String>,
        columns: usize,
        panels: Vec<Panel>,
    ) -> Self {
        Self { name, caption: caption.into(), body: Body::Chart { panels, columns } }
    }

    /// A drawing that is already SVG.
    pub(crate) fn drawing(name: &'static str, caption: impl Into<String>, svg: String) -> Self {
        Self { name, caption: caption.into(), body: Body::Drawing(svg) }
    }

    pub(crate) fn to_svg(&self) -> String {
        match &self.body {
            Body::Chart { panels, columns } => svg::chart(&self.caption, panels, *columns),
            Body::Drawing(svg) => svg.clone(),
        }
    }

    /// Pixels, two for each unit of the SVG.
    pub(crate) fn to_png(&self) -> Result<Vec<u8>, ExperimentError> {
        png::rasterized(&self.to_svg())
            .map_err(|cause| ExperimentError::Picture { name: self.name.to_owned(), cause })
    }

    /// The plotted numbers; `None` for a drawing.
    pub(crate) fn to_csv(&self) -> Option<String> {
        match &self.body {
            Body::Chart { panels, .. } => Some(csv::of_panels(panels)),
            Body::Drawing(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Figure {
        let points = vec![Point::bare(1.0, 0.5), Point { x: 10.0, y: 2.0, low: 1.0, high: 4.0 }];
        let panel = Panel {
            title: "A".to_owned(),
            x: Axis::new("size C", Scale::Logarithmic),
            y: Axis::new("error & more", Scale::Linear),
            series: vec![
                Series::new("ours", Look::method(0), points.clone()),
                Series::new("paper", Look::paper(0), points),
            ],
        };
        Figure::chart("example", "An example", 1, vec![panel])
    }

    #[test]
    fn a_chart_names_its_axes_and_series_and_draws_every_point() {
        let svg = example().to_svg();
        for word in ["size C", "error &amp; more", ">ours<", ">paper<", "An example"] {
            assert!(svg.contains(word), "{word} is not in {svg}");
        }
        // Two points and a key for each of two series.
        assert_eq!(svg.matches("class=\"mark\"").count(), 6);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn pixels_have_ink_of_every_color_and_of_the_text() {
        let png = example().to_png().unwrap();
        assert_eq!(&png[1..4], b"PNG");
        let picture = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
        let is_blue = |pixel: &resvg::tiny_skia::PremultipliedColorU8| pixel.blue() > 150 && pixel.red() < 60;
        let is_ink = |pixel: &resvg::tiny_skia::PremultipliedColorU8| pixel.red() < 80 && pixel.blue() < 80;
        assert!(picture.pixels().iter().filter(|pixel| is_blue(pixel)).count() > 100);
        assert!(picture.pixels().iter().filter(|pixel| is_ink(pixel)).count() > 300, "text is missing");
    }

    #[test]
    fn the_numbers_of_a_chart_are_kept() {
        let expected = "panel,series,x,y,low,high\nA,ours,1,0.5,0.5,0.5\nA,ours,10,2,1,4\nA,paper,1,0.5,0.5,0.5\nA,paper,10,2,1,4\n";
        assert_eq!(example().to_csv().unwrap(), expected);
    }
}
