//! Means and variances at any inputs: the low-rank part, and the k nearest locations for what it leaves.
//!
//! With β = C⁻¹s of the nearest channels: `mean = uᵀw + βᵀ(y − φw)`, `g = u − φᵀβ` and
//! `variance = S(x, x) − βᵀs + gᵀA⁻¹g`.

use catena::data::InputPoints;
use catena::index::RowIndex;
use catena::prediction::Prediction;
use rayon::prelude::*;

use super::FullScale;
use super::surroundings::Surroundings;
use crate::DenseMethodError;
use crate::channel::Block;
use crate::cholesky::{Cholesky, Threads};
use crate::exact::not_positive_definite;
use crate::problem::check_dim;
use crate::target::{GrowingPrediction, Moments, Targets, dot};

/// Points predicted together, so that A is solved for many columns at once.
const POINTS: usize = 64;
/// Chunks predicted before results are put together: bounds the memory in flight.
const CHUNKS_IN_FLIGHT: usize = 64;

/// What the features say of one point.
struct PointFeatures {
    /// Kind by kind; empty for kinds without.
    by_kind: Vec<Vec<f64>>,
    /// `1 − |u_l|²`, latent by latent.
    unexplained: Vec<f64>,
    /// `u_lᵀw_l`, latent by latent.
    fitted: Vec<f64>,
}

/// What the nearest locations say of a point.
pub(super) struct Local {
    /// Moments of the targets, given w.
    pub(super) moments: Moments,
    /// g, one column of the long vector per target.
    pub(super) carried: Vec<f64>,
    /// The nearest locations.
    pub(super) block: Block,
    /// β, one column per target.
    pub(super) solved: Vec<f64>,
}

impl FullScale {
    /// The posterior of the outputs at any inputs.
    ///
    /// # Errors
    /// When the points have another number of input columns, a neighborhood's covariance is not positive definite, or a
    /// variance is lost to cancellation.
    pub fn predict(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        check_dim(self.channels.dim(), at)?;
        let targets = Targets::of(&self.model);
        let rows: Vec<RowIndex> = at.rows().collect();
        let mut prediction = GrowingPrediction::new(&self.model, &targets);
        for rows in rows.chunks(POINTS * CHUNKS_IN_FLIGHT) {
            let moments: Vec<Result<Vec<Moments>, DenseMethodError>> = rows
                .par_chunks(POINTS)
                .map(|rows| self.moments(rows.iter().map(|&row| at.point(row)), &targets))
                .collect();
            for moments in moments {
                moments?.iter().for_each(|moments| prediction.push(moments));
            }
        }
        prediction.finish()
    }

