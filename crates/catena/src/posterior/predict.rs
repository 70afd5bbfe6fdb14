//! Predictions at inputs outside the structure, each on its own.

use super::Posterior;
use crate::data::InputPoints;
use crate::inference::{Form, Gaussian, InferenceError, places};
use crate::prediction::Prediction;
use crate::structure::AttachedTo;

impl Posterior<'_> {
    /// Mean and variance of every output at new inputs, without noise, once the posterior [knows](Posterior::with_inputs) the
    /// inputs of its table.
    ///
    /// On a line a new point lies between two others and the prediction is exact; elsewhere it becomes a leaf on its nearest point.
    /// New points do not affect one another: each is predicted as if it were the only one.
    ///
    /// # Errors
    /// When the inputs of the table are not known, the new ones have another number of columns, or numbers overflow; the row named is one of
    /// `inputs`.
    pub fn predict_at(&self, inputs: &InputPoints) -> Result<Prediction, InferenceError> {
        let n_outputs = self.graph.model().n_outputs();
        let mut means = Vec::with_capacity(inputs.n_rows() * n_outputs);
        let mut variances = Vec::with_capacity(inputs.n_rows() * n_outputs);
        self.for_each_at(inputs, |_, marginals| {
            means.extend(marginals.iter().map(|marginal| marginal.0));
            variances.extend(marginals.iter().map(|marginal| marginal.1));
            true
        })?;
        Ok(Prediction::from_checked(n_outputs, means, variances))
    }

    /// The covariance of all outputs at each new input, consecutive D×D blocks, without noise. Its variances are
    /// those of [`Posterior::predict_at`], to the bit.
    ///
    /// # Errors
    /// As [`Posterior::predict_at`].
    pub fn covariances_at(&self, inputs: &InputPoints) -> Result<Vec<f64>, InferenceError> {
        let n_outputs = self.graph.model().n_outputs();
        let mut covariances = Vec::with_capacity(inputs.n_rows() * n_outputs * n_outputs);
        self.for_each_at(inputs, |state, marginals| {
            let mut block = self.states.output_covariance(state.view());
            for (output, (_, variance)) in marginals.iter().enumerate() {
                block[output * (n_outputs + 1)] = *variance;
            }
            let is_finite = block.iter().all(|entry| entry.is_finite());
            covariances.append(&mut block);
            is_finite
        })?;
        Ok(covariances)
    }

    /// Passes the state at each new input, and mean and variance of every output, to `is_finite` until it returns false.
    fn for_each_at(
        &self,
        inputs: &InputPoints,
        mut is_finite: impl FnMut(&Gaussian, &[(f64, f64)]) -> bool,
    ) -> Result<(), InferenceError> {
        let attachment = self.attachment.as_ref().ok_or(InferenceError::NoInputs)?;
        let mut square_root: Option<Posterior<'_>> = None;
        for (row, place) in places(attachment, inputs)? {
            let overflow = InferenceError::Overflow { row };
            let (mut state, mut marginals) = self.state_at(place).ok_or(overflow)?;
            let is_negative = marginals.iter().any(|(_, variance)| *variance < 0.0);
            if self.is_free && self.states.can_be_negative() && is_negative {
                let other = match square_root.take() {
                    Some(made) => made,
                    None => Posterior::with_form(&self.graph, Form::SquareRoot)?,
                };
                (state, marginals) = other.state_at(place).ok_or(overflow)?;
                square_root = Some(other);
            }
            if !is_finite(&state, &marginals) {
                return Err(overflow);
            }
        }
        Ok(())
    }

    /// The state at a new input, and mean and variance of every output; `None` if numbers overflow.
    fn state_at(&self, place: Option<AttachedTo>) -> Option<(Gaussian, Vec<(f64, f64)>)> {
        let state = self.states.at_new_input(&self.graph, place)?;
        let marginals = self.states.output_marginals(state.view());
        let is_finite = marginals.iter().all(|(mean, variance)| mean.is_finite() && variance.is_finite());
        is_finite.then_some((state, marginals))
    }
}
