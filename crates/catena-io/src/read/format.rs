//! Formats, and how a suffix names one.

use std::path::Path;

/// How a table is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated text; a header with semicolons or tabs and no comma is read as separated by those.
    Csv,
    /// Tab-separated text.
    Tsv,
    /// Text whose separator the header shows: tab, comma or semicolon.
    Text,
    /// Parquet.
    Parquet,
    /// Arrow IPC, also known as Feather.
    Arrow,
}

impl Format {
    /// The format of a suffix, or `None` if it says nothing.
    pub fn of_path(path: &Path) -> Option<Self> {
        Self::of_name(path.extension()?.to_str()?)
    }

    /// The format of a name such as `csv` or `parquet`.
    pub fn of_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "txt" => Some(Self::Text),
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "feather" | "ipc" => Some(Self::Arrow),
            _ => None,
        }
    }
}
