//! The gradient of the evidence or bound.
//!
//! With `E = A⁻¹ + μμᵀ`, `m_l = u_lᵀμ_l` and `M_ll' = u_lᵀ E_ll' u_l'` at a location (s, t as in `sums`):
//! - in a channel's loadings: `(ỹ m − M a)/λ + 2h a∘(1 − |u|²)`, and in its value `(aᵀm − ỹ)/λ`, where h is ∂/∂λ
//!   (`½(ỹ² − 2ỹ aᵀm + aᵀMa − λ)/λ²`) for FITC and −½ for the collapsed bound;
//! - in its features: `ū_l = t_l μ_l − Σ_l' s_ll' E_ll' u_l' − 2 u_l Σ_c a_cl² h_c`;
//! - in the correlations: `C_l⁻ᵀ ū_l` with the point, and `−½ C_l⁻ᵀ (Σ ū_l u_lᵀ) C_l⁻¹` among the inducing points. The sum
//!   is symmetric, because rotating all features of a latent changes nothing, so the derivative of the factor needs
//!   no triangular bookkeeping.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::inducing::{PointFeatures, cross};
use super::sums::{LocationSums, location_sums, points_of, unexplained_of};
use super::{Approximation, CHUNKS_IN_FLIGHT, Svgp, chunks_of};
use crate::Gradient;
use crate::channel::Adjoint;
use crate::cholesky::{Threads, product_with_transposed};
use crate::target::dot;

/// The derivatives that a chunk of locations contributes.
struct Share {
    chunk: Range<usize>,
    /// Channel by channel of the chunk.
    loadings: Vec<f64>,
    values: Vec<f64>,
    length_scales: Vec<f64>,
    /// `Σ ū_l u_lᵀ` (m_l×m_l), latent by latent.
    products: Vec<Vec<f64>>,
}

impl Svgp {
    /// The evidence or bound and its exact derivatives, the inducing points held fixed.
    pub fn gradient(&self) -> Gradient {
        let (features, n_latents) = (&self.features, self.features.n_latents());
        let second_moment = self.second_moment();
        let mut adjoint = Adjoint::zero(&self.channels);
        let mut products: Vec<Vec<f64>> =
            (0..n_latents).map(|latent| vec![0.0; features.count(latent).pow(2)]).collect();
        for chunks in chunks_of(self.channels.n_locations()).chunks(CHUNKS_IN_FLIGHT) {
            let shares: Vec<Share> =
                chunks.par_iter().map(|chunk| self.share(&second_moment, chunk.clone())).collect();
            for share in shares {
                let first = self.channels.of_location(share.chunk.start).start;
                adjoint.loadings[first * n_latents..][..share.loadings.len()]
                    .copy_from_slice(&share.loadings);
                adjoint.values[first..][..share.values.len()].copy_from_slice(&share.values);
                for latent in 0..n_latents {
                    adjoint.length_scales[latent] += share.length_scales[latent];
                    let terms = products[latent].iter_mut().zip(&share.products[latent]);
                    terms.for_each(|(sum, term)| *sum += term);
                }
            }
        }
        for (latent, product) in products.into_iter().enumerate() {
            adjoint.length_scales[latent] += self.slope_among_inducing(latent, product);
        }
        adjoint.pull_back(&self.channels, &self.model, self.log_evidence)
    }

    /// `E = A⁻¹ + μμᵀ`.
    fn second_moment(&self) -> Vec<f64> {
        let mut moment = self.system.to_inverse(Threads::All);
        for (column, right) in moment.chunks_exact_mut(self.mean.len()).zip(&self.mean) {
            for (entry, left) in column.iter_mut().zip(&self.mean) {
                *entry += left * right;
            }
        }
        moment
    }

    fn share(&self, second_moment: &[f64], chunk: Range<usize>) -> Share {
        let n_latents = self.features.n_latents();
        let points = points_of(&self.channels, chunk.clone());
        let at = self.features.of(&points);
        let sums = location_sums(&self.channels, &at, (self.approximation, chunk.clone()), &mut 0.0);
        let carried = self.carried(second_moment, &at, chunk.len());
        let mut share = Share {
            loadings: vec![],
            values: vec![],
            length_scales: vec![0.0; n_latents],
            products: vec![],
            chunk: chunk.clone(),
        };
        // ∂/∂|u_l|², location by location.
        let mut in_squares = vec![0.0; chunk.len() * n_latents];
        for (number, location) in chunk.enumerate() {
            let squares = &mut in_squares[number * n_latents..][..n_latents];
            self.share_of_cells((number, location), (&at, &carried), squares, &mut share);
        }
        for latent in 0..n_latents {
            let slopes = self.feature_slopes(latent, (&at, &carried), &sums, &in_squares);
            share.products.push(product_with_transposed(
                &slopes,
                &at.by_latent[latent],
                self.features.count(latent),
            ));
            share.length_scales[latent] += self.slope_with_points(latent, slopes, &points);
        }
        share
    }

