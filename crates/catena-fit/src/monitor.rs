//! Progress of a fit and requests to stop it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use catena::learning::Progress;

/// A stage of a fit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// Comparing smoothness.
    Smoothness,
    /// Comparing candidate models.
    Candidates,
    /// Building the structure over all points.
    Structure,
    /// Learning the chosen model.
    Learning,
    /// Conditioning on all cells.
    Posterior,
}

/// Progress of a fit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Event {
    /// The current stage.
    pub stage: Stage,
    /// An upper bound of the completed fraction of the stage.
    pub done: f64,
    /// The best log posterior of the parameters so far, while learning.
    pub log_posterior: Option<f64>,
}

/// A callback for progress, called from several threads. `Break` stops the fit and keeps the best model so far.
pub type FitMonitor<'a> = dyn Fn(Event) -> ControlFlow<()> + Sync + 'a;

/// Reports a stage that is too short to be stopped.
pub(crate) fn announce(monitor: &FitMonitor<'_>, stage: Stage, done: f64) {
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
        monitor(Event { stage, done, log_posterior: None });
}

/// Reports the progress of a fit to its monitor and remembers a request to stop.
pub(crate) struct Reporter<'a> {
    monitor: &'a FitMonitor<'a>,
    latest: Mutex<Event>,
    is_stopped: AtomicBool,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(monitor: &'a FitMonitor<'a>, stage: Stage, done: f64) -> Self {
        let latest = Mutex::new(Event { stage, done, log_posterior: None });
        Self { monitor, latest, is_stopped: AtomicBool::new(false) }
    }

    /// Reports the completed fraction of a stage.
    pub(crate) fn report(&self, stage: Stage, done: f64) {
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
            self.send(Event { stage, done, log_posterior: None });
    }

    /// Repeats the latest report. Called at every iteration of an optimizer, so that a stop does not wait for its end.
    pub(crate) fn go_on(&self) -> ControlFlow<()> {
        // Not in one expression: `send` takes the lock too.
        let latest = *self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        self.send(latest)
    }

    /// Reports an iteration of the final optimization, which has at most `limit` iterations.
    pub(crate) fn learning(&self, progress: Progress, limit: usize) -> ControlFlow<()> {
        let done = progress.iteration as f64 / limit as f64;
        self.send(Event { stage: Stage::Learning, done, log_posterior: Some(progress.value) })
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    fn send(&self, event: Event) -> ControlFlow<()> {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = event;
        if self.is_stopped() || (self.monitor)(event).is_break() {
            self.is_stopped.store(true, Ordering::Relaxed);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
