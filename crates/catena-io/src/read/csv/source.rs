//! The text a table was read from, so that its cells can be copied when it is written.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::Records;
use super::dialect::{Dialect, dialect_of};
use crate::place::FileName;
use crate::read::{Format, ReadError};

/// The text behind a table. A file is read again when it is needed and must not have changed; a pipe is kept in memory if
/// that was asked for.
#[derive(Debug, Clone)]
pub struct CsvSource {
    pub(crate) file: FileName,
    pub(crate) text: SourceText,
    pub(crate) dialect: Dialect,
}

#[derive(Debug, Clone)]
pub(crate) enum SourceText {
    File { path: PathBuf, length: u64, modified: Option<SystemTime> },
    Kept(Arc<[u8]>),
    Gone,
}

impl SourceText {
    pub(crate) fn of_file(path: &Path, metadata: &Metadata) -> Self {
        Self::File { path: path.to_owned(), length: metadata.len(), modified: metadata.modified().ok() }
    }

    pub(crate) fn kept() -> Self {
        Self::Kept(Arc::new([]))
    }
}

impl CsvSource {
    /// What separates cells.
    pub fn delimiter(&self) -> u8 {
        self.dialect.delimiter
    }

    /// What would separate cells if the same header were read in another format.
    pub(crate) fn delimiter_as(&self, format: Format) -> Result<u8, ReadError> {
        let (mut records, _) = self.records()?;
        let head = records.head().map_err(|source| ReadError::Io { file: self.file.clone(), source })?;
        Ok(dialect_of(head, format).map_or(self.delimiter(), |dialect| dialect.delimiter))
    }

    /// A file must be as it was when it was first read.
    pub(crate) fn check_unchanged(&self, metadata: &Metadata) -> Result<(), ReadError> {
        match &self.text {
            SourceText::File { length, modified, .. }
                if metadata.len() != *length || metadata.modified().ok() != *modified =>
            {
                Err(ReadError::Changed { file: self.file.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The text from its first byte, and how many bytes of mark it begins with.
    pub(crate) fn records(&self) -> Result<(Records<Box<dyn Read>>, usize), ReadError> {
        let file = || self.file.clone();
        let input: Box<dyn Read> = match &self.text {
            SourceText::Gone => return Err(ReadError::NotKept { file: file() }),
            SourceText::Kept(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
            SourceText::File { path, .. } => {
                let failed = |source| ReadError::Io { file: file(), source };
                let opened = File::open(path).map_err(failed)?;
                let metadata = opened.metadata().map_err(failed)?;
                self.check_unchanged(&metadata)?;
                Box::new(opened)
            }
        };
        let mut records = Records::new(input);
        let failed = |source| ReadError::Io { file: file(), source };
        records.head().map_err(failed)?;
        records.set_dialect(self.dialect.delimiter, self.dialect.mark_length);
        Ok((records, self.dialect.mark_length))
    }
}

/// Passes bytes on and keeps a copy of them if asked to.
#[derive(Debug)]
pub(crate) struct Keeper<R> {
    pub(crate) input: R,
    pub(crate) kept: Option<Vec<u8>>,
}

impl<R: Read> Read for Keeper<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(&buffer[..count]);
        }
        Ok(count)
    }
}
