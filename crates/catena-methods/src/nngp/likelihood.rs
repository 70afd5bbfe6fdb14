//! Vecchia's likelihood: each row given its nearest predecessors in maxmin order, and its gradient.
//!
//! `log p(y_i | y_N) = log p(y_J) − log p(y_N)` with J = N and i, own channels last. With `K̃_J = C Cᵀ`, `z = C⁻¹ỹ`,
//! `α_J = C⁻ᵀz` and V the last columns of C⁻ᵀ (those of i): the value needs z and diag C at i alone, and the
//! derivative is `½ tr(G dK̃)` with `G = α_J α_Jᵀ − α_N α_Nᵀ − V Vᵀ`, where `α_N = α_J − V z_i` (0 at i).

use rayon::prelude::*;

use super::{Nngp, points_of};
use crate::channel::{Adjoint, Block, BlockDerivatives};
use crate::cholesky::{Cholesky, Threads};
use crate::neighbors::predecessors;
use crate::{DenseMethodError, Gradient};

/// Rows evaluated before their derivatives are summed: bounds the memory in use.
const ROWS_IN_FLIGHT: usize = 2048;

/// One row's conditional density, ready to be differentiated.
struct Conditional {
    block: Block,
    cholesky: Cholesky,
    /// z.
    whitened: Vec<f64>,
    /// Index of the first own channel in the block.
    own: usize,
    value: f64,
}

/// One row's derivatives, over the channels and runs of its block.
struct Share {
    block: Block,
    loadings: Vec<f64>,
    values: Vec<f64>,
    means: Vec<f64>,
    length_scales: Vec<f64>,
    value: f64,
}

impl Nngp {
    /// Vecchia's log-likelihood with maxmin order and nearest predecessors.
    ///
    /// # Errors
    /// If a neighborhood's covariance is not positive definite.
    pub fn log_evidence(&self) -> Result<f64, DenseMethodError> {
        let neighborhoods = predecessors(&points_of(&self.channels)?, self.n_neighbors)?;
        let mut total = self.channels.log_normalizer();
        let values: Vec<Result<f64, DenseMethodError>> = neighborhoods
            .par_iter()
            .map(|(location, near)| Ok(self.conditional(*location, near)?.value))
            .collect();
        for value in values {
            total += value?;
        }
        Ok(total)
    }

    /// Vecchia's log-likelihood and its exact derivatives.
    ///
    /// # Errors
    /// If a neighborhood's covariance is not positive definite.
    pub fn gradient(&self) -> Result<Gradient, DenseMethodError> {
        let mut adjoint = Adjoint::zero(&self.channels);
        let mut total = self.channels.log_normalizer();
        let neighborhoods = predecessors(&points_of(&self.channels)?, self.n_neighbors)?;
        for neighborhoods in neighborhoods.chunks(ROWS_IN_FLIGHT) {
            let shares: Vec<Result<Share, DenseMethodError>> = neighborhoods
                .par_iter()
                .map(|(location, near)| Ok(self.share(self.conditional(*location, near)?)))
                .collect();
            for share in shares {
                let share = share?;
                total += share.value;
                share.add_to(&mut adjoint);
            }
        }
        Ok(adjoint.pull_back(&self.channels, &self.model, total))
    }

    fn conditional(&self, location: usize, near: &[usize]) -> Result<Conditional, DenseMethodError> {
        let channels = &self.channels;
        let block = channels.block_of(near.iter().copied().chain([location]));
        let cholesky = channels.factor(&self.correlations, &block, Threads::One)?;
        let mut whitened: Vec<f64> =
            block.channels.iter().map(|&channel| channels.values()[channel]).collect();
        cholesky.whiten(&mut whitened, Threads::One);
        let own = block.len() - channels.of_location(location).len();
        let log_diagonal: f64 = cholesky.diagonal().skip(own).map(f64::ln).sum();
        let squares: f64 = whitened[own..].iter().map(|value| value * value).sum();
        Ok(Conditional { block, cholesky, whitened, own, value: -0.5 * squares - log_diagonal })
    }

    fn share(&self, conditional: Conditional) -> Share {
        let Conditional { block, cholesky, whitened, own, value } = conditional;
        let (dim, n_latents) = (block.len(), self.model.n_latents());
        let mut last = vec![0.0; (dim - own) * dim];
        for (column, at) in last.chunks_exact_mut(dim).zip(own..) {
            column[at] = 1.0;
        }
        cholesky.whiten_transposed(&mut last, Threads::One);
        let mut joint = whitened.clone();
        cholesky.whiten_transposed(&mut joint, Threads::One);
        let mut step = vec![0.0; dim];
        for (column, z) in last.chunks_exact(dim).zip(&whitened[own..]) {
            for (step, v) in step.iter_mut().zip(column) {
                *step += z * v;
            }
        }
        // The own entries of α_N are 0, not the rounding error of a difference.
        let before: Vec<f64> = (0..dim).map(|at| if at < own { joint[at] - step[at] } else { 0.0 }).collect();
        let weights = Weights { joint: &joint, before: &before, last: &last };
        let mut share = Share {
            loadings: vec![0.0; dim * n_latents],
            values: step.iter().map(|step| -step).collect(),
            means: vec![0.0; block.runs.len() * n_latents],
            length_scales: vec![0.0; n_latents],
            value,
            block,
        };
        self.fill_share(&weights, own, &mut share);
        share
    }

    /// Adds `½ tr(G dK̃)` for all pairs of locations of a neighborhood.
    fn fill_share(&self, weights: &Weights<'_>, own: usize, share: &mut Share) {
        let (channels, n_latents) = (&self.channels, self.model.n_latents());
        let (block, dim) = (&share.block, share.block.len());
        let mut scratch = vec![0.0; 2 * n_latents];
        let (values, derivatives) = scratch.split_at_mut(n_latents);
        for (number, here) in block.runs.iter().enumerate() {
            for there in &block.runs {
                let (from, to) = (channels.point(here.location), channels.point(there.location));
                self.correlations.fill_with_derivatives((from, to), values, derivatives);
                for b in there.start..there.end {
                    let other = channels.loadings(there.location, block.channels[b]);
                    // The residual noise of the own row enters log p(y_J) only, that of a neighbor both terms.
                    let mean_weight =
                        weights.joint[b] - if here.start < own { weights.before[b] } else { 0.0 };
                    for latent in 0..n_latents {
                        share.means[number * n_latents + latent] +=
                            mean_weight * other[latent] * values[latent];
                    }
                    for a in here.start..here.end {
                        let loadings = channels.loadings(here.location, block.channels[a]);
                        let pair = weights.pair(a, b, dim);
                        for latent in 0..n_latents {
                            let weighted = pair * other[latent];
                            share.loadings[a * n_latents + latent] += weighted * values[latent];
                            share.length_scales[latent] +=
                                0.5 * weighted * loadings[latent] * derivatives[latent];
                        }
                    }
                }
            }
        }
    }
}

/// The terms of G.
struct Weights<'a> {
    joint: &'a [f64],
    before: &'a [f64],
    last: &'a [f64],
}

impl Weights<'_> {
    fn pair(&self, a: usize, b: usize, dim: usize) -> f64 {
        let conditional: f64 = self.last.chunks_exact(dim).map(|column| column[a] * column[b]).sum();
        self.joint[a] * self.joint[b] - self.before[a] * self.before[b] - conditional
    }
}

impl Share {
    fn add_to(&self, adjoint: &mut Adjoint) {
        let Self { block, loadings, values, means, length_scales, .. } = self;
        adjoint.add(block, BlockDerivatives { loadings, values, means, length_scales });
    }
}
