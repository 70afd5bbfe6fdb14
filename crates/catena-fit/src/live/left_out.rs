//! Cells of a live posterior given all other cells: how surprising a new reading is.

use catena::index::OutputIndex;
use catena::live::PointMarginals;

use super::{LiveFit, LiveFitError, key};
use crate::normal::left_out;

impl LiveFit {
    /// The deviation of each observed value at one input from what all other observed values say, in standard deviations of the
    /// transformed output; `None` for outputs that are not observed there, and where the noise is so small that a value
    /// alone determines its function. Of several rows at the same inputs it is the last.
    ///
    /// # Errors
    /// When an input is invalid, or numbers overflow.
    pub fn deviations_at(&mut self, inputs: &[f64]) -> Result<Vec<Option<f64>>, LiveFitError> {
        self.scaled(inputs)?;
        let Some(&row) = self.rows.get(&key(inputs)) else { return Ok(vec![None; self.n_outputs()]) };
        let PointMarginals { means, variances } = self.live.marginals(row)?;
        let mut found = Vec::with_capacity(means.len());
        for (output, posterior) in means.into_iter().zip(variances).enumerate() {
            let output = OutputIndex::new(output);
            let value = self.live.observed(row, output)?;
            let model = self.live.model();
            let prior = model.mixing().row_entries(output).map(|(_, weight)| weight * weight).sum();
            let noise = model.noise()[output.get()].get();
            found.push(value.and_then(|value| {
                let (mean, variance) = left_out(value, noise, posterior, prior)?;
                Some((value - mean) / variance.sqrt())
            }));
        }
        Ok(found)
    }
}
