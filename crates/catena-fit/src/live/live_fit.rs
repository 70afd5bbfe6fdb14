//! A live fit: values are set and removed one by one, and questions answered, at a cost that hardly depends on the number of rows.

use std::collections::{BTreeMap, HashMap};

use catena::data::{DataError, Dataset, InputPoints, Observations};
use catena::index::{OutputIndex, RowIndex};
use catena::live::{LiveError, LivePosterior, PointMarginals, Recomputed};
use catena::prediction::Prediction;

use super::error::LiveFitError;
use crate::error::FitError;
use crate::fit::{Fit, FitParts};
use crate::methods::Quantity;
use crate::prepare::{Predictive, Preparation, is_in_range, log_volume};

/// The reason for which a value is refused.
const TOO_LARGE: &str = "too large for the model; leave the cell empty if it is missing";

/// A fitted model that takes edits, in the user's units. Parameters and units stay fixed.
#[derive(Clone, Debug)]
pub struct LiveFit {
    pub(super) live: LivePosterior,
    pub(super) preparation: Preparation,
    pub(super) dim: usize,
    is_line: bool,
    /// Rows of the table. In the structure they are followed by the candidates and then by later rows.
    n_before: usize,
    n_candidates: usize,
    /// Inputs of later rows, in the user's units.
    pub(super) later: Vec<f64>,
    /// The last row at each input.
    pub(super) rows: HashMap<Box<[u64]>, RowIndex>,
    /// Set or removed values, by row and output.
    pub(super) edits: BTreeMap<(RowIndex, OutputIndex), Option<f64>>,
    n_observed: usize,
    /// The log Jacobian of the change of units.
    log_volume: f64,
}

/// A checked row.
pub(super) struct ReadyRow {
    inputs: Vec<f64>,
    /// The inputs in the model's units.
    pub(super) point: Vec<f64>,
    pub(super) cells: Vec<ReadyCell>,
}

/// A checked cell, in the user's and the model's units.
pub(super) struct ReadyCell {
    pub(super) output: OutputIndex,
    value: f64,
    pub(super) prepared: f64,
}

/// A key of inputs in which −0 and 0 are equal.
pub(super) fn key(inputs: &[f64]) -> Box<[u64]> {
    inputs.iter().map(|input| (input + 0.0).to_bits()).collect()
}

