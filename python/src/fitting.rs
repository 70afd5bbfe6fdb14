//! Runs a fit on other threads while Python's thread shows progress and handles Ctrl-C.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use catena_fit::{Budget, Event, FitError, FitMonitor, FitOptions, Stage, UnknownWord};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::about::{GroupedRows, TableNotes, with_groups};
use crate::arrays;
use crate::failure::Failure;
use crate::model::Model;
use crate::options::{RequestedOptions, memory_limit};
use crate::threads::on_pool;

/// Interval at which Python's thread handles Ctrl-C and shows progress.
const LOOK: Duration = Duration::from_millis(50);

/// Fits a model to a table. `progress(stage, done, left)` is called at intervals. Ctrl-C ends learning; the best model so far is then
/// returned with `True`. With `reach` the model is chosen for forecasts up to this length after the last row.
#[pyfunction]
#[pyo3(signature = (inputs, values, options, notes, progress, reach=None))]
pub(crate) fn fit(
    py: Python<'_>,
    inputs: PyReadonlyArray2<'_, f64>,
    values: PyReadonlyArray2<'_, f64>,
    options: RequestedOptions<'_>,
    notes: TableNotes,
    progress: Option<Bound<'_, PyAny>>,
    reach: Option<f64>,
) -> PyResult<(Model, bool)> {
    let table = options.with_cell_noise(arrays::dataset_in(&inputs, &values, notes.groups())?)?;
    let about = notes.into_about()?;
    let names: Vec<String> = about.inputs.iter().map(|input| input.name.clone()).collect();
    let options = options.into_options(&names, &about.outputs)?;
    let options = about.completed(options);
    let job = |monitor: &FitMonitor<'_>| match reach {
        None => catena_fit::fit(&table, &options, monitor),
        Some(reach) => catena_fit::fit_ahead(&table, &options, reach, monitor),
    };
    let (fit, interrupted) = concluded(py, watched(py, job, progress.as_ref()))?;
    Ok((Model::new(fit, about), interrupted))
}

/// Inputs and values of new rows, and their groups.
type NewRows<'py> = (PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>, Option<GroupedRows>);

/// Adds rows to a model and learns its parameters again within a size such as `3GB`; progress and Ctrl-C as in `fit`. `rows` are
/// inputs, values, and the groups of the new rows with the names of all.
#[pyfunction]
pub(crate) fn relearn(
    py: Python<'_>,
    model: &Model,
    rows: NewRows<'_>,
    budget: &str,
    time_limit: Option<f64>,
    max_memory: Option<&str>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Model, bool)> {
    let (inputs, values, groups) = rows;
    let more = arrays::dataset_in(&inputs, &values, groups.as_ref().map(|(_, _, of_row)| of_row.clone()))?;
    let budget: Budget = budget
        .parse()
        .map_err(|error: UnknownWord| Failure::Input(format!("budget={budget:?} is unknown; {error}")))?;
    let (fit, about) = model.parts();
    let length_text = about.length_writer();
    let memory = memory_limit(max_memory)?;
    let time_limit = time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok());
    let options = FitOptions { budget, time_limit, memory, length_text, ..FitOptions::default() };
    let job = |monitor: &FitMonitor<'_>| fit.relearned(&more, &options, monitor);
    let (fit, interrupted) = concluded(py, watched(py, job, progress.as_ref()))?;
    Ok((Model::new(fit, with_groups(about, groups)), interrupted))
}

/// The result of a fit, and whether it was interrupted.
pub(crate) fn concluded<T>(
    py: Python<'_>,
    (found, interruption): (Result<T, Failure>, Option<PyErr>),
) -> PyResult<(T, bool)> {
    match (found, interruption) {
        (Ok(found), None) => Ok((found, false)),
        (Ok(found), Some(error)) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok((found, true)),
        (_, Some(error)) => Err(error),
        (Err(failure), None) => Err(failure.into()),
    }
}

/// Messages between the fitting threads and Python's thread.
#[derive(Default)]
struct Channel {
    is_to_stop: AtomicBool,
    /// The latest event, and whether the fit has ended.
    latest: Mutex<(Option<Event>, bool)>,
    has_ended: Condvar,
}

/// Runs a fit; the second value is an exception raised meanwhile: Ctrl-C, or an error of the progress callback.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&FitMonitor<'_>) -> Result<T, FitError> + Send,
    progress: Option<&Bound<'_, PyAny>>,
) -> (Result<T, Failure>, Option<PyErr>) {
    let channel = Channel::default();
    let progress = progress.map(|progress| progress.clone().unbind());
    py.detach(|| {
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let fitted = on_pool(|| run(job, &channel));
                channel.latest.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
                channel.has_ended.notify_all();
                fitted
            });
            let interruption = attend(&channel, progress.as_ref());
            let fitted = match worker.join() {
                Ok(Ok(fitted)) => fitted.map_err(Failure::from),
                Ok(Err(failure)) => Err(failure),
                Err(_) => Err(Failure::Lost),
            };
            (fitted, interruption)
        })
    })
}

fn run<T>(
    job: impl FnOnce(&FitMonitor<'_>) -> Result<T, FitError>,
    channel: &Channel,
) -> Result<T, FitError> {
    let monitor = |event: Event| {
        channel.latest.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(event);
        if channel.is_to_stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    job(&monitor)
}

/// Waits for the end of a fit; the first exception stops it and is returned.
fn attend(channel: &Channel, progress: Option<&Py<PyAny>>) -> Option<PyErr> {
    let mut interruption = None;
    let mut state = channel.latest.lock().unwrap_or_else(PoisonError::into_inner);
    while !state.1 {
        state = channel.has_ended.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        let event = state.0;
        drop(state);
        if interruption.is_none() {
            let outcome = Python::attach(|py| {
                py.check_signals()?;
                match (progress, event) {
                    (Some(progress), Some(event)) => {
                        let left = event.left.map(|left| left.as_secs_f64());
                        let done = event.done.clamp(0.0, 1.0);
                        progress.call1(py, (stage_name(event.stage), done, left)).map(|_| ())
                    }
                    _ => Ok(()),
                }
            });
            if let Err(error) = outcome {
                channel.is_to_stop.store(true, Ordering::Relaxed);
                interruption = Some(error);
            }
        }
        state = channel.latest.lock().unwrap_or_else(PoisonError::into_inner);
    }
    interruption
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Smoothness => "comparing smoothness",
        Stage::Candidates => "comparing models",
        Stage::Structure => "building the structure",
        Stage::Learning => "learning",
        Stage::Posterior => "computing the posterior",
    }
}
