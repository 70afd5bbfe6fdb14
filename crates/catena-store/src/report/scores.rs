//! Scores and calibration on held-out cells, the candidates of a search, and the log evidence by iteration.

use serde::Serialize;

/// Predictions at held-out cells compared with their values.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Calibration {
    /// Which cells: `a random tenth of the observed cells`.
    pub description: String,
    /// Number of held-out cells.
    pub n_cells: usize,
    /// Share of held-out cells inside central intervals. Empty if not shown.
    pub coverage: Vec<CoveragePoint>,
    /// Histogram of the probability integral transform, in equal bins from 0 to 1. Empty if not shown.
    pub pit_counts: Vec<u64>,
    /// This fit and the simple rules, in the order of the table.
    pub methods: Vec<MethodScore>,
    /// Scores of this fit by output.
    pub by_output: Vec<OutputScore>,
}

/// One point of the coverage curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CoveragePoint {
    /// Nominal level of the interval, between 0 and 1.
    pub nominal: f64,
    /// Share of held-out cells inside it.
    pub observed: f64,
}

/// Scores of one method on the held-out cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MethodScore {
    /// Name: `catena`, `ridge on the other outputs`, `interpolation`, `training mean`.
    pub name: String,
    /// Whether the page is about this fit.
    pub is_this_fit: bool,
    /// Root mean squared error, with outputs standardized or of one unit.
    pub rmse: Option<f64>,
    /// Log score: mean log predictive density, in nats per cell; larger is better.
    pub log_score: Option<f64>,
    /// Share of held-out cells inside the 95 % interval.
    pub coverage95: Option<f64>,
}

/// Scores of this fit on one output's held-out cells, in the units of [`MethodScore`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OutputScore {
    /// Name of the output.
    pub output: String,
    /// Number of held-out cells.
    pub n_cells: usize,
    /// Root mean squared error.
    pub rmse: f64,
    /// Log score: mean log predictive density, in nats per cell; larger is better.
    pub log_score: Option<f64>,
    /// Share inside the 95 % interval.
    pub coverage95: Option<f64>,
}

/// The candidates of an automatic choice.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Search {
    /// The criterion, in one sentence.
    pub criterion: String,
    /// The candidates, in the order of the table.
    pub candidates: Vec<Candidate>,
}

/// One candidate model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Candidate {
    /// The model, in words.
    pub description: String,
    /// Whether it was chosen.
    pub is_chosen: bool,
    /// Held-out log score: mean log predictive density, in nats per cell; larger is better.
    pub held_out_log_score: Option<f64>,
    /// Log evidence; larger is better.
    pub log_evidence: Option<f64>,
    /// Seconds of learning.
    pub seconds: Option<f64>,
    /// A remark: `stopped early`.
    pub note: Option<String>,
}

/// Log evidence by iteration of one start of the optimizer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EvidencePath {
    /// The start: `start 2, length-scales × 0.3`.
    pub label: String,
    /// Whether it gave the fit.
    pub is_chosen: bool,
    /// Log evidence, plus the log prior if there is one, at the start and after each iteration.
    pub values: Vec<f64>,
}
