//! The gradient of the likelihood.
//!
//! In an innovation, with `e = z − bᵀw`: `z̄ = −e`, `b̄ = w e − A⁻¹b`, and −1 in the log of its pivot (a bar is a derivative
//! of the likelihood). Innovations are `z = Vᵀy`, `b = Vᵀφ`, so `V̄ᵀ = z̄ yᵀ + b̄ φᵀ =: T`. V is the last columns of G⁻ᵀ with
//! `C = G Gᵀ`; with `H = T G⁻ᵀ` up to each own channel's pivot, its entry there halved, and `Q = H G⁻¹`:
//!
//! `C̄ = −½ (V Q + QᵀVᵀ + V Vᵀ)`.
//!
//! Through `C = Σ_l (a_l a_lᵀ) ∘ S_l + I`, `S_l = κ_l − u_lᵀu_l` and `φ = [a_l u_l]` that reaches loadings, correlations and
//! features. Features end as in the sparse method: `κ̄_l(Z, x) = C_l⁻ᵀ ū_l`, and `−½ C_l⁻ᵀ (Σ ū_l u_lᵀ) C_l⁻¹` among the inducing
//! points, where the sum is symmetric, because rotating all features of a latent changes nothing.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::features::Basis;
use super::innovation::Innovation;
use super::{CHUNK, CHUNKS_IN_FLIGHT, FullScale, chunks_of};
use crate::channel::{Adjoint, Block, BlockSlopes};
use crate::cholesky::{Threads, product_with_transposed};
use crate::target::dot;
use crate::{BaselineError, Gradient};

/// One location's derivatives, over its block.
struct Share {
    block: Block,
    loadings: Vec<f64>,
    values: Vec<f64>,
    means: Vec<f64>,
    length_scales: Vec<f64>,
    /// ū of the block's locations, column by column, for each latent with features.
    features: Vec<Vec<f64>>,
}

impl FullScale {
    /// The log-likelihood and its exact derivatives, the inducing points held fixed.
    ///
    /// # Errors
    /// When a neighborhood's covariance is not positive definite.
    pub fn gradient(&self) -> Result<Gradient, BaselineError> {
        let inverse = self.system.to_inverse(Threads::All);
        let mut adjoint = Adjoint::zero(&self.channels);
        // Latents of one kind have the same features, but each its own length-scale, and so its own slopes.
        let mut in_features: Vec<Vec<f64>> =
            self.features.latents().map(|(_, basis, _)| vec![0.0; basis.at.len()]).collect();
        let counts: Vec<usize> = self.features.latents().map(|(_, basis, _)| basis.count()).collect();
        for chunks in chunks_of(self.channels.n_locations()).chunks(CHUNKS_IN_FLIGHT) {
            let shares: Vec<Result<Vec<Share>, BaselineError>> =
                chunks.par_iter().map(|chunk| self.shares(&inverse, chunk.clone())).collect();
            let shares = shares.into_iter().collect::<Result<Vec<_>, _>>()?;
            for share in shares.iter().flatten() {
                share.add_to(&mut adjoint);
            }
            in_features.par_iter_mut().enumerate().for_each(|(number, sums)| {
                let shares = shares.iter().flatten();
                shares.for_each(|share| share.add_features(number, counts[number], sums));
            });
        }
        for ((latent, basis, _), slopes) in self.features.latents().zip(in_features) {
            adjoint.length_scales[latent] += self.slope_through_features(latent, basis, slopes);
        }
        Ok(adjoint.pull_back(&self.channels, &self.model, self.log_evidence))
    }

    /// The derivatives that a chunk of locations contributes.
    fn shares(&self, inverse: &[f64], chunk: Range<usize>) -> Result<Vec<Share>, BaselineError> {
        let total = self.features.total();
        let innovations: Result<Vec<Innovation>, BaselineError> =
            chunk.map(|location| self.innovation(location)).collect();
        let innovations = innovations?;
        let columns: Vec<f64> = innovations.iter().flat_map(|one| &one.features).copied().collect();
        let n_columns = columns.len().checked_div(total).unwrap_or(0);
        // −A⁻¹b, all at once.
        let mut slopes = vec![0.0; columns.len()];
        matmul(
            MatMut::from_column_major_slice_mut(&mut slopes, total, n_columns),
            Accum::Replace,
            MatRef::from_column_major_slice(inverse, total, total),
            MatRef::from_column_major_slice(&columns, total, n_columns),
            -1.0,
            Par::Seq,
        );
        let mut rest = slopes.as_mut_slice();
        let mut shares = Vec::with_capacity(innovations.len());
        for innovation in innovations {
            let (own, after) = rest.split_at_mut(total * innovation.n_own());
            shares.push(self.share(innovation, own));
            rest = after;
        }
        Ok(shares)
    }

