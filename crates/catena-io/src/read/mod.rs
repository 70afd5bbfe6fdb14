//! Reads a table from a file or a pipe, and says exactly what is wrong with one that cannot be read.
//!
//! `csv/` is ours, because a cell must be found again byte for byte when the table is written; Parquet and Arrow come
//! through `arrow_columns`.

pub mod csv;

mod arrow_columns;
mod arrow_file;
mod error;
mod format;
mod guard;
mod parquet_file;

pub(crate) use arrow_columns::TIME_STYLE_KEY;
pub use error::{Content, ReadError};
pub use format::Format;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::place::FileName;
use crate::table::Table;

/// How a table is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format, if the suffix does not say it; a pipe is CSV unless this says otherwise.
    pub format: Option<Format>,
    /// Columns to read as text whatever they look like, so that a series named `007` keeps its name.
    pub text_columns: Vec<String>,
    /// Whether the text of a pipe is kept in memory. Only then can the table be written back with its cells as they were;
    /// a file is read again instead.
    pub keep_piped_text: bool,
}

/// Told now and then how many bytes have been read, and of how many if that is known.
pub type Progress<'a> = &'a mut dyn FnMut(u64, Option<u64>);

/// Reads a file, or standard input if the path is `-`.
///
/// # Errors
/// Every way in which a file cannot be a table: see [`ReadError`].
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table, ReadError> {
    read_with_progress(path, options, &mut |_, _| {})
}

/// Reads as [`read`] does and tells how far it is.
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
    let file = FileName::from(path);
    let opened = File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ReadError::NotFound { file: file.clone() },
        io::ErrorKind::IsADirectory => ReadError::IsDirectory { file: file.clone() },
        _ => ReadError::Io { file: file.clone(), source },
    })?;
    let metadata = opened.metadata().map_err(|source| ReadError::Io { file: file.clone(), source })?;
    if metadata.is_dir() {
        return Err(ReadError::IsDirectory { file });
    }
    let format = match options.format {
        Some(format) => format,
        None => Format::of_path(path).ok_or_else(|| unknown_format(path))?,
    };
    // A named pipe or device has no length and cannot be read twice.
    if !metadata.is_file() {
        let options = ReadOptions { format: Some(format), ..options.clone() };
        return read_stream(file, opened, &options, progress);
    }
    match format {
        Format::Parquet => parquet_file::read_parquet(file, opened, metadata.len(), progress),
        Format::Arrow => arrow_file::read_arrow(file, opened, metadata.len(), progress),
        Format::Csv | Format::Tsv | Format::Text => {
            let text = csv::SourceText::of_file(path, &metadata);
            csv::read_csv(csv::Job { file, format, options, text }, opened, Some(metadata.len()), progress)
        }
    }
}

/// Reads a table from anything that can be read once; messages call it standard input.
///
/// # Errors
/// As [`read`].
pub fn read_pipe(
    input: impl Read,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Table, ReadError> {
    read_stream(FileName::StandardInput, input, options, progress)
}

fn read_stream(
    file: FileName,
    mut input: impl Read,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Table, ReadError> {
    let format = options.format.unwrap_or(Format::Csv);
    let text = if options.keep_piped_text { csv::SourceText::kept() } else { csv::SourceText::Gone };
    match format {
        Format::Csv | Format::Tsv | Format::Text => {
            csv::read_csv(csv::Job { file, format, options, text }, input, None, progress)
        }
        Format::Parquet | Format::Arrow => {
            let mut bytes = vec![];
            input.read_to_end(&mut bytes).map_err(|source| ReadError::Io { file: file.clone(), source })?;
            let length = bytes.len() as u64;
            if format == Format::Parquet {
                parquet_file::read_parquet(file, bytes::Bytes::from(bytes), length, progress)
            } else {
                arrow_file::read_arrow(file, io::Cursor::new(bytes), length, progress)
            }
        }
    }
}

/// What to do with a file whose suffix names no format of a table.
pub(crate) fn unknown_format(path: &Path) -> ReadError {
    let file = FileName::from(path);
    let suffix = path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase());
    match suffix.as_deref() {
        Some("gz" | "tgz") => ReadError::WrongContent { file, content: Content::Gzip },
        Some("zip" | "xlsx" | "xls" | "ods") => ReadError::WrongContent { file, content: Content::Zip },
        _ => ReadError::UnknownFormat { file },
    }
}
