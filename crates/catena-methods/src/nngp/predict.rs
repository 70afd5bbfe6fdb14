//! Local kriging at any inputs.

use catena::data::InputPoints;
use catena::index::RowIndex;
use catena::prediction::Prediction;
use rayon::prelude::*;

use super::Nngp;
use crate::DenseMethodError;
use crate::cholesky::{Cholesky, Threads};
use crate::exact::not_positive_definite;
use crate::problem::check_dim;
use crate::target::{GrowingPrediction, Moments, Targets, dot};

/// Points predicted before results are put together: bounds the memory in flight.
const POINTS_IN_FLIGHT: usize = 4096;

impl Nngp {
    /// The posterior of the outputs at any inputs, each given its nearest neighbors alone.
    ///
    /// # Errors
    /// When the points have another number of input columns, a neighborhood's covariance is not positive definite, or a
    /// variance is lost to cancellation.
    pub fn predict(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        check_dim(self.channels.dim(), at)?;
        let targets = Targets::of(&self.model);
        let prior = targets.prior(&vec![1.0; self.model.n_latents()]);
        let rows: Vec<RowIndex> = at.rows().collect();
        let mut prediction = GrowingPrediction::new(&self.model, &targets);
        for rows in rows.chunks(POINTS_IN_FLIGHT) {
            let moments: Vec<Result<Moments, DenseMethodError>> = rows
                .par_iter()
                .map(|&row| {
                    let point = at.point(row);
                    let near = self.places.nearest(point, self.n_neighbors);
                    self.krige(point, &near, &targets, prior.clone())
                })
                .collect();
            for moments in moments {
                prediction.push(&moments?);
            }
        }
        prediction.finish()
    }

    /// The moments of the targets at a point given the channels of some locations.
    fn krige(
        &self,
        point: &[f64],
        locations: &[usize],
        targets: &Targets,
        mut moments: Moments,
    ) -> Result<Moments, DenseMethodError> {
        let channels = &self.channels;
        let block = channels.block_of(locations.iter().copied());
        let matrix = channels.covariance(&self.correlations, &block, Threads::One);
        let cholesky = Cholesky::new(block.len(), matrix, Threads::One)
            .map_err(|pivot| not_positive_definite(channels, &block, pivot))?;
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
        for (mean, column) in moments.mean.iter_mut().zip(with_targets.chunks_exact(block.len())) {
            *mean = dot(column, values);
        }
        moments.subtract_explained(with_targets);
        Ok(moments)
    }
}
