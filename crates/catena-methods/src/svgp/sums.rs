//! The terms of A, b and the evidence of a chunk of locations.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::Approximation;
use super::features::{Features, PointFeatures};
use crate::channel::Channels;
use crate::normal_equations::NormalEquations;

/// Per location: `s_ll' = Σ_c a_cl a_cl'/λ_c` (L×L) and `t_l = Σ_c a_cl ỹ_c/λ_c`.
pub(super) struct LocationSums {
    pub(super) precision: Vec<f64>,
    pub(super) shift: Vec<f64>,
}

/// The points of some locations.
pub(super) fn points_of(channels: &Channels, chunk: Range<usize>) -> Vec<&[f64]> {
    chunk.map(|location| channels.point(location)).collect()
}

/// The terms of `A = I + Σ φφᵀ/λ` (lower triangle by blocks), of `b = Σ φỹ/λ`, and of the evidence,
/// `−½ Σ (ỹ²/λ + log 2πλ)` and minus half the unexplained variance under the collapsed bound, for a chunk of locations.
pub(super) fn of_chunk(
    channels: &Channels,
    features: &Features,
    approximation: Approximation,
    chunk: Range<usize>,
) -> NormalEquations {
    let n_latents = features.n_latents();
    let at = features.of(&points_of(channels, chunk.clone()));
    let mut sums = NormalEquations::zero(features.total());
    let locations = location_sums(channels, &at, (approximation, chunk), &mut sums.evidence);
    for latent in 0..n_latents {
        let rows = features.start(latent)..features.start(latent) + features.count();
        let columns = at.by_latent[latent].chunks_exact(features.count());
        for (column, location) in columns.zip(&locations) {
            for (sum, feature) in sums.right[rows.clone()].iter_mut().zip(column) {
                *sum += feature * location.shift[latent];
            }
        }
        for other in 0..=latent {
            add_block(features, &at, &locations, (latent, other), &mut sums.matrix);
        }
    }
    sums
}

/// Adds `U_l diag(s_ll') U_l'ᵀ` to its block of A.
fn add_block(
    features: &Features,
    at: &PointFeatures,
    locations: &[LocationSums],
    (latent, other): (usize, usize),
    system: &mut [f64],
) {
    let n_latents = features.n_latents();
    let weights: Vec<f64> =
        locations.iter().map(|location| location.precision[latent * n_latents + other]).collect();
    // Private latents of different outputs have no common cell.
    if weights.iter().all(|&weight| weight == 0.0) {
        return;
    }
    let (rows, columns, n) = (features.count(), features.count(), locations.len());
    let mut scaled = at.by_latent[other].clone();
    for (column, weight) in scaled.chunks_exact_mut(columns).zip(&weights) {
        column.iter_mut().for_each(|feature| *feature *= weight);
    }
    let whole = MatMut::from_column_major_slice_mut(system, features.total(), features.total());
    let block = whole.submatrix_mut(features.start(latent), features.start(other), rows, columns);
    let left = MatRef::from_column_major_slice(&at.by_latent[latent], rows, n);
    let right = MatRef::from_column_major_slice(&scaled, columns, n);
    matmul(block, Accum::Add, left, right.transpose(), 1.0, Par::Seq);
}

/// The sums of each location of a chunk; the terms of single cells are added to `evidence`.
pub(super) fn location_sums(
    channels: &Channels,
    at: &PointFeatures,
    (approximation, chunk): (Approximation, Range<usize>),
    evidence: &mut f64,
) -> Vec<LocationSums> {
    let n_latents = channels.n_latents();
    let mut sums = Vec::with_capacity(chunk.len());
    for (location, unexplained) in chunk.zip(at.unexplained.chunks_exact(n_latents)) {
        let mut here =
            LocationSums { precision: vec![0.0; n_latents * n_latents], shift: vec![0.0; n_latents] };
        for channel in channels.of_location(location) {
            let (loadings, value) = (channels.loadings(location, channel), channels.values()[channel]);
            let left = unexplained_of(loadings, unexplained);
            let noise = approximation.noise(left);
            *evidence -= 0.5 * (value * value / noise + (std::f64::consts::TAU * noise).ln());
            if approximation == Approximation::Collapsed {
                *evidence -= 0.5 * left;
            }
            for a in 0..n_latents {
                let weighted = loadings[a] / noise;
                here.shift[a] += weighted * value;
                for b in 0..n_latents {
                    here.precision[a * n_latents + b] += weighted * loadings[b];
                }
            }
        }
        sums.push(here);
    }
    sums
}

/// `Σ_l a_l² (1 − |u_l|²)`: the variance of a channel that the inducing values do not explain.
pub(super) fn unexplained_of(loadings: &[f64], unexplained: &[f64]) -> f64 {
    loadings.iter().zip(unexplained).map(|(loading, left)| loading * loading * left).sum()
}
