//! An opened file or pipe, before its format is read.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::ReadError;
use crate::place::FileName;

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
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(ReadError::IsDirectory { file: name() });
        }
        Ok(Self { path: path.to_owned(), file, metadata })
    }
}

/// All bytes of a stream, for formats that must seek.
pub(crate) fn read_all(input: &mut dyn Read, file: &FileName) -> Result<Vec<u8>, ReadError> {
    let mut bytes = vec![];
    input.read_to_end(&mut bytes).map_err(|source| ReadError::Io { file: file.clone(), source })?;
    Ok(bytes)
}
