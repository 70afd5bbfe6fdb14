//! Bad cells of a table: every observed cell against all others, the same as on the command line.

use catena_fit::{Checked, FitMonitor, FitOptions, fit_cleaned};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::about::TableNotes;
use crate::arrays;
use crate::fitting::{concluded, watched};
use crate::model::Model;
use crate::options::RequestedOptions;

/// The findings of a table, a dict for each; whether the search settled, and whether it was interrupted.
#[pyfunction]
pub(crate) fn check<'py>(
    py: Python<'py>,
    rows: (PyReadonlyArray2<'_, f64>, PyReadonlyArray2<'_, f64>),
    options: RequestedOptions<'_>,
    notes: TableNotes,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Bound<'py, PyList>, bool, bool)> {
    let (inputs, values) = rows;
    let table = options.with_cell_noise(arrays::dataset_in(&inputs, &values, notes.groups())?)?;
    let about = notes.into_about()?;
    let names: Vec<String> = about.inputs.iter().map(|input| input.name.clone()).collect();
    let options = options.into_options(&names, &about.outputs)?;
    let options = FitOptions { length_text: about.length_writer(), ..options };
    let job = |monitor: &FitMonitor<'_>| catena_fit::check(&table, &options, monitor);
    let (checked, interrupted) = concluded(py, watched(py, job, progress.as_ref()))?;
    let Checked { findings, is_settled, .. } = checked;
    let dicts = PyList::empty(py);
    for finding in findings {
        let row = PyDict::new(py);
        row.set_item("rows", finding.rows.iter().map(|row| row.get()).collect::<Vec<usize>>())?;
        row.set_item("output", finding.output.get())?;
        row.set_item("kind", finding.kind.name())?;
        row.set_item("value", finding.value)?;
        row.set_item("expected", finding.expected)?;
        row.set_item("lower", finding.lower)?;
        row.set_item("upper", finding.upper)?;
        row.set_item("deviation", finding.deviation)?;
        row.set_item("p_value", finding.p_value)?;
        dicts.append(row)?;
    }
    Ok((dicts, is_settled, interrupted))
}

/// Fits a table without the cells that are found: the model, their row-major places, and whether the fit was interrupted.
#[pyfunction]
pub(crate) fn fit_clean(
    py: Python<'_>,
    rows: (PyReadonlyArray2<'_, f64>, PyReadonlyArray2<'_, f64>),
    options: RequestedOptions<'_>,
    notes: TableNotes,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Model, Vec<usize>, bool)> {
    let (inputs, values) = rows;
    let table = options.with_cell_noise(arrays::dataset_in(&inputs, &values, notes.groups())?)?;
    let about = notes.into_about()?;
    let names: Vec<String> = about.inputs.iter().map(|input| input.name.clone()).collect();
    let options = options.into_options(&names, &about.outputs)?;
    let options = FitOptions { length_text: about.length_writer(), ..options };
    let job = |monitor: &FitMonitor<'_>| fit_cleaned(&table, &options, monitor);
    let ((fit, checked), interrupted) = concluded(py, watched(py, job, progress.as_ref()))?;
    let cells = checked.set_aside().into_iter().collect();
    Ok((Model::new(fit, about), cells, interrupted))
}
