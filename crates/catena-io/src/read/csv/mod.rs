//! Delimited text: split into records, classified into columns, and found again when it is written.
//!
//! The splitter is ours and not a library's: we need the raw bytes of every cell to copy it untouched, the line where a
//! quote was opened, and a limit on what one line may take. A test judges it by the `csv` crate.

mod blocks;
mod dialect;
mod reader;
mod records;
mod source;
mod split;

pub use blocks::{BlockStart, CsvBlocks};
pub(crate) use dialect::{MARK, SEPARATORS};
pub(crate) use reader::{Job, check_names, read_csv, split_error};
pub(crate) use records::Records;
pub use source::CsvSource;
pub(crate) use source::SourceText;
pub(crate) use split::{Found, QuoteError, Splitter};
