//! Applies the records of a journal to a live fit, and completes the exchange of a model and its journal.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use catena::index::OutputIndex;
use catena_fit::{LiveFit, LiveFitError};
use catena_io::FileName;
use catena_io::journal::{Journal, Record};
use catena_io::model_file::{Digest, ModelFileError, ModelLock};

use crate::StoreError;

/// Applies a record: sets its values, and removes those that are NaN.
///
/// # Errors
/// When the model refuses the record.
pub fn apply(live: &mut LiveFit, record: &Record) -> Result<(), LiveFitError> {
    let cell = |(output, value): &(u32, f64)| (OutputIndex::new(*output as usize), *value);
    let (removed, set): (Vec<_>, Vec<_>) =
        record.cells.iter().map(cell).partition(|(_, value)| value.is_nan());
    live.observe_row(&record.inputs, &set)?;
    for (output, _) in removed {
        live.remove(&record.inputs, output)?;
    }
    Ok(())
}

/// The digest of the model file at a path.
///
/// # Errors
/// If it cannot be read.
pub fn model_digest(path: &Path) -> Result<Digest, StoreError> {
    let failed = |source| ModelFileError::Io { file: FileName::from(path), source };
    Ok(File::open(path).and_then(Digest::of_reader).map_err(failed)?)
}

/// Where the next model is while it and its journal replace the present ones.
pub fn next_model(model: &Path) -> PathBuf {
    let mut name = model.as_os_str().to_owned();
    name.push(".next");
    name.into()
}

/// Completes or forgets an exchange of a model and its journal that was interrupted. The journal is renamed first: if it is
/// that of the next model, so is the model.
///
/// # Errors
/// If a file cannot be read, renamed or removed.
pub fn finish_exchange(model: &Path, journal: &Path) -> Result<(), StoreError> {
    let next = next_model(model);
    if !next.exists() {
        return Ok(());
    }
    // A process that exchanges them now has the model locked.
    let _lock = ModelLock::to_replace(model)?;
    let belongs_to_next = Journal::model_of(journal)? == Some(model_digest(&next)?);
    let done = if belongs_to_next { fs::rename(&next, model) } else { fs::remove_file(&next) };
    Ok(done.map_err(|source| ModelFileError::Io { file: FileName::from(next.as_path()), source })?)
}
