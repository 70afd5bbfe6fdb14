//! Everything known about a structure in one object: its shape, the paper's bounds with both sides, and the measured error.

use std::fmt;

use catena::diagnostics::{Distortion, PairSampling, StructureQuality};
use catena::kernel::StateKind;
use catena::model::Lmc;
use catena::structure::Tree;
use catena::units::Variance;
use catena_methods::Problem;
use catena_methods::bounds::{BoundsError, PosteriorSides, Sides, covariance_gap, latent_gap, posterior_gap};

use crate::json::{number, object};
use crate::structure_error::ErrorEstimate;

/// Both sides of the paper's inequalities on one structure.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedBounds {
    /// Lemma 1 for each latent; only on chains whose latents all carry derivatives, of which it speaks.
    pub latents: Option<Vec<Sides>>,
    /// Theorem 1's bound on η, under the same condition.
    pub covariance: Option<Sides>,
    /// Lemma 2 with η, ‖K‖₂ and ‖K_π‖₂ computed, on any structure and for any state, as if every cell were observed
    /// with the largest noise of any output.
    pub posterior: PosteriorSides,
    /// Whether every cell is observed; else missing cells count as 0, for which the inequality on means holds too.
    pub is_complete: bool,
}

impl EvaluatedBounds {
    /// Evaluates both sides by dense algebra, in O((C·D)³).
    ///
    /// Lemma 2 knows one noise for all outputs. The largest is taken, which makes the bound smallest: where outputs
    /// differ in noise it describes the structure, not this table's posterior.
    ///
    /// # Errors
    /// When a tree is to carry derivatives, or a factorization fails.
    pub fn new(problem: Problem<'_>, structure: &Tree) -> Result<Self, BoundsError> {
        let (inputs, model) = (problem.dataset().inputs(), problem.model());
        let speaks_of_paths = structure.is_chain() && carries_derivatives(model);
        let (mut latents, mut covariance) = (None, None);
        if speaks_of_paths {
            let sides = model.latents().iter().map(|latent| latent_gap(inputs, structure, latent));
            latents = Some(sides.collect::<Result<Vec<_>, _>>()?);
            covariance = Some(covariance_gap(inputs, structure, model)?);
        }
        let observations = problem.dataset().observations();
        let n_cells = structure.len() * model.n_outputs();
        let mut values = vec![0.0; n_cells];
        for (row, cell) in observations.cells() {
            values[row.get() * model.n_outputs() + cell.output.get()] = cell.value;
        }
        let noise = largest_noise(model);
        let posterior = posterior_gap(inputs, structure, model, noise, &values)?;
        Ok(Self { latents, covariance, posterior, is_complete: observations.n_observed() == n_cells })
    }
}

/// Whether structure and paper mean the same covariance on a chain.
fn carries_derivatives(model: &Lmc) -> bool {
    model.latents().iter().all(|latent| latent.kernel().is_some() && latent.state() == StateKind::Derivative)
}

fn largest_noise(model: &Lmc) -> Variance {
    let noise = model.noise();
    noise.iter().copied().fold(noise[0], |largest, other| if other > largest { other } else { largest })
}

/// What a structure says about itself, as far as it was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct StructureReport {
    /// Lengths, gaps, distortion, and the right-hand sides of the bounds.
    pub quality: StructureQuality,
    /// Both sides of the bounds, where the table is small enough.
    pub bounds: Option<EvaluatedBounds>,
    /// The measured difference to dense posteriors, where a posterior was given.
    pub error: Option<ErrorEstimate>,
}

impl StructureReport {
    /// Bounds are evaluated up to this many cells (rows times outputs): about a second.
    pub const MOST_CELLS_FOR_BOUNDS: usize = 600;

    /// Judges a structure over the problem's rows; the estimate is made apart, by
    /// [`estimate_structure_error`](crate::structure_error::estimate_structure_error).
    ///
    /// # Errors
    /// When bounds are to be evaluated and cannot be.
    ///
    /// # Panics
    /// When the structure is over another number of rows.
    pub fn new(
        problem: Problem<'_>,
        structure: &Tree,
        sampling: PairSampling,
        error: Option<ErrorEstimate>,
    ) -> Result<Self, BoundsError> {
        let (inputs, model) = (problem.dataset().inputs(), problem.model());
        let quality = StructureQuality::new(inputs, structure, Some(model), sampling);
        let is_small = structure.len() * model.n_outputs() <= Self::MOST_CELLS_FOR_BOUNDS;
        let bounds = is_small.then(|| EvaluatedBounds::new(problem, structure)).transpose()?;
        Ok(Self { quality, bounds, error })
    }

