//! Errors of reading a table.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::place::{Excerpt, FileName};

/// Content of a file that is not UTF-8 text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// An archive of a kind that is not read.
    Archive,
    /// A zip archive or a spreadsheet.
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
            Self::Archive => "is an archive of another kind than gzip and zstd; unpack it first",
            Self::Zip => {
                "is a zip archive or a spreadsheet; give a spreadsheet the suffix .xlsx or .ods, or save it as CSV"
            }
            Self::Parquet => "is a Parquet file; give it the suffix .parquet",
            Self::Arrow => "is an Arrow file; give it the suffix .arrow",
            Self::Binary => "is not text but a binary file; save it as CSV first",
            Self::Utf16 => "is encoded as UTF-16; save it as UTF-8",
        })
    }
}

/// A table that cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name every field")]
pub enum ReadError {
    #[error("{file}: no such file; check the path")]
    NotFound { file: FileName },
    #[error("{file}: is a directory; name a file in it")]
    IsDirectory { file: FileName },
    #[error("{file}: cannot be read ({source})")]
    Io { file: FileName, source: io::Error },
    #[error("{file}: the suffix names no table format; use {known}, or pass --format")]
    UnknownFormat { file: FileName, known: String },
    #[error(
        "{file}: only delimited text that is not packed can be read in blocks; save the table as .csv, or allow more memory"
    )]
    NotInBlocks { file: FileName },
    #[error("{file}: the file is empty; expected a header and rows")]
    Empty { file: FileName },
    #[error("{file}: {content}")]
    WrongContent { file: FileName, content: Content },
    #[error(
        "{file}: line {line}, column {column}: {text} is not UTF-8 (perhaps Latin-1); save the file as UTF-8"
    )]
    NotUtf8 { file: FileName, line: u64, column: String, text: Excerpt },
    #[error("{file}: line 1 has values ({text}, ...) instead of column names; add a header line")]
    NoHeader { file: FileName, text: Excerpt },
    #[error("{file}: has a header but no rows")]
    NoRows { file: FileName },
    #[error("{file}: has no columns")]
    NoColumns { file: FileName },
    #[error(
        "{file}: column {position} of the header has no name; add one, or remove the delimiter at the end of the line"
    )]
    EmptyName { file: FileName, position: usize },
    #[error("{file}: columns {first} and {second} are both named {name:?}; rename one")]
    DuplicateName { file: FileName, name: String, first: usize, second: usize },
    #[error("{file}: line 1 begins with # instead of column names; remove the lines before the header")]
    NotesFirst { file: FileName },
    #[error(
        "{file}: line {line} has {found} cells but the header has {expected} columns; \
             put a cell that contains the delimiter in quotes"
    )]
    Ragged { file: FileName, line: u64, found: usize, expected: usize },
    #[error(
        "{file}: line {line} is longer than {limit} bytes; check that the file is a table with line breaks"
    )]
    LineTooLong { file: FileName, line: u64, limit: usize },
    #[error(
        "{file}: line {line}, column {column}: a quote is opened here and not closed; close it, or double quotes inside text"
    )]
    UnclosedQuote { file: FileName, line: u64, column: String },
    #[error("{file}: line {line}, column {column}: text follows a closing quote; double quotes inside text")]
    TextAfterQuote { file: FileName, line: u64, column: String },
    #[error(
        "{file}: the table needs about {needed} of memory, more than {limit}; raise --max-memory, or use fewer rows or columns"
    )]
    Memory { file: FileName, needed: String, limit: String },
    #[error(
        "{file}: is compressed with {codec}, which is not supported; write it again with zstd, snappy, gzip or lz4"
    )]
    Codec { file: FileName, codec: String },
    #[error("{file}: has more than {limit} rows; split the file")]
    TooManyRows { file: FileName, limit: u64 },
    #[error("{file}: is not a complete {format} file ({detail}); write it again, or check the suffix")]
    Damaged { file: FileName, format: &'static str, detail: String },
    #[error("{file}: column {column} has the type {type_name}, which is not supported; remove or convert it")]
    UnsupportedType { file: FileName, column: String, type_name: String },
    #[error("{file}: has no sheet {name:?}; its sheets are {known}")]
    NoSheet { file: FileName, name: String, known: String },
    #[error("{file}: changed while it was in use; run again")]
    Changed { file: FileName },
    #[error("{file}: a stream cannot be read twice, and its text was not stored; save it to a file first")]
    NotKept { file: FileName },
}
