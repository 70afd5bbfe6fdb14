//! Means and variances at any inputs.

use catena::data::InputPoints;
use catena::prediction::Prediction;

use super::{Exact, Factored};
use crate::DenseMethodError;
use crate::cholesky::Threads;
use crate::problem::check_dim;
use crate::targets::{Gaussian, Targets, predict_in_chunks};

/// Columns solved at once by one thread: enough for blocked algebra, few enough to stay small compared with the factor.
const COLUMNS: usize = 192;

impl Exact {
    /// The posterior of the outputs at any inputs.
    ///
    /// # Errors
    /// If the points have another number of input columns, or a variance is lost to cancellation.
    pub fn predict(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        check_dim(self.channels.dim(), at)?;
        let targets = Targets::of(&self.model);
        let location_weights = self.location_weights();
        let points_per_chunk = (COLUMNS / targets.count(self.model.n_latents())).max(1);
        predict_in_chunks((&self.model, &targets), (at, points_per_chunk), |points| {
            Ok(self.posterior(points, &targets, &location_weights))
        })
    }

    /// The posterior of the targets at some points.
    fn posterior(&self, points: &[&[f64]], targets: &Targets, location_weights: &[f64]) -> Vec<Gaussian> {
        let mut gaussians = vec![targets.prior(&vec![1.0; self.model.n_latents()]); points.len()];
        for (point, gaussian) in points.iter().zip(&mut gaussians) {
            self.set_mean(point, targets, location_weights, &mut gaussian.mean);
        }
        for factored in &self.blocks {
            self.subtract_explained(points, targets, factored, &mut gaussians);
        }
        gaussians
    }

    /// The means of the targets, from those of the latents, `m_l = Σ_j κ_l(x, x_j) β_jl`.
    fn set_mean(&self, point: &[f64], targets: &Targets, location_weights: &[f64], mean: &mut [f64]) {
        let n_latents = self.model.n_latents();
        let mut values = vec![0.0; n_latents];
        let mut of_latents = vec![0.0; n_latents];
        for (location, weights) in location_weights.chunks_exact(n_latents).enumerate() {
            self.correlations.fill(point, self.channels.point(location), &mut values);
            for latent in 0..n_latents {
                of_latents[latent] += values[latent] * weights[latent];
            }
        }
        for (target, value) in mean.iter_mut().enumerate() {
            *value = targets.covariance_with(target, &of_latents);
        }
    }

    /// Subtracts `BᵀK̃⁻¹B` from the covariances, with B the covariance of a block's channels with the targets.
    fn subtract_explained(
        &self,
        points: &[&[f64]],
        targets: &Targets,
        factored: &Factored,
        gaussians: &mut [Gaussian],
    ) {
        let block = &factored.block;
        let width = block.len() * targets.count(self.model.n_latents());
        let mut columns = vec![0.0; points.len() * width];
        for (columns, point) in columns.chunks_exact_mut(width).zip(points) {
            self.channels.covariance_with_point(&self.correlations, block, (point, targets), columns);
        }
        factored.cholesky.whiten(&mut columns, Threads::One);
        for (columns, gaussian) in columns.chunks_exact(width).zip(gaussians) {
            gaussian.subtract_explained(columns);
        }
    }
}
