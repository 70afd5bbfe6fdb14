//! A fit on other threads, while Python's thread shows progress and listens for Ctrl-C.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use catena_fit::{Budget, Event, FitError, FitMonitor, FitOptions, Stage, UnknownWord};
use catena_store::length_text;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::about::TableNotes;
use crate::arrays;
use crate::failure::Failure;
use crate::model::Model;
use crate::options::Asked;
use crate::threads::on_pool;

/// How often Python's thread looks for Ctrl-C and shows progress.
const LOOK: Duration = Duration::from_millis(50);

/// Fits a model to a table. `progress(stage, done)` is called now and then. Ctrl-C ends learning, and the best model so far is
/// returned with `True`.
#[pyfunction]
pub(crate) fn fit(
    py: Python<'_>,
    inputs: PyReadonlyArray2<'_, f64>,
    values: PyReadonlyArray2<'_, f64>,
    asked: Asked<'_>,
    notes: TableNotes,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Model, bool)> {
    let table = arrays::dataset(&inputs, &values)?;
    let about = notes.into_about()?;
    let names: Vec<String> = about.inputs.iter().map(|input| input.name.clone()).collect();
    let options = asked.into_options(&names, &about.outputs)?;
    let job = |monitor: &FitMonitor<'_>| catena_fit::fit(&table, &options, monitor);
    let (fit, interrupted) = concluded(py, watched(py, job, progress.as_ref()))?;
    Ok((Model::new(fit, about), interrupted))
}

/// The same kind of model with more rows, its parameters learned again; progress and Ctrl-C as in `fit`.
#[pyfunction]
pub(crate) fn relearn(
    py: Python<'_>,
    model: &Model,
    inputs: PyReadonlyArray2<'_, f64>,
    values: PyReadonlyArray2<'_, f64>,
    budget: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Model, bool)> {
    let more = arrays::dataset(&inputs, &values)?;
    let budget: Budget = budget
        .parse()
        .map_err(|error: UnknownWord| Failure::Input(format!("budget={budget:?} is unknown; {error}")))?;
    let (fit, about) = model.parts();
    let plain = FitOptions::default().length_text;
    let length_text = if about.is_time() { |length| length_text(true, length) } else { plain };
    let options = FitOptions { budget, length_text, ..FitOptions::default() };
    let job = |monitor: &FitMonitor<'_>| fit.relearned(&more, &options, monitor);
    let (fit, interrupted) = concluded(py, watched(py, job, progress.as_ref()))?;
    Ok((Model::new(fit, about.clone()), interrupted))
}

/// What a fit has found when it ended, and whether it was interrupted.
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

/// What the fitting threads and Python's thread tell one another.
#[derive(Default)]
struct Talk {
    is_to_stop: AtomicBool,
    /// The latest event, and whether the fit has ended.
    news: Mutex<(Option<Event>, bool)>,
    has_ended: Condvar,
}

/// The fit, and what Python said meanwhile: Ctrl-C, or an exception of the progress callback.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&FitMonitor<'_>) -> Result<T, FitError> + Send,
    progress: Option<&Bound<'_, PyAny>>,
) -> (Result<T, Failure>, Option<PyErr>) {
    let talk = Talk::default();
    let progress = progress.map(|progress| progress.clone().unbind());
    py.detach(|| {
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let fitted = on_pool(|| run(job, &talk));
                talk.news.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
                talk.has_ended.notify_all();
                fitted
            });
            let interruption = attend(&talk, progress.as_ref());
            let fitted = match worker.join() {
                Ok(Ok(fitted)) => fitted.map_err(Failure::from),
                Ok(Err(failure)) => Err(failure),
                Err(_) => Err(Failure::Lost),
            };
            (fitted, interruption)
        })
    })
}

fn run<T>(job: impl FnOnce(&FitMonitor<'_>) -> Result<T, FitError>, talk: &Talk) -> Result<T, FitError> {
    let monitor = |event: Event| {
        talk.news.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(event);
        if talk.is_to_stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    job(&monitor)
}

/// Waits for the end of a fit; the first exception asks it to stop and is kept.
fn attend(talk: &Talk, progress: Option<&Py<PyAny>>) -> Option<PyErr> {
    let mut interruption = None;
    let mut news = talk.news.lock().unwrap_or_else(PoisonError::into_inner);
    while !news.1 {
        news = talk.has_ended.wait_timeout(news, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        let latest = news.0;
        drop(news);
        if interruption.is_none() {
            let said = Python::attach(|py| {
                py.check_signals()?;
                match (progress, latest) {
                    (Some(progress), Some(event)) => {
                        progress.call1(py, (stage_name(event.stage), event.done.clamp(0.0, 1.0))).map(|_| ())
                    }
                    _ => Ok(()),
                }
            });
            if let Err(error) = said {
                talk.is_to_stop.store(true, Ordering::Relaxed);
                interruption = Some(error);
            }
        }
        news = talk.news.lock().unwrap_or_else(PoisonError::into_inner);
    }
    interruption
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Smoothness => "comparing smoothness",
        Stage::Candidates => "comparing models",
        Stage::Structure => "building the structure",
        Stage::Learning => "learning",
        Stage::Posterior => "filling in",
    }
}
