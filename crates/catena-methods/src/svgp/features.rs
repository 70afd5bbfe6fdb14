//! The inducing points of every latent and the whitened features of any point.

use catena::data::InputPoints;
use catena::index::LatentIndex;

use crate::cholesky::{Cholesky, Threads};
use crate::correlation::Correlations;
use crate::inducing::InducingSet;
use crate::{DenseMethodError, Jitter};

/// The inducing points with a factor for every latent. Inducing values are numbered latent by latent.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub(super) correlations: Correlations,
    pub(super) sets: Vec<InducingSet>,
    /// The number of inducing points, m.
    count: usize,
}

/// The features of some points.
pub(super) struct PointFeatures {
    /// u_l of every point, column by column (m×n), latent by latent.
    pub(super) by_latent: Vec<Vec<f64>>,
    /// `1 − |u_l|²`, point by point (n×L).
    pub(super) unexplained: Vec<f64>,
}

impl Features {
    pub(super) fn new(
        correlations: Correlations,
        points: &InputPoints,
        jitters: &[Jitter],
    ) -> Result<Self, DenseMethodError> {
        let mut sets = Vec::with_capacity(jitters.len());
        let count = points.n_rows();
        for (latent, jitter) in jitters.iter().enumerate() {
            let mut matrix = correlations.cross(latent, points, points.rows().map(|row| points.point(row)));
            matrix.iter_mut().step_by(count + 1).for_each(|diagonal| *diagonal += jitter.get());
            let factor = Cholesky::new(count, matrix, Threads::One).map_err(|inducing| {
                DenseMethodError::InducingNotPositiveDefinite { latent: LatentIndex::new(latent), inducing }
            })?;
            sets.push(InducingSet { points: points.clone(), factor });
        }
        Ok(Self { correlations, sets, count })
    }

    pub(super) fn n_latents(&self) -> usize {
        self.sets.len()
    }

    /// The number of inducing values of all latents.
    pub(super) fn total(&self) -> usize {
        self.n_latents() * self.count
    }

    /// The number of the first inducing value of a latent.
    pub(super) fn start(&self, latent: usize) -> usize {
        latent * self.count
    }

    /// The number of inducing points, m.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The features of some points.
    pub(super) fn of(&self, points: &[&[f64]]) -> PointFeatures {
        let n_latents = self.n_latents();
        let mut by_latent = Vec::with_capacity(n_latents);
        let mut unexplained = vec![0.0; points.len() * n_latents];
        for latent in 0..n_latents {
            let columns = self.sets[latent].features((&self.correlations, latent), points.iter().copied());
            for (at, column) in columns.chunks_exact(self.count).enumerate() {
                let explained: f64 = column.iter().map(|feature| feature * feature).sum();
                unexplained[at * n_latents + latent] = 1.0 - explained;
            }
            by_latent.push(columns);
        }
        PointFeatures { by_latent, unexplained }
    }
}
