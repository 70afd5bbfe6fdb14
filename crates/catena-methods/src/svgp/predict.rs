//! Means and variances at any inputs.

use catena::data::InputPoints;
use catena::prediction::Prediction;

use super::{CHUNK, Svgp};
use crate::DenseMethodError;
use crate::cholesky::Threads;
use crate::problem::check_dim;
use crate::targets::{Gaussian, Targets, dot, predict_in_chunks};

/// Points per chunk of predictions: each has one column per target.
const POINTS: usize = CHUNK / 4;

impl Svgp {
    /// The posterior of the outputs at any inputs.
    ///
    /// # Errors
    /// If the points have another number of input columns, or a variance is lost to cancellation.
    pub fn predict(&self, at: &InputPoints) -> Result<Prediction, DenseMethodError> {
        check_dim(self.channels.dim(), at)?;
        let targets = Targets::of(&self.model);
        predict_in_chunks(
            (&self.model, &targets),
            (at, POINTS),
            |points| Ok(self.posterior(points, &targets)),
        )
    }

    /// `mean = φᵀμ` and `covariance = (1 − |u|²) + φᵀA⁻¹φ` of the targets at some points.
    fn posterior(&self, points: &[&[f64]], targets: &Targets) -> Vec<Gaussian> {
        let (n_latents, total) = (self.features.n_latents(), self.features.total());
        let count = targets.count(n_latents);
        let at = self.features.of(points);
        let mut columns = vec![0.0; points.len() * count * total];
        for (number, columns) in columns.chunks_exact_mut(count * total).enumerate() {
            for (target, column) in columns.chunks_exact_mut(total).enumerate() {
                for latent in 0..n_latents {
                    let weight = match targets {
                        Targets::Latents(_) => f64::from(u8::from(latent == target)),
                        Targets::Outputs(mixing) => mixing[target * n_latents + latent],
                    };
                    if weight != 0.0 {
                        let size = self.features.count();
                        let features = &at.by_latent[latent][number * size..][..size];
                        let place = &mut column[self.features.start(latent)..][..size];
                        place.iter_mut().zip(features).for_each(|(entry, feature)| *entry = weight * feature);
                    }
                }
            }
        }
        let means: Vec<f64> = columns.chunks_exact(total).map(|column| dot(column, &self.mean)).collect();
        self.system.whiten(&mut columns, Threads::One);
        let per_point = at.unexplained.chunks_exact(n_latents).zip(columns.chunks_exact(count * total));
        per_point
            .zip(means.chunks_exact(count))
            .map(|((unexplained, columns), mean)| {
                let mut gaussian = targets.prior(unexplained);
                gaussian.mean.copy_from_slice(mean);
                gaussian.add_gram(columns, 1.0);
                gaussian
            })
            .collect()
    }
}
