//! Rows as single lines of CSV or JSON, and the replies to them.
//!
//! `line` reads lines, with the same rules for missing cells, numbers and times as tables; `reply` writes replies.

mod line;
mod reply;
#[cfg(test)]
mod tests;

pub use line::{LineError, LineReader, StreamRow};
pub use reply::{Answer, ReplyWriter};

use std::path::Path;

/// Format of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFormat {
    /// A header with the names of columns, then a row per line.
    Csv,
    /// An object per line.
    Json,
}

impl StreamFormat {
    /// The format of a path's suffix.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "json" | "jsonl" | "ndjson" => Some(Self::Json),
            _ => None,
        }
    }
}
