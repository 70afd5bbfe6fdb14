//! Reads a table from a file or a pipe. Errors name the file, the line and the column.

pub mod csv;

mod error;
mod source;

pub use crate::format::Format;
pub use error::{Content, ReadError};
pub(crate) use source::{Input, OpenFile, Source, read_all};
pub use source::{Progress, ReadOptions};

use std::io::{self, Read};
use std::path::Path;

use crate::place::FileName;
use crate::table::Table;

/// Reads a file, or standard input if the path is `-`.
///
/// # Errors
/// See [`ReadError`].
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table, ReadError> {
    read_with_progress(path, options, &mut |_, _| {})
}

/// Reads as [`read`] does and reports progress.
///
/// # Errors
/// As [`read`].
pub fn read_with_progress(
    path: &Path,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Table, ReadError> {
    if path == Path::new("-") {
        return read_pipe(io::stdin().lock(), options, progress);
    }
    let mut opened = OpenFile::open(path)?;
    let format = format_of(path, options)?;
    let input = match opened.metadata.is_file() {
        true => Input::File(opened),
        false => Input::Stream(&mut opened.file),
    };
    (format.definition().read)(Source { file: FileName::from(path), options, input }, progress)
}

/// Reads a table from a stream; messages call it standard input.
///
/// # Errors
/// As [`read`].
pub fn read_pipe(
    mut input: impl Read,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Table, ReadError> {
    let format = options.format.unwrap_or(Format::CSV);
    let input = Input::Stream(&mut input);
    (format.definition().read)(Source { file: FileName::StandardInput, options, input }, progress)
}

/// The format of the options, else of the suffix.
pub(crate) fn format_of(path: &Path, options: &ReadOptions) -> Result<Format, ReadError> {
    if let Some(format) = options.format.or_else(|| Format::of_path(path)) {
        return Ok(format);
    }
    let file = FileName::from(path);
    let suffix = path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase());
    Err(match suffix.as_deref() {
        Some("gz" | "tgz") => ReadError::WrongContent { file, content: Content::Gzip },
        Some("zip" | "xlsx" | "xls" | "ods") => ReadError::WrongContent { file, content: Content::Zip },
        _ => ReadError::UnknownFormat { file, known: Format::names() },
    })
}
