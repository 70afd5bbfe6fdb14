//! Where a table is written, and in which format.

use std::path::Path;

use super::WriteError;
use crate::format::Format;
use crate::place::FileName;

/// A file or standard output, and the format of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    file: FileName,
    format: Format,
}

impl Target {
    /// A file in the format of its suffix, or standard output as CSV for `-`; `format` overrides both.
    ///
    /// # Errors
    /// If the suffix names no format and `format` is `None`.
    pub fn new(path: &Path, format: Option<Format>) -> Result<Self, WriteError> {
        if path == Path::new("-") {
            return Ok(Self { file: FileName::StandardOutput, format: format.unwrap_or(Format::CSV) });
        }
        let file = FileName::from(path);
        match format.or_else(|| Format::of_path(path)) {
            Some(format) => Ok(Self { file, format }),
            None => Err(WriteError::UnknownFormat { file, known: Format::names() }),
        }
    }

    /// The file.
    pub fn file(&self) -> &FileName {
        &self.file
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }
}
