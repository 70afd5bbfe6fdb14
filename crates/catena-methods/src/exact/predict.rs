//! Means and variances at any inputs, in chunks of flat memory.

use catena::data::InputPoints;
use catena::index::RowIndex;
use catena::prediction::Prediction;
use rayon::prelude::*;

use super::{Exact, Factored};
use crate::DenseMethodError;
use crate::cholesky::Threads;
use crate::problem::check_dim;
use crate::target::{GrowingPrediction, Moments, Targets};

/// Columns solved at once by one thread: enough for blocked algebra, few enough to stay small beside the factor.
const COLUMNS: usize = 192;
/// Chunks predicted before their results are put together: bounds the memory in flight.
const CHUNKS_IN_FLIGHT: usize = 64;

impl Exact {
    /// The posterior of the outputs at any inputs.
    ///
    /// # Errors
    /// When the points have another number of input columns, or a variance is lost to cancellation.
    pub fn predict(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        check_dim(self.channels.dim(), at)?;
        let targets = Targets::of(&self.model);
        let location_weights = self.location_weights();
        let points_per_chunk = (COLUMNS / targets.count(self.model.n_latents())).max(1);
        let rows: Vec<RowIndex> = at.rows().collect();
        let mut prediction = GrowingPrediction::new(&self.model, &targets);
        for rows in rows.chunks(points_per_chunk * CHUNKS_IN_FLIGHT) {
            // Threads share chunks, not the algebra within one: they never wait for each other.
            let moments: Vec<Vec<Moments>> = rows
                .par_chunks(points_per_chunk)
                .map(|rows| {
                    let points: Vec<&[f64]> = rows.iter().map(|&row| at.point(row)).collect();
                    self.moments(&points, &targets, &location_weights)
                })
                .collect();
            moments.iter().flatten().for_each(|moments| prediction.push(moments));
        }
        prediction.finish()
    }

    /// The posterior moments of the targets at some points.
    fn moments(&self, points: &[&[f64]], targets: &Targets, location_weights: &[f64]) -> Vec<Moments> {
        let mut moments = vec![targets.prior(&vec![1.0; self.model.n_latents()]); points.len()];
        for (point, moments) in points.iter().zip(&mut moments) {
            self.set_mean(point, targets, location_weights, moments);
        }
        for factored in &self.blocks {
            self.subtract_explained(points, targets, factored, &mut moments);
        }
        moments
    }

    /// `m_l = Σ_j κ_l(x, x_j) β_jl`, seen through the targets.
    fn set_mean(&self, point: &[f64], targets: &Targets, location_weights: &[f64], moments: &mut Moments) {
        let n_latents = self.model.n_latents();
        let mut values = vec![0.0; n_latents];
        let mut mean = vec![0.0; n_latents];
        for (location, weights) in location_weights.chunks_exact(n_latents).enumerate() {
            self.correlations.fill(point, self.channels.point(location), &mut values);
            for latent in 0..n_latents {
                mean[latent] += values[latent] * weights[latent];
            }
        }
        for (target, value) in moments.mean.iter_mut().enumerate() {
            *value = targets.covariance_with(target, &mean);
        }
    }

    /// Takes `BᵀK̃⁻¹B` off the covariance, with B the covariance of a block's channels with the targets.
    fn subtract_explained(
        &self,
        points: &[&[f64]],
        targets: &Targets,
        factored: &Factored,
        moments: &mut [Moments],
    ) {
        let block = &factored.block;
        let width = block.len() * targets.count(self.model.n_latents());
        let mut columns = vec![0.0; points.len() * width];
        for (columns, point) in columns.chunks_exact_mut(width).zip(points) {
            self.channels.covariance_with_point(&self.correlations, block, (point, targets), columns);
        }
        factored.cholesky.whiten(&mut columns, Threads::One);
        for (columns, moments) in columns.chunks_exact(width).zip(moments) {
            moments.subtract_explained(columns);
        }
    }
}
