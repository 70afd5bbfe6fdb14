//! How good the fit is: scores on hidden cells, calibration, what else was tried, and the path of the evidence.

use serde::Serialize;

/// Predictions at cells that were hidden from the fit, against their values.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Calibration {
    /// What was hidden and how: `a random tenth of the observed cells`.
    pub description: String,
    /// Hidden cells.
    pub n_cells: usize,
    /// Share of hidden cells inside central intervals. Empty if not shown.
    pub coverage: Vec<CoveragePoint>,
    /// Hidden cells by predictive probability of a smaller value, in equal bins from 0 to 1. Empty if not shown.
    pub pit_counts: Vec<u64>,
    /// This fit beside others, best placed wherever the caller likes; the first is not special.
    pub methods: Vec<MethodScore>,
    /// This fit by output.
    pub by_output: Vec<OutputScore>,
}

/// One point of the coverage curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CoveragePoint {
    /// Nominal level of the interval, between 0 and 1.
    pub nominal: f64,
    /// Share of hidden cells inside it.
    pub observed: f64,
}

/// Scores of one method on the hidden cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MethodScore {
    /// Its name: `catena`, `ridge on the other outputs`, `interpolation`, `training mean`.
    pub name: String,
    /// Whether this is the fit the page is about.
    pub is_this_fit: bool,
    /// Root mean squared error, with outputs standardized or of one unit.
    pub rmse: Option<f64>,
    /// Mean negative log predictive density, in nats per cell.
    pub mnll: Option<f64>,
    /// Share of hidden cells inside the 95 % interval.
    pub coverage95: Option<f64>,
}

/// Scores of this fit on one output's hidden cells, in the units of [`MethodScore`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OutputScore {
    /// Name of the output.
    pub output: String,
    /// Hidden cells.
    pub n_cells: usize,
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean negative log predictive density, in nats per cell.
    pub mnll: Option<f64>,
    /// Share inside the 95 % interval.
    pub coverage95: Option<f64>,
}

/// What an automatic choice tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Search {
    /// How the choice was made, in a sentence.
    pub criterion: String,
    /// The candidates in the order they should be listed.
    pub candidates: Vec<Candidate>,
}

/// One model that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Candidate {
    /// What it is.
    pub description: String,
    /// Whether it was chosen.
    pub is_chosen: bool,
    /// Mean log predictive density on hidden cells, in nats per cell; higher is better.
    pub held_out_log_score: Option<f64>,
    /// Log evidence; higher is better.
    pub log_evidence: Option<f64>,
    /// Time it took.
    pub seconds: Option<f64>,
    /// Anything else: `stopped early`.
    pub note: Option<String>,
}

/// Log evidence by iteration of one optimizer run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EvidencePath {
    /// What it is: `start 2, length-scales × 0.3`.
    pub label: String,
    /// Whether the fit came from it.
    pub is_chosen: bool,
    /// Log evidence (plus log prior if there is one) after each iteration, the start first.
    pub values: Vec<f64>,
}
