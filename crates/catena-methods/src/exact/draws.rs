//! Joint draws by Matheron's rule: a draw of the prior at all points, moved by the prediction of its own error at the cells.
//!
//! With f a draw of the latents at the rows of the table and at the points, and e its channels with fresh unit noise,
//! `m(x) + f(x) − K(x, X) K̃⁻¹ e` is a draw of the posterior with mean m. Latents are independent a priori: each needs a factor over
//! the distinct points, instead of one over all outputs of all points.

use std::collections::HashMap;

use catena::data::InputPoints;
use rayon::prelude::*;

use super::Exact;
use crate::cholesky::{Threads, rectangular_product, semidefinite_root};
use crate::problem::check_dim;
use crate::{Bytes, DenseMethodError};

impl Exact {
    /// Joint draws of all outputs at some points, each point by point and output by output; `normal` gives standard normal numbers.
    ///
    /// # Errors
    /// As [`Exact::predict`], and if the memory limit is exceeded.
    pub fn draws(
        &self,
        at: &InputPoints,
        n_draws: usize,
        normal: &mut dyn FnMut() -> f64,
    ) -> Result<Vec<f64>, DenseMethodError> {
        check_dim(self.channels.dim(), at)?;
        let distinct = DistinctPoints::of(self, at);
        if self.cost_of_joint(at.n_rows()) < self.cost_of_prior(distinct.points.len(), at.n_rows(), n_draws) {
            return self.joint(at)?.draws(n_draws, normal);
        }
        self.draws_from_prior(at, &distinct, n_draws, normal)
    }

    /// The same from draws of the prior.
    fn draws_from_prior(
        &self,
        at: &InputPoints,
        distinct: &DistinctPoints<'_>,
        n_draws: usize,
        normal: &mut dyn FnMut() -> f64,
    ) -> Result<Vec<f64>, DenseMethodError> {
        let latents = self.latents_from_prior(distinct, n_draws, normal)?;
        let corrections = self.corrections(distinct, &latents, n_draws, normal);
        let (n_outputs, n_latents) = (self.model.n_outputs(), self.model.n_latents());
        let weights = self.model.mixing().to_dense();
        let means = self.predict(at)?;
        let n_locations = self.channels.n_locations();
        let points: Vec<&[f64]> = at.rows().map(|row| at.point(row)).collect();
        // By point, draw and output.
        let mut by_point = vec![0.0; points.len() * n_draws * n_outputs];
        let scratch = || (vec![0.0; n_latents * n_locations], vec![0.0; n_latents]);
        let fill = |(values, own): &mut (Vec<f64>, Vec<f64>), (number, draws): (usize, &mut [f64])| {
            for location in 0..n_locations {
                self.correlations.fill(points[number], self.channels.point(location), own);
                for (latent, value) in own.iter().enumerate() {
                    values[latent * n_locations + location] = *value;
                }
            }
            for (draw, outputs) in draws.chunks_exact_mut(n_outputs).enumerate() {
                for (latent, fresh) in latents.iter().enumerate() {
                    let moved = &corrections[(draw * n_latents + latent) * n_locations..][..n_locations];
                    let prior = fresh[draw * distinct.points.len() + distinct.of_points[number]];
                    let here = &values[latent * n_locations..][..n_locations];
                    let value = prior - crate::targets::dot(here, moved);
                    for (output, sum) in outputs.iter_mut().enumerate() {
                        *sum += weights[output * n_latents + latent] * value;
                    }
                }
            }
        };
        by_point.par_chunks_mut((n_draws * n_outputs).max(1)).enumerate().for_each_init(scratch, fill);
        let mut draws = Vec::with_capacity(by_point.len());
        for draw in 0..n_draws {
            for point in 0..points.len() {
                let moved = &by_point[(point * n_draws + draw) * n_outputs..][..n_outputs];
                let mean = &means.means()[point * n_outputs..][..n_outputs];
                draws.extend(mean.iter().zip(moved).map(|(mean, moved)| mean + moved));
            }
        }
        Ok(draws)
    }

