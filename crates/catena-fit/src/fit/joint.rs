//! Joint posteriors in the user's units: covariances of outputs and joint draws.

use catena::data::{DataError, InputPoints};
use catena::index::RowIndex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use super::fitted::Fit;
use crate::error::FitError;
use crate::methods::Quantity;

/// The random stream of the noise; draws of the function use stream 0.
const NOISE_STREAM: u64 = 1;

impl Fit {
    /// The covariance of all outputs at each input, D×D blocks one after the other. For outputs whose logarithm is modelled it
    /// is that of the log-normal outputs.
    ///
    /// # Errors
    /// When the points have another number of columns, the method has variances only, or numbers overflow.
    pub fn covariances(&self, at: &InputPoints, quantity: Quantity) -> Result<Vec<f64>, FitError> {
        let scaled = self.parts.preparation.inputs(at)?;
        let mut covariances = self.posterior.covariances(&scaled)?;
        let transforms = &self.parts.preparation.outputs;
        let n_outputs = transforms.len();
        let means = if transforms.iter().any(|transform| transform.log) {
            self.predict(at, quantity)?.means()
        } else {
            vec![]
        };
        for (block, entries) in covariances.chunks_exact_mut(n_outputs * n_outputs).enumerate() {
            for (place, entry) in entries.iter_mut().enumerate() {
                let (i, j) = (place / n_outputs, place % n_outputs);
                if i == j && quantity == Quantity::Observation {
                    *entry += self.parts.model.noise()[i].get();
                }
                *entry *= transforms[i].scale * transforms[j].scale;
                // Cov(eᵃ, eᵇ) = E eᵃ · E eᵇ · (e^Cov(a,b) − 1), and Cov(eᵃ, b) = E eᵃ · Cov(a, b).
                if transforms[i].log && transforms[j].log {
                    *entry = entry.exp_m1();
                }
                for output in [i, j] {
                    if transforms[output].log {
                        *entry *= means[block * n_outputs + output];
                    }
                }
            }
        }
        if let Some(at) = covariances.iter().position(|entry| !entry.is_finite()) {
            let (block, place) = (at / (n_outputs * n_outputs), at % (n_outputs * n_outputs));
            let overflow =
                DataError::UnscalingOverflow { row: RowIndex::new(block), output: place / n_outputs };
            return Err(overflow.into());
        }
        Ok(covariances)
    }

    /// Joint draws at any inputs, each row-major n×D, one after the other; the same for the same seed. Their marginals are
    /// those of [`Fit::predict`].
    ///
    /// # Errors
    /// As [`Fit::covariances`].
    pub fn draws(
        &self,
        at: &InputPoints,
        quantity: Quantity,
        n_draws: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let scaled = self.parts.preparation.inputs(at)?;
        let mut draws = self.posterior.draws(&scaled, n_draws, seed)?;
        if quantity == Quantity::Observation {
            let noise: Vec<f64> = self.parts.model.noise().iter().map(|noise| noise.get().sqrt()).collect();
            let mut generator = ChaCha8Rng::seed_from_u64(seed);
            generator.set_stream(NOISE_STREAM);
            for (place, value) in draws.iter_mut().enumerate() {
                let fresh: f64 = StandardNormal.sample(&mut generator);
                *value += noise[place % noise.len()] * fresh;
            }
        }
        self.parts.preparation.undo(&mut draws, &scaled)?;
        Ok(draws)
    }
}
