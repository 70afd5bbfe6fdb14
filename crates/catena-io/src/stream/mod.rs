//! Rows that come one by one, as lines of CSV or JSON, and the lines that answer them.
//!
//! `line` reads them, by the same rules for holes, numbers and times as whole tables; `reply` writes the answers.

mod line;
mod reply;
#[cfg(test)]
mod tests;

pub use line::{LineError, LineReader, StreamRow};
pub use reply::ReplyWriter;

use std::path::Path;

/// How lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFormat {
    /// A header with the names of columns, then a row per line.
    Csv,
    /// An object per line.
    Json,
}

impl StreamFormat {
    /// The format that a suffix tells.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "json" | "jsonl" | "ndjson" => Some(Self::Json),
            _ => None,
        }
    }
}