    /// For each latent, draws of the prior at the distinct points, one after the other.
    fn latents_from_prior(
        &self,
        distinct: &DistinctPoints<'_>,
        n_draws: usize,
        normal: &mut dyn FnMut() -> f64,
    ) -> Result<Vec<Vec<f64>>, DenseMethodError> {
        let n_points = distinct.points.len();
        let n_numbers = 2 * (n_points as u128).pow(2);
        self.memory.check(super::demand(self.n_observed), Bytes::of_numbers(n_numbers))?;
        let mut draws: Vec<Vec<f64>> = vec![vec![]; self.model.n_latents()];
        for first in 0..draws.len() {
            if self.correlations.first_equal()[first] != first {
                continue;
            }
            let mut correlation = vec![0.0; n_points * n_points];
            correlation.par_chunks_mut(n_points.max(1)).enumerate().for_each(|(column, entries)| {
                for (row, entry) in entries.iter_mut().enumerate().skip(column) {
                    let distance = self.correlations.distance(distinct.points[row], distinct.points[column]);
                    *entry = self.correlations.value(first, distance);
                }
            });
            let root = semidefinite_root(n_points, correlation).ok_or(DenseMethodError::Draws)?;
            let rank = root.len() / n_points.max(1);
            for (latent, own) in draws.iter_mut().enumerate() {
                if self.correlations.first_equal()[latent] == first {
                    let fresh: Vec<f64> = (0..rank * n_draws).map(|_| normal()).collect();
                    *own = rectangular_product(&root, &fresh, (n_points, n_draws));
                }
            }
        }
        Ok(draws)
    }

    /// By draw, latent and location: the weights `Σ_c a_cl (K̃⁻¹ e)_c` with which the latents at a point are moved.
    fn corrections(
        &self,
        distinct: &DistinctPoints<'_>,
        latents: &[Vec<f64>],
        n_draws: usize,
        normal: &mut dyn FnMut() -> f64,
    ) -> Vec<f64> {
        let (n_latents, n_locations) = (latents.len(), self.channels.n_locations());
        let mut weights = vec![0.0; n_draws * n_latents * n_locations];
        for factored in &self.blocks {
            let block = &factored.block;
            let mut errors = vec![0.0; block.len() * n_draws];
            for (draw, errors) in errors.chunks_exact_mut(block.len().max(1)).enumerate() {
                for run in &block.runs {
                    let at = draw * distinct.points.len() + distinct.of_locations[run.location];
                    for channel in run.start..run.end {
                        let loadings = self.channels.loadings(run.location, block.channels[channel]);
                        let value: f64 = loadings.iter().zip(latents).map(|(a, own)| a * own[at]).sum();
                        errors[channel] = value + normal();
                    }
                }
            }
            factored.cholesky.solve(&mut errors, Threads::All);
            for (draw, solved) in errors.chunks_exact(block.len().max(1)).enumerate() {
                for run in &block.runs {
                    for channel in run.start..run.end {
                        let loadings = self.channels.loadings(run.location, block.channels[channel]);
                        for (latent, loading) in loadings.iter().enumerate() {
                            weights[(draw * n_latents + latent) * n_locations + run.location] +=
                                loading * solved[channel];
                        }
                    }
                }
            }
        }
        weights
    }

    /// Multiplications for draws from the joint posterior at this many points.
    fn cost_of_joint(&self, n_points: usize) -> f64 {
        let dim = (n_points * self.model.n_outputs()) as f64;
        let of_block = |n_channels: f64| 0.5 * n_channels * n_channels * dim + 0.5 * n_channels * dim * dim;
        self.blocks.iter().map(|factored| of_block(factored.block.len() as f64)).sum::<f64>()
            + dim.powi(3) / 6.0
    }

    /// Multiplications for draws from the prior at this many distinct points.
    fn cost_of_prior(&self, n_distinct: usize, n_points: usize, n_draws: usize) -> f64 {
        let first_equal = self.correlations.first_equal();
        let n_kinds = (0..first_equal.len()).filter(|latent| first_equal[*latent] == *latent).count() as f64;
        let (n_latents, draws) = (first_equal.len() as f64, n_draws as f64);
        let squares: f64 = self.blocks.iter().map(|factored| (factored.block.len() as f64).powi(2)).sum();
        n_kinds * (n_distinct as f64).powi(3) / 6.0
            + draws * (n_latents * (n_distinct as f64).powi(2) + squares)
            + draws * n_latents * (n_points * self.channels.n_locations()) as f64
    }
}

/// The distinct points among the rows of the table and the points of a query.
struct DistinctPoints<'a> {
    points: Vec<&'a [f64]>,
    of_locations: Vec<usize>,
    of_points: Vec<usize>,
}

impl<'a> DistinctPoints<'a> {
    fn of(exact: &'a Exact, at: &'a InputPoints) -> Self {
        let (mut points, mut known): (Vec<&[f64]>, HashMap<Vec<u64>, usize>) = (vec![], HashMap::new());
        let mut number = |point: &'a [f64]| {
            // Zeros of both signs are equal.
            let key = point.iter().map(|x| (x + 0.0).to_bits()).collect();
            *known.entry(key).or_insert_with(|| {
                points.push(point);
                points.len() - 1
            })
        };
        let of_locations = (0..exact.channels.n_locations())
            .map(|location| number(exact.channels.point(location)))
            .collect();
        let of_points = at.rows().map(|row| number(at.point(row))).collect();
        Self { points, of_locations, of_points }
    }
}
