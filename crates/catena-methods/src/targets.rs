//! The joint posterior at one point, of the latents or of the outputs, and predictions made from it.

use catena::data::InputPoints;
use catena::index::{OutputIndex, RowIndex};
use catena::model::Lmc;
use catena::prediction::Prediction;
use rayon::prelude::*;

use crate::DenseMethodError;

/// Chunks of points predicted before their results are collected: bounds the memory in use.
const CHUNKS_IN_FLIGHT: usize = 64;

/// The quantities whose joint posterior at a point is computed: L latents, or D outputs if they are fewer.
#[derive(Clone, Debug)]
pub(crate) enum Targets {
    /// The latents: outputs follow by `w_dᵀ m` and `w_dᵀ V w_d`.
    Latents(usize),
    /// The outputs, with W (D×L) row-major.
    Outputs(Vec<f64>),
}

/// A Gaussian over the q targets at one point: mean (q) and covariance (q×q, row-major).
#[derive(Clone, Debug)]
pub(crate) struct Gaussian {
    pub(crate) mean: Vec<f64>,
    pub(crate) covariance: Vec<f64>,
}

impl Targets {
    /// The latents or the outputs of a model, whichever are fewer.
    pub(crate) fn of(model: &Lmc) -> Self {
        if model.n_latents() <= model.n_outputs() {
            Self::Latents(model.n_latents())
        } else {
            Self::outputs_of(model)
        }
    }

    /// The outputs of a model.
    pub(crate) fn outputs_of(model: &Lmc) -> Self {
        Self::Outputs(model.mixing().to_dense())
    }

    /// The number of targets, q.
    pub(crate) fn count(&self, n_latents: usize) -> usize {
        match self {
            Self::Latents(count) => *count,
            Self::Outputs(mixing) => mixing.len() / n_latents,
        }
    }

    /// The covariance of a target with `Σ_l a_l g_l`, given `a_l κ_l` for every latent.
    pub(crate) fn covariance_with(&self, target: usize, weighted: &[f64]) -> f64 {
        match self {
            Self::Latents(_) => weighted[target],
            Self::Outputs(mixing) => dot(&mixing[target * weighted.len()..][..weighted.len()], weighted),
        }
    }

    /// The prior at any point: mean 0 and, for independent latents with these variances, the covariance of the targets.
    pub(crate) fn prior(&self, variances: &[f64]) -> Gaussian {
        let n_latents = variances.len();
        let count = self.count(n_latents);
        let mut covariance = vec![0.0; count * count];
        for a in 0..count {
            match self {
                Self::Latents(_) => covariance[a * count + a] = variances[a],
                Self::Outputs(mixing) => {
                    let row = mixing[a * n_latents..][..n_latents].iter();
                    let scaled: Vec<f64> = row.zip(variances).map(|(w, v)| w * v).collect();
                    for b in 0..count {
                        covariance[a * count + b] = dot(&mixing[b * n_latents..][..n_latents], &scaled);
                    }
                }
            }
        }
        Gaussian { mean: vec![0.0; count], covariance }
    }

    /// Appends means and variances of all outputs at one point to the arrays of a prediction.
    fn append(&self, model: &Lmc, at: &Gaussian, means: &mut Vec<f64>, variances: &mut Vec<f64>) {
        let count = at.mean.len();
        match self {
            Self::Outputs(_) => {
                means.extend_from_slice(&at.mean);
                variances.extend(at.covariance.iter().step_by(count + 1));
            }
            Self::Latents(_) => {
                for output in 0..model.n_outputs() {
                    let row = || model.mixing().row_entries(OutputIndex::new(output));
                    means.push(row().map(|(latent, weight)| weight * at.mean[latent.get()]).sum());
                    let quadratic = row().map(|(a, weight)| {
                        let inner = row().map(|(b, other)| other * at.covariance[a.get() * count + b.get()]);
                        weight * inner.sum::<f64>()
                    });
                    variances.push(quadratic.sum());
                }
            }
        }
    }
}

impl Gaussian {
    /// Subtracts `BᵀB` from the covariance, for whitened covariances B with the observed channels, one column per target.
    pub(crate) fn subtract_explained(&mut self, columns: &[f64]) {
        self.add_gram(columns, -1.0);
    }

    /// Adds `factor·BᵀB` to the covariance.
    pub(crate) fn add_gram(&mut self, columns: &[f64], factor: f64) {
        let count = self.mean.len();
        let dim = columns.len() / count;
        for a in 0..count {
            for b in 0..=a {
                let product = factor * dot(&columns[a * dim..][..dim], &columns[b * dim..][..dim]);
                self.covariance[a * count + b] += product;
                if b < a {
                    self.covariance[b * count + a] += product;
                }
            }
        }
    }
}

/// Means and variances of all outputs at any points. `posterior` computes the targets at one chunk of points; threads
/// share chunks, not the algebra within one.
///
/// # Errors
/// If `posterior` fails or a variance is negative.
pub(crate) fn predict_in_chunks(
    (model, targets): (&Lmc, &Targets),
    (at, points_per_chunk): (&InputPoints, usize),
    posterior: impl Fn(&[&[f64]]) -> Result<Vec<Gaussian>, DenseMethodError> + Sync,
) -> Result<Prediction, DenseMethodError> {
    let points: Vec<&[f64]> = at.rows().map(|row| at.point(row)).collect();
    let (mut means, mut variances) = (vec![], vec![]);
    for points in points.chunks(points_per_chunk * CHUNKS_IN_FLIGHT) {
        let chunks: Vec<Result<Vec<Gaussian>, DenseMethodError>> =
            points.par_chunks(points_per_chunk).map(&posterior).collect();
        for chunk in chunks {
            chunk?.iter().for_each(|at| targets.append(model, at, &mut means, &mut variances));
        }
    }
    let n_outputs = model.n_outputs();
    // NaN is not in the range either.
    if let Some(cell) = variances.iter().position(|variance| !matches!(variance, 0.0..)) {
        return Err(DenseMethodError::NegativeVariance {
            row: RowIndex::new(cell / n_outputs),
            output: OutputIndex::new(cell % n_outputs),
            variance: variances[cell],
        });
    }
    Ok(Prediction::new(at.n_rows(), n_outputs, means, variances)?)
}

/// The inner product of two vectors.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
