//! A model conditioned on a table: predictions, covariances and joint draws in the user's units.

use std::sync::Arc;

use catena::data::{DataError, Dataset, InputPoints};
use catena::index::RowIndex;
use catena::model::Lmc;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use super::method::{Fitted, Quantity};
use crate::error::FitError;
use crate::options::Bounds;
use crate::power::{PowerTransform, covariance};
use crate::prepare::{Law, OutputTransform, Predictive, Preparation};

/// The random stream of the noise; draws of the function use stream 0.
const NOISE_STREAM: u64 = 1;

/// A model conditioned on a table.
pub(crate) struct ConditionedModel {
    preparation: Preparation,
    /// The noise variance of each output, in the model's units.
    noise: Vec<f64>,
    /// The table in the model's units.
    prepared: Arc<Dataset>,
    pub(crate) posterior: Box<dyn Fitted>,
}

impl ConditionedModel {
    pub(crate) fn new(
        preparation: Preparation,
        model: &Lmc,
        prepared: Arc<Dataset>,
        posterior: Box<dyn Fitted>,
    ) -> Self {
        let noise = model.noise().iter().map(|noise| noise.get()).collect();
        Self { preparation, noise, prepared, posterior }
    }

    /// Predictive distributions at the table's rows.
    ///
    /// # Errors
    /// When numbers overflow.
    pub(crate) fn predict_rows(&self, quantity: Quantity) -> Result<Predictive, FitError> {
        if self.preparation.has_likelihoods() {
            let function = self.posterior.predict_rows(Quantity::Function)?;
            return Ok(self.preparation.observed(function, self.prepared.inputs(), self.laws(quantity))?);
        }
        let prediction = self.posterior.predict_rows(quantity)?;
        Ok(self.preparation.predictive(prediction, self.prepared.inputs())?)
    }

    /// Predictive distributions at any inputs, in the user's units; each is independent of the others.
    ///
    /// # Errors
    /// When the points have another number of columns, or numbers overflow.
    pub(crate) fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Predictive, FitError> {
        let scaled = self.preparation.inputs(at)?;
        if self.preparation.has_likelihoods() {
            let function = self.posterior.predict(&scaled, Quantity::Function)?;
            return Ok(self.preparation.observed(function, &scaled, self.laws(quantity))?);
        }
        let prediction = self.posterior.predict(&scaled, quantity)?;
        Ok(self.preparation.predictive(prediction, &scaled)?)
    }

    /// The bounds of each output.
    pub(crate) fn bounds(&self) -> Vec<Option<Bounds>> {
        self.preparation.bounds()
    }

    fn laws(&self, quantity: Quantity) -> Vec<Law> {
        self.preparation.laws(&self.noise, quantity == Quantity::Observation)
    }

    /// The covariance of all outputs at each input, D×D blocks one after the other. It is that of the outputs, not of
    /// their transforms.
    ///
    /// # Errors
    /// When the points have another number of columns, the method has variances only, or numbers overflow.
    pub(crate) fn covariances(&self, at: &InputPoints, quantity: Quantity) -> Result<Vec<f64>, FitError> {
        if self.preparation.has_likelihoods() {
            return Err(FitError::WithLikelihood {
                what: "has no covariances of outputs in closed form; take draws (sample_y in Python) and their covariance",
            });
        }
        let scaled = self.preparation.inputs(at)?;
        let mut covariances = self.posterior.covariances(&scaled)?;
        let transforms = &self.preparation.outputs;
        let n_outputs = transforms.len();
        let is_plain = |transform: &OutputTransform| transform.power == PowerTransform::None;
        let predictive = match transforms.iter().all(is_plain) {
            true => None,
            false => Some(self.predict(at, quantity)?),
        };
        for (block, entries) in covariances.chunks_exact_mut(n_outputs * n_outputs).enumerate() {
            let own = self.preparation.outputs_in(at.group(RowIndex::new(block)));
            for (place, entry) in entries.iter_mut().enumerate() {
                let (i, j) = (place / n_outputs, place % n_outputs);
                if i == j && quantity == Quantity::Observation {
                    *entry += self.noise[i];
                }
                *entry *= own[i].scale * own[j].scale;
                if let Some(predictive) = &predictive {
                    let cell = |output: usize| {
                        let (center, deviation, power) = predictive.center(block * n_outputs + output);
                        (power, (center, deviation))
                    };
                    *entry = match (cell(i), cell(j)) {
                        ((power, (center, deviation)), _) if i == j => {
                            power.moments(center, deviation).1.powi(2)
                        }
                        ((first, of_first), (second, of_second)) => {
                            covariance((&first, of_first), (&second, of_second), *entry)
                        }
                    };
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
    /// those of [`ConditionedModel::predict`].
    ///
    /// # Errors
    /// As [`ConditionedModel::covariances`].
    pub(crate) fn draws(
        &self,
        at: &InputPoints,
        quantity: Quantity,
        n_draws: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        if self.preparation.has_likelihoods() {
            return self.observed_draws(at, quantity, n_draws, seed);
        }
        let mut draws = self.transformed_draws(at, quantity, n_draws, seed)?;
        self.preparation.invert(&mut draws)?;
        Ok(draws)
    }

    /// Joint draws of the function, and observations given them by the likelihoods.
    fn observed_draws(
        &self,
        at: &InputPoints,
        quantity: Quantity,
        n_draws: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let scaled = self.preparation.inputs(at)?;
        let mut draws = self.posterior.draws(&scaled, n_draws, seed)?;
        self.preparation.unscale(&mut draws, &scaled);
        let laws = self.laws(quantity);
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(NOISE_STREAM);
        for (place, value) in draws.iter_mut().enumerate() {
            let law = &laws[place % laws.len()];
            *value = match quantity {
                Quantity::Observation => law.likelihood.draw(*value, law.scale, &mut generator),
                Quantity::Function => law.mean_given(*value),
            };
        }
        if let Some(at) = draws.iter().position(|value| !value.is_finite()) {
            let (row, output) = (RowIndex::new(at / laws.len()), at % laws.len());
            return Err(DataError::UnscalingOverflow { row, output }.into());
        }
        Ok(draws)
    }

    /// The same before the inverse of the transforms.
    pub(crate) fn transformed_draws(
        &self,
        at: &InputPoints,
        quantity: Quantity,
        n_draws: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let scaled = self.preparation.inputs(at)?;
        let mut draws = self.posterior.draws(&scaled, n_draws, seed)?;
        if quantity == Quantity::Observation {
            let noise: Vec<f64> = self.noise.iter().map(|noise| noise.sqrt()).collect();
            let mut generator = ChaCha8Rng::seed_from_u64(seed);
            generator.set_stream(NOISE_STREAM);
            for (place, value) in draws.iter_mut().enumerate() {
                let fresh: f64 = StandardNormal.sample(&mut generator);
                *value += noise[place % noise.len()] * fresh;
            }
        }
        self.preparation.unscale(&mut draws, &scaled);
        Ok(draws)
    }
}
