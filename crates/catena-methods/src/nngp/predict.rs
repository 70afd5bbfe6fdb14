//! Local kriging at any inputs.

use catena::data::InputPoints;
use catena::prediction::Prediction;

use super::Nngp;
use crate::DenseMethodError;
use crate::cholesky::Threads;
use crate::neighbors::nearest;
use crate::problem::check_dim;
use crate::targets::{Gaussian, Targets, dot, predict_in_chunks};

/// Points per chunk of predictions.
const POINTS: usize = 64;

impl Nngp {
    /// The posterior of the outputs at any inputs, each given its nearest neighbors alone.
    ///
    /// # Errors
    /// If the points have another number of input columns, a neighborhood's covariance is not positive definite, or a
    /// variance is lost to cancellation.
    pub fn predict(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        check_dim(self.channels.dim(), at)?;
        let targets = Targets::of(&self.model);
        let prior = targets.prior(&vec![1.0; self.model.n_latents()]);
        predict_in_chunks((&self.model, &targets), (at, POINTS), |points| {
            points.iter().map(|point| self.krige(point, &targets, prior.clone())).collect()
        })
    }

    /// The posterior of the targets at a point given the channels of the nearest locations.
    fn krige(&self, point: &[f64], targets: &Targets, prior: Gaussian) -> Result<Gaussian, DenseMethodError> {
        let channels = &self.channels;
        let block = channels.block_of(nearest(&self.locations, point, self.n_neighbors).into_iter());
        let cholesky = channels.factor(&self.correlations, &block, Threads::One)?;
        let count = targets.count(self.model.n_latents());
        // One solve for the targets and the values: the last column is ỹ.
        let mut columns = vec![0.0; (count + 1) * block.len()];
        let (with_targets, values) = columns.split_at_mut(count * block.len());
        channels.covariance_with_point(&self.correlations, &block, (point, targets), with_targets);
        for (value, &channel) in values.iter_mut().zip(&block.channels) {
            *value = channels.values()[channel];
        }
        cholesky.whiten(&mut columns, Threads::One);
        let (with_targets, values) = columns.split_at(count * block.len());
        let mut posterior = prior;
        for (mean, column) in posterior.mean.iter_mut().zip(with_targets.chunks_exact(block.len())) {
            *mean = dot(column, values);
        }
        posterior.subtract_explained(with_targets);
        Ok(posterior)
    }
}
