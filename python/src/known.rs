//! Forecasts with columns that are known ahead.

use catena_fit::{KnownColumns, KnownFit};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::about::TableNotes;
use crate::arrays::{self, Table, table};
use crate::fitting::{concluded, watched};
use crate::model::{point_of, quantity};
use crate::options::RequestedOptions;
use crate::threads::computed;

type Dicts<'py> = Vec<Bound<'py, PyDict>>;

/// A forecast with columns that are known ahead.
#[pyclass(frozen, module = "catena._catena")]
pub(crate) struct KnownModel {
    fit: KnownFit,
    n_outputs: usize,
}

/// The names of known columns, their values at the rows of a table, the times to forecast, and the values at these.
type Known<'py> = (Vec<String>, PyReadonlyArray2<'py, f64>, Vec<f64>, PyReadonlyArray2<'py, f64>);

/// Fits a model for forecasts with known columns; progress and Ctrl-C as in `fit`.
#[pyfunction]
#[pyo3(signature = (inputs, values, options, notes, progress, known))]
pub(crate) fn fit_known(
    py: Python<'_>,
    inputs: PyReadonlyArray2<'_, f64>,
    values: PyReadonlyArray2<'_, f64>,
    options: RequestedOptions<'_>,
    notes: TableNotes,
    progress: Option<Bound<'_, PyAny>>,
    known: Known<'_>,
) -> PyResult<(KnownModel, bool)> {
    let rows = options.with_cell_noise(arrays::dataset_in(&inputs, &values, notes.groups())?)?;
    let about = notes.into_about()?;
    let input_names: Vec<String> = about.inputs.iter().map(|input| input.name.clone()).collect();
    let options = about.completed(options.into_options(&input_names, &about.outputs)?);
    let (names, at_rows, times_ahead, ahead) = known;
    let cells = |values: &PyReadonlyArray2<'_, f64>| values.as_array().iter().copied().collect();
    let known = KnownColumns { names, at_rows: cells(&at_rows), times_ahead, ahead: cells(&ahead) };
    let job = |monitor: &catena_fit::FitMonitor<'_>| catena_fit::fit_known(&rows, &known, &options, monitor);
    let (fit, interrupted) = concluded(py, watched(py, job, progress.as_ref()))?;
    Ok((KnownModel { fit, n_outputs: about.outputs.len() }, interrupted))
}

#[pymethods]
impl KnownModel {
    /// Means or medians, and standard deviations at the rows to forecast, n×D each.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        include_noise: bool,
        point: &str,
    ) -> PyResult<(Table<'py>, Table<'py>)> {
        let point = point_of(point)?;
        let predictive = computed(py, || self.fit.predict(quantity(include_noise)))?;
        let n_cells = predictive.n_rows() * self.n_outputs;
        let points = (0..n_cells).map(|at| predictive.point(at, point)).collect();
        Ok((table(py, points, self.n_outputs)?, table(py, predictive.deviations(), self.n_outputs)?))
    }

    /// Quantiles, n×(D·Q), output by output.
    fn quantiles<'py>(&self, py: Python<'py>, shares: Vec<f64>, include_noise: bool) -> PyResult<Table<'py>> {
        let predictive = computed(py, || self.fit.predict(quantity(include_noise)))?;
        let n_cells = predictive.n_rows() * self.n_outputs;
        let cells = (0..n_cells).flat_map(|at| shares.iter().map(move |share| (at, *share)));
        let found = cells.map(|(at, share)| predictive.quantile(at, share)).collect();
        table(py, found, self.n_outputs * shares.len())
    }

    /// The scores of forecasts of known rows and the effects, each as a list of dicts.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<(Dicts<'py>, Dicts<'py>)> {
        let score = |score: &catena_fit::KnownScore| {
            let dict = PyDict::new(py);
            dict.set_item("name", &score.name)?;
            dict.set_item("rmse", score.rmse)?;
            dict.set_item("log_score", score.log_score)?;
            dict.set_item("chosen", score.chosen)?;
            Ok(dict)
        };
        let effect = |effect: &catena_fit::Effect| {
            let dict = PyDict::new(py);
            dict.set_item("output", &effect.output)?;
            dict.set_item("feature", &effect.feature)?;
            dict.set_item("effect", effect.value)?;
            dict.set_item("std", effect.deviation)?;
            Ok(dict)
        };
        let scores: PyResult<Vec<_>> = self.fit.scores().iter().map(score).collect();
        let effects: PyResult<Vec<_>> = self.fit.effects().iter().map(effect).collect();
        Ok((scores?, effects?))
    }
}
