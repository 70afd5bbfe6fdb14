//! The mixing matrix W (D×L): the weight of each latent in each output.

use super::ModelError;
use crate::index::{LatentIndex, OutputIndex};

/// W, row-major: shared columns first, then optionally one private column per output with a single entry in that output's
/// row.
#[derive(Clone, Debug, PartialEq)]
pub struct MixingMatrix {
    n_outputs: usize,
    n_shared: usize,
    /// Shared weights, row-major D×n_shared.
    shared: Vec<f64>,
    /// The private weight of each output; empty when there are no private latents.
    private: Vec<f64>,
}

impl MixingMatrix {
    /// A matrix of shared columns only, from row-major weights.
    ///
    /// # Errors
    /// When there are no outputs or no latents, the size does not match, or a weight is not finite.
    pub fn shared(n_outputs: usize, n_latents: usize, weights: Vec<f64>) -> Result<Self, ModelError> {
        Self::with_private(n_outputs, n_latents, weights, vec![])
    }

    /// Shared columns and, unless `private` is empty, one private column per output.
    ///
    /// # Errors
    /// When there are no outputs or no latents, a size does not match, or a weight is not finite.
    pub fn with_private(
        n_outputs: usize,
        n_shared: usize,
        shared: Vec<f64>,
        private: Vec<f64>,
    ) -> Result<Self, ModelError> {
        if n_outputs == 0 {
            return Err(ModelError::NoOutputs);
        }
        if n_shared == 0 && private.is_empty() {
            return Err(ModelError::NoLatents);
        }
        if n_outputs.checked_mul(n_shared) != Some(shared.len()) {
            return Err(ModelError::MixingShape { n_outputs, n_latents: n_shared, found: shared.len() });
        }
        if !private.is_empty() && private.len() != n_outputs {
            return Err(ModelError::PrivateShape { n_outputs, found: private.len() });
        }
        if let Some(at) = shared.iter().position(|weight| !weight.is_finite()) {
            let (output, latent) = (at / n_shared, at % n_shared);
            return Err(ModelError::WeightNotFinite {
                output: OutputIndex::new(output),
                latent: LatentIndex::new(latent),
                value: shared[at],
            });
        }
        if let Some(output) = private.iter().position(|weight| !weight.is_finite()) {
            return Err(ModelError::WeightNotFinite {
                output: OutputIndex::new(output),
                latent: LatentIndex::new(n_shared + output),
                value: private[output],
            });
        }
        Ok(Self { n_outputs, n_shared, shared, private })
    }

    /// The number of outputs, D.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The number of columns, L: shared and private.
    pub fn n_latents(&self) -> usize {
        self.n_shared + self.private.len()
    }

    /// The number of shared columns.
    pub fn n_shared(&self) -> usize {
        self.n_shared
    }

    /// Whether each output has a private latent.
    pub fn has_private(&self) -> bool {
        !self.private.is_empty()
    }

    /// The shared weights of one output.
    ///
    /// # Panics
    /// When `output` is of another model and out of range.
    pub fn shared_row(&self, output: OutputIndex) -> &[f64] {
        &self.shared[output.get() * self.n_shared..][..self.n_shared]
    }

    /// The private weight of one output, if outputs have private latents.
    pub fn private_weight(&self, output: OutputIndex) -> Option<f64> {
        self.private.get(output.get()).copied()
    }

    /// The entries of one row that can differ from zero: shared columns, then the output's private one.
    ///
    /// # Panics
    /// When `output` is of another model and out of range.
    pub fn row_entries(&self, output: OutputIndex) -> impl Iterator<Item = (LatentIndex, f64)> + '_ {
        let private = self.private_weight(output).map(|weight| (self.n_shared + output.get(), weight));
        let shared = self.shared_row(output).iter().copied().enumerate();
        shared.chain(private).map(|(latent, weight)| (LatentIndex::new(latent), weight))
    }

    /// One weight w_dl.
    ///
    /// # Panics
    /// When an index is of another model and out of range.
    pub fn weight(&self, output: OutputIndex, latent: LatentIndex) -> f64 {
        if latent.get() < self.n_shared {
            self.shared_row(output)[latent.get()]
        } else if latent.get() - self.n_shared == output.get() {
            self.private[output.get()]
        } else {
            0.0
        }
    }

    /// The whole matrix, row-major D×L, zeros included.
    pub fn to_dense(&self) -> Vec<f64> {
        let mut dense = vec![0.0; self.n_outputs * self.n_latents()];
        for (output, row) in dense.chunks_exact_mut(self.n_latents()).enumerate() {
            for (latent, weight) in self.row_entries(OutputIndex::new(output)) {
                row[latent.get()] = weight;
            }
        }
        dense
    }
}
