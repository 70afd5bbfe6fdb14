//! Forecasts from many origins, and comparisons of methods on held-out cells: the same as on the command line.

use catena_fit::{Comparison, FitMonitor, HeldOutBlock};
use catena_io::time::Horizon;
use catena_store::{RollingError, RollingOptions, rolling_scores};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::about::TableNotes;
use crate::arrays;
use crate::failure::Failure;
use crate::fitting::{concluded, watched};
use crate::model::Model;
use crate::options::RequestedOptions;
use crate::threads::computed;

type Rows<'py> = Bound<'py, PyList>;

/// Inputs and values of rows, and the group of each.
type GroupedTable<'py> = (PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>, Option<Vec<usize>>);

impl From<RollingError> for Failure {
    fn from(error: RollingError) -> Self {
        match error {
            RollingError::Fit(error) => error.into(),
            other => Self::input(other),
        }
    }
}

/// A horizon such as `6`, `48h` or `6mo`.
fn horizon(text: &str, name: &str) -> Result<Horizon, Failure> {
    text.parse().map_err(|error| Failure::Input(format!("{name}={text:?} is invalid: {error}")))
}

/// Scores of forecasts of rows after those of a model, a dict per horizon and predictor; a dict has the number of its horizon.
#[pyfunction]
pub(crate) fn backtest<'py>(
    py: Python<'py>,
    model: &Model,
    rows: GroupedTable<'_>,
    horizons: Vec<String>,
    every: usize,
    season: Option<String>,
    interval: f64,
) -> PyResult<Rows<'py>> {
    let (fit, about) = model.parts();
    let [input] = about.inputs.as_slice() else {
        let what = format!("a forecast needs one input, but the model has {}", about.inputs.len());
        return Err(Failure::Input(what).into());
    };
    let options = RollingOptions {
        horizons: horizons.iter().map(|text| horizon(text, "horizons")).collect::<Result<_, _>>()?,
        every,
        season: season.map(|text| horizon(&text, "season")).transpose()?,
        interval,
    };
    let (inputs, values, groups) = rows;
    let table = arrays::dataset_in(&inputs, &values, groups)?;
    let found = computed(py, || rolling_scores(fit, input, &table, &options))?;
    let dicts = PyList::empty(py);
    // The scores of each horizon are together, in the order of the horizons; one without a target has none.
    let mut left = found.scores.iter().peekable();
    for (number, (length, targets)) in found.lengths.iter().zip(&found.targets).enumerate() {
        let mut names = vec![];
        while let Some(score) = left.next_if(|score| score.horizon == *length && !names.contains(&score.name))
        {
            names.push(score.name);
            let row = PyDict::new(py);
            row.set_item("number", number)?;
            row.set_item("predictor", score.name)?;
            row.set_item("n_cells", score.n_cells)?;
            row.set_item("rmse", score.rmse)?;
            row.set_item("log_score", score.log_score)?;
            row.set_item("coverage", score.coverage)?;
            row.set_item("n_origins", targets.n_origins)?;
            row.set_item("n_beyond", targets.n_beyond)?;
            row.set_item("n_without_row", targets.n_without_row)?;
            row.set_item("n_missing", targets.n_missing)?;
            dicts.append(row)?;
        }
    }
    Ok(dicts)
}

/// Compares methods on held-out cells of a table: a dict per method, the warnings of the fit, and whether it was interrupted; `None`
/// for too few cells. `block` is a number of rows, or a length if its flag is set.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    rows: (PyReadonlyArray2<'_, f64>, PyReadonlyArray2<'_, f64>),
    options: RequestedOptions<'_>,
    notes: TableNotes,
    block: Option<(f64, bool)>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Option<(Rows<'py>, Vec<String>, bool)>> {
    let (inputs, values) = rows;
    let table = options.with_cell_noise(arrays::dataset_in(&inputs, &values, notes.groups())?)?;
    let about = notes.into_about()?;
    let names: Vec<String> = about.inputs.iter().map(|input| input.name.clone()).collect();
    let options = options.into_options(&names, &about.outputs)?;
    let options = about.completed(options);
    let block = block.map(|(size, is_length)| match is_length {
        true => HeldOutBlock::Length(size),
        false => HeldOutBlock::Rows(size as usize),
    });
    let job = |monitor: &FitMonitor<'_>| catena_fit::compare(&table, &options, block, monitor);
    let (found, interrupted) = concluded(py, watched(py, job, progress.as_ref()))?;
    let Some(Comparison { methods, warnings, .. }) = found else { return Ok(None) };
    let dicts = PyList::empty(py);
    for method in methods {
        let row = PyDict::new(py);
        row.set_item("method", method.name)?;
        match method.outcome {
            Ok(found) => {
                row.set_item("n_cells", found.scores.scores.n_cells)?;
                row.set_item("rmse", found.scores.scores.rmse)?;
                row.set_item("log_score", found.scores.scores.log_score)?;
                row.set_item("difference", found.difference.map(|(mean, _)| mean))?;
                row.set_item("difference_error", found.difference.map(|(_, error)| error))?;
                row.set_item("coverage95", found.scores.scores.coverage)?;
                row.set_item("learn_seconds", found.seconds.0)?;
                row.set_item("predict_seconds", found.seconds.1)?;
            }
            Err(reason) => row.set_item("left_out", reason)?,
        }
        dicts.append(row)?;
    }
    Ok(Some((dicts, warnings, interrupted)))
}
