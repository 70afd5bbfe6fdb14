//! The state that the owner has: posterior, readings, journal, keys, surprises.

use std::path::PathBuf;
use std::sync::Arc;

use catena_fit::LiveFit;
use catena_io::journal::Journal;
use catena_io::model_file::ModelLock;
use catena_store::About;
use tokio::sync::watch;

use super::keys::Keys;
use super::relearn::Relearning;
use super::surprises::Surprises;
use crate::http::Metrics;
use crate::model::Opened;
use crate::readings::Readings;

/// Everything that one thread owns.
pub(crate) struct Service {
    pub(crate) model: PathBuf,
    /// Held to the end: a model that is replaced would leave its journal behind.
    pub(super) lock: ModelLock,
    pub(crate) about: Arc<About>,
    pub(crate) live: LiveFit,
    pub(crate) readings: Readings,
    pub(crate) journal: Journal,
    pub(super) keys: Keys,
    pub(crate) surprises: Surprises,
    pub(crate) relearning: Relearning,
    /// Counts the changes of the table.
    pub(crate) version: u64,
    /// Why no reading can be taken until the service is restarted.
    pub(super) broken: Option<String>,
    pub(super) is_ending: bool,
    pub(super) metrics: Arc<Metrics>,
    /// Counts what pages may want to draw again.
    pub(super) changes: watch::Sender<u64>,
    published: u64,
}

impl Service {
    pub(crate) fn new(opened: Opened, metrics: Arc<Metrics>, changes: watch::Sender<u64>) -> Self {
        let Opened { model, lock, about, live, readings, journal, keys, .. } = opened;
        metrics.journal_lines.set(journal.lines());
        Self {
            model,
            lock,
            surprises: Surprises::new(about.outputs.len()),
            about: Arc::new(about),
            live,
            readings,
            journal,
            keys: Keys::new(keys),
            relearning: Relearning::default(),
            version: 0,
            broken: None,
            is_ending: false,
            metrics,
            changes,
            published: 0,
        }
    }

    /// Ends the owner after the present batch.
    pub(crate) fn end(&mut self) {
        self.is_ending = true;
    }

    /// Tells the pages that something changed.
    pub(super) fn publish(&mut self) {
        if self.published != self.version {
            self.published = self.version;
            self.changes.send_modify(|changes| *changes += 1);
        }
    }
}
