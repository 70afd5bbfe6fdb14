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
use crate::channel::{Block, Run};
use crate::cholesky::{Threads, add_gram, mirror};
use crate::problem::check_dim;
use crate::targets::Targets;
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
    /// Means and covariances of all outputs at some points. O(n² k D²) time, O(n² D²) memory and the square of the places involved.
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
        let dim = points.len() * self.model.n_outputs();
        let mut covariance = self.covariance_of_processes(&points, &errors);
        self.add_covariance_of_noise(&errors, &mut covariance);
        let columns: Vec<f64> = errors.iter().flat_map(|error| error.unexplained.iter().copied()).collect();
        add_gram(&mut covariance, dim, &columns, -1.0);
        let columns: Vec<f64> = errors.iter().flat_map(|error| error.whitened.iter().copied()).collect();
        add_gram(&mut covariance, dim, &columns, 1.0);
        mirror(&mut covariance, dim);
        Ok(Joint { means: errors.into_iter().flat_map(|error| error.means).collect(), covariance })
    }

    /// `Σ c c' κ`, the lower triangle: each correlation of two places is computed once.
    fn covariance_of_processes(&self, points: &[&[f64]], errors: &[PredictionError]) -> Vec<f64> {
        let (n_outputs, n_latents) = (self.model.n_outputs(), self.model.n_latents());
        let dim = points.len() * n_outputs;
        let mut number_of = vec![None; self.channels.n_locations()];
        let mut places = points.to_vec();
        // The number of each place of each error: the point first, then its neighbors.
        let numbers: Vec<Vec<usize>> = errors
            .iter()
            .enumerate()
            .map(|(point, error)| {
                let of_neighbor = |run: &Run| {
                    *number_of[run.location].get_or_insert_with(|| {
                        places.push(self.channels.point(run.location));
                        places.len() - 1
                    })
                };
                std::iter::once(point).chain(error.block.runs.iter().map(of_neighbor)).collect()
            })
            .collect();
        let n_places = places.len();
        let first_equal = self.correlations.first_equal();
        let mut covariance = vec![0.0; dim * dim];
        for first in (0..n_latents).filter(|latent| first_equal[*latent] == *latent) {
            let mut correlation = vec![0.0; n_places * n_places];
            correlation.par_chunks_mut(n_places).zip(&places).for_each(|(entries, from)| {
                for (entry, to) in entries.iter_mut().zip(&places) {
                    *entry = self.correlations.value(first, self.correlations.distance(from, to));
                }
            });
            let latents: Vec<usize> =
                (first..n_latents).filter(|latent| first_equal[*latent] == first).collect();
            let coefficient = |point: usize, output: usize, place: usize, latent: usize| {
                errors[point].coefficients[(output * numbers[point].len() + place) * n_latents + latent]
            };
            let fill = |products: &mut Vec<f64>, (cell, column): (usize, &mut [f64])| {
                let (here, output) = (cell / n_outputs, cell % n_outputs);
                for &latent in &latents {
                    products.iter_mut().for_each(|product| *product = 0.0);
                    for (place, &number) in numbers[here].iter().enumerate() {
                        let factor = coefficient(here, output, place, latent);
                        let row = &correlation[number * n_places..][..n_places];
                        products.iter_mut().zip(row).for_each(|(product, entry)| *product += factor * entry);
                    }
                    for (other, entry) in column.iter_mut().enumerate().skip(cell) {
                        let (there, output) = (other / n_outputs, other % n_outputs);
                        let terms = numbers[there].iter().enumerate();
                        let term = |(place, &number): (usize, &usize)| {
                            coefficient(there, output, place, latent) * products[number]
                        };
                        *entry += terms.map(term).sum::<f64>();
                    }
                }
            };
            covariance.par_chunks_mut(dim).enumerate().for_each_init(|| vec![0.0; n_places], fill);
        }
        covariance
    }

    /// Adds `Σ β β'` over the channels that two points share to the lower triangle.
    fn add_covariance_of_noise(&self, errors: &[PredictionError], covariance: &mut [f64]) {
        let n_outputs = self.model.n_outputs();
        let dim = errors.len() * n_outputs;
        let solved = |cell: usize| {
            let error = &errors[cell / n_outputs];
            let own = &error.solved[cell % n_outputs * error.block.len()..][..error.block.len()];
            error.block.channels.iter().copied().zip(own.iter().copied())
        };
        let add = |of_channels: &mut Vec<f64>, (cell, column): (usize, &mut [f64])| {
            solved(cell).for_each(|(channel, value)| of_channels[channel] = value);
            for (other, entry) in column.iter_mut().enumerate().skip(cell) {
                *entry += solved(other).map(|(channel, value)| value * of_channels[channel]).sum::<f64>();
            }
            solved(cell).for_each(|(channel, _)| of_channels[channel] = 0.0);
        };
        let scratch = || vec![0.0; self.channels.n_channels()];
        covariance.par_chunks_mut(dim.max(1)).enumerate().for_each_init(scratch, add);
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
}
