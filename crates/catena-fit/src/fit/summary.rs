//! What was learned, in the user's units, for a person or a program to read.

use catena::data::Dataset;
use catena::index::OutputIndex;
use catena::kernel::Component;
use catena::learning::{Extent, Learned, StopReason};
use catena::model::{Latent, Lmc, Process};
use catena::structure::StructureChoice;
use serde::{Deserialize, Serialize};

use super::FitOptions;
use crate::preparation::{OutputTransform, Preparation};
use crate::scores::{OnHidden, Scores};
use crate::selection::Tried;

/// One latent process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatentSummary {
    /// The output it belongs to; `None` for a shared one.
    pub private_to: Option<String>,
    /// Its kernel.
    pub kernel: String,
    /// The time after which it repeats, in units of the input.
    #[serde(default)]
    pub period: Option<f64>,
    /// Its length-scale along each input, in units of that input.
    pub length_scales: Vec<f64>,
    /// The share of the modelled variance of all outputs that it carries.
    pub share: f64,
    /// The standard deviation that it shows over the data where its weight is 1: 1 unless it wanders.
    #[serde(default = "one")]
    pub deviation: f64,
    /// The sum that it is a piece of, counted from 0; `None` where latents are no sums.
    #[serde(default)]
    pub sum: Option<usize>,
}

/// One output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSummary {
    /// What it is called.
    pub name: String,
    /// Observed cells.
    pub n_observed: usize,
    /// Whether its logarithm is modelled.
    pub log: bool,
    /// The mean, in units of the output or of its logarithm.
    pub mean: f64,
    /// Where the mean is linear, its slope in each input, in units of both; `mean` is then its value where inputs were counted
    /// from.
    #[serde(default)]
    pub slopes: Vec<f64>,
    /// The standard deviation of the noise, in the same units.
    pub noise_deviation: f64,
    /// Shares of the modelled variance.
    pub shared_share: f64,
    /// See [`OutputSummary::shared_share`].
    pub private_share: f64,
    /// See [`OutputSummary::shared_share`].
    pub noise_share: f64,
}

/// Scores on cells that were hidden from learning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Which predictor.
    pub name: String,
    /// Hidden cells.
    pub n_cells: usize,
    /// Root mean squared error in standard deviations.
    pub rmse: f64,
    /// Mean negative log density per cell, in the same units.
    pub mnll: f64,
    /// The share of cells in 95 % intervals.
    pub coverage: f64,
}

fn one() -> f64 {
    1.0
}

impl Summary {
    /// By latent, the standard deviation that it shows over the data where its weight is 1.
    pub fn deviations(&self) -> Vec<f64> {
        self.latents.iter().map(|latent| latent.deviation).collect()
    }
}

impl LatentSummary {
    /// The kernel with its period, as `length` writes it.
    pub fn kernel_text(&self, length: impl Fn(f64) -> String) -> String {
        match self.period {
            Some(period) => format!("{}({})", self.kernel, length(period)),
            None => self.kernel.clone(),
        }
    }
}

impl HeldOut {
    fn new(name: String, scores: Scores) -> Self {
        let Scores { n_cells, rmse, mnll, coverage, .. } = scores;
        Self { name, n_cells, rmse, mnll, coverage }
    }
}

/// Scores of several predictors, as a summary has them.
pub(super) fn held_out(all: Vec<(String, Scores)>) -> Vec<HeldOut> {
    all.into_iter().map(|(name, scores)| HeldOut::new(name, scores)).collect()
}

/// Scores of the chosen model, output by output.
pub(super) fn by_output(outputs: &[OutputSummary], on_hidden: Option<&OnHidden>) -> Vec<HeldOut> {
    let scores = on_hidden.map_or(&[][..], |on_hidden| &on_hidden.by_output);
    let scored = outputs.iter().zip(scores).filter(|(_, scores)| scores.n_cells > 0);
    scored.map(|(output, &scores)| HeldOut::new(output.name.clone(), scores)).collect()
}

/// What is kept of the probabilities below hidden values.
pub(super) fn probabilities(on_hidden: Option<&OnHidden>) -> Vec<f64> {
    on_hidden.map(|on_hidden| thinned(&on_hidden.probabilities)).unwrap_or_default()
}

