//! Cells of a live posterior given all other cells: how surprising a new reading is.

use catena::data::InputPoints;
use catena::index::{OutputIndex, RowIndex};
use catena::live::{LiveError, PointMarginals};
use catena::prediction::Prediction;

use super::error::LiveFitError;
use super::live_fit::{LiveFit, key};
use crate::normal::left_out;
use crate::prepare::Predictive;

/// What all other observed values say of the values at one input.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The distribution of an observation of every output given all observed values but its own.
    pub predictive: Predictive,
    /// How far each given value is from it, in standard deviations of the transformed output; `None` where the noise is so small
    /// that the observed value alone determines its function.
    pub deviations: Vec<Option<f64>>,
}

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
        let marginals = self.live.marginals(row)?;
        let outputs = (0..self.n_outputs()).map(OutputIndex::new);
        let deviation = |output| {
            let Some(value) = self.live.observed(row, output)? else { return Ok(None) };
            let others = self.without(output, Some(value), &marginals);
            Ok(others.map(|(mean, variance)| (value - mean) / variance.sqrt()))
        };
        outputs.map(deviation).collect()
    }

    /// What all other observed values say of values at one input. Nothing is observed: the values may differ from those that are
    /// observed there.
    ///
    /// # Errors
    /// When an input or value is invalid, or numbers overflow.
    pub fn expected_at(
        &mut self,
        inputs: &[f64],
        cells: &[(OutputIndex, f64)],
    ) -> Result<Expected, LiveFitError> {
        let ready = self.prepare_row(inputs, cells)?;
        let row: Option<RowIndex> = self.rows.get(&key(inputs)).copied();
        let marginals = match row {
            Some(row) => self.live.marginals(row)?,
            None => self.live.marginals_at(&ready.point)?,
        };
        let (mut means, mut variances, mut is_known) = (vec![], vec![], vec![]);
        for output in (0..self.n_outputs()).map(OutputIndex::new) {
            let observed = row.map_or(Ok(None), |row| self.live.observed(row, output))?;
            let others = self.without(output, observed, &marginals);
            is_known.push(others.is_some());
            let noise = self.live.model().noise()[output.get()].get();
            let of_all = (marginals.means[output.get()], marginals.variances[output.get()] + noise);
            let (mean, variance) = others.unwrap_or(of_all);
            means.push(mean);
            variances.push(variance);
        }
        let deviations = ready.cells.iter().map(|cell| {
            let at = cell.output.get();
            is_known[at].then(|| (cell.prepared - means[at]) / variances[at].sqrt())
        });
        let deviations = deviations.collect();
        let prediction = Prediction::new(1, means.len(), means, variances).map_err(LiveError::Data)?;
        let point = InputPoints::new(1, self.dim, ready.point).map_err(LiveError::Data)?;
        let predictive = self.preparation.predictive(prediction, &point).map_err(LiveError::Data)?;
        Ok(Expected { predictive, deviations })
    }

    /// Whether [`LiveFit::observe_row`] takes these cells.
    ///
    /// # Errors
    /// Those of [`LiveFit::observe_row`] that do not depend on the structure.
    pub fn check_row(&self, inputs: &[f64], cells: &[(OutputIndex, f64)]) -> Result<(), LiveFitError> {
        self.prepare_row(inputs, cells).map(|_| ())
    }

    /// Mean and variance of an observation in the model's units, given all observed values but the one of this output.
    fn without(
        &self,
        output: OutputIndex,
        observed: Option<f64>,
        posterior: &PointMarginals,
    ) -> Option<(f64, f64)> {
        let model = self.live.model();
        let noise = model.noise()[output.get()].get();
        let (mean, variance) = (posterior.means[output.get()], posterior.variances[output.get()]);
        let prior = model.mixing().row_entries(output).map(|(_, weight)| weight * weight).sum();
        match observed {
            Some(value) => left_out(value, noise, (mean, variance), prior),
            None => Some((mean, variance + noise)),
        }
    }
}
