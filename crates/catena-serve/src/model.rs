//! Opens a model with its journal: the live fit with every acknowledged reading, and the readings by input.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use catena::index::RowIndex;
use catena_fit::{Fit, LiveFit};
use catena_io::FileName;
use catena_io::journal::{Journal, Replay, RequestKey};
use catena_io::model_file::ModelLock;
use catena_store::{About, Model, apply, finish_exchange, load, model_digest};

use crate::error::ServeError;
use crate::readings::Readings;

/// A model that takes readings.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) model: PathBuf,
    pub(crate) lock: ModelLock,
    pub(crate) about: About,
    pub(crate) live: LiveFit,
    pub(crate) readings: Readings,
    pub(crate) journal: Journal,
    /// Keys of requests in the journal, oldest first.
    pub(crate) keys: VecDeque<RequestKey>,
    /// Sentences for the user.
    pub(crate) notes: Vec<String>,
}

/// Opens a model and applies its journal.
pub(crate) fn open(path: &Path, journal: &Path) -> Result<Opened, ServeError> {
    let file = FileName::from(path);
    finish_exchange(path, journal)?;
    let lock = ModelLock::to_use(path)?;
    let Model { fit, about } = load(path)?;
    if about.groups.is_some() {
        return Err(ServeError::Groups { file });
    }
    let mut live = LiveFit::new(&fit).map_err(|cause| ServeError::Live { file, cause })?;
    let mut readings = Readings::of(&fit);
    // Frees the first copy of the table.
    drop(fit);
    let (journal, replay) = Journal::open(journal, model_digest(path)?, about.inputs.len())?;
    if !journal.keeps_keys() {
        return Err(ServeError::OldJournal { file: journal.name().clone() });
    }
    let Replay { records, n_torn_bytes, .. } = replay;
    let mut notes = vec![];
    if n_torn_bytes > 0 {
        notes.push(format!(
            "{}: removed a last record of {n_torn_bytes} bytes that was cut short or damaged; its request was not acknowledged",
            journal.name()
        ));
    }
    for record in &records {
        match apply(&mut live, record) {
            Ok(()) => readings.apply(record),
            Err(cause) => {
                let line = record.line;
                notes.push(format!("{}: line {line}: the model refuses it ({cause})", journal.name()));
            }
        }
    }
    let keys = records.iter().filter_map(|record| record.key).collect();
    live.refresh();
    Ok(Opened { model: path.to_owned(), lock, about, live, readings, journal, keys, notes })
}

impl Readings {
    /// The observed values of a fit.
    pub(crate) fn of(fit: &Fit) -> Self {
        let table = fit.table();
        let (inputs, n_outputs) = (table.inputs(), table.observations().n_outputs());
        if inputs.dim() != 1 {
            return Self::new(n_outputs);
        }
        let mut rows: Vec<RowIndex> = inputs.rows().collect();
        rows.sort_by(|&a, &b| inputs.point(a)[0].total_cmp(&inputs.point(b)[0]));
        let mut readings = Self::new(n_outputs);
        let mut values = vec![f64::NAN; n_outputs];
        for row in rows {
            values.fill(f64::NAN);
            for cell in table.observations().row(row) {
                values[cell.output.get()] = cell.value;
            }
            readings.push(inputs.point(row)[0], &values);
        }
        readings
    }
}
