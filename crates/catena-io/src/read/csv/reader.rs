//! Reads delimited text into a table in one pass.

use std::io::Read;

use super::dialect::{self, Delimiting, Dialect};
use super::records::{MOST_BYTES_PER_RECORD, SplitError};
use super::source::{SourceText, Tee};
use super::{CsvSource, Records};
use crate::place::{Excerpt, FileName};
use crate::read::{Input, Progress, ReadError, ReadOptions, Source};
use crate::table::{Column, ColumnBuilder, Lines, Table, is_header_data, trimmed};

/// Rows are counted in 32 bits.
const MOST_ROWS: usize = u32::MAX as usize - 1;

/// The memory of the columns is checked each time this many cells were read.
const CELLS_PER_CHECK: usize = 1 << 20;

/// Reads delimited text.
pub(crate) fn read_csv(
    source: Source<'_>,
    delimiting: Delimiting,
    progress: Progress<'_>,
) -> Result<Table, ReadError> {
    let Source { file, options, input } = source;
    let is_kept = options.keep_piped_text && matches!(input, Input::Stream(_));
    let (text, total, input): (_, _, Box<dyn Read + '_>) = match input {
        Input::File(opened) => {
            (SourceText::of_file(&opened), Some(opened.metadata.len()), Box::new(opened.file))
        }
        Input::Stream(stream) => (SourceText::Gone, None, Box::new(stream)),
    };
    let mut records = Records::new(Tee { input, copy: is_kept.then(Vec::new) });
    let (dialect, names) = read_head(&mut records, &file, delimiting)?;
    let rows = Rows { file: &file, names: &names, options, most: usize::MAX, total };
    let Block { columns, lines, n_rows, .. } =
        rows.read(&mut records, &mut |n_bytes| progress(n_bytes, total))?;
    if n_rows == 0 {
        return Err(ReadError::NoRows { file });
    }
    let text = records.into_input().copy.map_or(text, |copy| SourceText::Kept(copy.into()));
    let source = CsvSource { file: file.clone(), text, dialect };
    Ok(Table::from_file(file, columns, n_rows).with_text_source(lines, source))
}

/// How the rows after a header are read.
pub(super) struct Rows<'a> {
    pub(super) file: &'a FileName,
    pub(super) names: &'a [String],
    pub(super) options: &'a ReadOptions,
    /// Maximum number of rows.
    pub(super) most: usize,
    /// The length of the text in bytes, if known and to be read completely.
    pub(super) total: Option<u64>,
}

/// Rows that have been read.
pub(super) struct Block {
    pub(super) columns: Vec<Column>,
    pub(super) lines: Lines,
    pub(super) n_rows: usize,
    pub(super) is_last: bool,
}

impl Rows<'_> {
    /// Reads the next rows; `progress` gets the number of bytes read.
    pub(super) fn read<R: Read>(
        self,
        records: &mut Records<R>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Block, ReadError> {
        let Self { file, names, options, most, total } = self;
        let mut columns: Vec<ColumnBuilder> = names.iter().map(|name| builder(name, options)).collect();
        let mut lines = Lines::default();
        let (mut n_rows, mut is_last) = (0, false);
        let mut n_bytes_told = 0;
        let mut n_cells_unchecked = 0;
        while n_rows < most {
            let n_bytes = records.n_bytes_read();
            if n_bytes != n_bytes_told {
                n_bytes_told = n_bytes;
                progress(n_bytes);
            }
            let record = match records.next() {
                Ok(Some(record)) => record,
                Ok(None) => {
                    is_last = true;
                    break;
                }
                Err(error) => return Err(split_error(error, file, names)),
            };
            if record.is_blank() {
                continue;
            }
            if record.n_cells() != columns.len() {
                if columns.len() == 1 && names[0].starts_with('#') {
                    return Err(ReadError::NotesFirst { file: file.clone() });
                }
                let (found, expected) = (record.n_cells(), columns.len());
                return Err(ReadError::Ragged { file: file.clone(), line: record.line(), found, expected });
            }
            if n_rows == MOST_ROWS {
                return Err(ReadError::TooManyRows { file: file.clone(), limit: MOST_ROWS as u64 });
            }
            let line = record.line();
            lines.push(n_rows, line);
            for (cell, column) in columns.iter_mut().enumerate() {
                if let Err(text) = column.push(&record.content(cell), line) {
                    let (text, column) = (Excerpt::new(text), names[cell].clone());
                    return Err(ReadError::NotUtf8 { file: file.clone(), line, column, text });
                }
            }
            n_rows += 1;
            n_cells_unchecked += columns.len();
            if n_cells_unchecked >= CELLS_PER_CHECK {
                n_cells_unchecked = 0;
                let held: usize = columns.iter().map(ColumnBuilder::n_bytes).sum();
                let rest = total.map_or(1.0, |total| total as f64 / records.n_bytes_read().max(1) as f64);
                options.check_memory(file, held as f64 * rest.max(1.0))?;
            }
        }
        let columns = columns.into_iter().map(ColumnBuilder::finish).collect();
        Ok(Block { columns, lines, n_rows, is_last })
    }
}

