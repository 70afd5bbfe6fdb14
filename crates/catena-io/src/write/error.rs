//! Errors of writing a file.

use std::io;

use thiserror::Error;

use crate::place::FileName;
use crate::read::ReadError;

/// A file that cannot be written. An old file is unchanged.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name every field")]
pub enum WriteError {
    #[error("{file}: the suffix names no table format; use {known}, or pass --format")]
    UnknownFormat { file: FileName, known: String },
    #[error("{file}: spreadsheets can be read but not written; use a suffix of another format: {known}")]
    ReadOnlyFormat { file: FileName, known: String },
    #[error("{file}: the folder does not exist; create it first")]
    NoFolder { file: FileName },
    #[error("{file}: a part of this path is a file, not a folder")]
    NotAFolder { file: FileName },
    #[error("{file}: two columns would be named {name:?}; rename the column of the input table")]
    DuplicateName { file: FileName, name: String },
    #[error("{file}: is a directory; name a file in it")]
    IsDirectory { file: FileName },
    #[error("{file}: is a socket, which cannot be opened as a file; write to a file or a named pipe")]
    IsSocket { file: FileName },
    #[error("{file}: is a named pipe that no process reads; start its reader first")]
    NoReader { file: FileName },
    #[error("{file}: permission denied ({source}); check the permissions of the file and its folder")]
    NotAllowed { file: FileName, source: io::Error },
    #[error("{file}: the disk is full; nothing was written")]
    DiskFull { file: FileName },
    #[error("{file}: the pipe was closed by its reader")]
    PipeClosed { file: FileName },
    #[error("{file}: cannot be written ({source})")]
    Io { file: FileName, source: io::Error },
    #[error("{file}: cannot be written as {format} ({detail})")]
    Encoding { file: FileName, format: &'static str, detail: String },
    #[error(transparent)]
    Source(#[from] ReadError),
    #[error("the values for column {column} have {found} rows, but the table has {expected}")]
    RowCount { column: String, found: usize, expected: usize },
    #[error("column {column} of the table cannot be filled: it does not exist or is not a column of numbers")]
    NotFillable { column: String },
}

impl WriteError {
    /// An I/O error as a `WriteError`.
    pub(crate) fn from_io(file: &FileName, source: io::Error) -> Self {
        let file = file.clone();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NoFolder { file },
            io::ErrorKind::NotADirectory => Self::NotAFolder { file },
            io::ErrorKind::IsADirectory => Self::IsDirectory { file },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NotAllowed { file, source }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { file },
            io::ErrorKind::BrokenPipe => Self::PipeClosed { file },
            _ => Self::Io { file, source },
        }
    }
}
