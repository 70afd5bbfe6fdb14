//! The paper's bounds in closed form: Lemma 1, Theorem 1, Proposition 1.
//!
//! K_π is the kernel at distances along the chain, which is the structure's own covariance for derivative states on a chain
//! rooted at an end. All bounds are worst cases: they hold, but at practical sizes they are far above the error. Lemma 2 is in
//! `catena-methods`, beside the dense norms it needs.

use crate::index::{LatentIndex, OutputIndex};
use crate::kernel::Kernel;
use crate::model::{Latent, Lmc};

/// α_l of a latent with unit variance: the steepest slope of its correlation in the distance.
///
/// For Matérn-3/2 it is √3/(e·ℓ). Components along time have no such bound: theirs is infinite.
fn lipschitz_constant(latent: &Latent) -> f64 {
    let steepest = |kernel: Kernel| kernel.lipschitz_constant() * kernel.rate(latent.length_scale());
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

/// A greedy chain is at most ⌈log₂ C⌉ + 1 times as long as one from another start: twice the factor of Proposition 1.
///
/// The theorem behind it (Rosenkrantz, Stearns and Lewis, 1977) is about closed tours: greedily closed, a chain is at
/// most ½(⌈log₂ C⌉ + 1) times as long as the shortest tour, and the shortest tour is at most twice as long as any path. The
/// factor printed in the paper leaves that 2 out and does not always hold: of the points −1, 0, 0.9 and 3 on a line, the
/// greedy chain from 0 is 0, 0.9, −1, 3, of length 6.8; the one from −1 has length 4; and 6.8 > 1.5·4.
pub fn chain_start_factor(n_points: usize) -> f64 {
    f64::from(n_points.max(1).next_power_of_two().ilog2()) + 1.0
}
