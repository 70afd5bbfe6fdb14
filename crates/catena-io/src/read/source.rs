//! An opened file or pipe, before its format is read.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ReadError;
use crate::memory::{bytes_text, default_limit};
use crate::packing::{Packing, packing_of};
use crate::place::FileName;
use crate::table::{DateOrder, Decimal};

/// How the cells of a table are written, as far as the user says it. A model keeps it for new tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellOptions {
    /// Codes for missing values, such as `-999`, beside the words that always mean one.
    pub missing: Vec<String>,
    /// The decimal sign; by default a point, or a comma if the beginning of the text shows it.
    pub decimal: Option<Decimal>,
    /// The order of dates with the year last; by default as the beginning of the text shows it.
    pub dates: Option<DateOrder>,
}

impl CellOptions {
    /// Whether the user said nothing.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How a table is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format, where the suffix does not name it; a pipe is CSV by default.
    pub format: Option<crate::format::Format>,
    /// Columns to read as text, so that a series named `007` keeps its name.
    pub text_columns: Vec<String>,
    /// Whether the text of a pipe is kept in memory, so that the table can be written back with its cells unchanged. A file is
    /// read again instead.
    pub keep_piped_text: bool,
    /// How cells are written.
    pub cells: CellOptions,
    /// The sheet of a spreadsheet; by default the first that is not empty.
    pub sheet: Option<String>,
    /// The most memory a table may take, in bytes; by default [`crate::memory::default_limit`].
    pub max_memory: Option<u64>,
}

impl ReadOptions {
    /// Refuses a table that needs more memory than the limit.
    pub(crate) fn check_memory(&self, file: &FileName, needed: f64) -> Result<(), ReadError> {
        let limit = self.max_memory.unwrap_or_else(default_limit) as f64;
        if needed <= limit {
            return Ok(());
        }
        let (needed, limit) = (bytes_text(needed), bytes_text(limit));
        Err(ReadError::Memory { file: file.clone(), needed, limit })
    }
}

/// Called with the number of bytes read so far, and their total if known.
pub type Progress<'a> = &'a mut dyn FnMut(u64, Option<u64>);

/// A table to read.
pub(crate) struct Source<'a> {
    pub(crate) file: FileName,
    pub(crate) options: &'a ReadOptions,
    pub(crate) input: Input<'a>,
}

/// Where the bytes come from.
pub(crate) enum Input<'a> {
    File(OpenFile),
    /// A pipe or device: its length is unknown and it can be read only once.
    Stream(&'a mut dyn Read),
}

/// A file that was opened.
pub(crate) struct OpenFile {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    pub(crate) metadata: Metadata,
    /// The packing of a file; `None` for pipes and devices, whose first bytes cannot be read twice.
    pub(crate) packing: Option<Packing>,
}

impl OpenFile {
    /// Opens a file, pipe or device, but no directory.
    pub(crate) fn open(path: &Path) -> Result<Self, ReadError> {
        let name = || FileName::from(path);
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => ReadError::NotFound { file: name() },
            io::ErrorKind::IsADirectory => ReadError::IsDirectory { file: name() },
            _ => ReadError::Io { file: name(), source },
        };
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(ReadError::IsDirectory { file: name() });
        }
        let packing = if metadata.is_file() { packing_of(&mut file).map_err(failed)? } else { None };
        Ok(Self { path: path.to_owned(), file, metadata, packing })
    }
}

/// All bytes of a stream, for formats that must seek.
pub(crate) fn read_all(
    input: &mut dyn Read,
    file: &FileName,
    options: &ReadOptions,
) -> Result<Vec<u8>, ReadError> {
    const BYTES_PER_PIECE: u64 = 1 << 20;
    let mut bytes = vec![];
    loop {
        let read = (&mut *input).take(BYTES_PER_PIECE).read_to_end(&mut bytes);
        if read.map_err(|source| ReadError::Io { file: file.clone(), source })? == 0 {
            return Ok(bytes);
        }
        options.check_memory(file, bytes.len() as f64)?;
    }
}