fn builder(name: &str, options: &ReadOptions) -> ColumnBuilder {
    let column = ColumnBuilder::new(name.to_owned());
    if options.text_columns.iter().any(|wanted| wanted == name) { column.into_text_only() } else { column }
}

/// Dialect and column names, from the beginning of a text.
pub(super) fn read_head<R: Read>(
    records: &mut Records<R>,
    file: &FileName,
    delimiting: Delimiting,
) -> Result<(Dialect, Vec<String>), ReadError> {
    let head = records.head().map_err(|source| ReadError::Io { file: file.clone(), source })?;
    if head.is_empty() {
        return Err(ReadError::Empty { file: file.clone() });
    }
    let dialect = dialect::dialect_of(head, delimiting)
        .map_err(|content| ReadError::WrongContent { file: file.clone(), content })?;
    records.set_dialect(dialect.delimiter, dialect.mark_length);
    let names = read_header(records, file)?;
    Ok((dialect, names))
}

/// The names of the columns, from the first line that is not blank.
fn read_header<R: Read>(records: &mut Records<R>, file: &FileName) -> Result<Vec<String>, ReadError> {
    loop {
        let record = match records.next() {
            Ok(Some(record)) => record,
            Ok(None) => return Err(ReadError::Empty { file: file.clone() }),
            Err(error) => return Err(split_error(error, file, &[])),
        };
        if record.is_blank() {
            continue;
        }
        let n_columns = record.n_cells();
        if is_header_data((0..n_columns).map(|cell| record.raw(cell))) {
            return Err(ReadError::NoHeader { file: file.clone(), text: Excerpt::new(record.raw(0)) });
        }
        let mut names = Vec::with_capacity(n_columns);
        for cell in 0..n_columns {
            let content = record.content(cell);
            let content = trimmed(&content);
            let name = std::str::from_utf8(content).map_err(|_| ReadError::NotUtf8 {
                file: file.clone(),
                line: record.line(),
                column: (cell + 1).to_string(),
                text: Excerpt::new(content),
            })?;
            names.push(name.to_owned());
        }
        check_names(&names, file)?;
        return Ok(names);
    }
}

/// Checks that names are unique and not empty.
pub(crate) fn check_names(names: &[String], file: &FileName) -> Result<(), ReadError> {
    let mut first = std::collections::HashMap::new();
    for (position, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(ReadError::EmptyName { file: file.clone(), position: position + 1 });
        }
        if let Some(earlier) = first.insert(name, position + 1) {
            let (name, second) = (name.clone(), position + 1);
            return Err(ReadError::DuplicateName { file: file.clone(), name, first: earlier, second });
        }
    }
    Ok(())
}

/// A [`SplitError`] with the names of file and column.
pub(crate) fn split_error(error: SplitError, file: &FileName, names: &[String]) -> ReadError {
    let file = file.clone();
    let column = |cell: usize| names.get(cell).cloned().unwrap_or_else(|| (cell + 1).to_string());
    match error {
        SplitError::Io(source) => ReadError::Io { file, source },
        SplitError::TooLong { line } => ReadError::LineTooLong { file, line, limit: MOST_BYTES_PER_RECORD },
        SplitError::UnclosedQuote { line, cell } => {
            ReadError::UnclosedQuote { file, line, column: column(cell) }
        }
        SplitError::TextAfterQuote { line, cell } => {
            ReadError::TextAfterQuote { file, line, column: column(cell) }
        }
    }
}
