//! The gradient of the evidence or bound.
//!
//! With `E = A⁻¹ + μμᵀ`, `m_l = u_lᵀμ_l` and `M_ll' = u_lᵀ E_ll' u_l'` at a location (s, t as in `sums`):
//! - in a channel's loadings: `(ỹ m − M a)/λ + 2h a∘(1 − |u|²)`, and in its value `(aᵀm − ỹ)/λ`, where h is ∂/∂λ
//!   (`½(ỹ² − 2ỹ aᵀm + aᵀMa − λ)/λ²`) for FITC and −½ for the collapsed bound;
//! - in its features: `ū_l = t_l μ_l − Σ_l' s_ll' E_ll' u_l' − 2 u_l Σ_c a_cl² h_c`;
//!
//! `inducing` carries the derivatives in the features on to the correlations.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::features::PointFeatures;
use super::sums::{LocationSums, location_sums, points_of, unexplained_of};
use super::{Approximation, CHUNK, Svgp};
use crate::Gradient;
use crate::channel::Adjoint;
use crate::cholesky::{Threads, product_with_transposed};
use crate::normal_equations::{CHUNKS_IN_FLIGHT, chunks_of};
use crate::targets::dot;

/// The derivatives contributed by a chunk of locations.
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
        let mut products: Vec<Vec<f64>> = vec![vec![0.0; features.count().pow(2)]; n_latents];
        for chunks in chunks_of(self.channels.n_locations(), CHUNK).chunks(CHUNKS_IN_FLIGHT) {
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
            let mut among = 0.0;
            features.sets[latent].add_among((&features.correlations, latent), product, &mut among);
            adjoint.length_scales[latent] += among;
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
        let products = self.feature_products(second_moment, &at, chunk.len());
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
            self.share_of_cells((number, location), (&at, &products), squares, &mut share);
        }
        for latent in 0..n_latents {
            let derivatives = self.feature_derivatives(latent, (&at, &products), &sums, &in_squares);
            share.products.push(product_with_transposed(
                &derivatives,
                &at.by_latent[latent],
                self.features.count(),
            ));
            share.length_scales[latent] += self.derivative_with_points(latent, derivatives, &points);
        }
        share
    }

    /// `E_ll' u_l'` of every point, at place `l·L + l'`.
    fn feature_products(&self, second_moment: &[f64], at: &PointFeatures, n: usize) -> Vec<Vec<f64>> {
        let (features, n_latents) = (&self.features, self.features.n_latents());
        let total = features.total();
        let whole = MatRef::from_column_major_slice(second_moment, total, total);
        let mut products = Vec::with_capacity(n_latents * n_latents);
        for pair in 0..n_latents * n_latents {
            let (latent, other) = (pair / n_latents, pair % n_latents);
            let (rows, columns) = (features.count(), features.count());
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
            products.push(product);
        }
        products
    }

    /// Derivatives in the loadings and values of one location's channels, and in |u_l|².
    fn share_of_cells(
        &self,
        (number, location): (usize, usize),
        (at, products): (&PointFeatures, &[Vec<f64>]),
        in_squares: &mut [f64],
        share: &mut Share,
    ) {
        let n_latents = self.features.n_latents();
        let feature = |latent: usize| {
            let count = self.features.count();
            &at.by_latent[latent][number * count..][..count]
        };
        let mean: Vec<f64> = (0..n_latents)
            .map(|latent| {
                let start = self.features.start(latent);
                dot(feature(latent), &self.mean[start..][..self.features.count()])
            })
            .collect();
        let moment: Vec<f64> = (0..n_latents * n_latents)
            .map(|pair| {
                let count = self.features.count();
                dot(feature(pair / n_latents), &products[pair][number * count..][..count])
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
    fn feature_derivatives(
        &self,
        latent: usize,
        (at, products): (&PointFeatures, &[Vec<f64>]),
        sums: &[LocationSums],
        in_squares: &[f64],
    ) -> Vec<f64> {
        let (n_latents, count) = (self.features.n_latents(), self.features.count());
        let mean = &self.mean[self.features.start(latent)..][..count];
        let mut derivatives = vec![0.0; count * sums.len()];
        for (number, (derivatives, sums)) in derivatives.chunks_exact_mut(count).zip(sums).enumerate() {
            let own = &at.by_latent[latent][number * count..][..count];
            for place in 0..count {
                let mut derivative = sums.shift[latent] * mean[place]
                    + 2.0 * in_squares[number * n_latents + latent] * own[place];
                for other in 0..n_latents {
                    let pair = latent * n_latents + other;
                    derivative -= sums.precision[pair] * products[pair][number * count + place];
                }
                derivatives[place] = derivative;
            }
        }
        derivatives
    }

    /// The part of ∂/∂ℓ_l through the correlations of inducing points with data.
    fn derivative_with_points(&self, latent: usize, mut derivatives: Vec<f64>, points: &[&[f64]]) -> f64 {
        let set = &self.features.sets[latent];
        set.factor.whiten_transposed(&mut derivatives, Threads::One);
        let mut sum = 0.0;
        for (derivatives, point) in derivatives.chunks_exact(set.len()).zip(points) {
            set.add_with_point((&self.features.correlations, latent), (derivatives, point), &mut sum);
        }
        sum
    }
}
