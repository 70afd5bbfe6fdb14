//! A fitted model that takes observations one by one: an edit and a question cost next to nothing in the number of rows.

use std::collections::{BTreeMap, HashMap};

use catena::data::{DataError, Dataset, InputPoints, Observations};
use catena::index::{OutputIndex, RowIndex};
use catena::live::{LiveError, LivePosterior, PointMarginals, Recomputed};
use catena::prediction::Prediction;
use thiserror::Error;

use super::{Fit, FitError, FitParts, StructureOption};
use crate::method::{Evidence, MethodError, Quantity};
use crate::preparation::{Predictive, Preparation};

/// An observation or a question that a live fit refuses; it is then as it was before.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LiveFitError {
    /// The model has no structure that takes edits.
    #[error(
        "a model by {method} takes no observations one by one; fit with --method catena on one chain or tree"
    )]
    NotOneStructure {
        /// The method.
        method: String,
    },
    /// The model knows the noise of each cell.
    #[error(
        "the model knows the noise of every cell, which a single observation does not tell; use `catena update`"
    )]
    CellNoise,
    /// There is no such output.
    #[error("there is no output {output}; the model has {n_outputs}")]
    UnknownOutput {
        /// The output.
        output: OutputIndex,
        /// How many there are.
        n_outputs: usize,
    },
    /// A value that cannot be observed.
    #[error("the value {value} is {what}")]
    Value {
        /// The output.
        output: OutputIndex,
        /// The value.
        value: f64,
        /// Why it cannot be.
        what: &'static str,
    },
    /// Inputs that cannot be.
    #[error("{expected} finite inputs are needed, not {found:?}")]
    Inputs {
        /// How many the model has.
        expected: usize,
        /// What was given.
        found: Vec<f64>,
    },
    /// A row of several is refused, and with it all of them.
    #[error("row {row}: {cause}")]
    AtRow {
        /// Which of those given.
        row: RowIndex,
        /// Why.
        cause: Box<Self>,
    },
    /// The posterior refuses.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// The method refuses.
    #[error(transparent)]
    Method(#[from] MethodError),
}

impl LiveFitError {
    /// Whether numbers failed, rather than what was given being wrong.
    pub fn is_numerical(&self) -> bool {
        let is_overflow = |cause: &LiveError| {
            matches!(cause, LiveError::Inference(_) | LiveError::Data(DataError::UnscalingOverflow { .. }))
        };
        match self {
            Self::Live(cause) | Self::Method(MethodError::Live(cause)) => is_overflow(cause),
            Self::AtRow { cause, .. } => cause.is_numerical(),
            _ => false,
        }
    }
}

/// A fitted model that takes edits, in the user's units. What was learned and the change of units stay as they are.
#[derive(Clone, Debug)]
pub struct LiveFit {
    live: LivePosterior,
    preparation: Preparation,
    dim: usize,
    is_line: bool,
    /// Rows of the table. In the structure candidates follow, and then what came later.
    n_before: usize,
    n_candidates: usize,
    /// Inputs of rows that came later, in the user's units.
    later: Vec<f64>,
    /// The last row at each place.
    rows: HashMap<Box<[u64]>, RowIndex>,
    /// Values that were set or removed, by row and output.
    edits: BTreeMap<(RowIndex, OutputIndex), Option<f64>>,
    n_observed: usize,
    /// What the change of units adds to the log evidence.
    log_volume: f64,
}

/// A row that can be taken.
struct ReadyRow {
    inputs: Vec<f64>,
    /// The inputs in the model's units.
    point: Vec<f64>,
    cells: Vec<ReadyCell>,
}

/// A cell that can be taken, in the user's units and in the model's.
struct ReadyCell {
    output: OutputIndex,
    value: f64,
    prepared: f64,
}

/// The same model and units on another table.
fn with_table(fit: &Fit, table: Dataset) -> Result<Fit, FitError> {
    let mut parts = FitParts { table, ..fit.parts.clone() };
    parts.summary.n_rows = parts.table.n_rows();
    let counts = parts.table.observations().counts_by_output();
    for (output, count) in parts.summary.outputs.iter_mut().zip(counts) {
        output.n_observed = count;
    }
    let mut fit = Fit::from_parts(parts)?;
    fit.parts.summary.log_evidence = fit.posterior.evidence()?.map_or(f64::NAN, Evidence::get);
    Ok(fit)
}

