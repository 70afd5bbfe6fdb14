//! Why a file cannot be read as a table.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::place::{Excerpt, FileName};

/// What a file turned out to contain instead of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// A gzip archive.
    Gzip,
    /// A zip archive, as spreadsheets are.
    Zip,
    /// A Parquet file.
    Parquet,
    /// An Arrow file.
    Arrow,
    /// Zero bytes.
    Binary,
    /// UTF-16 text.
    Utf16,
}

impl fmt::Display for Content {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Gzip => "is a gzip archive; unpack it first",
            Self::Zip => "is a zip archive or a spreadsheet; save it as CSV first",
            Self::Parquet => "is a Parquet file; give it the suffix .parquet",
            Self::Arrow => "is an Arrow file; give it the suffix .arrow",
            Self::Binary => "is not text but a binary file; save it as CSV first",
            Self::Utf16 => "is encoded as UTF-16; save it as UTF-8",
        })
    }
}

/// A file that cannot be read, where, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such file.
    #[error("{file}: no such file; check the path")]
    NotFound {
        /// The file.
        file: FileName,
    },
    /// A folder, not a file.
    #[error("{file}: is a directory; name a file in it")]
    IsDirectory {
        /// The file.
        file: FileName,
    },
    /// The system would not read it.
    #[error("{file}: cannot be read ({source})")]
    Io {
        /// The file.
        file: FileName,
        /// What the system says.
        source: io::Error,
    },
    /// The suffix names no known format.
    #[error(
        "{file}: the suffix does not tell the format; use .csv, .tsv, .txt, .parquet, .arrow or .feather, or name the format"
    )]
    UnknownFormat {
        /// The file.
        file: FileName,
    },
    /// Only text in a file can be read in blocks.
    #[error(
        "{file}: only CSV and TSV files can be read in blocks; save the table as .csv, or allow more memory"
    )]
    NotInBlocks {
        /// The file.
        file: FileName,
    },
    /// There is nothing in it.
    #[error("{file}: is empty, without a header or rows")]
    Empty {
        /// The file.
        file: FileName,
    },
    /// Something else than its name says.
    #[error("{file}: {content}")]
    WrongContent {
        /// The file.
        file: FileName,
        /// What it is.
        content: Content,
    },
    /// Text in another encoding.
    #[error(
        "{file}: line {line}, column {column}: {text} is not UTF-8 (Latin-1 perhaps); save the file as UTF-8"
    )]
    NotUtf8 {
        /// The file.
        file: FileName,
        /// The line.
        line: u64,
        /// The name of the column, or its number in the header.
        column: String,
        /// The cell.
        text: Excerpt,
    },
    /// The first line has values instead of names.
    #[error(
        "{file}: line 1 has values ({text}, ...) where the names of the columns should be; add a header line"
    )]
    NoHeader {
        /// The file.
        file: FileName,
        /// The first cell.
        text: Excerpt,
    },
    /// A header without rows.
    #[error("{file}: has a header but no rows")]
    NoRows {
        /// The file.
        file: FileName,
    },
    /// A table without columns.
    #[error("{file}: has no columns")]
    NoColumns {
        /// The file.
        file: FileName,
    },
    /// A column without a name.
    #[error(
        "{file}: column {position} of the header has no name; give it one, or remove the separator at the end of the line"
    )]
    EmptyName {
        /// The file.
        file: FileName,
        /// The column, counted from 1.
        position: usize,
    },
    /// Two columns with one name.
    #[error("{file}: columns {first} and {second} are both named {name:?}; rename one")]
    DuplicateName {
        /// The file.
        file: FileName,
        /// The name.
        name: String,
        /// The first column, counted from 1.
        first: usize,
        /// The second column, counted from 1.
        second: usize,
    },
    /// Notes before the header.
    #[error(
        "{file}: line 1 begins with # where the names of the columns should be; remove the lines before the header"
    )]
    NotesFirst {
        /// The file.
        file: FileName,
    },
    /// A row that is shorter or longer than the header.
    #[error(
        "{file}: line {line} has {found} cells but the header has {expected} columns; \
             a cell with the separator in it needs quotes"
    )]
    Ragged {
        /// The file.
        file: FileName,
        /// The line.
        line: u64,
        /// Cells found.
        found: usize,
        /// Columns of the header.
        expected: usize,
    },
    /// A line no table has.
    #[error("{file}: line {line} is longer than {limit} bytes; is this a table with line breaks?")]
    LineTooLong {
        /// The file.
        file: FileName,
        /// The line.
        line: u64,
        /// The limit.
        limit: usize,
    },
    /// A quote that is opened and never closed.
    #[error(
        "{file}: line {line}, column {column}: a quote is opened here and not closed; close it, or double a quote that is part of the text"
    )]
    UnclosedQuote {
        /// The file.
        file: FileName,
        /// The line where the quote stands.
        line: u64,
        /// The name of the column, or its number in the header.
        column: String,
    },
    /// Text behind a closing quote.
    #[error(
        "{file}: line {line}, column {column}: text follows a closing quote; double a quote that is part of the text"
    )]
    TextAfterQuote {
        /// The file.
        file: FileName,
        /// The line where the quote was opened.
        line: u64,
        /// The name of the column, or its number in the header.
        column: String,
    },
    /// More rows than can be counted in 32 bits.
    #[error("{file}: has more than {limit} rows; split the file")]
    TooManyRows {
        /// The file.
        file: FileName,
        /// The limit.
        limit: u64,
    },
    /// A Parquet or Arrow file that is damaged, or none.
    #[error("{file}: is not a complete {format} file ({detail}); write it again, or check the suffix")]
    Damaged {
        /// The file.
        file: FileName,
        /// The format.
        format: &'static str,
        /// What its reader says.
        detail: String,
    },
    /// A type of column that is neither number, time, text nor truth value.
    #[error("{file}: column {column} has the type {type_name}, which is not supported; drop or convert it")]
    UnsupportedType {
        /// The file.
        file: FileName,
        /// The column.
        column: String,
        /// Its type.
        type_name: String,
    },
    /// The file is not the one that was read before.
    #[error("{file}: changed while it was in use; run again")]
    Changed {
        /// The file.
        file: FileName,
    },
    /// The text of a pipe was not kept, so it cannot be copied.
    #[error("{file}: can be read only once, and its text was not kept")]
    NotKept {
        /// The file.
        file: FileName,
    },
}
