//! The channels, distances, features and residual correlations of a few locations, in contiguous memory.
//!
//! The memory is reused from location to location: neighborhoods are small and many, so allocation would cost more than the
//! arithmetic.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::FullScale;
use crate::channel::Block;

/// A location and its neighbors, or the neighbors of a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighborhood {
    pub(super) block: Block,
    /// a_cl, latent by latent, each over the channels of the block.
    loadings: Vec<f64>,
    /// Between all locations, both triangles.
    pub(super) distances: Vec<f64>,
    /// Features of the locations, column by column, kind by kind; empty for kinds without features.
    pub(super) features: Vec<Vec<f64>>,
    /// Residual correlations `κ(x_i, x_j) − u_iᵀu_j`, kind by kind; symmetric.
    pub(super) residuals: Vec<Vec<f64>>,
}

impl Neighborhood {
    /// The number of channels.
    pub(super) fn dim(&self) -> usize {
        self.block.len()
    }

    /// The number of locations.
    pub(super) fn count(&self) -> usize {
        self.block.runs.len()
    }

    /// a_cl of one latent over the channels.
    pub(super) fn loadings_of(&self, latent: usize) -> &[f64] {
        &self.loadings[latent * self.dim()..][..self.dim()]
    }

    /// `Σ_c a_cl x_c` over the channels of each location, for columns X over the channels: by latent, column and location.
    pub(super) fn add_loaded(&self, columns: &[f64], n_latents: usize, sums: &mut Vec<f64>) {
        sums.clear();
        for latent in 0..n_latents {
            let loadings = self.loadings_of(latent);
            for column in columns.chunks_exact(self.dim().max(1)) {
                sums.extend(self.block.runs.iter().map(|run| {
                    let terms = column[run.start..run.end].iter().zip(&loadings[run.start..run.end]);
                    terms.map(|(entry, loading)| entry * loading).sum::<f64>()
                }));
            }
        }
    }
}

impl FullScale {
    /// Gathers some locations.
    pub(super) fn gather(&self, locations: impl Iterator<Item = usize>, around: &mut Neighborhood) {
        let (channels, n_latents) = (&self.channels, self.model.n_latents());
        channels.refill_block(locations, &mut around.block);
        let (dim, count) = (around.dim(), around.count());
        refill(&mut around.loadings, dim * n_latents);
        for run in &around.block.runs {
            for at in run.start..run.end {
                let loadings = channels.loadings(run.location, around.block.channels[at]);
                let entries = around.loadings[at..].iter_mut().step_by(dim);
                entries.zip(loadings).for_each(|(entry, loading)| *entry = *loading);
            }
        }
        refill(&mut around.distances, count * count);
        for (at, run) in around.block.runs.iter().enumerate() {
            let here = channels.point(run.location);
            for (other, there) in around.block.runs[..at].iter().enumerate() {
                let distance = self.correlations.distance(here, channels.point(there.location));
                around.distances[at * count + other] = distance;
                around.distances[other * count + at] = distance;
            }
        }
        self.gather_features(around);
    }

    fn gather_features(&self, around: &mut Neighborhood) {
        let (kinds, count) = (&self.features.kinds, around.count());
        around.features.resize_with(kinds.len(), Vec::new);
        around.residuals.resize_with(kinds.len(), Vec::new);
        let buffers = around.features.iter_mut().zip(&mut around.residuals);
        for (kind, (features, residual)) in kinds.iter().zip(buffers) {
            refill(residual, count * count);
            for at in 0..count {
                residual[at * count + at] = self.correlations.value(kind.latent, 0.0);
                for other in 0..at {
                    let value = self.correlations.value(kind.latent, around.distances[at * count + other]);
                    residual[at * count + other] = value;
                    residual[other * count + at] = value;
                }
            }
            features.clear();
            if let Some(basis) = &kind.basis {
                let locations = around.block.runs.iter().map(|run| run.location);
                locations.for_each(|location| features.extend_from_slice(basis.of_location(location)));
                let columns = MatRef::from_column_major_slice(features, basis.count(), count);
                let residual = MatMut::from_column_major_slice_mut(residual, count, count);
                matmul(residual, Accum::Add, columns.transpose(), columns, -1.0, Par::Seq);
            }
        }
    }

    /// `C = Σ_l (a_l a_lᵀ) ∘ S_l + I` over the channels, lower triangle.
    pub(super) fn residual_covariance(&self, around: &Neighborhood, matrix: &mut Vec<f64>) {
        let (dim, count) = (around.dim(), around.count());
        refill(matrix, dim * dim);
        // a_l S_l of one location with all channels from its own on.
        let mut weighted = vec![0.0; dim];
        for latent in 0..self.model.n_latents() {
            let loadings = around.loadings_of(latent);
            let residual = &around.residuals[self.features.kind_of(latent)];
            for (place, run) in around.block.runs.iter().enumerate() {
                for (other, value) in
                    around.block.runs[place..].iter().zip(&residual[place * count + place..])
                {
                    let entries = weighted[other.start..other.end].iter_mut();
                    entries
                        .zip(&loadings[other.start..other.end])
                        .for_each(|(entry, loading)| *entry = loading * value);
                }
                for at in run.start..run.end {
                    let column = matrix[at * dim + run.start..(at + 1) * dim].iter_mut();
                    let loading = loadings[at];
                    column.zip(&weighted[run.start..]).for_each(|(entry, weight)| *entry += loading * weight);
                }
            }
        }
        matrix.iter_mut().step_by(dim + 1).for_each(|diagonal| *diagonal += 1.0);
    }

    /// `φᵀX` for columns X over the channels, given the sums of [`Neighborhood::add_loaded`]: latent by latent
    /// `Σ_j (Σ_c a_cl x_c) u_l(j)`, columns of the long vector.
    pub(super) fn features_times(
        &self,
        around: &Neighborhood,
        (loaded, n_columns): (&[f64], usize),
        product: &mut Vec<f64>,
    ) {
        let (total, count) = (self.features.total(), around.count());
        refill(product, total * n_columns);
        for (latent, basis, start) in self.features.latents() {
            let weights = &loaded[latent * n_columns * count..][..n_columns * count];
            let at = &around.features[self.features.kind_of(latent)];
            let whole = MatMut::from_column_major_slice_mut(product, total, n_columns);
            matmul(
                whole.subrows_mut(start, basis.count()),
                Accum::Replace,
                MatRef::from_column_major_slice(at, basis.count(), count),
                MatRef::from_column_major_slice(weights, count, n_columns),
                1.0,
                Par::Seq,
            );
        }
    }
}

/// Replaces the contents by zeros.
pub(super) fn refill(numbers: &mut Vec<f64>, count: usize) {
    numbers.clear();
    numbers.resize(count, 0.0);
}
