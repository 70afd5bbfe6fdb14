//! Reads a table from a file or a pipe. Errors name the file, the line and the column.

pub mod csv;

mod error;
mod note;
mod source;

pub use crate::format::Format;
pub(crate) use crate::packing::{Packing, unpacked};
pub use error::{Content, ReadError};
pub use note::ReadNote;
pub use source::{CellOptions, Progress, ReadOptions};
pub(crate) use source::{Input, OpenFile, Source, read_all};

use std::io::{self, Read};
use std::path::Path;

use crate::packing::unpacked_stream;
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
    let opened = OpenFile::open(path)?;
    let format = format_of(path, options)?;
    let file = FileName::from(path);
    let failed = |source| ReadError::Io { file: file.clone(), source };
    let is_text = format.is_text();
    let mut stream: Box<dyn Read>;
    let input = match (opened.metadata.is_file(), opened.packing) {
        (true, None) => Input::File(opened),
        // Text is read again when it is copied; other formats need all bytes at once.
        (true, Some(_)) if is_text => Input::File(opened),
        (true, packing @ Some(_)) => {
            stream = unpacked(Box::new(opened.file), packing).map_err(failed)?;
            Input::Stream(&mut stream)
        }
        (false, _) => {
            stream = unpacked_stream(Box::new(opened.file)).map_err(failed)?;
            Input::Stream(&mut stream)
        }
    };
    let table = (format.definition().read)(Source { file, options, input }, progress)?;
    Ok(if is_text { table } else { table.without_codes(&options.cells.missing) })
}

/// Reads a table from a stream; messages call it standard input.
///
/// # Errors
/// As [`read`].
pub fn read_pipe(
    input: impl Read,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Table, ReadError> {
    let format = options.format.unwrap_or(Format::CSV);
    let file = FileName::StandardInput;
    let mut stream =
        unpacked_stream(Box::new(input)).map_err(|source| ReadError::Io { file: file.clone(), source })?;
    let input = Input::Stream(&mut stream);
    let is_text = format.is_text();
    let table = (format.definition().read)(Source { file, options, input }, progress)?;
    Ok(if is_text { table } else { table.without_codes(&options.cells.missing) })
}

/// The format of the options, else of the suffix.
pub(crate) fn format_of(path: &Path, options: &ReadOptions) -> Result<Format, ReadError> {
    if let Some(format) = options.format.or_else(|| Format::of_path(path)) {
        return Ok(format);
    }
    let file = FileName::from(path);
    let suffix = path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase());
    Err(match suffix.as_deref() {
        Some("tgz" | "tar" | "7z" | "bz2" | "xz") => {
            ReadError::WrongContent { file, content: Content::Archive }
        }
        Some("zip" | "xls" | "xlsb") => ReadError::WrongContent { file, content: Content::Zip },
        _ => ReadError::UnknownFormat { file, known: Format::names() },
    })
}