    /// The posterior moments of the targets at some points.
    fn moments<'p>(
        &self,
        points: impl Iterator<Item = &'p [f64]>,
        targets: &Targets,
    ) -> Result<Vec<Moments>, DenseMethodError> {
        let mut moments = vec![];
        let mut columns = vec![];
        for point in points {
            let (here, carried) = self.local(point, targets)?;
            moments.push(here);
            columns.extend(carried);
        }
        let width = self.features.total() * targets.count(self.model.n_latents());
        if width > 0 {
            self.system.whiten(&mut columns, Threads::One);
            for (moments, columns) in moments.iter_mut().zip(columns.chunks_exact(width)) {
                moments.add_gram(columns, 1.0);
            }
        }
        Ok(moments)
    }

    /// The moments given w, and g of every target.
    fn local(&self, point: &[f64], targets: &Targets) -> Result<(Moments, Vec<f64>), DenseMethodError> {
        let Local { moments, carried, .. } = self.kriged(point, targets)?;
        Ok((moments, carried))
    }

    /// What the nearest locations say of a point.
    pub(super) fn kriged(&self, point: &[f64], targets: &Targets) -> Result<Local, DenseMethodError> {
        let n_latents = self.model.n_latents();
        let count = targets.count(n_latents);
        let features = self.features_of(point);
        let mut moments = targets.prior(&features.unexplained);
        for (target, mean) in moments.mean.iter_mut().enumerate() {
            *mean = targets.covariance_with(target, &features.fitted);
        }
        let mut around = Surroundings::default();
        self.look_around(self.arrangement.nearest(point).into_iter(), &mut around);
        let dim = around.dim();
        let mut columns = vec![0.0; count * dim];
        if dim > 0 {
            self.covariance_with_point(&around, (point, &features), targets, &mut columns);
            let mut matrix = vec![];
            self.residual_covariance(&around, &mut matrix);
            let factor = Cholesky::new(dim, matrix, Threads::One)
                .map_err(|pivot| not_positive_definite(&self.channels, &around.block, pivot))?;
            factor.whiten(&mut columns, Threads::One);
            moments.subtract_explained(&columns);
            factor.whiten_transposed(&mut columns, Threads::One);
        }
        let block = &around.block;
        let left: Vec<f64> = block
            .runs
            .iter()
            .flat_map(|run| (run.start..run.end).map(|at| self.left_of(run.location, block.channels[at])))
            .collect();
        for (mean, column) in moments.mean.iter_mut().zip(columns.chunks_exact(dim.max(1))) {
            *mean += dot(column, &left);
        }
        let carried = self.unexplained_features(&around, &features, targets, &columns);
        Ok(Local { moments, carried, block: around.block, solved: columns })
    }

    fn features_of(&self, point: &[f64]) -> PointFeatures {
        let n_latents = self.model.n_latents();
        let of_kind = |kind: &super::features::Kind| match &kind.basis {
            Some(basis) => basis.of_point((&self.correlations, kind.latent), point),
            None => vec![],
        };
        let by_kind: Vec<Vec<f64>> = self.features.kinds.iter().map(of_kind).collect();
        let (mut unexplained, mut fitted) = (vec![1.0; n_latents], vec![0.0; n_latents]);
        for (latent, basis, start) in self.features.latents() {
            let here = &by_kind[self.features.kind_of(latent)];
            unexplained[latent] -= dot(here, here);
            fitted[latent] = dot(here, &self.weights[start..][..basis.count()]);
        }
        PointFeatures { by_kind, unexplained, fitted }
    }

    /// s: the residual covariance of a block's channels with the targets at a point, one column per target.
    fn covariance_with_point(
        &self,
        around: &Surroundings,
        (point, features): (&[f64], &PointFeatures),
        targets: &Targets,
        columns: &mut [f64],
    ) {
        let (block, n_latents) = (&around.block, self.model.n_latents());
        let mut left = vec![0.0; self.features.kinds.len()];
        let mut weighted = vec![0.0; n_latents];
        for (number, run) in block.runs.iter().enumerate() {
            let distance = self.correlations.distance(point, self.channels.point(run.location));
            for (kind, left) in self.features.kinds.iter().zip(&mut left) {
                *left = self.correlations.value(kind.latent, distance);
            }
            for ((left, here), there) in left.iter_mut().zip(&features.by_kind).zip(&around.features) {
                if !here.is_empty() {
                    *left -= dot(here, &there[number * here.len()..][..here.len()]);
                }
            }
            for at in run.start..run.end {
                let loadings = self.channels.loadings(run.location, block.channels[at]);
                for latent in 0..n_latents {
                    weighted[latent] = loadings[latent] * left[self.features.kind_of(latent)];
                }
                for (target, column) in columns.chunks_exact_mut(block.len()).enumerate() {
                    column[at] = targets.covariance_with(target, &weighted);
                }
            }
        }
    }

    /// `g = u − φᵀβ`, one column of the long vector per target.
    fn unexplained_features(
        &self,
        around: &Surroundings,
        features: &PointFeatures,
        targets: &Targets,
        solved: &[f64],
    ) -> Vec<f64> {
        let (total, n_latents) = (self.features.total(), self.model.n_latents());
        let count = targets.count(n_latents);
        let (mut loaded, mut columns) = (vec![], vec![]);
        around.add_loaded(solved, n_latents, &mut loaded);
        self.carry(around, (&loaded, count), &mut columns);
        columns.iter_mut().for_each(|entry| *entry = -*entry);
        let mut unit = vec![0.0; n_latents];
        for (latent, basis, start) in self.features.latents() {
            unit[latent] = 1.0;
            let here = &features.by_kind[self.features.kind_of(latent)];
            for (target, column) in columns.chunks_exact_mut(total).enumerate() {
                let weight = targets.covariance_with(target, &unit);
                let entries = column[start..][..basis.count()].iter_mut().zip(here);
                entries.for_each(|(entry, feature)| *entry += weight * feature);
            }
            unit[latent] = 0.0;
        }
        columns
    }
}
