//! The gradient of the log evidence: `½ tr((ααᵀ − K̃⁻¹) dK̃)` for every hyperparameter.

use rayon::prelude::*;

use super::{Exact, Factored, demand};
use crate::channel::Adjoint;
use crate::cholesky::Threads;
use crate::memory::Bytes;
use crate::{DenseMethodError, Gradient};

impl Exact {
    /// The log evidence and its exact derivatives.
    ///
    /// # Errors
    /// If the inverse of the covariance exceeds the memory limit.
    pub fn gradient(&self) -> Result<Gradient, DenseMethodError> {
        let factors: u128 = self.blocks.iter().map(|one| (one.block.len() as u128).pow(2)).sum();
        let largest = self.blocks.iter().map(|one| one.block.len() as u128).max().unwrap_or(0);
        // Besides the factors: the inverse of one block and the scratch space to compute it.
        self.memory.check(demand(self.n_observed), Bytes::of_numbers(factors + 2 * largest.pow(2)))?;
        let mut adjoint = Adjoint::zero(&self.channels);
        self.add_mean_term(&mut adjoint);
        for factored in &self.blocks {
            self.subtract_inverse_term(factored, &mut adjoint);
        }
        Ok(adjoint.pull_back(&self.channels, &self.model, self.log_evidence))
    }

    /// The term with ααᵀ: `α_c m_l` in loadings and `½ Σ_ij β_il β_jl κ'_l(i, j)` in length-scales. It couples channels of
    /// different blocks: another weight can make them dependent.
    fn add_mean_term(&self, adjoint: &mut Adjoint) {
        let channels = &self.channels;
        let n_latents = channels.n_latents();
        let weights = self.location_weights();
        let by_location: Vec<(Vec<f64>, Vec<f64>)> = (0..channels.n_locations())
            .into_par_iter()
            .map(|location| {
                let mut scratch = vec![0.0; 2 * n_latents];
                let (values, derivatives) = scratch.split_at_mut(n_latents);
                let (mut mean, mut derivative) = (vec![0.0; n_latents], vec![0.0; n_latents]);
                for (other, weights) in weights.chunks_exact(n_latents).enumerate() {
                    let (here, there) = (channels.point(location), channels.point(other));
                    self.correlations.fill_with_derivatives((here, there), values, derivatives);
                    for latent in 0..n_latents {
                        mean[latent] += values[latent] * weights[latent];
                        derivative[latent] += derivatives[latent] * weights[latent];
                    }
                }
                (mean, derivative)
            })
            .collect();
        for (location, (mean, derivative)) in by_location.iter().enumerate() {
            for latent in 0..n_latents {
                adjoint.means[location * n_latents + latent] = mean[latent];
                adjoint.length_scales[latent] +=
                    0.5 * weights[location * n_latents + latent] * derivative[latent];
                for channel in channels.of_location(location) {
                    adjoint.loadings[channel * n_latents + latent] += self.weights[channel] * mean[latent];
                }
            }
        }
        for (value, weight) in adjoint.values.iter_mut().zip(&self.weights) {
            *value = -weight;
        }
    }

    /// The term with −K̃⁻¹, block by block.
    fn subtract_inverse_term(&self, factored: &Factored, adjoint: &mut Adjoint) {
        let channels = &self.channels;
        let n_latents = channels.n_latents();
        let (block, dim) = (&factored.block, factored.block.len());
        let inverse = factored.cholesky.to_inverse(Threads::All);
        let own_runs: Vec<usize> = block
            .runs
            .iter()
            .enumerate()
            .flat_map(|(run, at)| (at.start..at.end).map(move |_| run))
            .collect();
        // Per channel: Σ_c' K̃⁻¹_cc' a_c'l κ_l, then the same with κ'_l.
        let sums: Vec<Vec<f64>> = (0..dim)
            .into_par_iter()
            .map(|own| {
                let here = channels.point(block.runs[own_runs[own]].location);
                let column = &inverse[own * dim..][..dim];
                let mut scratch = vec![0.0; 2 * n_latents];
                let (values, derivatives) = scratch.split_at_mut(n_latents);
                let mut sums = vec![0.0; 2 * n_latents];
                for run in &block.runs {
                    let there = channels.point(run.location);
                    self.correlations.fill_with_derivatives((here, there), values, derivatives);
                    for number in run.start..run.end {
                        let loadings = channels.loadings(run.location, block.channels[number]);
                        for latent in 0..n_latents {
                            let weighted = column[number] * loadings[latent];
                            sums[latent] += weighted * values[latent];
                            sums[n_latents + latent] += weighted * derivatives[latent];
                        }
                    }
                }
                sums
            })
            .collect();
        for (own, sums) in sums.iter().enumerate() {
            let (location, channel) = (block.runs[own_runs[own]].location, block.channels[own]);
            for (latent, loading) in channels.loadings(location, channel).iter().enumerate() {
                adjoint.loadings[channel * n_latents + latent] -= sums[latent];
                adjoint.length_scales[latent] -= 0.5 * loading * sums[n_latents + latent];
            }
        }
    }
}
