//! Delimited text too large for memory, read in blocks of rows.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::Records;
use super::reader::{Block, Rows, read_head};
use super::source::{CsvSource, SourceText};
use crate::place::FileName;
use crate::read::{Format, ReadError, ReadOptions, unknown_format};
use crate::table::Table;

/// A file of delimited text whose rows are read in blocks, in any order and as often as one likes. It must not change
/// meanwhile.
#[derive(Debug)]
pub struct CsvBlocks {
    path: PathBuf,
    source: CsvSource,
    names: Vec<String>,
    options: ReadOptions,
    first: BlockStart,
    n_bytes: u64,
}

/// Where a block begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockStart {
    byte: u64,
    line: u64,
}

impl BlockStart {
    /// How many bytes come before it.
    pub fn byte(self) -> u64 {
        self.byte
    }
}

impl CsvBlocks {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// When it is no file, not delimited text, or has no header: see [`ReadError`].
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, ReadError> {
        let file = FileName::from(path);
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => ReadError::NotFound { file: file.clone() },
            io::ErrorKind::IsADirectory => ReadError::IsDirectory { file: file.clone() },
            _ => ReadError::Io { file: file.clone(), source },
        };
        let opened = File::open(path).map_err(failed)?;
        let metadata = opened.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(ReadError::IsDirectory { file });
        }
        let format = options.format.or_else(|| Format::of_path(path));
        let Some(format) = format else { return Err(unknown_format(path)) };
        if !metadata.is_file() || matches!(format, Format::Parquet | Format::Arrow) {
            return Err(ReadError::NotInBlocks { file });
        }
        let mut records = Records::new(opened);
        let (dialect, names) = read_head(&mut records, &file, format)?;
        let (byte, line) = records.place();
        let source = CsvSource { file, text: SourceText::of_file(path, &metadata), dialect };
        let (path, options) = (path.to_owned(), options.clone());
        Ok(Self { path, source, names, options, first: BlockStart { byte, line }, n_bytes: metadata.len() })
    }

    /// The text behind the blocks, to be copied.
    pub fn source(&self) -> &CsvSource {
        &self.source
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many bytes there are in all.
    pub fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// The place of the first row.
    pub fn first(&self) -> BlockStart {
        self.first
    }

    /// Reads at most so many rows from a place on, as a table of its own whose lines are those of the file, and says where the next
    /// block begins, if the file does not end before.
    ///
    /// # Errors
    /// When the rows cannot be read, or the file has changed.
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
        let rows = Rows { file, names: &self.names, options: &self.options, most };
        let Block { columns, lines, n_rows, is_last } = rows.read(&mut records, &mut |_| {})?;
        let (bytes, line) = records.place();
        let next = (!is_last).then_some(BlockStart { byte: from.byte + bytes, line });
        let table = Table::from_file(file.clone(), columns, n_rows);
        Ok((table.with_text_source(lines, self.source.clone()), next))
    }
}
