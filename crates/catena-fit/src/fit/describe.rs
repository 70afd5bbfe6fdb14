//! Builds the summary of a fit.

use catena::data::Dataset;
use catena::index::{LatentIndex, OutputIndex};
use catena::kernel::Component;
use catena::learning::{Extent, Learned, StopReason};
use catena::model::{Latent, Lmc, Process};
use catena::structure::StructureChoice;

use super::summary::{HeldOut, LatentSummary, MemberSummary, OutputSummary, QUADRATURE, Summary};
use super::warnings::warnings;
use crate::families::CandidateSummary;
use crate::options::FitOptions;
use crate::prepare::{OutputTransform, Preparation, TableStatistics};
use crate::scores::HeldOutScores;

/// The most probabilities of held-out values in a summary.
const MOST_PROBABILITIES: usize = 4000;

/// Results of the selection, for the summary.
#[derive(Default)]
pub(crate) struct SelectionReport {
    pub(crate) tried: Vec<CandidateSummary>,
    pub(crate) decisions: Vec<String>,
    /// Held-out scores of the chosen model and of simple rules.
    pub(crate) held_out: Vec<(String, HeldOutScores)>,
    /// The members of a pool.
    pub(crate) members: Vec<MemberSummary>,
}

impl SelectionReport {
    pub(crate) fn of_decisions(decisions: Vec<String>) -> Self {
        Self { decisions, ..Self::default() }
    }
}

/// The inputs of a summary.
pub(crate) struct Description<'a> {
    pub(crate) method: String,
    pub(crate) n_rows: usize,
    /// Observed cells by output.
    pub(crate) n_observed: &'a [usize],
    /// The same without copies, where they are known.
    pub(crate) n_distinct: &'a [usize],
    pub(crate) model: &'a Lmc,
    pub(crate) learned: Option<&'a Learned>,
    /// The log evidence of the standardized table, and the term that converts it to the user's units.
    pub(crate) log_evidence: (f64, f64),
    pub(crate) preparation: &'a Preparation,
    pub(crate) statistics: &'a TableStatistics,
    pub(crate) report: SelectionReport,
    pub(crate) options: &'a FitOptions,
    /// What a time limit or a request to stop cut short.
    pub(crate) cut: Option<Cut>,
}

/// What was cut short.
pub(crate) struct Cut {
    pub(crate) warning: String,
    /// By the time limit, not by a request.
    pub(crate) by_limit: bool,
}

/// Builds the summary of a fit.
pub(crate) fn summarize(description: Description<'_>) -> Summary {
    let Description { model, learned, preparation, statistics, report, options, .. } = description;
    let extent = statistics.extent;
    let is_pool = !report.members.is_empty();
    let outputs = outputs(model, preparation, description.n_observed, extent, options);
    let chosen = report.held_out.first().map(|(_, scores)| scores);
    let by_output = chosen.map_or(&[][..], |scores| &scores.by_output);
    let scored = outputs.iter().zip(by_output).filter(|(_, scores)| scores.n_cells > 0);
    let held_out_by_output = scored.map(|(output, &scores)| HeldOut::new(output.name.clone(), scores));
    let held_out: Vec<HeldOut> =
        report.held_out.iter().map(|(name, found)| HeldOut::new(name.clone(), found.scores)).collect();
    let probabilities = chosen.map(|scores| thinned(&scores.probabilities));
    let cut = description.cut;
    let by_limit = cut.as_ref().is_some_and(|cut| cut.by_limit);
    // The warning about the limit says how learning ended.
    let of_learning = learned.filter(|learned| !(by_limit && learned.stop == StopReason::Interrupted));
    let others =
        warnings(model, (statistics, description.n_distinct), of_learning, &held_out, (options, is_pool));
    Summary {
        method: description.method,
        n_rows: description.n_rows,
        input_names: options.input_names.clone(),
        latents: latents(model, preparation, extent, options),
        held_out_by_output: held_out_by_output.collect(),
        outputs,
        mixing: mixing(model, preparation),
        correlation: correlation(model, extent),
        log_evidence: description.log_evidence.0 + description.log_evidence.1,
        standardized_log_evidence: Some(description.log_evidence.0),
        path: learned.map(|learned| learned.path.clone()).unwrap_or_default(),
        ending: ending(learned, is_pool, by_limit),
        n_evaluations: learned.map_or(0, |learned| learned.n_evaluations),
        tried: report.tried,
        warnings: cut.map(|cut| cut.warning).into_iter().chain(others).collect(),
        held_out,
        probabilities: probabilities.unwrap_or_default(),
        decisions: report.decisions,
        members: report.members,
        origins: None,
    }
}

/// Every k-th probability, so that at most [`MOST_PROBABILITIES`] remain. They are sorted by output and fold, so the first ones
/// would be of few outputs.
fn thinned(probabilities: &[f64]) -> Vec<f64> {
    let every = probabilities.len().div_ceil(MOST_PROBABILITIES).max(1);
    probabilities.iter().copied().step_by(every).collect()
}

/// How learning ended; members of a pool are learned with few iterations.
fn ending(learned: Option<&Learned>, is_pool: bool, by_limit: bool) -> String {
    let Some(learned) = learned else { return "parameters were given, not learned".to_owned() };
    let iterations = learned.path.len().saturating_sub(1);
    let how = match learned.stop {
        StopReason::Converged => "converged",
        StopReason::Stalled => "stalled (no step improves, though the gradient is not zero)",
        StopReason::IterationLimit if is_pool => "of each member stopped",
        StopReason::IterationLimit => "stopped at the limit",
        StopReason::Interrupted if by_limit => "stopped at the time limit",
        StopReason::Interrupted => "was interrupted",
        StopReason::NoValue => "had no finite value",
    };
    format!("learning {how} after {iterations} iterations")
}

