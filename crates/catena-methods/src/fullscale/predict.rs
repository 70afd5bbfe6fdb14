//! Means and variances at any inputs: the low-rank part plus kriging of the residual on the k nearest locations.
//!
//! With β = C⁻¹s of the nearest channels: `mean = uᵀw + βᵀ(y − φw)`, `g = u − φᵀβ` and
//! `variance = S(x, x) − βᵀs + gᵀA⁻¹g`.

use catena::data::InputPoints;
use catena::prediction::Prediction;

use super::FullScale;
use super::neighborhood::Neighborhood;
use crate::DenseMethodError;
use crate::channel::Block;
use crate::cholesky::{Cholesky, Threads};
use crate::problem::check_dim;
use crate::targets::{Gaussian, Targets, dot, predict_in_chunks};

/// Points per chunk of predictions: A is solved for all their columns at once.
const POINTS: usize = 64;

/// The features of one point.
struct PointFeatures {
    /// Kind by kind; empty for kinds without features.
    by_kind: Vec<Vec<f64>>,
    /// `1 − |u_l|²`, latent by latent.
    unexplained: Vec<f64>,
    /// `u_lᵀw_l`, latent by latent.
    fitted: Vec<f64>,
}

/// The posterior at a point given w.
pub(super) struct Local {
    /// Of the targets.
    pub(super) gaussian: Gaussian,
    /// g, one column of the long vector per target.
    pub(super) unexplained: Vec<f64>,
    /// The nearest locations.
    pub(super) block: Block,
    /// β, one column per target.
    pub(super) solved: Vec<f64>,
}

impl FullScale {
    /// The posterior of the outputs at any inputs.
    ///
    /// # Errors
    /// If the points have another number of input columns, a neighborhood's covariance is not positive definite, or a
    /// variance is lost to cancellation.
    pub fn predict(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        check_dim(self.channels.dim(), at)?;
        let targets = Targets::of(&self.model);
        predict_in_chunks((&self.model, &targets), (at, POINTS), |points| self.posterior(points, &targets))
    }

    /// The posterior of the targets at some points.
    fn posterior(&self, points: &[&[f64]], targets: &Targets) -> Result<Vec<Gaussian>, DenseMethodError> {
        let (mut gaussians, mut columns) = (vec![], vec![]);
        for point in points {
            let Local { gaussian, unexplained, .. } = self.krige(point, targets)?;
            gaussians.push(gaussian);
            columns.extend(unexplained);
        }
        let width = self.features.total() * targets.count(self.model.n_latents());
        if width > 0 {
            self.system.whiten(&mut columns, Threads::One);
            for (gaussian, columns) in gaussians.iter_mut().zip(columns.chunks_exact(width)) {
                gaussian.add_gram(columns, 1.0);
            }
        }
        Ok(gaussians)
    }

    /// The posterior at a point given w and the nearest locations.
    pub(super) fn krige(&self, point: &[f64], targets: &Targets) -> Result<Local, DenseMethodError> {
        let n_latents = self.model.n_latents();
        let count = targets.count(n_latents);
        let features = self.features_of(point);
        let mut gaussian = targets.prior(&features.unexplained);
        for (target, mean) in gaussian.mean.iter_mut().enumerate() {
            *mean = targets.covariance_with(target, &features.fitted);
        }
        let mut around = Neighborhood::default();
        self.gather(self.arrangement.nearest(point).into_iter(), &mut around);
        let dim = around.dim();
        let mut columns = vec![0.0; count * dim];
        if dim > 0 {
            self.covariance_with_point(&around, (point, &features), targets, &mut columns);
            let mut matrix = vec![];
            self.residual_covariance(&around, &mut matrix);
            let factor = Cholesky::new(dim, matrix, Threads::One)
                .map_err(|pivot| self.channels.not_positive_definite(&around.block, pivot))?;
            factor.whiten(&mut columns, Threads::One);
            gaussian.subtract_explained(&columns);
            factor.whiten_transposed(&mut columns, Threads::One);
        }
        let block = &around.block;
        let left: Vec<f64> = block
            .runs
            .iter()
            .flat_map(|run| {
                (run.start..run.end).map(|at| self.channel_residual(run.location, block.channels[at]))
            })
            .collect();
        for (mean, column) in gaussian.mean.iter_mut().zip(columns.chunks_exact(dim.max(1))) {
            *mean += dot(column, &left);
        }
        let unexplained = self.unexplained_features(&around, &features, targets, &columns);
        Ok(Local { gaussian, unexplained, block: around.block, solved: columns })
    }

    fn features_of(&self, point: &[f64]) -> PointFeatures {
        let n_latents = self.model.n_latents();
        let of_kind = |kind: &super::features::Kind| match &kind.basis {
            Some(basis) => basis.set.features((&self.correlations, kind.latent), std::iter::once(point)),
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
        around: &Neighborhood,
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
        around: &Neighborhood,
        features: &PointFeatures,
        targets: &Targets,
        solved: &[f64],
    ) -> Vec<f64> {
        let (total, n_latents) = (self.features.total(), self.model.n_latents());
        let count = targets.count(n_latents);
        let (mut loaded, mut columns) = (vec![], vec![]);
        around.add_loaded(solved, n_latents, &mut loaded);
        self.features_times(around, (&loaded, count), &mut columns);
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
