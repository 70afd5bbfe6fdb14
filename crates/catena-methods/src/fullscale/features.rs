//! The low-rank part: inducing points, the features they give to any point, and what they leave of a correlation.

use catena::data::{DataError, InputPoints};
use catena::index::RowIndex;
use catena::model::Lmc;
use rayon::prelude::*;

use crate::channel::Channels;
use crate::cholesky::{Cholesky, Threads};
use crate::correlation::Correlations;

/// An inducing point of which the earlier ones leave less variance than this adds nothing but rounding, and is passed over.
const NEGLIGIBLE: f64 = 1e-8;
/// Locations whose features are computed together.
const CHUNK: usize = 128;

/// The latents by kind, and the features of every location.
///
/// Latents with the same correlation function and the same use of the inducing points are of one kind: features, and what
/// they leave, are computed once for all of them.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub(super) kinds: Vec<Kind>,
    kind_of: Vec<usize>,
    /// Where the features of a latent begin in the long vector of all; `None` for latents without.
    start: Vec<Option<usize>>,
    total: usize,
}

/// One correlation function.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    /// The first latent of the kind.
    pub(super) latent: usize,
    /// Its inducing points; `None` when its correlations are wholly left to the neighbors.
    pub(super) basis: Option<Basis>,
}

/// Inducing points of one kind, and the features of every location.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    pub(super) points: InputPoints,
    /// The factor C of κ(Z, Z).
    pub(super) factor: Cholesky,
    /// `u = C⁻¹ κ(Z, x)` of every location, column by column.
    pub(super) at: Vec<f64>,
}

impl Basis {
    /// The number of features.
    pub(super) fn count(&self) -> usize {
        self.points.n_rows()
    }

    /// The features of one location.
    pub(super) fn of_location(&self, location: usize) -> &[f64] {
        &self.at[location * self.count()..][..self.count()]
    }

    /// κ(Z, x) of some points, column by column.
    pub(super) fn correlations_with<'p>(
        &self,
        (correlations, latent): (&Correlations, usize),
        points: impl Iterator<Item = &'p [f64]>,
    ) -> Vec<f64> {
        let mut columns = vec![];
        for point in points {
            let places = self.points.values().chunks_exact(self.points.dim());
            columns
                .extend(places.map(|place| correlations.value(latent, correlations.distance(point, place))));
        }
        columns
    }

    /// The features of one point.
    pub(super) fn of_point(&self, correlations: (&Correlations, usize), point: &[f64]) -> Vec<f64> {
        let mut column = self.correlations_with(correlations, std::iter::once(point));
        self.factor.whiten(&mut column, Threads::One);
        column
    }
}

impl Features {
    /// Features for the shared latents, or for the private ones when nothing is shared: a private latent beside shared
    /// ones is what these leave of one output, and is left to the neighbors.
    pub(super) fn new(
        model: &Lmc,
        correlations: &Correlations,
        channels: &Channels,
        inducing: Option<&InputPoints>,
    ) -> Result<Self, DataError> {
        let n_shared = model.mixing().n_shared();
        let has_features = |latent: usize| inducing.is_some() && (latent < n_shared || n_shared == 0);
        let key = |latent: usize| (correlations.first_equal()[latent], has_features(latent));
        let mut features = Self { kinds: vec![], kind_of: vec![], start: vec![], total: 0 };
        for latent in 0..model.n_latents() {
            let known = features.kinds.iter().position(|kind| key(kind.latent) == key(latent));
            let number = known.unwrap_or(features.kinds.len());
            if known.is_none() {
                let points = inducing.filter(|_| has_features(latent));
                let basis = points.map(|points| basis(correlations, latent, points, channels)).transpose()?;
                features.kinds.push(Kind { latent, basis });
            }
            features.kind_of.push(number);
            let count = features.kinds[number].basis.as_ref().map(Basis::count);
            features.start.push(count.map(|_| features.total));
            features.total += count.unwrap_or(0);
        }
        Ok(features)
    }

    /// The length of the long vector of features.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// The kind of a latent.
    pub(super) fn kind_of(&self, latent: usize) -> usize {
        self.kind_of[latent]
    }

    /// The basis of a latent and where its features begin in the long vector; `None` for latents without.
    pub(super) fn of_latent(&self, latent: usize) -> Option<(&Basis, usize)> {
        self.kinds[self.kind_of[latent]].basis.as_ref().zip(self.start[latent])
    }

    /// The latents with features, with their bases and where they begin.
    pub(super) fn latents(&self) -> impl Iterator<Item = (usize, &Basis, usize)> {
        (0..self.kind_of.len())
            .filter_map(|latent| self.of_latent(latent).map(|(basis, start)| (latent, basis, start)))
    }
}

/// The basis of one kind.
fn basis(
    correlations: &Correlations,
    latent: usize,
    inducing: &InputPoints,
    channels: &Channels,
) -> Result<Basis, DataError> {
    let (points, factor) = independent(correlations, latent, inducing)?;
    let mut basis = Basis { points, factor, at: vec![] };
    let count = basis.count();
    let mut at = vec![0.0; count * channels.n_locations()];
    at.par_chunks_mut(count * CHUNK).enumerate().for_each(|(number, columns)| {
        let locations = number * CHUNK..number * CHUNK + columns.len() / count;
        let points = locations.map(|location| channels.point(location));
        columns.copy_from_slice(&basis.correlations_with((correlations, latent), points));
        basis.factor.whiten(columns, Threads::One);
    });
    basis.at = at;
    Ok(basis)
}

/// The inducing points of which the earlier ones leave more than a negligible share: for a smooth process of long range, a
/// few points say all there is, and the rest would only add rounding. Any subset is a valid model: what the features do
/// not explain stays with the neighbors.
fn independent(
    correlations: &Correlations,
    latent: usize,
    inducing: &InputPoints,
) -> Result<(InputPoints, Cholesky), DataError> {
    let mut kept: Vec<RowIndex> = vec![];
    // Rows of the factor, each as long as its place in the list.
    let mut factor: Vec<Vec<f64>> = vec![];
    for row in inducing.rows() {
        let mut entries: Vec<f64> = Vec::with_capacity(kept.len() + 1);
        for (&other, above) in kept.iter().zip(&factor) {
            let distance = correlations.distance(inducing.point(row), inducing.point(other));
            let explained: f64 = entries.iter().zip(above).map(|(a, b)| a * b).sum();
            entries.push((correlations.value(latent, distance) - explained) / above[entries.len()]);
        }
        let left = 1.0 - entries.iter().map(|entry| entry * entry).sum::<f64>();
        if left > NEGLIGIBLE {
            entries.push(left.sqrt());
            kept.push(row);
            factor.push(entries);
        }
    }
    let coordinates = kept.iter().flat_map(|&row| inducing.point(row)).copied().collect();
    let points = InputPoints::new(kept.len(), inducing.dim(), coordinates)?;
    Ok((points, Cholesky::from_rows(&factor)))
}