impl LiveFit {
    /// A fit prepared for edits, with the same predictions.
    ///
    /// # Errors
    /// When the model is not on one chain or tree, or has known noise variances of cells.
    pub fn new(fit: &Fit) -> Result<Self, LiveFitError> {
        let FitParts { table, preparation, candidates, summary, .. } = &fit.parts;
        let not_one = || LiveFitError::NotOneStructure { method: summary.method.clone() };
        if table.observations().has_cell_noise() {
            return Err(LiveFitError::CellNoise);
        }
        if preparation.has_likelihoods() {
            return Err(LiveFitError::Likelihood);
        }
        let live = fit.best.posterior.live()?.ok_or_else(not_one)?;
        let inputs = table.inputs();
        let mut rows = HashMap::with_capacity(inputs.n_rows());
        let n_candidates = candidates.as_ref().map_or(0, InputPoints::n_rows);
        for row in inputs.rows() {
            rows.insert(key(inputs.point(row)), row);
        }
        Ok(Self {
            live,
            preparation: preparation.clone(),
            dim: inputs.dim(),
            is_line: fit.parts.is_line(),
            n_before: inputs.n_rows(),
            n_candidates,
            later: vec![],
            rows,
            edits: BTreeMap::new(),
            n_observed: table.observations().n_observed(),
            log_volume: log_volume(table, preparation),
        })
    }

    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.preparation.outputs.len()
    }

    /// The number of rows, with later ones.
    pub fn n_rows(&self) -> usize {
        self.n_before + self.later.len() / self.dim
    }

    /// The number of observed cells.
    pub fn n_observed(&self) -> usize {
        self.n_observed
    }

    /// Whether new rows lie between their neighbors along the only input, as in a new fit of the table. Elsewhere they are
    /// leaves at their nearest row, and a new fit would build another structure.
    pub fn is_line(&self) -> bool {
        self.is_line
    }

    /// Whether there is a row at exactly these inputs.
    pub fn has_row_at(&self, inputs: &[f64]) -> bool {
        self.rows.contains_key(&key(inputs))
    }

    /// The number of messages recomputed by the last prediction.
    pub fn recomputed(&self) -> Recomputed {
        self.live.recomputed()
    }

    /// Observes one cell; see [`LiveFit::observe_row`].
    ///
    /// # Errors
    /// As [`LiveFit::observe_row`].
    pub fn observe(&mut self, inputs: &[f64], output: OutputIndex, value: f64) -> Result<(), LiveFitError> {
        self.observe_row(inputs, &[(output, value)])
    }

    /// Observes cells at one input, all of them or none. If a row has exactly these inputs (the last one of several), its cells
    /// are set; else a row is added.
    ///
    /// # Errors
    /// When an input or value is invalid, or the structure cannot take a point there.
    pub fn observe_row(&mut self, inputs: &[f64], cells: &[(OutputIndex, f64)]) -> Result<(), LiveFitError> {
        let ready = self.prepare_row(inputs, cells)?;
        if cells.is_empty() {
            return Ok(());
        }
        let row = self.row_at(&ready)?.0;
        self.set_cells(row, ready)
    }

    /// Observes the rows of a table in order, each as [`LiveFit::observe_row`], all of them or none; empty rows are ignored.
    /// Returns whether each row was added.
    ///
    /// # Errors
    /// As [`LiveFit::observe_row`], with the row.
    pub fn observe_rows(&mut self, rows: &Dataset) -> Result<Vec<bool>, LiveFitError> {
        let ready = self.prepare_rows(rows)?;
        let mut places = Vec::with_capacity(ready.len());
        // Points come before cells: a structure that takes no new points fails at the first of them, before anything has
        // changed.
        for row in &ready {
            places.push(if row.cells.is_empty() { None } else { Some(self.row_at(row)?) });
        }
        for (row, place) in ready.into_iter().zip(&places) {
            if let Some((at, _)) = *place {
                self.set_cells(at, row)?;
            }
        }
        Ok(places.into_iter().map(|place| place.is_some_and(|(_, is_new)| is_new)).collect())
    }

    /// Adds all rows of a table or none, including empty rows and rows at existing inputs, as [`Fit::with_more_rows`].
    ///
    /// # Errors
    /// As [`LiveFit::observe_row`], with the row.
    pub fn add_rows(&mut self, rows: &Dataset) -> Result<(), LiveFitError> {
        for row in self.prepare_rows(rows)? {
            let at = self.insert(&row)?;
            self.set_cells(at, row)?;
        }
        Ok(())
    }

    /// Observes cells at one input, as [`LiveFit::observe_row`], and predicts there. If numbers overflow, the cells are as before;
    /// a new row stays, empty.
    ///
    /// # Errors
    /// As [`LiveFit::observe_row`] and [`LiveFit::marginals_at`].
    pub fn observe_and_predict(
        &mut self,
        inputs: &[f64],
        cells: &[(OutputIndex, f64)],
        quantity: Quantity,
    ) -> Result<Predictive, LiveFitError> {
        let row = self.rows.get(&key(inputs)).copied();
        let mut before = Vec::with_capacity(cells.len());
        for &(output, _) in cells {
            self.check(output)?;
            let prepared = row.map_or(Ok(None), |row| self.live.observed(row, output))?;
            let edit = row.and_then(|row| self.edits.get(&(row, output)).copied());
            before.push((output, prepared, edit));
        }
        self.observe_row(inputs, cells)?;
        let predicted = self.marginals_at(inputs, quantity);
        if predicted.as_ref().is_err_and(LiveFitError::is_numerical) {
            // The last of several cells of one output was set last.
            for (output, prepared, edit) in before.into_iter().rev() {
                self.restore(inputs, output, prepared, edit)?;
            }
        }
        predicted
    }

    /// Puts back the value of a cell in the model's units, and its entry among the edits.
    fn restore(
        &mut self,
        inputs: &[f64],
        output: OutputIndex,
        prepared: Option<f64>,
        edit: Option<Option<f64>>,
    ) -> Result<(), LiveFitError> {
        self.remove(inputs, output)?;
        let Some(&row) = self.rows.get(&key(inputs)) else { return Ok(()) };
        if let Some(prepared) = prepared {
            let point = self.scaled(inputs)?;
            self.live.set(row, output, prepared)?;
            self.log_volume += self.volume(&point, output, prepared);
            self.n_observed += 1;
        }
        match edit {
            Some(edit) => {
                self.edits.insert((row, output), edit);
            }
            None => {
                self.edits.remove(&(row, output));
            }
        }
        Ok(())
    }

    /// Removes a cell; returns whether it was observed.
    ///
    /// # Errors
    /// When an input or output is invalid.
    pub fn remove(&mut self, inputs: &[f64], output: OutputIndex) -> Result<bool, LiveFitError> {
        let point = self.scaled(inputs)?;
        self.check(output)?;
        let Some(&row) = self.rows.get(&key(inputs)) else { return Ok(false) };
        let Some(before) = self.live.remove(row, output)? else { return Ok(false) };
        self.log_volume -= self.volume(&point, output, before);
        self.n_observed -= 1;
        self.edits.insert((row, output), None);
        Ok(true)
    }

    /// Predictive distributions of all outputs at one input, as [`Fit::predict`] on the edited table.
    ///
    /// # Errors
    /// When an input is invalid, or numbers overflow.
    pub fn marginals_at(&mut self, inputs: &[f64], quantity: Quantity) -> Result<Predictive, LiveFitError> {
        let point = self.scaled(inputs)?;
        let PointMarginals { means, variances } = match self.rows.get(&key(inputs)) {
            Some(&row) => self.live.marginals(row)?,
            None => self.live.marginals_at(&point)?,
        };
        let mut prediction = Prediction::new(1, means.len(), means, variances).map_err(LiveError::Data)?;
        if quantity == Quantity::Observation {
            prediction = prediction.with_noise(self.live.model().noise());
        }
        let point = InputPoints::new(1, self.dim, point).map_err(LiveError::Data)?;
        Ok(self.preparation.predictive(prediction, &point).map_err(LiveError::Data)?)
    }

    /// Recomputes all messages that edits have made stale, as every prediction does first; in parallel if they are many.
    pub fn refresh(&mut self) {
        self.live.refresh();
    }

    /// The log evidence in the user's units, as [`Fit::log_evidence`].
    ///
    /// # Errors
    /// When numbers overflow.
    pub fn log_evidence(&mut self) -> Result<f64, LiveFitError> {
        Ok(self.live.log_evidence()? + self.log_volume)
    }

    /// The fit with the edited table, from the fit that this one started with. With several inputs a new structure is built
    /// over all rows.
    ///
    /// # Errors
    /// When the fit is another one, or numbers overflow.
    pub fn to_fit(&self, began_with: &Fit) -> Result<Fit, FitError> {
        let table = &began_with.parts.table;
        let (n_outputs, later) = (self.n_outputs(), self.later.len() / self.dim);
        let mut values = table.observations().to_dense();
        values.resize(values.len() + later * n_outputs, f64::NAN);
        for (&(row, output), value) in &self.edits {
            let is_later = row.get() >= self.n_before;
            let row = if is_later { row.get() - self.n_candidates } else { row.get() };
            let cell = values.get_mut(row * n_outputs + output.get()).ok_or(DataError::NoRows)?;
            *cell = value.unwrap_or(f64::NAN);
        }
        let n_rows = table.n_rows() + later;
        let inputs = InputPoints::new(n_rows, self.dim, [table.inputs().values(), &self.later].concat())?;
        let observations = Observations::from_dense(n_rows, n_outputs, &values)?;
        began_with.with_table(Dataset::new(inputs, observations)?, vec![])
    }

    pub(super) fn scaled(&self, inputs: &[f64]) -> Result<Vec<f64>, LiveFitError> {
        let refused = || LiveFitError::Inputs { expected: self.dim, found: inputs.to_vec() };
        if inputs.len() != self.dim {
            return Err(refused());
        }
        let units = self.preparation.inputs.iter();
        let point: Vec<f64> =
            inputs.iter().zip(units).map(|(x, (shift, scale))| (x - shift) / scale).collect();
        if point.iter().all(|x| x.is_finite()) { Ok(point) } else { Err(refused()) }
    }

    /// Checks a row and converts it to the model's units.
    pub(super) fn prepare_row(
        &self,
        inputs: &[f64],
        cells: &[(OutputIndex, f64)],
    ) -> Result<ReadyRow, LiveFitError> {
        let point = self.scaled(inputs)?;
        let cells = cells.iter().map(|&(output, value)| {
            Ok(ReadyCell { output, value, prepared: self.prepare(&point, output, value)? })
        });
        let cells = cells.collect::<Result<_, LiveFitError>>()?;
        Ok(ReadyRow { inputs: inputs.to_vec(), point, cells })
    }

    fn prepare_rows(&self, rows: &Dataset) -> Result<Vec<ReadyRow>, LiveFitError> {
        let observations = rows.observations();
        if observations.has_cell_noise() {
            return Err(LiveFitError::CellNoise);
        }
        let prepare = |row: RowIndex| {
            let cells: Vec<_> = observations.row(row).map(|cell| (cell.output, cell.value)).collect();
            let at_row = |cause| LiveFitError::AtRow { row, cause: Box::new(cause) };
            self.prepare_row(rows.inputs().point(row), &cells).map_err(at_row)
        };
        rows.inputs().rows().map(prepare).collect()
    }

    /// The last row at an input, and whether it is new.
    fn row_at(&mut self, row: &ReadyRow) -> Result<(RowIndex, bool), LiveFitError> {
        match self.rows.get(&key(&row.inputs)) {
            Some(&row) => Ok((row, false)),
            None => Ok((self.insert(row)?, true)),
        }
    }

    /// Adds an empty row.
    fn insert(&mut self, row: &ReadyRow) -> Result<RowIndex, LiveFitError> {
        let at = self.live.insert(&row.point)?;
        self.later.extend_from_slice(&row.inputs);
        self.rows.insert(key(&row.inputs), at);
        Ok(at)
    }

    fn set_cells(&mut self, row: RowIndex, ready: ReadyRow) -> Result<(), LiveFitError> {
        for ReadyCell { output, value, prepared } in ready.cells {
            match self.live.observed(row, output)? {
                Some(before) => self.log_volume -= self.volume(&ready.point, output, before),
                None => self.n_observed += 1,
            }
            self.live.set(row, output, prepared)?;
            self.log_volume += self.volume(&ready.point, output, prepared);
            self.edits.insert((row, output), Some(value));
        }
        Ok(())
    }

    fn check(&self, output: OutputIndex) -> Result<(), LiveFitError> {
        let n_outputs = self.n_outputs();
        if output.get() < n_outputs { Ok(()) } else { Err(LiveFitError::UnknownOutput { output, n_outputs }) }
    }

    /// Checks a value and converts it to the model's units.
    fn prepare(&self, point: &[f64], output: OutputIndex, value: f64) -> Result<f64, LiveFitError> {
        self.check(output)?;
        let refused = |what| Err(LiveFitError::Value { output, value, what });
        let transform = &self.preparation.outputs[output.get()];
        if let Some(what) = transform.refusal(value) {
            return refused(what);
        }
        let prepared = transform.apply(value, point);
        let is_in_range = prepared.is_finite() && is_in_range(self.live.model(), output, prepared);
        if is_in_range { Ok(prepared) } else { refused(TOO_LARGE) }
    }

    /// The log Jacobian of the change of units of a cell whose value is in the model's units.
    fn volume(&self, point: &[f64], output: OutputIndex, prepared: f64) -> f64 {
        let transform = &self.preparation.outputs[output.get()];
        transform.log_volume(transform.power.inverse(transform.unscaled(prepared, point)))
    }
}