/// The latents of a model in the user's units.
fn latents(
    model: &Lmc,
    preparation: &Preparation,
    extent: Extent,
    options: &FitOptions,
) -> Vec<LatentSummary> {
    let n_shared = model.mixing().n_shared();
    let variances = latent_variances(model, extent);
    let variance = |latent: usize| -> f64 {
        let outputs = (0..model.n_outputs()).map(OutputIndex::new);
        let weight = |output| model.mixing().weight(output, LatentIndex::new(latent));
        variances[latent] * outputs.map(|output| weight(output).powi(2)).sum::<f64>()
    };
    let noise: f64 = model.noise().iter().map(|noise| noise.get()).sum();
    let total: f64 = (0..model.n_latents()).map(variance).sum::<f64>() + noise;
    let units = || preparation.inputs.iter().map(|(_, unit)| *unit);
    let summary = |(at, latent): (usize, &Latent)| LatentSummary {
        private_to: (at >= n_shared).then(|| options.output_name(at - n_shared)),
        kernel: process_name(latent),
        period: match latent.process() {
            Process::Component(Component::Cycle { period }) => {
                Some(period.get() * units().next().unwrap_or(1.0))
            }
            _ => None,
        },
        length_scales: units().map(|unit| latent.length_scale().get() * unit).collect(),
        share: variance(at) / total,
        deviation: variances[at].sqrt(),
        sum: None,
    };
    model.latents().iter().enumerate().map(summary).collect()
}

/// The outputs of a model in the user's units.
fn outputs(
    model: &Lmc,
    preparation: &Preparation,
    counts: &[usize],
    extent: Extent,
    options: &FitOptions,
) -> Vec<OutputSummary> {
    let variances = latent_variances(model, extent);
    let summary = |output: usize| {
        let (index, mixing) = (OutputIndex::new(output), model.mixing());
        let weights = mixing.shared_row(index).iter().zip(&variances);
        // An empty sum of floating-point numbers is -0, which would be printed with its sign.
        let shared = weights.fold(0.0, |sum, (weight, variance)| sum + variance * weight * weight);
        let private = mixing.private_weight(index).map_or(0.0, |weight| weight * weight);
        let transform = &preparation.outputs[output];
        let has_noise = !transform.likelihood.is_some_and(|choice| choice.has_no_noise());
        let noise = if has_noise || shared + private == 0.0 { model.noise()[output].get() } else { 0.0 };
        let total = shared + private + noise;
        let slopes = transform.slopes.iter().zip(&preparation.inputs);
        OutputSummary {
            name: options.output_name(output),
            n_observed: counts[output],
            power: transform.power,
            mean: transform.intercept,
            slopes: slopes.map(|(slope, (_, unit))| slope / unit).collect(),
            noise_deviation: noise.sqrt() * transform.scale,
            shared_share: shared / total,
            private_share: private / total,
            noise_share: noise / total,
        }
    };
    (0..model.n_outputs()).map(summary).collect()
}

/// The variance of each latent over the data: 1 if stationary, else the expected variance around its own mean, a sixth of what a
/// random walk gains over the span.
fn latent_variances(model: &Lmc, extent: Extent) -> Vec<f64> {
    let variance = |latent: &Latent| {
        if latent.is_stationary() { 1.0 } else { latent.gained_variance(extent.span) / 6.0 }
    };
    model.latents().iter().map(variance).collect()
}

fn process_name(latent: &Latent) -> String {
    match latent.process() {
        Process::Stationary(kernel, _) => kernel.name().to_owned(),
        Process::Component(Component::Sho { quality }) => format!("sho(q={:.3})", quality.get()),
        Process::Component(component) => component.name().to_owned(),
        Process::Quadrature => QUADRATURE.to_owned(),
    }
}

/// Weights in units of the outputs, row-major D×L.
pub(super) fn mixing(model: &Lmc, preparation: &Preparation) -> Vec<f64> {
    let n_latents = model.n_latents();
    let weights = model.mixing().to_dense().into_iter().enumerate();
    weights.map(|(at, weight)| weight * preparation.outputs[at / n_latents].scale).collect()
}

/// The default structure for this many inputs, with the reason. Along one input a kernel without derivative states, or requested
/// value states, make the chain an approximation.
pub(super) fn structure_reason(dim: usize, is_exact: bool) -> String {
    if dim == 1 && !is_exact {
        return "sorted chain with value states: an approximation; a Matérn kernel with derivative states is exact"
            .to_owned();
    }
    StructureChoice::for_dim(dim).to_string()
}

/// The change of linear means along one input over the table.
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
    let change = |(output, transform): (usize, &OutputTransform)| {
        let change = transform.slopes.first()? * span / unit;
        Some(format!("{} {change:+.3}", transform.power.label(&options.output_name(output))))
    };
    let changes: Vec<String> = preparation.outputs.iter().enumerate().filter_map(change).collect();
    let text = format!("means are linear; over the {} of the table: ", (options.length_text)(span));
    (!changes.is_empty()).then(|| text + &changes.join(", "))
}

/// The correlation of the outputs implied by the weights, row-major D×D; 0 between outputs without signal.
fn correlation(model: &Lmc, extent: Extent) -> Vec<f64> {
    let (n_outputs, n_latents) = (model.n_outputs(), model.n_latents());
    let (weights, variances) = (model.mixing().to_dense(), latent_variances(model, extent));
    let product = |a: usize, b: usize| -> f64 {
        (0..n_latents).map(|l| variances[l] * weights[a * n_latents + l] * weights[b * n_latents + l]).sum()
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
