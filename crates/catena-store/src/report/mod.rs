//! One self-contained HTML page about a fit: charts, model, calibration and warnings. It loads nothing from the network.
//!
//! [`Report`] holds plain numbers and [`Report::to_html`] returns the page; parts that are `None` or empty are left out.
//! This module knows no model and no other module of the workspace (`crates/xtask/tests/crate_layers.rs`).
//!
//! ```
//! use catena_store::report::{Axis, Bands, InputColumn, OutputSeries, Report, Table};
//!
//! let report = Report {
//!     title: "Three points".to_owned(),
//!     table: Some(Table {
//!         inputs: vec![InputColumn { axis: Axis::number("depth", Some("m")), values: vec![0.0, 1.0, 2.0] }],
//!         outputs: vec![OutputSeries {
//!             name: "salinity".to_owned(),
//!             observed: vec![Some(34.9), None, Some(35.1)],
//!             mean: vec![34.9, 35.0, 35.1],
//!             bands: Bands::Gaussian { std: vec![0.02, 0.05, 0.02] },
//!             ..OutputSeries::default()
//!         }],
//!         ..Table::default()
//!     }),
//!     ..Report::default()
//! };
//! let page = report.to_html()?;
//! assert!(page.starts_with("<!doctype html>"));
//! # Ok::<(), catena_store::report::ReportError>(())
//! ```

mod check;
mod direction;
mod model;
mod page;
mod payload;
mod scores;
mod table;

pub use check::ReportError;
pub use model::{Latent, LengthScale, Model, Shares, Structure};
pub use page::{DRAWING, STYLE};
pub use payload::packed;
pub use scores::{Calibration, Candidate, CoveragePoint, EvidencePath, MethodScore, OutputScore, Search};
pub use table::{Axis, AxisKind, BandMeaning, Bands, InputColumn, OutputSeries, Table, TimeZone};

use serde::Serialize;

/// Everything the page shows. Parts that are `None` or empty are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Headline of the page, and its name in the browser.
    pub title: String,
    /// One line under the headline.
    pub subtitle: Option<String>,
    /// Program and version that made the page, such as `catena 0.1.0`. Shown in the footer.
    pub generated_by: String,
    /// Command, data and options.
    pub run: Option<Run>,
    /// Shown before everything else.
    pub warnings: Vec<Warning>,
    /// Rows, inputs, outputs and predictions.
    #[serde(serialize_with = "payload::table")]
    pub table: Option<Table>,
    /// How places are measured, if the last input is the time and the others are coordinates of a place: a map of places is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Places>,
    /// Chain or tree over the rows. Drawn for two and three inputs.
    pub structure: Option<Structure>,
    /// The fitted model.
    pub model: Option<Model>,
    /// Log evidence by iteration, one path per start or candidate.
    pub evidence: Vec<EvidencePath>,
    /// Scores and coverage on held-out cells.
    pub calibration: Option<Calibration>,
    /// The candidates of an automatic choice.
    pub search: Option<Search>,
    /// Further sentences for the footer.
    pub footnotes: Vec<String>,
}

impl Report {
    /// The page: one HTML document with its styles, scripts and numbers inside.
    ///
    /// With one input the rows are sorted by it. A cell takes 12 bytes with Gaussian bands, 24 with quantiles, and 4 more if
    /// held out, times 4/3 for base64: 10⁵ rows × 7 outputs with Gaussian bands make about 12 MB.
    ///
    /// # Errors
    /// If lengths disagree, an input is not finite, or an index is out of range.
    pub fn to_html(&self) -> Result<String, ReportError> {
        check::check(self)?;
        Ok(page::page(self))
    }
}

/// How places are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Places {
    /// Coordinates in a plane.
    Plane,
    /// Latitude, then longitude.
    LatLon,
    /// Longitude, then latitude.
    LonLat,
}

/// Command, data and options of the fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Run {
    /// The command as typed, or the Python call.
    pub command: Option<String>,
    /// Name of the data file or frame.
    pub data: Option<String>,
    /// Digest of the data, with its kind: `sha256:…`.
    pub digest: Option<String>,
    /// Rows of the table the model was fitted to.
    pub n_rows: usize,
    /// Outputs of that table.
    pub n_outputs: usize,
    /// Missing cells of that table.
    pub n_missing: usize,
    /// Further lines: date, seconds, seed, threads, budget.
    pub facts: Vec<Fact>,
}

/// A labeled line of text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// The label.
    pub label: String,
    /// Its value as text, unit included.
    pub value: String,
}

impl Fact {
    /// A label and its value.
    pub fn new(label: impl Into<String>, value: impl Into<String>) -> Self {
        Self { label: label.into(), value: value.into() }
    }
}

/// A warning about the fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}
