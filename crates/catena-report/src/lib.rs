//! A fit as one self-contained HTML page: charts, model, calibration and warnings, readable without a network.
//!
//! Fill a [`Report`] with plain numbers and call [`Report::to_html`]. The crate does no inference and knows no other crate
//! of the workspace, so that the command line, Python and anyone else make the same page. A part that is not given is
//! absent from the page.
//!
//! ```
//! use catena_report::{Axis, Bands, InputColumn, OutputSeries, Report, Table};
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
//! # Ok::<(), catena_report::ReportError>(())
//! ```
//!
//! In reading order: `report` (the whole and what was run), `table` (rows, inputs, outputs), `model`, `judgement`
//! (calibration, search, evidence), `check` (what is refused), `payload` (the numbers as the page reads them), `page` (the
//! files of the page put together; they are in the folder of that name).

mod check;
mod judgement;
mod model;
mod page;
mod payload;
mod report;
mod table;

pub use check::ReportError;
pub use judgement::{Calibration, Candidate, CoveragePoint, EvidencePath, MethodScore, OutputScore, Search};
pub use model::{Latent, LengthScale, Model, Shares, Structure};
pub use report::{Fact, Report, Run, Warning};
pub use table::{Axis, AxisKind, BandMeaning, Bands, InputColumn, OutputSeries, Table, TimeZone};