/// What was fitted and how it went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The method and structure.
    pub method: String,
    /// Rows of the table.
    pub n_rows: usize,
    /// What inputs are called.
    pub input_names: Vec<String>,
    /// Latents, shared first.
    pub latents: Vec<LatentSummary>,
    /// Outputs.
    pub outputs: Vec<OutputSummary>,
    /// Weights in units of the outputs, row-major D×L.
    pub mixing: Vec<f64>,
    /// The correlation of the outputs that the weights imply, noise left out, row-major D×D.
    pub correlation: Vec<f64>,
    /// The log evidence of the standardized table.
    pub log_evidence: f64,
    /// Log evidence plus log prior at the start and after every iteration; empty if nothing was learned.
    pub path: Vec<f64>,
    /// How learning ended.
    pub ending: String,
    /// Evaluations of evidence and gradient by the chosen model.
    pub n_evaluations: usize,
    /// Models that were tried.
    pub tried: Vec<Tried>,
    /// Scores on hidden cells: the chosen model first, then simple predictors.
    pub held_out: Vec<HeldOut>,
    /// The chosen model's scores on hidden cells, output by output; those without hidden cells are left out.
    #[serde(default)]
    pub held_out_by_output: Vec<HeldOut>,
    /// For calibration: the chosen model's probability below each hidden value, at most a few thousand.
    pub probabilities: Vec<f64>,
    /// What was decided, and why.
    pub decisions: Vec<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// The most probabilities that are kept.
const MOST_PROBABILITIES: usize = 4000;

/// Probabilities of cells that come output by output and mask by mask, thinned evenly: the first ones would be of a few outputs.
fn thinned(probabilities: &[f64]) -> Vec<f64> {
    let every = probabilities.len().div_ceil(MOST_PROBABILITIES).max(1);
    probabilities.iter().copied().step_by(every).collect()
}

/// How learning ended, in words.
pub(super) fn ending(learned: Option<&Learned>) -> String {
    let Some(learned) = learned else { return "parameters were given, not learned".to_owned() };
    let iterations = learned.path.len().saturating_sub(1);
    let how = match learned.stop {
        StopReason::Converged => "converged",
        StopReason::Stalled => "stalled: no step improves, though the slope is not zero,",
        StopReason::IterationLimit => "stopped at the limit",
        StopReason::Interrupted => "was interrupted",
        StopReason::NoValue => "had no value",
    };
    format!("learning {how} after {iterations} iterations")
}

/// The latents of a model in the user's units.
pub(super) fn latents(
    model: &Lmc,
    preparation: &Preparation,
    extent: Extent,
    options: &FitOptions,
) -> Vec<LatentSummary> {
    let n_shared = model.mixing().n_shared();
    let sizes = sizes(model, extent);
    let variance = |latent: usize| -> f64 {
        let outputs = (0..model.n_outputs()).map(OutputIndex::new);
        let weight = |output| model.mixing().weight(output, catena::index::LatentIndex::new(latent));
        sizes[latent] * outputs.map(|output| weight(output).powi(2)).sum::<f64>()
    };
    let noise: f64 = model.noise().iter().map(|noise| noise.get()).sum();
    let total: f64 = (0..model.n_latents()).map(variance).sum::<f64>() + noise;
    let summary = |(at, latent): (usize, &catena::model::Latent)| LatentSummary {
        private_to: (at >= n_shared).then(|| options.output_name(at - n_shared)),
        kernel: process_name(latent),
        period: match latent.process() {
            Process::Component(Component::Cycle { period }) => {
                Some(period.get() * preparation.inputs.first().map_or(1.0, |(_, unit)| *unit))
            }
            _ => None,
        },
        length_scales: preparation
            .inputs
            .iter()
            .map(|(_, scale)| latent.length_scale().get() * scale)
            .collect(),
        share: variance(at) / total,
        deviation: sizes[at].sqrt(),
        sum: None,
    };
    model.latents().iter().enumerate().map(summary).collect()
}

/// The outputs of a model in the user's units.
pub(super) fn outputs(
    model: &Lmc,
    preparation: &Preparation,
    counts: &[usize],
    extent: Extent,
    options: &FitOptions,
) -> Vec<OutputSummary> {
    let sizes = sizes(model, extent);
    let summary = |output: usize| {
        let index = OutputIndex::new(output);
        let mixing = model.mixing();
        let shared: f64 =
            mixing.shared_row(index).iter().zip(&sizes).map(|(weight, size)| size * weight * weight).sum();
        let private = mixing.private_weight(index).map_or(0.0, |weight| weight * weight);
        let noise = model.noise()[output].get();
        let total = shared + private + noise;
        let transform = &preparation.outputs[output];
        OutputSummary {
            name: options.output_name(output),
            n_observed: counts[output],
            log: transform.log,
            mean: transform.intercept,
            slopes: transform
                .slopes
                .iter()
                .zip(&preparation.inputs)
                .map(|(slope, (_, unit))| slope / unit)
                .collect(),
            noise_deviation: noise.sqrt() * transform.scale,
            shared_share: shared / total,
            private_share: private / total,
            noise_share: noise / total,
        }
    };
    (0..model.n_outputs()).map(summary).collect()
}

