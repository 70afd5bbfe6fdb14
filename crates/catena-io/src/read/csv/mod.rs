//! Delimited text: split into records, classified into columns, and copied when the table is written.
//!
//! The splitter is written here because the raw bytes of every cell are needed to copy it unchanged, the line of an opening
//! quote for messages, and a limit on the length of a line. A test compares it with the `csv` crate.

mod blocks;
mod dialect;
mod reader;
mod records;
mod sniff;
mod source;
mod split;

pub use blocks::{BlockStart, CsvBlocks};
pub(crate) use dialect::{DELIMITERS, Delimiting, MARK};
pub(crate) use reader::{check_names, column_builder, name_index, read_csv, split_error};
pub(crate) use records::Records;
pub use source::CsvSource;
pub(crate) use split::{Found, QuoteError, Splitter};
