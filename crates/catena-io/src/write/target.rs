//! Where a table is written, and in which format.

use std::path::Path;

use super::WriteError;
use super::atomic::{TargetFile, is_stream};
use crate::format::Format;
use crate::packing::Packing;
use crate::place::FileName;

/// A file or standard output, and the format of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    file: FileName,
    format: Format,
    packing: Option<Packing>,
    safe_headers: bool,
}

impl Target {
    /// A file in the format of its suffix, packed if it ends in `.gz` or `.zst`; standard output for `-`, and pipes and devices, as CSV; `format` overrides both.
    ///
    /// # Errors
    /// If the suffix names no format and `format` is `None`, or the format is only read.
    pub fn new(path: &Path, format: Option<Format>) -> Result<Self, WriteError> {
        if path == Path::new("-") {
            let (file, format) = (FileName::StandardOutput, format.unwrap_or(Format::CSV));
            return Self { file, format, packing: None, safe_headers: false }.checked();
        }
        let file = FileName::from(path);
        let of_stream = || is_stream(path).then_some(Format::CSV);
        match format.or_else(|| Format::of_path(path)).or_else(of_stream) {
            Some(format) => {
                Self { file, format, packing: Packing::of_path(path), safe_headers: false }.checked()
            }
            None => Err(WriteError::UnknownFormat { file, known: Format::written_names() }),
        }
    }

    fn checked(self) -> Result<Self, WriteError> {
        if self.format.is_written() { Ok(self) } else { Err(self.not_written()) }
    }

    /// The error for a format that is only read.
    pub(super) fn not_written(&self) -> WriteError {
        WriteError::ReadOnlyFormat { file: self.file.clone(), known: Format::written_names() }
    }

    /// The same target; in text, `is_safe` puts an apostrophe before column names that a spreadsheet would run as a formula.
    #[must_use]
    pub fn with_safe_headers(self, is_safe: bool) -> Self {
        Self { safe_headers: is_safe, ..self }
    }

    /// Starts to write the file.
    ///
    /// # Errors
    /// As [`TargetFile::create`].
    pub(super) fn create(&self) -> Result<TargetFile, WriteError> {
        let mut file = TargetFile::create(&self.file)?;
        file.safe_headers = self.safe_headers;
        if let Some(packing) = self.packing {
            file.pack(packing)?;
        }
        Ok(file)
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
