//! The gradient of the likelihood: the derivatives of all locations, summed in chunks, and those through the features.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::features::Basis;
use super::innovation::Innovation;
use super::location_gradient::Scratch;
use super::neighborhood::refill;
use super::{CHUNK, FullScale};
use crate::channel::{Adjoint, Block, BlockDerivatives};
use crate::cholesky::{Threads, product_with_transposed};
use crate::normal_equations::{CHUNKS_IN_FLIGHT, chunks_of};
use crate::{DenseMethodError, Gradient};

/// Locations whose −A⁻¹b are computed at once: enough for a fast product, few enough to stay in the cache.
const TOGETHER: usize = 16;

/// The derivatives contributed by a chunk of locations, location by location in the order of its block.
#[derive(Default)]
pub(super) struct Shares {
    pub(super) blocks: Vec<Block>,
    pub(super) loadings: Vec<f64>,
    pub(super) values: Vec<f64>,
    pub(super) means: Vec<f64>,
    pub(super) length_scales: Vec<f64>,
    /// ū of each block's locations, column by column, for each latent with features.
    pub(super) features: Vec<Vec<f64>>,
}

impl FullScale {
    /// The log-likelihood and its exact derivatives, the inducing points held fixed.
    ///
    /// # Errors
    /// If a neighborhood's covariance is not positive definite.
    pub fn gradient(&self) -> Result<Gradient, DenseMethodError> {
        let inverse = self.system.to_inverse(Threads::All);
        let mut adjoint = Adjoint::zero(&self.channels);
        // Latents of one kind share features, but each has a length-scale of its own.
        let mut in_features: Vec<Vec<f64>> =
            self.features.latents().map(|(_, basis, _)| vec![0.0; basis.at.len()]).collect();
        let counts: Vec<usize> = self.features.latents().map(|(_, basis, _)| basis.count()).collect();
        for chunks in chunks_of(self.channels.n_locations(), CHUNK).chunks(CHUNKS_IN_FLIGHT) {
            let shares: Vec<Result<Shares, DenseMethodError>> =
                chunks.par_iter().map(|chunk| self.shares(&inverse, chunk.clone())).collect();
            let shares = shares.into_iter().collect::<Result<Vec<_>, _>>()?;
            shares.iter().for_each(|share| share.add_to(&mut adjoint));
            in_features.par_iter_mut().enumerate().for_each(|(number, sums)| {
                shares.iter().for_each(|share| share.add_features(number, counts[number], sums));
            });
        }
        for ((latent, basis, _), derivatives) in self.features.latents().zip(in_features) {
            adjoint.length_scales[latent] += self.through_features(latent, basis, derivatives);
        }
        Ok(adjoint.pull_back(&self.channels, &self.model, self.log_evidence))
    }

    /// The derivatives contributed by a chunk of locations.
    fn shares(&self, inverse: &[f64], chunk: Range<usize>) -> Result<Shares, DenseMethodError> {
        let total = self.features.total();
        let mut shares = Shares {
            features: self.features.latents().map(|_| vec![]).collect(),
            length_scales: vec![0.0; self.model.n_latents()],
            ..Shares::default()
        };
        let mut innovations: Vec<Innovation> = vec![Innovation::default(); TOGETHER.min(chunk.len())];
        let (mut columns, mut derivatives, mut scratch) = (vec![], vec![], Scratch::default());
        let locations: Vec<usize> = chunk.collect();
        for locations in locations.chunks(TOGETHER) {
            let innovations = &mut innovations[..locations.len()];
            columns.clear();
            for (innovation, &location) in innovations.iter_mut().zip(locations) {
                self.innovation(location, innovation)?;
                columns.extend_from_slice(&innovation.features);
            }
            let n_columns = columns.len().checked_div(total).unwrap_or(0);
            // −A⁻¹b, all at once.
            refill(&mut derivatives, columns.len());
            matmul(
                MatMut::from_column_major_slice_mut(&mut derivatives, total, n_columns),
                Accum::Replace,
                MatRef::from_column_major_slice(inverse, total, total),
                MatRef::from_column_major_slice(&columns, total, n_columns),
                -1.0,
                Par::Seq,
            );
            let mut rest = derivatives.as_mut_slice();
            for innovation in innovations {
                let (own, after) = rest.split_at_mut(total * innovation.n_own());
                self.add_location(innovation, own, &mut scratch, &mut shares);
                rest = after;
            }
        }
        Ok(shares)
    }

    /// The part of ∂/∂ℓ_l through the features: correlations of inducing points with places and with each other.
    fn through_features(&self, latent: usize, basis: &Basis, mut derivatives: Vec<f64>) -> f64 {
        let (count, of) = (basis.count(), (&self.correlations, latent));
        let chunks = || derivatives.par_chunks(count * CHUNK).zip(basis.at.par_chunks(count * CHUNK));
        let products: Vec<Vec<f64>> =
            chunks().map(|(derivatives, at)| product_with_transposed(derivatives, at, count)).collect();
        let mut among = vec![0.0; count * count];
        for product in products {
            among.iter_mut().zip(product).for_each(|(sum, term)| *sum += term);
        }
        let of_places: Vec<f64> = derivatives
            .par_chunks_mut(count * CHUNK)
            .enumerate()
            .map(|(number, derivatives)| {
                basis.set.factor.whiten_transposed(derivatives, Threads::One);
                let mut sum = 0.0;
                for (derivatives, place) in derivatives.chunks_exact(count).zip(number * CHUNK..) {
                    basis.set.add_with_point(of, (derivatives, self.channels.point(place)), &mut sum);
                }
                sum
            })
            .collect();
        let mut sum = of_places.iter().sum();
        basis.set.add_among(of, among, &mut sum);
        sum
    }
}

impl Shares {
    fn add_to(&self, adjoint: &mut Adjoint) {
        let n_latents = adjoint.length_scales.len();
        let (mut channel, mut place) = (0, 0);
        for block in &self.blocks {
            let (dim, count) = (block.len(), block.runs.len());
            let of_block = BlockDerivatives {
                loadings: &self.loadings[channel * n_latents..][..dim * n_latents],
                values: &self.values[channel..][..dim],
                means: &self.means[place * n_latents..][..count * n_latents],
                length_scales: &[],
            };
            adjoint.add(block, of_block);
            (channel, place) = (channel + dim, place + count);
        }
        adjoint.length_scales.iter_mut().zip(&self.length_scales).for_each(|(sum, term)| *sum += term);
    }

    fn add_features(&self, number: usize, count: usize, sums: &mut [f64]) {
        let runs = self.blocks.iter().flat_map(|block| &block.runs);
        for (run, derivatives) in runs.zip(self.features[number].chunks_exact(count)) {
            let sums = sums[run.location * count..][..count].iter_mut();
            sums.zip(derivatives).for_each(|(sum, term)| *sum += term);
        }
    }
}
