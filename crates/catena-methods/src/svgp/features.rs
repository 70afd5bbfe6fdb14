//! Inducing points and the whitened features they give to any point.

use catena::data::InputPoints;
use catena::index::{LatentIndex, RowIndex};

use crate::cholesky::{Cholesky, Threads};
use crate::correlation::Correlations;
use crate::{DenseMethodError, Jitter};

/// Where the inducing values live.
#[derive(Clone, Debug, PartialEq)]
pub enum Inducing {
    /// The same points for every latent.
    Shared(InputPoints),
    /// Points for each latent, as many as it needs.
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

/// For each latent: its inducing points and the factor of their correlation matrix.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub(super) correlations: Correlations,
    pub(super) points: Vec<InputPoints>,
    pub(super) factors: Vec<Cholesky>,
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
        let mut factors = Vec::with_capacity(points.len());
        let mut start = vec![0];
        for (latent, (places, jitter)) in points.iter().zip(jitters).enumerate() {
            let mut matrix =
                cross(places, places, |distance| correlations.value(latent, distance), &correlations);
            matrix.iter_mut().step_by(places.n_rows() + 1).for_each(|diagonal| *diagonal += jitter.get());
            let factor = Cholesky::new(places.n_rows(), matrix, Threads::One).map_err(|inducing| {
                DenseMethodError::InducingNotPositiveDefinite { latent: LatentIndex::new(latent), inducing }
            })?;
            factors.push(factor);
            start.push(start[latent] + places.n_rows());
        }
        Ok(Self { correlations, points, factors, start })
    }

    pub(super) fn n_latents(&self) -> usize {
        self.points.len()
    }

    /// The number of inducing values of all latents.
    pub(super) fn total(&self) -> usize {
        self.start[self.n_latents()]
    }

    /// Where the inducing values of a latent begin.
    pub(super) fn start(&self, latent: usize) -> usize {
        self.start[latent]
    }

    /// The number of inducing values of a latent.
    pub(super) fn count(&self, latent: usize) -> usize {
        self.points[latent].n_rows()
    }

    /// The latent and inducing point of one of all inducing values.
    pub(super) fn place_of(&self, value: usize) -> (usize, usize) {
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
            let mut columns = self.correlations_with(latent, points);
            self.factors[latent].whiten(&mut columns, Threads::One);
            for (at, column) in columns.chunks_exact(count).enumerate() {
                let explained: f64 = column.iter().map(|feature| feature * feature).sum();
                unexplained[at * n_latents + latent] = 1.0 - explained;
            }
            by_latent.push(columns);
        }
        PointFeatures { by_latent, unexplained }
    }

    /// k_l(Z, x) of every point, column by column.
    fn correlations_with(&self, latent: usize, points: &[&[f64]]) -> Vec<f64> {
        let places = &self.points[latent];
        let mut columns = Vec::with_capacity(points.len() * places.n_rows());
        for point in points {
            columns.extend(
                places
                    .values()
                    .chunks_exact(places.dim())
                    .map(|place| self.correlations.value(latent, self.correlations.distance(point, place))),
            );
        }
        columns
    }
}

/// A function of the distances between two sets of points, column-major.
pub(super) fn cross(
    rows: &InputPoints,
    columns: &InputPoints,
    function: impl Fn(f64) -> f64,
    correlations: &Correlations,
) -> Vec<f64> {
    let entry = |row: RowIndex, column: RowIndex| {
        function(correlations.distance(rows.point(row), columns.point(column)))
    };
    columns
        .rows()
        .flat_map(|column| rows.rows().map(move |row| (row, column)))
        .map(|(r, c)| entry(r, c))
        .collect()
}
