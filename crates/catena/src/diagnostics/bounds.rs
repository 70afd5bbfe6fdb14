//! The paper's bounds in closed form (Lemma 1, Lemma 2, Theorem 1, Proposition 1).
//!
//! They speak of K_π, the kernel at chain distances, which is the structure's own covariance for derivative states on a
//! chain rooted at an end. All are worst cases: at practical sizes they certify no small error, but they must hold.

use crate::index::{LatentIndex, OutputIndex};
use crate::kernel::Kernel;
use crate::model::{Latent, Lmc};
use crate::units::Variance;

/// α_l of a latent with unit variance: the steepest slope of its correlation in the distance.
///
/// For Matérn-3/2 it is √3/(e·ℓ). Of pieces for time the bounds do not speak: theirs is infinite.
pub fn lipschitz_constant(latent: &Latent) -> f64 {
    let steepest = |kernel: Kernel| kernel.steepest_slope() * kernel.rate(latent.length_scale());
    latent.kernel().map_or(f64::INFINITY, steepest)
}

/// Lemma 1: ‖K_l − K_π,l‖₂ ≤ C·α_l·ε_π, for a latent with unit variance on a chain of `n_points` points.
pub fn latent_gap_bound(latent: &Latent, n_points: usize, distortion: f64) -> f64 {
    n_points as f64 * lipschitz_constant(latent) * distortion
}

/// Theorem 1: η = ‖K − K_π‖₂ ≤ C·ε_π·Σ_l ‖w_l‖²·α_l, for all outputs of a model together.
pub fn covariance_gap_bound(model: &Lmc, n_points: usize, distortion: f64) -> f64 {
    let bound_of = |(at, latent): (usize, &Latent)| {
        let weight = |output| model.mixing().weight(OutputIndex::new(output), LatentIndex::new(at));
        let squared_norm: f64 = (0..model.n_outputs()).map(|output| weight(output).powi(2)).sum();
        squared_norm * latent_gap_bound(latent, n_points, distortion)
    };
    model.latents().iter().enumerate().map(bound_of).sum()
}

/// Spectral norms that Lemma 2 needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CovarianceNorms {
    /// η = ‖K − K_π‖₂, or a bound on it.
    pub gap: f64,
    /// ‖K‖₂ of the Euclidean covariance.
    pub euclidean: f64,
    /// ‖K_π‖₂ of the structure's covariance.
    pub structure: f64,
}

/// How far the structure's posterior can be from the Euclidean one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PosteriorBounds {
    /// A bound on ‖μ − μ_π‖₂.
    pub mean: f64,
    /// A bound on ‖Σ − Σ_π‖₂.
    pub covariance: f64,
}

/// Lemma 2, and with the η of Theorem 1 that theorem: all points observed with the same noise σ², ‖y‖₂ given.
pub fn posterior_bounds(norms: CovarianceNorms, noise: Variance, observations_norm: f64) -> PosteriorBounds {
    let CovarianceNorms { gap, euclidean, structure } = norms;
    let (relative, noise) = (gap / noise.get(), noise.get());
    PosteriorBounds {
        mean: (relative + (euclidean + gap) / noise * relative) * observations_norm,
        covariance: gap + relative * (euclidean + structure) + relative * euclidean * (structure / noise),
    }
}

/// A greedy chain is at most ⌈log₂ C⌉ + 1 times as long as one from another start: Proposition 1, with twice its factor.
///
/// The theorem behind it (Rosenkrantz, Stearns and Lewis, 1977) speaks of closed tours: greedily closed, a chain is at
/// most ½(⌈log₂ C⌉ + 1) times as long as the shortest tour. The shortest tour is at most twice as long as any path, and
/// the factor printed in the paper, [`printed_chain_start_factor`], leaves that 2 out.
pub fn chain_start_factor(n_points: usize) -> f64 {
    2.0 * printed_chain_start_factor(n_points)
}

/// ½(⌈log₂ C⌉ + 1), as Proposition 1 is printed. It does not always hold.
///
/// Take −1, 0, 0.9 and 3 on a line. The greedy chain from 0 is 0, 0.9, −1, 3, of length 6.8; the one from −1 has length
/// 4; and 6.8 > 1.5·4.
pub fn printed_chain_start_factor(n_points: usize) -> f64 {
    let rounded_up_logarithm = n_points.max(1).next_power_of_two().ilog2();
    0.5 * (f64::from(rounded_up_logarithm) + 1.0)
}
