//! The summary of a fit in the user's units.

use serde::{Deserialize, Serialize};

use crate::families::CandidateSummary;
use crate::power::PowerTransform;
use crate::scores::Scores;

/// The name of the second state of a cycle.
pub(super) const QUADRATURE: &str = "turn";

/// One latent process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatentSummary {
    /// The output of a private latent; `None` for a shared one.
    pub private_to: Option<String>,
    /// The kernel.
    pub kernel: String,
    /// The period of a cycle, in units of the input.
    #[serde(default)]
    pub period: Option<f64>,
    /// The length-scale along each input, in units of that input.
    pub length_scales: Vec<f64>,
    /// The fraction of the modelled variance of all outputs.
    pub share: f64,
    /// The standard deviation over the data for a weight of 1; 1 if stationary.
    #[serde(default = "one")]
    pub deviation: f64,
    /// The sum of which it is a component, counted from 0; `None` unless the model is a time model.
    #[serde(default)]
    pub sum: Option<usize>,
}

/// One output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSummary {
    /// The name.
    pub name: String,
    /// The number of observed cells.
    pub n_observed: usize,
    /// Its transform: `transform` and, if it is learned, `exponent`.
    #[serde(flatten)]
    pub power: PowerTransform,
    /// The mean, in units of the transformed output.
    pub mean: f64,
    /// The slopes of a linear mean, in units of output per input; `mean` is then the value at the shift of the inputs.
    #[serde(default)]
    pub slopes: Vec<f64>,
    /// The standard deviation of the noise, in the same units.
    pub noise_deviation: f64,
    /// The fraction of the modelled variance in shared latents.
    pub shared_share: f64,
    /// The fraction in the private latent.
    pub private_share: f64,
    /// The fraction in the noise.
    pub noise_share: f64,
}

/// Scores on held-out cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedHeldOut")]
pub struct HeldOut {
    /// The model, rule or output.
    pub name: String,
    /// The number of held-out cells.
    pub n_cells: usize,
    /// Root mean squared error in standard deviations.
    pub rmse: f64,
    /// Mean log predictive density per cell in nats, outputs in the same units; larger is better.
    pub log_score: f64,
    /// The fraction of cells inside 95 % intervals.
    pub coverage: f64,
}

/// [`HeldOut`] in a file; earlier versions wrote the negative log score as `mnll`.
#[derive(Deserialize)]
struct SavedHeldOut {
    name: String,
    n_cells: usize,
    rmse: f64,
    log_score: Option<f64>,
    mnll: Option<f64>,
    coverage: f64,
}

impl TryFrom<SavedHeldOut> for HeldOut {
    type Error = &'static str;

    fn try_from(saved: SavedHeldOut) -> Result<Self, Self::Error> {
        let SavedHeldOut { name, n_cells, rmse, log_score, mnll, coverage } = saved;
        let log_score = log_score.or(mnll.map(|mnll| -mnll)).ok_or("missing field `log_score`")?;
        Ok(Self { name, n_cells, rmse, log_score, coverage })
    }
}

/// The origins inside a table from which forecasts of known rows were scored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OriginSummary {
    /// The number of origins.
    pub n_origins: usize,
    /// The number of times that parameters were learned, each from the rows before its origins.
    pub n_folds: usize,
    /// The largest distance ahead, in units of the input.
    pub reach: f64,
}

/// One member of a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberSummary {
    /// Its mean share in the precision of a held-out cell; the weights of all members sum to 1.
    pub weight: f64,
    /// The factor on its standard deviations that maximizes its log score alone.
    pub widening: f64,
    /// Its name, and its scores alone on held-out cells.
    pub alone: HeldOut,
}

fn one() -> f64 {
    1.0
}

impl Summary {
    /// Sets the log evidence, from that of the standardized table and the logarithm of the change of volume.
    pub(crate) fn set_log_evidence(&mut self, standardized: f64, log_volume: f64) {
        self.log_evidence = standardized + log_volume;
        self.standardized_log_evidence = Some(standardized);
    }

    /// The standard deviation of each latent over the data for a weight of 1.
    pub fn deviations(&self) -> Vec<f64> {
        self.latents.iter().map(|latent| latent.deviation).collect()
    }
}

impl LatentSummary {
    /// The kernel with its period, formatted by `length`.
    pub fn kernel_text(&self, length: impl Fn(f64) -> String) -> String {
        match self.period {
            Some(period) => format!("{}({})", self.kernel, length(period)),
            None => self.kernel.clone(),
        }
    }
}

impl HeldOut {
    pub(super) fn new(name: String, scores: Scores) -> Self {
        let Scores { n_cells, rmse, log_score, coverage, .. } = scores;
        Self { name, n_cells, rmse, log_score, coverage }
    }
}

/// The summary of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The method and structure.
    pub method: String,
    /// Rows of the table.
    pub n_rows: usize,
    /// Names of the inputs.
    pub input_names: Vec<String>,
    /// Latents, shared first.
    pub latents: Vec<LatentSummary>,
    /// Outputs.
    pub outputs: Vec<OutputSummary>,
    /// Weights in units of the outputs, row-major D×L.
    pub mixing: Vec<f64>,
    /// The correlation of the outputs implied by the weights, without noise, row-major D×D.
    pub correlation: Vec<f64>,
    /// The log evidence in the user's units: the log density of the cells as given.
    pub log_evidence: f64,
    /// The log evidence of the standardized table; `None` in files of earlier versions, whose `log_evidence` it is.
    #[serde(default)]
    pub standardized_log_evidence: Option<f64>,
    /// Log evidence plus log prior at the start and after every iteration; empty if nothing was learned.
    pub path: Vec<f64>,
    /// How learning ended.
    pub ending: String,
    /// Evaluations of evidence and gradient while the chosen model was learned.
    pub n_evaluations: usize,
    /// Candidate models.
    pub tried: Vec<CandidateSummary>,
    /// The members of a pool, by weight; empty for a single model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberSummary>,
    /// The origins of held-out scores, if they are of forecasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origins: Option<OriginSummary>,
    /// Held-out scores: the chosen model or pool first, then, beside a pool, the best single model, then simple rules.
    pub held_out: Vec<HeldOut>,
    /// Held-out scores of the chosen model by output; outputs without held-out cells are left out.
    #[serde(default)]
    pub held_out_by_output: Vec<HeldOut>,
    /// For calibration: the predictive probability below each held-out value, at most a few thousand.
    pub probabilities: Vec<f64>,
    /// Decisions with their reasons.
    pub decisions: Vec<String>,
    /// Warnings.
    pub warnings: Vec<String>,
}