    /// One location's derivatives; `slopes` holds −A⁻¹b.
    fn share(&self, innovation: Innovation, slopes: &mut [f64]) -> Share {
        let (total, n_latents) = (self.features.total(), self.model.n_latents());
        let (dim, count) = (innovation.block.len(), innovation.block.runs.len());
        let mut surprises = innovation.values.clone();
        if total > 0 {
            let columns = innovation.features.chunks_exact(total).zip(slopes.chunks_exact_mut(total));
            for ((features, slopes), surprise) in columns.zip(&mut surprises) {
                *surprise -= dot(features, &self.weights);
                slopes.iter_mut().zip(&self.weights).for_each(|(slope, weight)| *slope += *surprise * weight);
            }
        }
        // Σ_o e_o V_co: what a channel's value changes, up to the sign.
        let mut step = vec![0.0; dim];
        for (column, surprise) in innovation.last.chunks_exact(dim).zip(&surprises) {
            step.iter_mut().zip(column).for_each(|(step, weight)| *step += surprise * weight);
        }
        let mut share = Share {
            loadings: vec![0.0; dim * n_latents],
            values: step.iter().map(|step| -step).collect(),
            means: vec![0.0; count * n_latents],
            length_scales: vec![0.0; n_latents],
            features: vec![],
            block: innovation.block.clone(),
        };
        let meetings = self.meetings(&innovation, slopes);
        let in_covariance = self.covariance_slope(&innovation, &surprises, &meetings);
        self.add_means(&innovation, &step, &mut share);
        let pairs = self.add_covariance_slope(&innovation, &in_covariance, &mut share);
        self.add_feature_slopes(&innovation, slopes, (&meetings, &pairs), &mut share);
        share
    }

    /// `b̄_lᵀ u_l(j)` for each latent with features (one after the other), own channel and location of the block.
    fn meetings(&self, innovation: &Innovation, slopes: &[f64]) -> Vec<Vec<f64>> {
        let (total, n_own, count) = (self.features.total(), innovation.n_own(), innovation.block.runs.len());
        let meeting = |(latent, basis, start): (usize, &Basis, usize)| {
            let at = &innovation.gathered.by_kind[self.features.kind_of(latent)];
            let mut products = vec![0.0; count * n_own];
            matmul(
                MatMut::from_column_major_slice_mut(&mut products, count, n_own),
                Accum::Replace,
                MatRef::from_column_major_slice(at, basis.count(), count).transpose(),
                MatRef::from_column_major_slice(slopes, total, n_own).subrows(start, basis.count()),
                1.0,
                Par::Seq,
            );
            products
        };
        self.features.latents().map(meeting).collect()
    }

    /// `C̄`, both triangles.
    fn covariance_slope(
        &self,
        innovation: &Innovation,
        surprises: &[f64],
        meetings: &[Vec<f64>],
    ) -> Vec<f64> {
        let Innovation { block, own, last, factor, .. } = innovation;
        let (dim, count) = (block.len(), block.runs.len());
        let latents: Vec<usize> = self.features.latents().map(|(latent, ..)| latent).collect();
        // Rows of T, then H, then Q.
        let mut rows = vec![0.0; dim * surprises.len()];
        for (number, (row, surprise)) in rows.chunks_exact_mut(dim).zip(surprises).enumerate() {
            for (place, run) in block.runs.iter().enumerate() {
                for at in run.start..run.end {
                    let channel = block.channels[at];
                    let loadings = self.channels.loadings(run.location, channel);
                    let mut entry = -surprise * self.channels.values()[channel];
                    for (&latent, products) in latents.iter().zip(meetings) {
                        entry += loadings[latent] * products[number * count + place];
                    }
                    row[at] = entry;
                }
            }
        }
        factor.whiten(&mut rows, Threads::One);
        for (number, row) in rows.chunks_exact_mut(dim).enumerate() {
            row[own + number] *= 0.5;
            row[own + number + 1..].fill(0.0);
        }
        factor.whiten_transposed(&mut rows, Threads::One);
        // −½ (V Q + QᵀVᵀ + V Vᵀ) = −½ (V (Q + ½Vᵀ) + its transpose).
        rows.iter_mut().zip(last).for_each(|(entry, weight)| *entry += 0.5 * weight);
        let mut half = vec![0.0; dim * dim];
        matmul(
            MatMut::from_column_major_slice_mut(&mut half, dim, dim),
            Accum::Replace,
            MatRef::from_column_major_slice(last, dim, surprises.len()),
            MatRef::from_column_major_slice(&rows, dim, surprises.len()).transpose(),
            -0.5,
            Par::Seq,
        );
        for row in 0..dim {
            for column in 0..=row {
                let both = half[row * dim + column] + half[column * dim + row];
                half[row * dim + column] = both;
                half[column * dim + row] = both;
            }
        }
        half
    }

