//! Predictions at inputs that are not in the structure, each on its own.

use super::Posterior;
use crate::data::InputPoints;
use crate::index::OutputIndex;
use crate::inference::{Form, InferenceError, NewSteps, StateGaussian};
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
        self.for_each_at(attachment, inputs, |gaussian, read| {
            let mut block = self.states.output_covariance(gaussian);
            for (output, (_, variance)) in read.iter().enumerate() {
                block[output * (n_outputs + 1)] = *variance;
            }
            let is_finite = block.iter().all(|entry| entry.is_finite());
            covariances.append(&mut block);
            is_finite
        })?;
        Ok(covariances)
    }

    /// Hands on the gaussian of the state at each new input, and mean and variance of every output, until `is_finite` denies it.
    fn for_each_at(
        &self,
        attachment: &Attachment,
        inputs: &InputPoints,
        mut is_finite: impl FnMut(&StateGaussian, &[(f64, f64)]) -> bool,
    ) -> Result<(), InferenceError> {
        let mut factored: Option<Posterior<'_>> = None;
        for row in inputs.rows() {
            let (place, overflow) = (attachment.attach(inputs.point(row)), InferenceError::Overflow { row });
            let (mut gaussian, mut read) = self.belief_at(place).ok_or(overflow)?;
            let has_variances = read.iter().all(|read| read.1 >= 0.0);
            if self.is_free && self.states.can_be_below_zero() && !has_variances {
                let careful = match factored.take() {
                    Some(made) => made,
                    None => Posterior::with_form(&self.graph, Form::SquareRoot)?,
                };
                (gaussian, read) = careful.belief_at(place).ok_or(overflow)?;
                factored = Some(careful);
            }
            if !is_finite(&gaussian, &read) {
                return Err(overflow);
            }
        }
        Ok(())
    }

    /// The gaussian of a new state, where it joins the structure, and what outputs read from it; `None` when numbers overflow.
    fn belief_at(&self, place: AttachedTo) -> Option<(StateGaussian, Vec<(f64, f64)>)> {
        let steps = |lengths: &[f64]| NewSteps::new(&self.graph, &self.states, lengths);
        let gaussian = match place {
            AttachedTo::BeforeFirst(tie) => self.states.before_root(&steps(&[tie.distance]), 0),
            AttachedTo::Between { left, right } => {
                let steps = steps(&[left.distance, right.distance]);
                self.states.attached(&steps, (left.position, 0), Some((right.position, 1)))
            }
            AttachedTo::AfterLast(tie) | AttachedTo::Leaf(tie) => {
                self.states.attached(&steps(&[tie.distance]), (tie.position, 0), None)
            }
        }?;
        let outputs = (0..self.graph.model().n_outputs()).map(OutputIndex::new);
        let read: Vec<_> = outputs.map(|output| self.states.read_output(output, &gaussian)).collect();
        let is_finite = read.iter().all(|(mean, variance)| mean.is_finite() && variance.is_finite());
        is_finite.then_some((gaussian, read))
    }
}
