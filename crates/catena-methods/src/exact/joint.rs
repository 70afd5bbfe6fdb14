//! Covariances between points: the prior covariance minus the explained one.

use catena::data::InputPoints;
use catena::index::RowIndex;

use super::Exact;
use crate::cholesky::{Threads, add_gram, mirror};
use crate::problem::check_dim;
use crate::targets::Targets;
use crate::{DenseMethodError, Joint};

impl Exact {
    /// Means and covariances of all outputs at some points. O(n² D²) memory besides the fit.
    ///
    /// # Errors
    /// As [`Exact::predict`].
    pub fn joint(&self, at: &InputPoints) -> Result<Joint, DenseMethodError> {
        check_dim(self.channels.dim(), at)?;
        let targets = Targets::outputs_of(&self.model);
        let points: Vec<&[f64]> = at.rows().map(|row: RowIndex| at.point(row)).collect();
        let (n_outputs, n_latents) = (self.model.n_outputs(), self.model.n_latents());
        let dim = points.len() * n_outputs;
        let weights = self.model.mixing().to_dense();
        let mut covariance = vec![0.0; dim * dim];
        let mut values = vec![0.0; n_latents];
        for (here, x) in points.iter().enumerate() {
            for (there, z) in points.iter().enumerate() {
                self.correlations.fill(x, z, &mut values);
                for a in 0..n_outputs {
                    for b in 0..n_outputs {
                        let terms = (0..n_latents).map(|latent| {
                            weights[a * n_latents + latent] * weights[b * n_latents + latent] * values[latent]
                        });
                        covariance[(here * n_outputs + a) * dim + there * n_outputs + b] = terms.sum();
                    }
                }
            }
        }
        for factored in &self.blocks {
            let width = factored.block.len() * n_outputs;
            let mut columns = vec![0.0; points.len() * width];
            for (columns, point) in columns.chunks_exact_mut(width).zip(&points) {
                self.channels.covariance_with_point(
                    &self.correlations,
                    &factored.block,
                    (point, &targets),
                    columns,
                );
            }
            factored.cholesky.whiten(&mut columns, Threads::All);
            add_gram(&mut covariance, dim, &columns, -1.0);
        }
        mirror(&mut covariance, dim);
        Ok(Joint { means: self.predict(at)?.means().to_vec(), covariance })
    }
}
