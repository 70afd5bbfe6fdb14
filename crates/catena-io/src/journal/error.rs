//! Errors of journals.

use std::io;

use thiserror::Error;

use crate::place::FileName;
use crate::write::WriteError;

/// A journal that cannot be opened or written.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name every field")]
pub enum JournalError {
    #[error("{file}: the journal cannot be read or written ({source})")]
    Io { file: FileName, source: io::Error },
    #[error(
        "{file}: another process is using this journal; wait until it ends, or pass another path with --journal"
    )]
    InUse { file: FileName },
    #[error("{file}: not a journal; pass another path with --journal")]
    NotAJournal { file: FileName },
    #[error("{file}: the journal has format {version}; install a newer catena to read it")]
    Newer { file: FileName, version: u64 },
    #[error(
        "{file}: this journal belongs to another model; use that model, or pass another path with --journal"
    )]
    OtherModel { file: FileName },
    #[error(
        "{file}: the journal is damaged at byte {at}, after {n_whole} whole records, and whole records follow; restore it from a copy"
    )]
    Damaged { file: FileName, at: u64, n_whole: usize },
    #[error("{file}: line {line} is not after the last line of the journal")]
    OutOfOrder { file: FileName, line: u64 },
    #[error(transparent)]
    Write(#[from] WriteError),
}
