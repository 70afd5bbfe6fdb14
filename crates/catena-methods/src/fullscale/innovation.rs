//! The innovations of one location: its channels whitened given those of its neighbors.

use super::FullScale;
use super::neighborhood::{Neighborhood, refill};
use crate::DenseMethodError;
use crate::cholesky::{Cholesky, Threads};

/// The channels of a location, whitened given those of its neighbors: `z = Vᵀy` and `b = Vᵀφ`, with V the last columns of
/// G⁻ᵀ and `C = G Gᵀ` the residual covariance of the neighbors' channels and, last, its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Innovation {
    pub(super) around: Neighborhood,
    /// G.
    pub(super) factor: Cholesky,
    /// Index of the first own channel in the block.
    pub(super) own: usize,
    /// V, one column per own channel.
    pub(super) last: Vec<f64>,
    /// `Σ_c a_cl V_co` over the channels of each location: by latent, own channel and location.
    pub(super) loaded: Vec<f64>,
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
        self.around.dim() - self.own
    }
}

impl FullScale {
    /// Computes the innovations of one location in the memory of those of another.
    pub(super) fn innovation(
        &self,
        location: usize,
        innovation: &mut Innovation,
    ) -> Result<(), DenseMethodError> {
        let channels = &self.channels;
        let Innovation { around, factor, own, last, loaded, values, log_diagonal, features } = innovation;
        let neighbors = self.arrangement.neighbors_of(location).iter().copied();
        self.gather(neighbors.chain(std::iter::once(location)), around);
        let dim = around.dim();
        let mut matrix = std::mem::take(factor).into_memory();
        self.residual_covariance(around, &mut matrix);
        *factor = Cholesky::new(dim, matrix, Threads::One)
            .map_err(|pivot| channels.not_positive_definite(&around.block, pivot))?;
        *own = dim - channels.of_location(location).len();
        refill(last, (dim - *own) * dim);
        for (column, at) in last.chunks_exact_mut(dim.max(1)).zip(*own..) {
            column[at] = 1.0;
        }
        factor.whiten_transposed(last, Threads::One);
        values.clear();
        values.extend(last.chunks_exact(dim.max(1)).map(|column| {
            let terms = column.iter().zip(&around.block.channels);
            terms.map(|(weight, &channel)| weight * channels.values()[channel]).sum::<f64>()
        }));
        *log_diagonal = factor.diagonal().skip(*own).map(f64::ln).sum();
        around.add_loaded(last, self.model.n_latents(), loaded);
        self.features_times(around, (loaded, values.len()), features);
        Ok(())
    }
}
