//! The report on a structure.

use super::{Distortion, GapStatistics, PairSampling, chain_start_factor, covariance_gap_bound};
use crate::data::InputPoints;
use crate::kernel::StateKind;
use crate::model::{Latent, Lmc};
use crate::structure::Tree;
use std::fmt;

/// Properties of a structure that need no posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct StructureQuality {
    /// The number of points, C.
    pub n_points: usize,
    /// The number of input columns, M.
    pub dim: usize,
    /// Whether the structure is a chain.
    pub is_chain: bool,
    /// The unit of all lengths below, in the units of the inputs.
    pub distance_scale: f64,
    /// The lengths of the edges.
    pub gaps: GapStatistics,
    /// How much distances along the structure differ from those in space.
    pub distortion: Distortion,
    /// Theorem 1's bound on ‖K − K_π‖₂ for a model, at the upper bound of the distortion. Only on chains whose latents all have
    /// derivative states: there the structure's covariance is the kernel at distances along the chain, as the theorem assumes.
    pub covariance_gap_bound: Option<f64>,
    /// The factor between the lengths of greedy chains from different starts, for chains: Proposition 1's, corrected
    /// (see [`chain_start_factor`]).
    pub chain_start_factor: Option<f64>,
}

impl StructureQuality {
    /// The quality of a structure; with a model, also its bound on the covariance.
    ///
    /// # Panics
    /// When the structure is over another number of rows.
    pub fn new(inputs: &InputPoints, tree: &Tree, model: Option<&Lmc>, sampling: PairSampling) -> Self {
        let distortion = Distortion::of(inputs, tree, sampling);
        let bound = |model| covariance_gap_bound(model, tree.len(), distortion.upper_bound());
        let is_covered = |model: &&Lmc| {
            let carries_derivative =
                |latent: &Latent| latent.kernel().is_some() && latent.state() == StateKind::Derivative;
            tree.is_chain() && model.latents().iter().all(carries_derivative)
        };
        Self {
            n_points: tree.len(),
            dim: inputs.dim(),
            is_chain: tree.is_chain(),
            distance_scale: tree.distance_scale().get(),
            gaps: GapStatistics::new(tree),
            distortion,
            covariance_gap_bound: model.filter(is_covered).map(bound),
            chain_start_factor: tree.is_chain().then(|| chain_start_factor(tree.len())),
        }
    }
}

impl fmt::Display for StructureQuality {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_chain { "chain" } else { "tree" };
        let GapStatistics { total, mean, median, largest, n_zero } = self.gaps;
        writeln!(formatter, "{kind} over {} points with {} inputs", self.n_points, self.dim)?;
        writeln!(formatter, "lengths in units of {:.6e}", self.distance_scale)?;
        writeln!(formatter, "total length {total:.6}")?;
        writeln!(
            formatter,
            "gaps: mean {mean:.6}, median {median:.6}, largest {largest:.6}, {n_zero} of length 0"
        )?;
        match self.distortion {
            Distortion::Exact { largest, mean } => {
                write!(formatter, "distortion over all pairs: largest {largest:.6}, mean {mean:.6}")?;
            }
            Distortion::Sampled { at_least, at_most, share_beyond, mean, mean_standard_error, n_sampled } => {
                writeln!(
                    formatter,
                    "distortion from {n_sampled} sampled points: mean {mean:.6} ± {mean_standard_error:.6}"
                )?;
                write!(
                    formatter,
                    "largest distortion between {at_least:.6} and {at_most:.6}; at most {:.2} % of the points exceed the lower \
                     value (95 % confidence)",
                    100.0 * share_beyond
                )?;
            }
        }
        if let Some(bound) = self.covariance_gap_bound {
            write!(formatter, "\nTheorem 1: covariance differs by at most {bound:.6e}")?;
        }
        if let Some(factor) = self.chain_start_factor {
            write!(
                formatter,
                "\nProposition 1 (corrected): a greedy chain from another start is at most {factor} times as long"
            )?;
        }
        Ok(())
    }
}