/// Two places are one if all inputs are equal; −0 and 0 are.
fn key(inputs: &[f64]) -> Box<[u64]> {
    inputs.iter().map(|input| (input + 0.0).to_bits()).collect()
}

impl LiveFit {
    /// A fit, ready for edits. What it predicts is what the fit predicts.
    ///
    /// # Errors
    /// When the model is not on one chain or tree, or knows the noise of every cell.
    pub fn new(fit: &Fit) -> Result<Self, LiveFitError> {
        let FitParts { table, preparation, candidates, summary, structure, .. } = &fit.parts;
        let not_one = || LiveFitError::NotOneStructure { method: summary.method.clone() };
        if table.observations().has_cell_noise() {
            return Err(LiveFitError::CellNoise);
        }
        let live = fit.posterior.live()?.ok_or_else(not_one)?;
        let inputs = table.inputs();
        let mut rows = HashMap::with_capacity(inputs.n_rows());
        let n_candidates = candidates.as_ref().map_or(0, InputPoints::n_rows);
        for row in inputs.rows() {
            rows.insert(key(inputs.point(row)), row);
        }
        let mut log_volume = 0.0;
        for (_, cell) in table.observations().cells() {
            let transform = &preparation.outputs[cell.output.get()];
            log_volume -= transform.scale.ln() + if transform.log { cell.value.ln() } else { 0.0 };
        }
        Ok(Self {
            live,
            preparation: preparation.clone(),
            dim: inputs.dim(),
            is_line: inputs.dim() == 1 && matches!(structure, StructureOption::Auto | StructureOption::Chain),
            n_before: inputs.n_rows(),
            n_candidates,
            later: vec![],
            rows,
            edits: BTreeMap::new(),
            n_observed: table.observations().n_observed(),
            log_volume,
        })
    }

    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.preparation.outputs.len()
    }

    /// The number of rows, those that came later included.
    pub fn n_rows(&self) -> usize {
        self.n_before + self.later.len() / self.dim
    }

    /// The number of observed cells.
    pub fn n_observed(&self) -> usize {
        self.n_observed
    }

    /// Whether new rows go between their neighbors along the only input, as in a fresh fit of the table. Elsewhere they hang on
    /// their nearest row, and a fresh fit would build another structure with them.
    pub fn is_line(&self) -> bool {
        self.is_line
    }

    /// How many messages the last question sent anew.
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

    /// Observes cells at one place, all of them or none. Where a row has exactly these inputs its cells are set, replacing what
    /// was observed there (of several such rows, in the last); elsewhere a row is added.
    ///
    /// # Errors
    /// When an input or value cannot be, or the structure cannot take a point there.
    pub fn observe_row(&mut self, inputs: &[f64], cells: &[(OutputIndex, f64)]) -> Result<(), LiveFitError> {
        let ready = self.prepare_row(inputs, cells)?;
        if cells.is_empty() {
            return Ok(());
        }
        let row = self.row_at(&ready)?.0;
        self.set_cells(row, ready)
    }

    /// Observes the rows of a table one after the other, each as [`LiveFit::observe_row`] does, all of them or none; a row without
    /// a cell changes nothing. Says of each whether it was added.
    ///
    /// # Errors
    /// As [`LiveFit::observe_row`], with the row.
    pub fn observe_rows(&mut self, rows: &Dataset) -> Result<Vec<bool>, LiveFitError> {
        let ready = self.prepare_rows(rows)?;
        let mut places = Vec::with_capacity(ready.len());
        // Points come before cells: a structure that takes no new points refuses the first of them, before anything has changed.
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

    /// Adds the rows of a table, all of them or none, also where there are rows and without a cell: further measurements that
    /// replace nothing, as in [`Fit::with_more_rows`].
    ///
    /// # Errors
    /// When an input or value cannot be, or the structure cannot take a point there, with the row.
    pub fn add_rows(&mut self, rows: &Dataset) -> Result<(), LiveFitError> {
        for row in self.prepare_rows(rows)? {
            let at = self.insert(&row)?;
            self.set_cells(at, row)?;
        }
        Ok(())
    }

    /// Makes a cell missing; whether it was observed.
    ///
    /// # Errors
    /// When an input cannot be, or there is no such output.
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

    /// Predictive distributions of all outputs at one place, a row or not: what [`Fit::predict`] would say of the edited table.
    ///
    /// # Errors
    /// When an input cannot be, or numbers overflow.
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

    /// Sends all messages that edits have made stale; every question does so first. Many are shared among threads.
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

    /// The fit with the table as it is now, from the fit this began with: every value as it was given. Above one input the
    /// structure is built anew, with the later rows in it.
    ///
    /// # Errors
    /// When the fit is not the one this began with, or numbers overflow.
    pub fn to_fit(&self, began_with: &Fit) -> Result<Fit, FitError> {
        let table = &began_with.parts.table;
        let n_outputs = self.n_outputs();
        let inputs = [table.inputs().values(), &self.later].concat();
        let n_rows = inputs.len() / self.dim;
        let mut values = vec![f64::NAN; n_rows * n_outputs];
        for (row, cell) in table.observations().cells() {
            values[row.get() * n_outputs + cell.output.get()] = cell.value;
        }
        for (&(row, output), value) in &self.edits {
            let is_later = row.get() >= self.n_before;
            let row = if is_later { row.get() - self.n_candidates } else { row.get() };
            let cell = values.get_mut(row * n_outputs + output.get()).ok_or(DataError::NoRows)?;
            *cell = value.unwrap_or(f64::NAN);
        }
        let inputs = InputPoints::new(n_rows, self.dim, inputs)?;
        let table = Dataset::new(inputs, Observations::from_dense(n_rows, n_outputs, &values)?)?;
        with_table(began_with, table)
    }

    fn scaled(&self, inputs: &[f64]) -> Result<Vec<f64>, LiveFitError> {
        let refused = || LiveFitError::Inputs { expected: self.dim, found: inputs.to_vec() };
        if inputs.len() != self.dim {
            return Err(refused());
        }
        let units = self.preparation.inputs.iter();
        let point: Vec<f64> =
            inputs.iter().zip(units).map(|(x, (shift, scale))| (x - shift) / scale).collect();
        if point.iter().all(|x| x.is_finite()) { Ok(point) } else { Err(refused()) }
    }

    /// A row in the model's units, if everything about it can be.
    fn prepare_row(&self, inputs: &[f64], cells: &[(OutputIndex, f64)]) -> Result<ReadyRow, LiveFitError> {
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

    /// The last row at a place, and whether it was added now.
    fn row_at(&mut self, row: &ReadyRow) -> Result<(RowIndex, bool), LiveFitError> {
        match self.rows.get(&key(&row.inputs)) {
            Some(&row) => Ok((row, false)),
            None => Ok((self.insert(row)?, true)),
        }
    }

    /// One row more, without cells yet.
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

    /// A value in the model's units.
    fn prepare(&self, point: &[f64], output: OutputIndex, value: f64) -> Result<f64, LiveFitError> {
        self.check(output)?;
        let refused = |what| Err(LiveFitError::Value { output, value, what });
        if !value.is_finite() {
            return refused("not finite; leave the cell empty if it is missing");
        }
        let transform = &self.preparation.outputs[output.get()];
        if transform.log && value <= 0.0 {
            return refused("not positive, but the logarithm of this output is modelled");
        }
        let value_or_log = if transform.log { value.ln() } else { value };
        let prepared = (value_or_log - transform.center(point)) / transform.scale;
        if prepared.is_finite() { Ok(prepared) } else { refused("too large") }
    }

    /// What the change of units of a cell adds to the log evidence; the value is in the model's units.
    fn volume(&self, point: &[f64], output: OutputIndex, prepared: f64) -> f64 {
        let transform = &self.preparation.outputs[output.get()];
        let log_value = transform.center(point) + prepared * transform.scale;
        -transform.scale.ln() - if transform.log { log_value } else { 0.0 }
    }
}
