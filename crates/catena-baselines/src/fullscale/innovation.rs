//! One location given its neighbors: what its channels bring that is new, with unit variance.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::FullScale;
use super::features::Gathered;
use crate::BaselineError;
use crate::channel::Block;
use crate::cholesky::{Cholesky, Threads};
use crate::exact::not_positive_definite;

/// The channels of a location, whitened given those of its neighbors: `z = Vᵀy` and `b = Vᵀφ`, with V the last columns of
/// G⁻ᵀ and `C = G Gᵀ` the residual covariance of the neighbors' channels and, last, its own.
#[derive(Clone, Debug)]
pub(super) struct Innovation {
    pub(super) block: Block,
    pub(super) gathered: Gathered,
    /// What the features leave of the correlations among these locations, kind by kind.
    pub(super) residuals: Vec<Vec<f64>>,
    /// G.
    pub(super) factor: Cholesky,
    /// Where the own channels begin in the block.
    pub(super) own: usize,
    /// V, one column per own channel.
    pub(super) last: Vec<f64>,
    /// z.
    pub(super) values: Vec<f64>,
    /// `log det` of the own part of G.
    pub(super) log_diagonal: f64,
    /// b, one column of the long vector per own channel.
    pub(super) features: Vec<f64>,
}

impl Innovation {
    /// The number of own channels.
    pub(super) fn n_own(&self) -> usize {
        self.block.len() - self.own
    }
}

impl FullScale {
    /// The innovation of one location.
    pub(super) fn innovation(&self, location: usize) -> Result<Innovation, BaselineError> {
        let channels = &self.channels;
        let mut locations = self.arrangement.neighbors_of(location).to_vec();
        locations.push(location);
        let block = channels.block_of(locations.iter().copied());
        let gathered = Gathered::new(&self.features, locations);
        let residuals = self.features.residuals(&self.correlations, channels, &gathered);
        let matrix = self.residual_covariance(&block, &residuals);
        let factor = Cholesky::new(block.len(), matrix, Threads::One)
            .map_err(|pivot| not_positive_definite(channels, &block, pivot))?;
        let (dim, own) = (block.len(), block.len() - channels.of_location(location).len());
        let mut last = vec![0.0; (dim - own) * dim];
        for (column, at) in last.chunks_exact_mut(dim).zip(own..) {
            column[at] = 1.0;
        }
        factor.whiten_transposed(&mut last, Threads::One);
        let values = last.chunks_exact(dim).map(|column| {
            let terms = column.iter().zip(&block.channels);
            terms.map(|(weight, &channel)| weight * channels.values()[channel]).sum()
        });
        let values = values.collect();
        let log_diagonal = factor.diagonal().skip(own).map(f64::ln).sum();
        let features = self.carried(&block, &gathered, &last);
        Ok(Innovation { block, gathered, residuals, factor, own, last, values, log_diagonal, features })
    }

    /// `C = Σ_l (a_l a_lᵀ) ∘ S_l + I` over the channels of a block, lower triangle.
    pub(super) fn residual_covariance(&self, block: &Block, residuals: &[Vec<f64>]) -> Vec<f64> {
        let (channels, dim, count) = (&self.channels, block.len(), block.runs.len());
        let n_latents = self.model.n_latents();
        let mut matrix = vec![0.0; dim * dim];
        let (mut left, mut weighted) = (vec![0.0; n_latents], vec![0.0; n_latents]);
        for (number, run) in block.runs.iter().enumerate() {
            for (below, other) in block.runs.iter().enumerate().skip(number) {
                for (latent, left) in left.iter_mut().enumerate() {
                    *left = residuals[self.features.kind_of(latent)][number * count + below];
                }
                for at in run.start..run.end {
                    let loadings = channels.loadings(run.location, block.channels[at]);
                    for latent in 0..n_latents {
                        weighted[latent] = loadings[latent] * left[latent];
                    }
                    for there in other.start..other.end {
                        let loadings = channels.loadings(other.location, block.channels[there]);
                        matrix[at * dim + there] = crate::target::dot(loadings, &weighted);
                    }
                }
            }
        }
        matrix.iter_mut().step_by(dim + 1).for_each(|diagonal| *diagonal += 1.0);
        matrix
    }

    /// `φᵀX` for columns X over the channels of a block: latent by latent `Σ_j (Σ_c a_cl x_c) u_l(j)`, columns of the long
    /// vector.
    pub(super) fn carried(&self, block: &Block, gathered: &Gathered, columns: &[f64]) -> Vec<f64> {
        let (total, dim, count) = (self.features.total(), block.len(), block.runs.len());
        let n_columns = columns.len().checked_div(dim).unwrap_or(0);
        let mut carried = vec![0.0; total * n_columns];
        for (latent, basis, start) in self.features.latents() {
            let weights = self.loaded(block, latent, columns);
            let at = &gathered.by_kind[self.features.kind_of(latent)];
            let whole = MatMut::from_column_major_slice_mut(&mut carried, total, n_columns);
            matmul(
                whole.subrows_mut(start, basis.count()),
                Accum::Replace,
                MatRef::from_column_major_slice(at, basis.count(), count),
                MatRef::from_column_major_slice(&weights, count, n_columns),
                1.0,
                Par::Seq,
            );
        }
        carried
    }

    /// `Σ_c a_cl x_c` over the channels of each location of a block, for columns X over the channels.
    pub(super) fn loaded(&self, block: &Block, latent: usize, columns: &[f64]) -> Vec<f64> {
        let channels = &self.channels;
        let mut weights = Vec::with_capacity(columns.len());
        for column in columns.chunks_exact(block.len().max(1)) {
            weights.extend(block.runs.iter().map(|run| {
                let terms = (run.start..run.end)
                    .map(|at| column[at] * channels.loadings(run.location, block.channels[at])[latent]);
                terms.sum::<f64>()
            }));
        }
        weights
    }
}
