//! Why something cannot be written.

use std::io;

use thiserror::Error;

use crate::place::FileName;
use crate::read::ReadError;

/// A file that cannot be written. What was there before is untouched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The suffix names no known format.
    #[error(
        "{file}: the suffix does not tell the format; use .csv, .tsv, .parquet or .arrow, or name the format"
    )]
    UnknownFormat {
        /// The file.
        file: FileName,
    },
    /// The folder is not there.
    #[error("{file}: its folder does not exist; create it first")]
    NoFolder {
        /// The file.
        file: FileName,
    },
    /// A file stands where a folder should be.
    #[error("{file}: a part of this path is a file, not a folder; name a folder")]
    NotAFolder {
        /// The path.
        file: FileName,
    },
    /// Two columns of one name, which no reader would take.
    #[error("{file}: two columns would be named {name:?}; rename the one in the table that was read")]
    DuplicateName {
        /// The file.
        file: FileName,
        /// The name.
        name: String,
    },
    /// A folder stands where the file should be.
    #[error("{file}: is a directory; name a file in it")]
    IsDirectory {
        /// The file.
        file: FileName,
    },
    /// The system does not allow it.
    #[error("{file}: may not be written ({source}); check the permissions of the file and its folder")]
    NotAllowed {
        /// The file.
        file: FileName,
        /// What the system says.
        source: io::Error,
    },
    /// There is no room.
    #[error("{file}: the disk is full; nothing was written")]
    DiskFull {
        /// The file.
        file: FileName,
    },
    /// Whoever reads the pipe has gone; usually not worth a message.
    #[error("{file}: the reader of the pipe has gone")]
    PipeClosed {
        /// The file.
        file: FileName,
    },
    /// Anything else the system says.
    #[error("{file}: cannot be written ({source})")]
    Io {
        /// The file.
        file: FileName,
        /// What the system says.
        source: io::Error,
    },
    /// The Parquet or Arrow writer refused.
    #[error("{file}: cannot be written as {format} ({detail})")]
    Encoding {
        /// The file.
        file: FileName,
        /// The format.
        format: &'static str,
        /// What its writer says.
        detail: String,
    },
    /// The table that is to be copied cannot be read again.
    #[error(transparent)]
    Source(#[from] ReadError),
    /// Filled values do not belong to the table.
    #[error("the values for column {column} have {found} rows, but the table has {expected}")]
    RowCount {
        /// The column.
        column: String,
        /// Rows given.
        found: usize,
        /// Rows of the table.
        expected: usize,
    },
    /// A column to fill that holds no numbers, or is not there.
    #[error("column {column} of the table cannot be filled: it is not there or holds no numbers")]
    NotFillable {
        /// Its name, or its number counted from 1 if it is not there.
        column: String,
    },
}

impl WriteError {
    /// An error of the system in the words of the user.
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