/// The variance that each latent shows over the data: 1 of a stationary one; of one that wanders, what is expected around its
/// own mean, a sixth of what a walk gains over the span.
fn sizes(model: &Lmc, extent: Extent) -> Vec<f64> {
    let size = |latent: &Latent| {
        if latent.is_stationary() { 1.0 } else { latent.gained_variance(extent.span) / 6.0 }
    };
    model.latents().iter().map(size).collect()
}

/// What the second state of a cycle is called.
pub(super) const QUARTER_TURN: &str = "turn";

/// What a latent is called.
fn process_name(latent: &Latent) -> String {
    match latent.process() {
        Process::Stationary(kernel, _) => kernel.name().to_owned(),
        Process::Component(Component::Sho { quality }) => format!("sho(q={:.3})", quality.get()),
        Process::Component(piece) => piece.name().to_owned(),
        Process::QuarterTurn => QUARTER_TURN.to_owned(),
    }
}

/// Weights in units of the outputs.
pub(super) fn mixing(model: &Lmc, preparation: &Preparation) -> Vec<f64> {
    let n_latents = model.n_latents();
    let weights = model.mixing().to_dense();
    weights
        .into_iter()
        .enumerate()
        .map(|(at, weight)| weight * preparation.outputs[at / n_latents].scale)
        .collect()
}

/// Says which structure suits this many inputs, and why. Along one input a kernel without derivatives, or values that were asked for,
/// make the chain an approximation.
pub(super) fn structure(dim: usize, is_exact: bool) -> String {
    if dim == 1 && !is_exact {
        return "sorted chain with value states: an approximation; a Matérn kernel with derivative states is exact"
            .to_owned();
    }
    StructureChoice::for_dim(dim).to_string()
}

/// Says how far linear means along one input move over the table.
pub(super) fn linear_means(
    table: &Dataset,
    preparation: &Preparation,
    options: &FitOptions,
) -> Option<String> {
    let [(_, unit)] = preparation.inputs.as_slice() else { return None };
    let places = table.inputs().values().iter();
    let (first, last) =
        places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
    let span = last - first;
    let moved = |(output, transform): (usize, &OutputTransform)| {
        let change = transform.slopes.first()? * span / unit;
        let of = if transform.log { "log " } else { "" };
        Some(format!("{of}{} {change:+.3}", options.output_name(output)))
    };
    let moved: Vec<String> = preparation.outputs.iter().enumerate().filter_map(moved).collect();
    let text = format!("means are linear; over the {} of the table: ", (options.length_text)(span));
    (!moved.is_empty()).then(|| text + &moved.join(", "))
}

/// The correlation of the outputs implied by the weights; an output without signal correlates with itself alone.
pub(super) fn correlation(model: &Lmc, extent: Extent) -> Vec<f64> {
    let (n_outputs, n_latents) = (model.n_outputs(), model.n_latents());
    let (weights, sizes) = (model.mixing().to_dense(), sizes(model, extent));
    let product = |a: usize, b: usize| -> f64 {
        (0..n_latents).map(|l| sizes[l] * weights[a * n_latents + l] * weights[b * n_latents + l]).sum()
    };
    let entry = |at: usize| {
        let (a, b) = (at / n_outputs, at % n_outputs);
        let scale = (product(a, a) * product(b, b)).sqrt();
        match a == b {
            true => 1.0,
            false if scale > 0.0 => (product(a, b) / scale).clamp(-1.0, 1.0),
            false => 0.0,
        }
    };
    (0..n_outputs * n_outputs).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_of_all_outputs_are_kept() {
        let few: Vec<f64> = (0..4000).map(f64::from).collect();
        assert_eq!(thinned(&few), few);
        assert_eq!(thinned(&[]), [0.0; 0]);
        // Twelve outputs, one after the other.
        let many: Vec<f64> = (0..14_400).map(|at| f64::from(at / 1200)).collect();
        let kept = thinned(&many);
        assert!(kept.len() <= MOST_PROBABILITIES);
        for output in 0..12 {
            assert_eq!(kept.iter().filter(|kept| **kept == f64::from(output)).count(), 300);
        }
    }
}
