//! What a posterior is asked for at a point: the latents or the outputs, whichever are fewer.

use catena::index::{OutputIndex, RowIndex};
use catena::model::Lmc;
use catena::prediction::Prediction;

use crate::DenseMethodError;

/// The quantities whose joint posterior at a point is computed: L latents, or D outputs when they are fewer.
#[derive(Clone, Debug)]
pub(crate) enum Targets {
    /// The latents themselves: outputs follow by `w_dᵀ m` and `w_dᵀ V w_d`.
    Latents(usize),
    /// The outputs, with W (D×L) row-major.
    Outputs(Vec<f64>),
}

/// Posterior moments of the targets at one point: mean (q) and, row-major, covariance (q×q).
///
/// For outputs only the diagonal of the covariance is needed, but all of it is kept: q is small.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    pub(crate) mean: Vec<f64>,
    pub(crate) covariance: Vec<f64>,
}

impl Targets {
    pub(crate) fn of(model: &Lmc) -> Self {
        if model.n_latents() <= model.n_outputs() {
            Self::Latents(model.n_latents())
        } else {
            Self::Outputs(model.mixing().to_dense())
        }
    }

    /// The outputs, however many latents there are.
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

    /// The covariance of target `target` with `Σ_l a_l g_l`, when `weighted` holds `a_l κ_l`.
    pub(crate) fn covariance_with(&self, target: usize, weighted: &[f64]) -> f64 {
        match self {
            Self::Latents(_) => weighted[target],
            Self::Outputs(mixing) => dot(&mixing[target * weighted.len()..][..weighted.len()], weighted),
        }
    }

    /// Prior moments at any point: mean 0 and `diag(v)` for latents with variances v, seen through the targets.
    pub(crate) fn prior(&self, variances: &[f64]) -> Moments {
        let n_latents = variances.len();
        let count = self.count(n_latents);
        let mut covariance = vec![0.0; count * count];
        for a in 0..count {
            match self {
                Self::Latents(_) => covariance[a * count + a] = variances[a],
                Self::Outputs(mixing) => {
                    let scaled: Vec<f64> = mixing[a * n_latents..][..n_latents]
                        .iter()
                        .zip(variances)
                        .map(|(w, v)| w * v)
                        .collect();
                    for b in 0..count {
                        covariance[a * count + b] = dot(&mixing[b * n_latents..][..n_latents], &scaled);
                    }
                }
            }
        }
        Moments { mean: vec![0.0; count], covariance }
    }

    /// Means and variances of all outputs at one point, appended to the arrays of a prediction.
    fn append(&self, model: &Lmc, moments: &Moments, means: &mut Vec<f64>, variances: &mut Vec<f64>) {
        let count = moments.mean.len();
        match self {
            Self::Outputs(_) => {
                means.extend_from_slice(&moments.mean);
                variances.extend(moments.covariance.iter().step_by(count + 1));
            }
            Self::Latents(_) => {
                for output in 0..model.n_outputs() {
                    let row = || model.mixing().row_entries(OutputIndex::new(output));
                    means.push(row().map(|(latent, weight)| weight * moments.mean[latent.get()]).sum());
                    let quadratic = row().map(|(a, weight)| {
                        let inner =
                            row().map(|(b, other)| other * moments.covariance[a.get() * count + b.get()]);
                        weight * inner.sum::<f64>()
                    });
                    variances.push(quadratic.sum());
                }
            }
        }
    }
}

impl Moments {
    /// Takes `BᵀB` off the covariance, for whitened covariances B with the observed channels, one column per target.
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

/// A prediction that grows point by point.
#[derive(Debug)]
pub(crate) struct GrowingPrediction<'a> {
    model: &'a Lmc,
    targets: &'a Targets,
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl<'a> GrowingPrediction<'a> {
    pub(crate) fn new(model: &'a Lmc, targets: &'a Targets) -> Self {
        Self { model, targets, means: vec![], variances: vec![] }
    }

    /// Appends the next point.
    pub(crate) fn push(&mut self, moments: &Moments) {
        self.targets.append(self.model, moments, &mut self.means, &mut self.variances);
    }

    /// The prediction.
    ///
    /// # Errors
    /// When a variance came out negative.
    pub(crate) fn finish(self) -> Result<Prediction, DenseMethodError> {
        let n_outputs = self.model.n_outputs();
        // NaN is in no range.
        if let Some(cell) = self.variances.iter().position(|variance| !matches!(variance, 0.0..)) {
            return Err(DenseMethodError::NegativeVariance {
                row: RowIndex::new(cell / n_outputs),
                output: OutputIndex::new(cell % n_outputs),
                variance: self.variances[cell],
            });
        }
        Ok(Prediction::new(self.means.len() / n_outputs, n_outputs, self.means, self.variances)?)
    }
}

/// The inner product of two vectors.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
