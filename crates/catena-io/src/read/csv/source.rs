//! The text a table was read from, so that its cells can be copied when it is written.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::dialect::{Delimiting, Dialect, MARK, dialect_of};
use super::{Records, sniff};
use crate::place::FileName;
use crate::read::{OpenFile, Packing, ReadError, unpacked};
use crate::table::CellRules;

/// The text of a table. A file is read again when it is needed and must not have changed; the text of a pipe is kept in memory on
/// request.
#[derive(Debug, Clone)]
pub struct CsvSource {
    pub(crate) file: FileName,
    pub(crate) text: SourceText,
    pub(crate) dialect: Dialect,
    pub(crate) rules: CellRules,
}

/// The records of a text that is read again.
pub(crate) type SourceRecords = Records<Box<dyn Read>>;

#[derive(Debug, Clone)]
pub(crate) enum SourceText {
    File { path: PathBuf, length: u64, modified: Option<SystemTime>, packing: Option<Packing> },
    Kept(Arc<[u8]>),
    Gone,
}

impl SourceText {
    pub(crate) fn of_file(opened: &OpenFile) -> Self {
        let OpenFile { path, metadata, packing, .. } = opened;
        let (length, modified) = (metadata.len(), metadata.modified().ok());
        Self::File { path: path.clone(), length, modified, packing: *packing }
    }
}

impl CsvSource {
    /// The delimiter.
    pub fn delimiter(&self) -> u8 {
        self.dialect.delimiter
    }

    /// The delimiter that another rule would find in the header.
    pub(crate) fn delimiter_by(&self, delimiting: Delimiting) -> Result<u8, ReadError> {
        let (mut records, _) = self.records()?;
        let head = records.head().map_err(|source| ReadError::Io { file: self.file.clone(), source })?;
        Ok(dialect_of(head, delimiting).map_or(self.delimiter(), |dialect| dialect.delimiter))
    }

    /// Whether another rule for the delimiter finds the same table behind the same notes.
    pub(crate) fn is_alike_by(&self, delimiting: Delimiting) -> Result<bool, ReadError> {
        let whole = Dialect { skipped_bytes: 0, skipped_lines: 0, mark_length: 0, ..self.dialect };
        let (mut records, _) = Self { dialect: whole, ..self.clone() }.records()?;
        let is_whole = records.is_whole();
        let head = records.head().map_err(|source| ReadError::Io { file: self.file.clone(), source })?;
        let Ok(dialect) = dialect_of(head, delimiting) else { return Ok(false) };
        let text = &head[dialect.mark_length..];
        Ok(sniff::skip_notes(text, is_whole, delimiting, dialect).0 == self.dialect)
    }

    /// Checks that the file has the length and time it had when first read.
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

    /// The records from the header, and everything before it: the byte order mark and notes.
    pub(crate) fn records(&self) -> Result<(SourceRecords, Vec<u8>), ReadError> {
        let file = || self.file.clone();
        let input: Box<dyn Read> = match &self.text {
            SourceText::Gone => return Err(ReadError::NotKept { file: file() }),
            SourceText::Kept(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
            SourceText::File { path, packing, .. } => {
                let failed = |source| ReadError::Io { file: file(), source };
                let opened = File::open(path).map_err(failed)?;
                let metadata = opened.metadata().map_err(failed)?;
                self.check_unchanged(&metadata)?;
                unpacked(Box::new(opened), *packing).map_err(failed)?
            }
        };
        let mut records = Records::new(input);
        let failed = |source| ReadError::Io { file: file(), source };
        records.head().map_err(failed)?;
        let Dialect { delimiter, mark_length, skipped_bytes, skipped_lines } = self.dialect;
        records.set_dialect(delimiter, mark_length);
        let notes = records.skip(skipped_bytes, skipped_lines);
        Ok((records, [&MARK[..mark_length], &notes].concat()))
    }
}

/// Copies the bytes that are read, if there is a buffer for them.
pub(crate) struct Tee<R> {
    pub(crate) input: R,
    pub(crate) copy: Option<Vec<u8>>,
}

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if let Some(copy) = &mut self.copy {
            copy.extend_from_slice(&buffer[..count]);
        }
        Ok(count)
    }
}
