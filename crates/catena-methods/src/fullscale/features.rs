//! The low-rank part: inducing points and the features of every location.

use catena::data::{DataError, InputPoints};
use catena::index::RowIndex;
use catena::model::Lmc;
use rayon::prelude::*;

use super::CHUNK;
use crate::channel::Channels;
use crate::cholesky::Cholesky;
use crate::correlation::Correlations;
use crate::inducing::InducingSet;

/// An inducing point whose variance given the earlier ones is below this is skipped: it would add rounding only.
const NEGLIGIBLE: f64 = 1e-8;

/// The latents by kind, and the features of every location.
///
/// Latents with the same correlation function and the same use of the inducing points are of one kind: features and
/// residual correlations are computed once for all of them.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub(super) kinds: Vec<Kind>,
    kind_of: Vec<usize>,
    /// Index of a latent's first feature in the long vector; `None` for latents without features.
    start: Vec<Option<usize>>,
    total: usize,
}

/// One correlation function.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    /// The first latent of the kind.
    pub(super) latent: usize,
    /// Its inducing points; `None` for latents without features.
    pub(super) basis: Option<Basis>,
}

/// Inducing points of one kind, and the features of every location.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    pub(super) set: InducingSet,
    /// The features u of every location, column by column.
    pub(super) at: Vec<f64>,
}

impl Basis {
    /// The number of features.
    pub(super) fn count(&self) -> usize {
        self.set.len()
    }

    /// The features of one location.
    pub(super) fn of_location(&self, location: usize) -> &[f64] {
        &self.at[location * self.count()..][..self.count()]
    }
}

impl Features {
    /// Features for the shared latents, or for the private ones if there are no shared latents. A private latent besides
    /// shared ones has neighbors only.
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

    /// The basis of a latent and the index of its first feature; `None` for latents without features.
    pub(super) fn of_latent(&self, latent: usize) -> Option<(&Basis, usize)> {
        self.kinds[self.kind_of[latent]].basis.as_ref().zip(self.start[latent])
    }

    /// The latents with features, their bases, and the indices of their first features.
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
    let set = independent(correlations, latent, inducing)?;
    let mut at = vec![0.0; set.len() * channels.n_locations()];
    at.par_chunks_mut(set.len() * CHUNK).enumerate().for_each(|(number, columns)| {
        let locations = number * CHUNK..number * CHUNK + columns.len() / set.len();
        let points = locations.map(|location| channels.point(location));
        columns.copy_from_slice(&set.features((correlations, latent), points));
    });
    Ok(Basis { set, at })
}

/// The inducing points with more than a negligible variance given the earlier ones: a smooth process with a long
/// length-scale is determined by a few points, and the rest would only add rounding. Any subset is a valid model: the
/// neighbors account for the variance that the features do not explain.
fn independent(
    correlations: &Correlations,
    latent: usize,
    inducing: &InputPoints,
) -> Result<InducingSet, DataError> {
    let mut kept: Vec<RowIndex> = vec![];
    // Rows of the factor, each up to its diagonal.
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
    Ok(InducingSet { points, factor: Cholesky::from_rows(&factor) })
}