    /// `E_ll' u_l'` of every point, at place `l·L + l'`.
    fn carried(&self, second_moment: &[f64], at: &PointFeatures, n: usize) -> Vec<Vec<f64>> {
        let (features, n_latents) = (&self.features, self.features.n_latents());
        let total = features.total();
        let whole = MatRef::from_column_major_slice(second_moment, total, total);
        let mut carried = Vec::with_capacity(n_latents * n_latents);
        for pair in 0..n_latents * n_latents {
            let (latent, other) = (pair / n_latents, pair % n_latents);
            let (rows, columns) = (features.count(latent), features.count(other));
            let block = whole.submatrix(features.start(latent), features.start(other), rows, columns);
            let mut product = vec![0.0; rows * n];
            matmul(
                MatMut::from_column_major_slice_mut(&mut product, rows, n),
                Accum::Replace,
                block,
                MatRef::from_column_major_slice(&at.by_latent[other], columns, n),
                1.0,
                Par::Seq,
            );
            carried.push(product);
        }
        carried
    }

    /// Derivatives in the loadings and values of one location's channels, and in its explained shares |u_l|².
    fn share_of_cells(
        &self,
        (number, location): (usize, usize),
        (at, carried): (&PointFeatures, &[Vec<f64>]),
        in_squares: &mut [f64],
        share: &mut Share,
    ) {
        let n_latents = self.features.n_latents();
        let feature = |latent: usize| {
            let count = self.features.count(latent);
            &at.by_latent[latent][number * count..][..count]
        };
        let mean: Vec<f64> = (0..n_latents)
            .map(|latent| {
                let start = self.features.start(latent);
                dot(feature(latent), &self.mean[start..][..self.features.count(latent)])
            })
            .collect();
        let moment: Vec<f64> = (0..n_latents * n_latents)
            .map(|pair| {
                let count = self.features.count(pair / n_latents);
                dot(feature(pair / n_latents), &carried[pair][number * count..][..count])
            })
            .collect();
        let unexplained = &at.unexplained[number * n_latents..][..n_latents];
        for channel in self.channels.of_location(location) {
            let (loadings, value) =
                (self.channels.loadings(location, channel), self.channels.values()[channel]);
            let noise = self.approximation.noise(unexplained_of(loadings, unexplained));
            let through: Vec<f64> = moment.chunks_exact(n_latents).map(|row| dot(row, loadings)).collect();
            let fitted = dot(loadings, &mean);
            let in_unexplained = match self.approximation {
                Approximation::Collapsed => -0.5,
                Approximation::Fitc => {
                    let misfit = value * value - 2.0 * value * fitted + dot(loadings, &through);
                    0.5 * (misfit - noise) / (noise * noise)
                }
            };
            share.values.push((fitted - value) / noise);
            for latent in 0..n_latents {
                let direct = (value * mean[latent] - through[latent]) / noise;
                share.loadings.push(direct + 2.0 * in_unexplained * loadings[latent] * unexplained[latent]);
                in_squares[latent] -= in_unexplained * loadings[latent] * loadings[latent];
            }
        }
    }

    /// ū_l of every point of a chunk.
    fn feature_slopes(
        &self,
        latent: usize,
        (at, carried): (&PointFeatures, &[Vec<f64>]),
        sums: &[LocationSums],
        in_squares: &[f64],
    ) -> Vec<f64> {
        let (n_latents, count) = (self.features.n_latents(), self.features.count(latent));
        let mean = &self.mean[self.features.start(latent)..][..count];
        let mut slopes = vec![0.0; count * sums.len()];
        for (number, (slopes, sums)) in slopes.chunks_exact_mut(count).zip(sums).enumerate() {
            let own = &at.by_latent[latent][number * count..][..count];
            for place in 0..count {
                let mut slope = sums.shift[latent] * mean[place]
                    + 2.0 * in_squares[number * n_latents + latent] * own[place];
                for other in 0..n_latents {
                    let pair = latent * n_latents + other;
                    slope -= sums.precision[pair] * carried[pair][number * count + place];
                }
                slopes[place] = slope;
            }
        }
        slopes
    }

    /// The part of ∂/∂ℓ_l that goes through correlations of inducing points with data.
    fn slope_with_points(&self, latent: usize, mut slopes: Vec<f64>, points: &[&[f64]]) -> f64 {
        let correlations = &self.features.correlations;
        self.features.factors[latent].whiten_transposed(&mut slopes, Threads::One);
        let places = &self.features.points[latent];
        let mut total = 0.0;
        for (slopes, point) in slopes.chunks_exact(places.n_rows()).zip(points) {
            for (slope, place) in slopes.iter().zip(places.values().chunks_exact(places.dim())) {
                total += slope * correlations.slope(latent, correlations.distance(point, place));
            }
        }
        total
    }

    /// The part of ∂/∂ℓ_l that goes through correlations among inducing points.
    fn slope_among_inducing(&self, latent: usize, mut product: Vec<f64>) -> f64 {
        let (correlations, places) = (&self.features.correlations, &self.features.points[latent]);
        let count = places.n_rows();
        self.features.factors[latent].whiten_transposed(&mut product, Threads::One);
        let mut transposed: Vec<f64> =
            (0..count * count).map(|at| product[(at % count) * count + at / count]).collect();
        self.features.factors[latent].whiten_transposed(&mut transposed, Threads::One);
        let slopes = cross(places, places, |distance| correlations.slope(latent, distance), correlations);
        -0.5 * dot(&transposed, &slopes)
    }
}