    /// The report as one JSON object. A number that is not finite becomes `null`.
    pub fn to_json(&self) -> String {
        let null = || "null".to_string();
        object(&[
            ("quality", quality_to_json(&self.quality)),
            ("bounds", self.bounds.as_ref().map_or_else(null, EvaluatedBounds::to_json)),
            ("error", self.error.as_ref().map_or_else(null, ErrorEstimate::to_json)),
        ])
    }
}

/// The quality of a structure as one JSON object. A number that is not finite becomes `null`.
pub fn quality_to_json(quality: &StructureQuality) -> String {
    let gaps = object(&[
        ("total", number(quality.gaps.total)),
        ("mean", number(quality.gaps.mean)),
        ("median", number(quality.gaps.median)),
        ("largest", number(quality.gaps.largest)),
        ("n_zero", quality.gaps.n_zero.to_string()),
    ]);
    object(&[
        ("n_points", quality.n_points.to_string()),
        ("n_inputs", quality.dim.to_string()),
        ("is_chain", quality.is_chain.to_string()),
        ("distance_scale", number(quality.distance_scale)),
        ("gaps", gaps),
        ("distortion", distortion_to_json(quality.distortion)),
        ("covariance_gap_bound", quality.covariance_gap_bound.map_or("null".into(), number)),
        ("chain_start_factor", quality.chain_start_factor.map_or("null".into(), number)),
    ])
}

fn distortion_to_json(distortion: Distortion) -> String {
    match distortion {
        Distortion::Exact { largest, mean } => {
            object(&[("exact", "true".into()), ("largest", number(largest)), ("mean", number(mean))])
        }
        Distortion::Sampled { at_least, at_most, share_beyond, mean, mean_standard_error, n_sampled } => {
            object(&[
                ("exact", "false".into()),
                ("at_least", number(at_least)),
                ("at_most", number(at_most)),
                ("share_beyond", number(share_beyond)),
                ("mean", number(mean)),
                ("mean_standard_error", number(mean_standard_error)),
                ("n_sampled", n_sampled.to_string()),
            ])
        }
    }
}

fn sides_to_json(sides: Sides) -> String {
    object(&[("left", number(sides.left)), ("right", number(sides.right))])
}

impl EvaluatedBounds {
    fn to_json(&self) -> String {
        let null = || "null".to_string();
        let latents = self.latents.as_ref().map_or_else(null, |latents| {
            let sides: Vec<String> = latents.iter().map(|&sides| sides_to_json(sides)).collect();
            format!("[{}]", sides.join(","))
        });
        object(&[
            ("lemma_1", latents),
            ("theorem_1", self.covariance.map_or_else(null, sides_to_json)),
            ("covariance_gap", number(self.posterior.norms.gap)),
            ("lemma_2_mean", sides_to_json(self.posterior.mean)),
            ("lemma_2_covariance", sides_to_json(self.posterior.covariance)),
            ("is_complete", self.is_complete.to_string()),
        ])
    }
}

impl fmt::Display for EvaluatedBounds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |sides: Sides| format!("{:.4e} ≤ {:.4e}", sides.left, sides.right);
        for (latent, &sides) in self.latents.iter().flatten().enumerate() {
            writeln!(formatter, "Lemma 1, latent {latent}: {}", line(sides))?;
        }
        if let Some(sides) = self.covariance {
            writeln!(formatter, "Theorem 1, covariance: {}", line(sides))?;
        }
        writeln!(formatter, "covariance gap η = {:.4e}", self.posterior.norms.gap)?;
        let cells = if self.is_complete { "" } else { " (missing cells as 0)" };
        writeln!(formatter, "Lemma 2, means{cells}: {}", line(self.posterior.mean))?;
        write!(formatter, "Lemma 2, covariance: {}", line(self.posterior.covariance))
    }
}

impl fmt::Display for StructureReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.quality)?;
        if let Some(bounds) = &self.bounds {
            write!(formatter, "\n{bounds}")?;
        }
        if let Some(error) = &self.error {
            write!(formatter, "\n{error}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena::data::InputPoints;
    use catena::structure::{Start, greedy_chain};

    #[test]
    fn quality_reads_as_json() {
        let inputs = InputPoints::new(3, 2, vec![0.0, 0.0, 1.0, 0.0, 1.0, 1.0]).unwrap();
        let chain = greedy_chain(&inputs, Start::FirstRow).unwrap();
        let json = quality_to_json(&StructureQuality::new(&inputs, &chain, None, PairSampling::default()));
        assert!(json.starts_with("{\"n_points\":3,\"n_inputs\":2,\"is_chain\":true,"), "{json}");
        assert!(
            json.contains(
                "\"gaps\":{\"total\":2.0,\"mean\":1.0,\"median\":1.0,\"largest\":1.0,\"n_zero\":0}"
            )
        );
    }
}
