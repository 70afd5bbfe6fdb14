//! Predictions at inputs that are not in the structure, each on its own.

use super::Posterior;
use crate::data::InputPoints;
use crate::index::OutputIndex;
use crate::inference::{InferenceError, NewSteps};
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
        for row in inputs.rows() {
            let belief = self.belief_at(attachment.attach(inputs.point(row)));
            for output in 0..n_outputs {
                let (mean, variance) = self.beliefs.read_output(OutputIndex::new(output), &belief);
                if !(mean.is_finite() && variance.is_finite()) {
                    return Err(InferenceError::Overflow { row });
                }
                means.push(mean);
                variances.push(variance);
            }
        }
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
        for row in inputs.rows() {
            let belief = self.belief_at(attachment.attach(inputs.point(row)));
            let mut block = self.beliefs.output_covariance(&belief);
            for output in 0..n_outputs {
                let (_, variance) = self.beliefs.read_output(OutputIndex::new(output), &belief);
                block[output * (n_outputs + 1)] = variance;
            }
            if block.iter().any(|entry| !entry.is_finite()) {
                return Err(InferenceError::Overflow { row });
            }
            covariances.append(&mut block);
        }
        Ok(covariances)
    }

    /// The belief of a new state, where it joins the structure.
    fn belief_at(&self, place: AttachedTo) -> crate::inference::StateBelief {
        let steps = |lengths: &[f64]| NewSteps::new(&self.graph, &self.beliefs, lengths);
        match place {
            AttachedTo::BeforeFirst(tie) => self.beliefs.before_root(&steps(&[tie.distance]), 0),
            AttachedTo::Between { left, right } => {
                let steps = steps(&[left.distance, right.distance]);
                self.beliefs.attached(&steps, (left.position, 0), Some((right.position, 1)))
            }
            AttachedTo::AfterLast(tie) | AttachedTo::Leaf(tie) => {
                self.beliefs.attached(&steps(&[tie.distance]), (tie.position, 0), None)
            }
        }
    }
}
