//! Delimited text too large for memory, read in blocks of rows.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::Records;
use super::reader::{Block, Head, Rows, read_head};
use super::source::{CsvSource, SourceText};
use crate::place::FileName;
use crate::read::{OpenFile, ReadError, ReadNote, ReadOptions, format_of};
use crate::table::Table;

/// A file of delimited text whose rows are read in blocks, in any order. The file must not change meanwhile.
#[derive(Debug)]
pub struct CsvBlocks {
    path: PathBuf,
    source: CsvSource,
    head: Head,
    options: ReadOptions,
    first: BlockStart,
    n_bytes: u64,
}

/// The start of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockStart {
    byte: u64,
    line: u64,
}

impl BlockStart {
    /// Offset in the file.
    pub fn byte(self) -> u64 {
        self.byte
    }
}

impl CsvBlocks {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// If it is not a file of delimited text with a header: see [`ReadError`].
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, ReadError> {
        let opened = OpenFile::open(path)?;
        let file = FileName::from(path);
        let delimiting = format_of(path, options)?.definition().delimiting;
        let is_plain = opened.metadata.is_file() && opened.packing.is_none();
        let Some(delimiting) = delimiting.filter(|_| is_plain) else {
            return Err(ReadError::NotInBlocks { file });
        };
        let (text, n_bytes) = (SourceText::of_file(&opened), opened.metadata.len());
        let mut records = Records::new(opened.file);
        let head = read_head(&mut records, &file, delimiting, options)?;
        let (byte, line) = records.place();
        let source = CsvSource { file, text, dialect: head.dialect, rules: head.rules.clone() };
        let (path, options) = (path.to_owned(), options.clone());
        Ok(Self { path, source, head, options, first: BlockStart { byte, line }, n_bytes })
    }

    /// The text, to be copied.
    pub fn source(&self) -> &CsvSource {
        &self.source
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.head.names
    }

    /// How the text is read where its content decided it.
    pub fn notes(&self) -> &[ReadNote] {
        &self.head.notes
    }

    /// Length of the file in bytes.
    pub fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// The start of the first row.
    pub fn first(&self) -> BlockStart {
        self.first
    }

    /// Reads at most `most` rows, with the line numbers of the file, and returns the start of the next block unless the file ends.
    ///
    /// # Errors
    /// If the rows cannot be read or the file has changed.
    pub fn read(&self, from: BlockStart, most: usize) -> Result<(Table, Option<BlockStart>), ReadError> {
        let CsvSource { file, dialect, .. } = &self.source;
        let failed = |source| ReadError::Io { file: file.clone(), source };
        let mut opened = File::open(&self.path).map_err(failed)?;
        let metadata = opened.metadata().map_err(failed)?;
        self.source.check_unchanged(&metadata)?;
        opened.seek(SeekFrom::Start(from.byte)).map_err(failed)?;
        let mut records = Records::new(opened);
        records.set_dialect(dialect.delimiter, 0);
        records.set_line(from.line);
        let rows = Rows { file, head: &self.head, options: &self.options, most, total: None };
        let Block { columns, lines, n_rows, is_last } = rows.read(&mut records, &mut |_| {})?;
        let (bytes, line) = records.place();
        let next = (!is_last).then_some(BlockStart { byte: from.byte + bytes, line });
        let table = Table::from_file(file.clone(), columns, n_rows);
        Ok((table.with_text_source(lines, self.source.clone()), next))
    }
}