    /// The mean of the latents at each location as its leftover noise meets it: given the whole block at the own location,
    /// and the part of it that is new at a neighbor's.
    fn add_means(&self, innovation: &Innovation, step: &[f64], share: &mut Share) {
        let Innovation { block, own, factor, residuals, .. } = innovation;
        let (n_latents, count) = (self.model.n_latents(), block.runs.len());
        let mut joint: Vec<f64> = block
            .runs
            .iter()
            .flat_map(|run| (run.start..run.end).map(|at| self.left_of(run.location, block.channels[at])))
            .collect();
        factor.solve(&mut joint, Threads::One);
        for latent in 0..n_latents {
            let residual = &residuals[self.features.kind_of(latent)];
            let of_step = self.loaded(block, latent, step);
            let of_joint = self.loaded(block, latent, &joint);
            for (place, run) in block.runs.iter().enumerate() {
                let is_own = run.start >= *own;
                let weights = if is_own { &of_joint } else { &of_step };
                let mut mean = dot(weights, &residual[place * count..][..count]);
                if is_own {
                    mean += self.fitted[run.location * n_latents + latent];
                }
                share.means[place * n_latents + latent] = mean;
            }
        }
    }

    /// Adds what C̄ says of loadings and correlations; gives `S̄_l` of each latent with features, both triangles.
    fn add_covariance_slope(
        &self,
        innovation: &Innovation,
        in_covariance: &[f64],
        share: &mut Share,
    ) -> Vec<Vec<f64>> {
        let Innovation { block, residuals, .. } = innovation;
        let (channels, n_latents) = (&self.channels, self.model.n_latents());
        let (dim, count) = (block.len(), block.runs.len());
        let mut pairs = vec![vec![0.0; count * count]; n_latents];
        let mut left = vec![0.0; n_latents];
        let mut sums = vec![0.0; n_latents];
        for (here, own) in block.runs.iter().enumerate() {
            for (there, other) in block.runs[..=here].iter().enumerate() {
                for (latent, left) in left.iter_mut().enumerate() {
                    *left = 2.0 * residuals[self.features.kind_of(latent)][here * count + there];
                }
                sums.fill(0.0);
                for a in own.start..own.end {
                    let loadings = channels.loadings(own.location, block.channels[a]);
                    for b in other.start..other.end {
                        let others = channels.loadings(other.location, block.channels[b]);
                        let slope = in_covariance[a * dim + b];
                        let in_own = &mut share.loadings[a * n_latents..][..n_latents];
                        for latent in 0..n_latents {
                            in_own[latent] += slope * others[latent] * left[latent];
                            sums[latent] += slope * others[latent] * loadings[latent];
                        }
                        if there < here {
                            let in_other = &mut share.loadings[b * n_latents..][..n_latents];
                            for latent in 0..n_latents {
                                in_other[latent] += slope * loadings[latent] * left[latent];
                            }
                        }
                    }
                }
                for (pairs, sum) in pairs.iter_mut().zip(&sums) {
                    pairs[here * count + there] = *sum;
                    pairs[there * count + here] = *sum;
                }
            }
        }
        for (here, own) in block.runs.iter().enumerate() {
            for (there, other) in block.runs[..here].iter().enumerate() {
                let distance =
                    self.correlations.distance(channels.point(own.location), channels.point(other.location));
                for latent in 0..n_latents {
                    // Both triangles; on the diagonal a correlation is 1 whatever the length-scale.
                    share.length_scales[latent] +=
                        2.0 * pairs[latent][here * count + there] * self.correlations.slope(latent, distance);
                }
            }
        }
        self.features.latents().map(|(latent, ..)| std::mem::take(&mut pairs[latent])).collect()
    }

