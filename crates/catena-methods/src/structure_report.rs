//! A report on a structure: its shape, both sides of the paper's bounds, and the measured error.

use std::fmt;

use crate::Problem;
use crate::bounds::{BoundsError, PosteriorSides, Sides, covariance_gap, latent_gap, posterior_gap};
use catena::diagnostics::{PairSampling, StructureQuality};
use catena::kernel::StateKind;
use catena::model::Lmc;
use catena::structure::Tree;
use catena::units::Variance;

use crate::structure_error::ErrorEstimate;

/// Both sides of the paper's inequalities on one structure.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedBounds {
    /// Lemma 1 for each latent; only for chains with derivative states.
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
    /// Lemma 2 has one noise for all outputs. The largest is used, which makes the bound smallest: if outputs differ in noise
    /// it describes the structure, not this table's posterior.
    ///
    /// # Errors
    /// When a tree has derivative states, or a factorization fails.
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

/// Whether the covariance on a chain is that of the paper.
fn carries_derivatives(model: &Lmc) -> bool {
    model.latents().iter().all(|latent| latent.kernel().is_some() && latent.state() == StateKind::Derivative)
}

fn largest_noise(model: &Lmc) -> Variance {
    let noise = model.noise();
    noise.iter().copied().fold(noise[0], |largest, other| if other > largest { other } else { largest })
}

/// A report on a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct StructureReport {
    /// Lengths, gaps, distortion, and the right-hand sides of the bounds.
    pub quality: StructureQuality,
    /// Both sides of the bounds, if the table is small enough.
    pub bounds: Option<EvaluatedBounds>,
    /// The measured difference to dense posteriors.
    pub error: Option<ErrorEstimate>,
}

impl StructureReport {
    /// Bounds are evaluated up to this many cells (rows times outputs): about a second.
    pub const MOST_CELLS_FOR_BOUNDS: usize = 600;

    /// Reports on a structure over the problem's rows. The error comes from
    /// [`estimate_structure_error`](crate::structure_error::estimate_structure_error).
    ///
    /// # Errors
    /// When bounds cannot be evaluated.
    ///
    /// # Panics
    /// When the structure has another number of rows.
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
