//! Covariances between points, as covariances of the prediction errors.
//!
//! A prediction is linear in the data, so its error `f(x) − uᵀw − βᵀ(y − φw)` is a linear functional of the process with
//! coefficients c on the latents at the point and at its neighbors, and −β on the neighbors' noise. The errors of two points
//! have covariance `Σ c c' κ + Σ β β' − gᵀg' + gᵀA⁻¹g'`: the prior covariance minus the low-rank part plus the posterior
//! covariance of the weights v. Its diagonal is the variance of the predictions, and it is positive semidefinite for any
//! points.

use catena::data::InputPoints;
use rayon::prelude::*;

use super::FullScale;
use super::predict::Local;
use crate::channel::Block;
use crate::cholesky::Threads;
use crate::problem::check_dim;
use crate::targets::{Targets, dot};
use crate::{DenseMethodError, Joint};

/// The prediction error at one point as a linear functional.
struct PredictionError {
    means: Vec<f64>,
    block: Block,
    /// c: by output, place (the point first, then its neighbors) and latent.
    coefficients: Vec<f64>,
    /// β, one column per output.
    solved: Vec<f64>,
    /// g, one column per output, and the same whitened by the factor of A.
    unexplained: Vec<f64>,
    whitened: Vec<f64>,
}

impl FullScale {
    /// Means and covariances of all outputs at some points. O(n² k²) time, O(n² D²) memory.
    ///
    /// # Errors
    /// As [`FullScale::predict`].
    pub fn joint(&self, at: &InputPoints) -> Result<Joint, DenseMethodError> {
        check_dim(self.channels.dim(), at)?;
        let targets = Targets::outputs_of(&self.model);
        let points: Vec<&[f64]> = at.rows().map(|row| at.point(row)).collect();
        let errors: Vec<Result<PredictionError, DenseMethodError>> =
            points.par_iter().map(|point| self.prediction_error(point, &targets)).collect();
        let errors = errors.into_iter().collect::<Result<Vec<_>, _>>()?;
        let n_outputs = self.model.n_outputs();
        let dim = points.len() * n_outputs;
        let mut covariance = vec![0.0; dim * dim];
        covariance.par_chunks_mut(n_outputs * dim).enumerate().for_each(|(here, rows)| {
            for there in 0..points.len() {
                // The same order of additions on both sides of the diagonal.
                let (low, high) = (here.min(there), here.max(there));
                let block = self.between((&errors[low], points[low]), (&errors[high], points[high]));
                for a in 0..n_outputs {
                    for b in 0..n_outputs {
                        let entry =
                            if here <= there { block[a * n_outputs + b] } else { block[b * n_outputs + a] };
                        rows[a * dim + there * n_outputs + b] = entry;
                    }
                }
            }
        });
        Ok(Joint { means: errors.into_iter().flat_map(|error| error.means).collect(), covariance })
    }

    fn prediction_error(
        &self,
        point: &[f64],
        targets: &Targets,
    ) -> Result<PredictionError, DenseMethodError> {
        let Local { gaussian, unexplained, block, solved } = self.krige(point, targets)?;
        let (n_latents, n_outputs) = (self.model.n_latents(), self.model.n_outputs());
        let weights = self.model.mixing().to_dense();
        let n_places = block.runs.len() + 1;
        let mut coefficients = vec![0.0; n_outputs * n_places * n_latents];
        for output in 0..n_outputs {
            let own = &mut coefficients[output * n_places * n_latents..][..n_places * n_latents];
            own[..n_latents].copy_from_slice(&weights[output * n_latents..][..n_latents]);
            for (place, run) in block.runs.iter().enumerate() {
                for at in run.start..run.end {
                    let weight = solved[output * block.len() + at];
                    let loadings = self.channels.loadings(run.location, block.channels[at]);
                    for latent in 0..n_latents {
                        own[(place + 1) * n_latents + latent] -= weight * loadings[latent];
                    }
                }
            }
        }
        let mut whitened = unexplained.clone();
        self.system.whiten(&mut whitened, Threads::One);
        Ok(PredictionError { means: gaussian.mean, block, coefficients, solved, unexplained, whitened })
    }

    /// The covariance of the errors at two points, D×D.
    fn between(
        &self,
        (here, x): (&PredictionError, &[f64]),
        (there, z): (&PredictionError, &[f64]),
    ) -> Vec<f64> {
        let (n_latents, n_outputs) = (self.model.n_latents(), self.model.n_outputs());
        let (rows, columns) = (here.block.runs.len() + 1, there.block.runs.len() + 1);
        let mut covariance = vec![0.0; n_outputs * n_outputs];
        let mut values = vec![0.0; n_latents];
        // Σ c κ over the places of the first, by output of the first and by place and latent of the second.
        let mut products = vec![0.0; n_outputs * columns * n_latents];
        for row in 0..rows {
            let from = if row == 0 { x } else { self.channels.point(here.block.runs[row - 1].location) };
            for column in 0..columns {
                let to =
                    if column == 0 { z } else { self.channels.point(there.block.runs[column - 1].location) };
                self.correlations.fill(from, to, &mut values);
                for output in 0..n_outputs {
                    let coefficients = &here.coefficients[(output * rows + row) * n_latents..][..n_latents];
                    let sums = &mut products[(output * columns + column) * n_latents..][..n_latents];
                    for latent in 0..n_latents {
                        sums[latent] += coefficients[latent] * values[latent];
                    }
                }
            }
        }
        let width = columns * n_latents;
        let total = self.features.total();
        let shared = shared_channels(&here.block, &there.block);
        for a in 0..n_outputs {
            for b in 0..n_outputs {
                let mut entry =
                    dot(&products[a * width..][..width], &there.coefficients[b * width..][..width]);
                for &(i, j) in &shared {
                    entry += here.solved[a * here.block.len() + i] * there.solved[b * there.block.len() + j];
                }
                entry -=
                    dot(&here.unexplained[a * total..][..total], &there.unexplained[b * total..][..total]);
                entry += dot(&here.whitened[a * total..][..total], &there.whitened[b * total..][..total]);
                covariance[a * n_outputs + b] = entry;
            }
        }
        covariance
    }
}

/// The indices in both blocks of the channels that they share; both lists ascend.
fn shared_channels(here: &Block, there: &Block) -> Vec<(usize, usize)> {
    let find = |(at, channel): (usize, &usize)| Some((at, there.channels.binary_search(channel).ok()?));
    here.channels.iter().enumerate().filter_map(find).collect()
}
