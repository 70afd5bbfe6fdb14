//! The inducing points of every latent and the whitened features of any point.

use catena::data::InputPoints;
use catena::index::LatentIndex;

use crate::cholesky::{Cholesky, Threads};
use crate::correlation::Correlations;
use crate::inducing::InducingSet;
use crate::{DenseMethodError, Jitter};

/// The inputs of the inducing values.
#[derive(Clone, Debug, PartialEq)]
pub enum Inducing {
    /// The same points for every latent.
    Shared(InputPoints),
    /// Points of its own for each latent.
    PerLatent(Vec<InputPoints>),
}

impl Inducing {
    /// The points of each latent.
    pub(super) fn by_latent(&self, n_latents: usize) -> Result<Vec<InputPoints>, DenseMethodError> {
        match self {
            Self::Shared(points) => Ok(vec![points.clone(); n_latents]),
            Self::PerLatent(sets) if sets.len() == n_latents => Ok(sets.clone()),
            Self::PerLatent(sets) => Err(DenseMethodError::InducingSets { n_latents, found: sets.len() }),
        }
    }
}

/// The inducing points of every latent.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub(super) correlations: Correlations,
    pub(super) sets: Vec<InducingSet>,
    /// The inducing values of latent l are `start[l]..start[l + 1]` of all.
    start: Vec<usize>,
}

/// The features of some points.
pub(super) struct PointFeatures {
    /// u_l of every point, column by column (m_l×n), latent by latent.
    pub(super) by_latent: Vec<Vec<f64>>,
    /// `1 − |u_l|²`, point by point (n×L).
    pub(super) unexplained: Vec<f64>,
}

impl Features {
    pub(super) fn new(
        correlations: Correlations,
        points: Vec<InputPoints>,
        jitters: &[Jitter],
    ) -> Result<Self, DenseMethodError> {
        let mut sets = Vec::with_capacity(points.len());
        let mut start = vec![0];
        for (latent, (points, jitter)) in points.into_iter().zip(jitters).enumerate() {
            let count = points.n_rows();
            let mut matrix = correlations.cross(latent, &points, points.rows().map(|row| points.point(row)));
            matrix.iter_mut().step_by(count + 1).for_each(|diagonal| *diagonal += jitter.get());
            let factor = Cholesky::new(count, matrix, Threads::One).map_err(|inducing| {
                DenseMethodError::InducingNotPositiveDefinite { latent: LatentIndex::new(latent), inducing }
            })?;
            sets.push(InducingSet { points, factor });
            start.push(start[latent] + count);
        }
        Ok(Self { correlations, sets, start })
    }

    pub(super) fn n_latents(&self) -> usize {
        self.sets.len()
    }

    /// The number of inducing values of all latents.
    pub(super) fn total(&self) -> usize {
        self.start[self.n_latents()]
    }

    /// The number of the first inducing value of a latent.
    pub(super) fn start(&self, latent: usize) -> usize {
        self.start[latent]
    }

    /// The number of inducing values of a latent.
    pub(super) fn count(&self, latent: usize) -> usize {
        self.sets[latent].len()
    }

    /// The latent and the inducing point of an inducing value.
    pub(super) fn locate(&self, value: usize) -> (usize, usize) {
        let latent = self.start.partition_point(|&start| start <= value) - 1;
        (latent, value - self.start[latent])
    }

    /// The features of some points.
    pub(super) fn of(&self, points: &[&[f64]]) -> PointFeatures {
        let n_latents = self.n_latents();
        let mut by_latent = Vec::with_capacity(n_latents);
        let mut unexplained = vec![0.0; points.len() * n_latents];
        for latent in 0..n_latents {
            let count = self.count(latent);
            let columns = self.sets[latent].features((&self.correlations, latent), points.iter().copied());
            for (at, column) in columns.chunks_exact(count).enumerate() {
                let explained: f64 = column.iter().map(|feature| feature * feature).sum();
                unexplained[at * n_latents + latent] = 1.0 - explained;
            }
            by_latent.push(columns);
        }
        PointFeatures { by_latent, unexplained }
    }
}
