//! The whole report, and what was run.

use serde::Serialize;

use crate::{Calibration, EvidencePath, Model, ReportError, Search, Structure, Table};

/// Everything the page shows. Parts that are `None` or empty are absent from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Headline of the page, and its name in the browser.
    pub title: String,
    /// One line under the headline.
    pub subtitle: Option<String>,
    /// Program and version that made the page, such as `catena 0.1.0`. Shown in the footer.
    pub generated_by: String,
    /// What was run, on what.
    pub run: Option<Run>,
    /// What the fit wants the reader to know first, in plain words.
    pub warnings: Vec<Warning>,
    /// Rows, inputs, outputs and predictions.
    pub table: Option<Table>,
    /// How the rows were joined. Drawn for two and three inputs.
    pub structure: Option<Structure>,
    /// The fitted model.
    pub model: Option<Model>,
    /// How the evidence rose while learning, one entry per start or candidate worth showing.
    pub evidence: Vec<EvidencePath>,
    /// How good predictions were on cells hidden from the fit.
    pub calibration: Option<Calibration>,
    /// What an automatic choice tried.
    pub search: Option<Search>,
    /// Further sentences for the footer.
    pub footnotes: Vec<String>,
}

impl Report {
    /// The page: one HTML document with its styles, scripts and numbers inside.
    ///
    /// Rows of a table with one input may be in any order; the page draws them sorted. A cell takes 12 bytes with Gaussian
    /// bands and 24 with quantiles, held-out values 4 more, times 4/3: 10⁵ rows × 7 outputs with Gaussian bands make about 12 MB.
    ///
    /// # Errors
    /// A [`ReportError`] if lengths do not fit together, an input is not finite, or an index names nothing.
    pub fn to_html(&self) -> Result<String, ReportError> {
        crate::check::check(self)?;
        Ok(crate::page::page(self))
    }
}

/// What was run, on what data.
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
    /// Cells without a value.
    pub n_holes: usize,
    /// Anything else worth a line: date, seconds, seed, threads, budget.
    pub facts: Vec<Fact>,
}

/// A labelled line of text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// What it is.
    pub label: String,
    /// Its value as text, unit included.
    pub value: String,
}

impl Fact {
    /// A line from label and value.
    pub fn new(label: impl Into<String>, value: impl Into<String>) -> Self {
        Self { label: label.into(), value: value.into() }
    }
}

/// Something the reader should know before trusting the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    /// What is the matter.
    pub message: String,
    /// What can be done about it.
    pub advice: Option<String>,
}
