//! Why a journal cannot be used.

use std::io;

use thiserror::Error;

use crate::place::FileName;
use crate::write::WriteError;

/// A journal that cannot be opened or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The system refuses.
    #[error("{file}: the journal cannot be read or written ({source})")]
    Io {
        /// The journal.
        file: FileName,
        /// Why.
        source: io::Error,
    },
    /// Another process has it open.
    #[error(
        "{file}: another process is using this journal; wait until it ends, or give another with --journal"
    )]
    InUse {
        /// The journal.
        file: FileName,
    },
    /// It is something else.
    #[error("{file}: this is no journal; give another path with --journal")]
    NotAJournal {
        /// The file.
        file: FileName,
    },
    /// A later version wrote it.
    #[error("{file}: the journal has format {version}, which only a newer catena reads")]
    Newer {
        /// The journal.
        file: FileName,
        /// Its format.
        version: u64,
    },
    /// It was written beside another model.
    #[error(
        "{file}: this journal belongs to another model; use the model it was written with, or give another path with --journal"
    )]
    OtherModel {
        /// The journal.
        file: FileName,
    },
    /// Something in the middle is not as it was written.
    #[error(
        "{file}: the journal is damaged at byte {at}, behind {n_whole} whole records, and whole records follow; restore it from a copy"
    )]
    Damaged {
        /// The journal.
        file: FileName,
        /// Where the damage begins.
        at: u64,
        /// Whole records before it.
        n_whole: usize,
    },
    /// Lines go up.
    #[error("{file}: line {line} cannot be appended to the journal")]
    OutOfOrder {
        /// The journal.
        file: FileName,
        /// The line.
        line: u64,
    },
    /// A new one cannot be put in its place.
    #[error(transparent)]
    Write(#[from] WriteError),
}
