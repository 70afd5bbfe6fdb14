//! Predictions at inputs that are not in the structure, each on its own.

use super::Posterior;
use crate::data::InputPoints;
use crate::inference::{Form, Gaussian, InferenceError};
use crate::prediction::Prediction;
use crate::structure::{AttachedTo, Attachment};

impl Posterior<'_> {
    /// Mean and variance of every output at new inputs, without noise.
    ///
    /// On a line a new point lies between two others and the answer is exact; elsewhere it hangs on its nearest point
    /// as one more leaf. New points do not change one another: each is predicted as if it were the only one.
    ///
    /// # Errors
    /// When numbers overflow; the row named is one of `inputs`.
    ///
    /// # Panics
    /// When `attachment` was made for another structure, or the inputs have another number of columns.
    pub fn predict_at(
        &self,
        attachment: &Attachment,
        inputs: &InputPoints,
    ) -> Result<Prediction, InferenceError> {
        let n_outputs = self.graph.model().n_outputs();
        let mut means = Vec::with_capacity(inputs.n_rows() * n_outputs);
        let mut variances = Vec::with_capacity(inputs.n_rows() * n_outputs);
        self.for_each_at(attachment, inputs, |_, read| {
            means.extend(read.iter().map(|read| read.0));
            variances.extend(read.iter().map(|read| read.1));
            true
        })?;
        Ok(Prediction::from_checked(n_outputs, means, variances))
    }

    /// The covariance of all outputs at each new input, D×D blocks one after the other, without noise. The variances in it are
    /// those of [`Posterior::predict_at`], to the bit.
    ///
    /// # Errors
    /// As [`Posterior::predict_at`].
    ///
    /// # Panics
    /// As [`Posterior::predict_at`].
    pub fn covariances_at(
        &self,
        attachment: &Attachment,
        inputs: &InputPoints,
    ) -> Result<Vec<f64>, InferenceError> {
        let n_outputs = self.graph.model().n_outputs();
        let mut covariances = Vec::with_capacity(inputs.n_rows() * n_outputs * n_outputs);
        self.for_each_at(attachment, inputs, |state, read| {
            let mut block = self.states.output_covariance(state.view());
            for (output, (_, variance)) in read.iter().enumerate() {
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
        attachment: &Attachment,
        inputs: &InputPoints,
        mut is_finite: impl FnMut(&Gaussian, &[(f64, f64)]) -> bool,
    ) -> Result<(), InferenceError> {
        let mut square_root: Option<Posterior<'_>> = None;
        for row in inputs.rows() {
            let (place, overflow) = (attachment.attach(inputs.point(row)), InferenceError::Overflow { row });
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
    fn state_at(&self, place: AttachedTo) -> Option<(Gaussian, Vec<(f64, f64)>)> {
        let state = self.states.at_new_input(&self.graph, place)?;
        let marginals = self.states.output_marginals(state.view());
        let is_finite = marginals.iter().all(|(mean, variance)| mean.is_finite() && variance.is_finite());
        is_finite.then_some((state, marginals))
    }
}