    /// Adds what b̄ says of loadings, and ū: `Σ_c a_c Σ_o V_co b̄_o − 2 Σ_j S̄(·, j) u(j)`.
    fn add_feature_slopes(
        &self,
        innovation: &Innovation,
        slopes: &[f64],
        (meetings, pairs): (&[Vec<f64>], &[Vec<f64>]),
        share: &mut Share,
    ) {
        let Innovation { block, last, gathered, .. } = innovation;
        let (total, n_own, n_latents) = (self.features.total(), innovation.n_own(), self.model.n_latents());
        let (dim, count) = (block.len(), block.runs.len());
        for (number, (latent, basis, start)) in self.features.latents().enumerate() {
            for (place, run) in block.runs.iter().enumerate() {
                for at in run.start..run.end {
                    let terms =
                        (0..n_own).map(|own| last[own * dim + at] * meetings[number][own * count + place]);
                    share.loadings[at * n_latents + latent] += terms.sum::<f64>();
                }
            }
            let weights = self.loaded(block, latent, last);
            let mut in_features = vec![0.0; basis.count() * count];
            matmul(
                MatMut::from_column_major_slice_mut(&mut in_features, basis.count(), count),
                Accum::Replace,
                MatRef::from_column_major_slice(slopes, total, n_own).subrows(start, basis.count()),
                MatRef::from_column_major_slice(&weights, count, n_own).transpose(),
                1.0,
                Par::Seq,
            );
            let at = &gathered.by_kind[self.features.kind_of(latent)];
            matmul(
                MatMut::from_column_major_slice_mut(&mut in_features, basis.count(), count),
                Accum::Add,
                MatRef::from_column_major_slice(at, basis.count(), count),
                MatRef::from_column_major_slice(&pairs[number], count, count),
                -2.0,
                Par::Seq,
            );
            share.features.push(in_features);
        }
    }

    /// The part of ∂/∂ℓ_l that goes through features: correlations of inducing points with places, and with each other.
    fn slope_through_features(&self, latent: usize, basis: &Basis, mut slopes: Vec<f64>) -> f64 {
        let count = basis.count();
        let chunks = || slopes.par_chunks(count * CHUNK).zip(basis.at.par_chunks(count * CHUNK));
        let products: Vec<Vec<f64>> =
            chunks().map(|(slopes, features)| product_with_transposed(slopes, features, count)).collect();
        let mut among = vec![0.0; count * count];
        for product in products {
            among.iter_mut().zip(product).for_each(|(sum, term)| *sum += term);
        }
        let of_places: Vec<f64> = slopes
            .par_chunks_mut(count * CHUNK)
            .enumerate()
            .map(|(number, slopes)| {
                basis.factor.whiten_transposed(slopes, Threads::One);
                let places = slopes.chunks_exact(count).zip(number * CHUNK..);
                places.map(|(slopes, place)| self.slope_with_place(latent, basis, slopes, place)).sum()
            })
            .collect();
        of_places.iter().sum::<f64>() + self.slope_among_inducing(latent, basis, among)
    }

    fn slope_with_place(&self, latent: usize, basis: &Basis, slopes: &[f64], place: usize) -> f64 {
        let point = self.channels.point(place);
        let inducing = basis.points.values().chunks_exact(basis.points.dim());
        let terms = slopes.iter().zip(inducing).map(|(slope, inducing)| {
            slope * self.correlations.slope(latent, self.correlations.distance(point, inducing))
        });
        terms.sum()
    }

    fn slope_among_inducing(&self, latent: usize, basis: &Basis, mut product: Vec<f64>) -> f64 {
        let count = basis.count();
        basis.factor.whiten_transposed(&mut product, Threads::One);
        let mut transposed: Vec<f64> =
            (0..count * count).map(|at| product[(at % count) * count + at / count]).collect();
        basis.factor.whiten_transposed(&mut transposed, Threads::One);
        let points: Vec<&[f64]> = basis.points.values().chunks_exact(basis.points.dim()).collect();
        let terms = transposed.iter().enumerate().map(|(at, slope)| {
            let distance = self.correlations.distance(points[at % count], points[at / count]);
            slope * self.correlations.slope(latent, distance)
        });
        -0.5 * terms.sum::<f64>()
    }
}

impl Share {
    fn add_to(&self, adjoint: &mut Adjoint) {
        let Self { block, loadings, values, means, length_scales, .. } = self;
        adjoint.add(block, BlockSlopes { loadings, values, means, length_scales });
    }

    fn add_features(&self, number: usize, count: usize, sums: &mut [f64]) {
        for (run, slopes) in self.block.runs.iter().zip(self.features[number].chunks_exact(count)) {
            let sums = sums[run.location * count..][..count].iter_mut();
            sums.zip(slopes).for_each(|(sum, slope)| *sum += slope);
        }
    }
}
