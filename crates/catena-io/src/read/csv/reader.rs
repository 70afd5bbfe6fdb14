//! Reads delimited text into a table in one pass.

use std::io::Read;

use super::dialect::{self, Delimiting, Dialect};
use super::records::{MOST_BYTES_PER_RECORD, SplitError};
use super::source::{SourceText, Tee};
use super::{CsvSource, Records, sniff};
use crate::place::{Excerpt, FileName, Place};
use crate::read::{Input, Progress, ReadError, ReadNote, ReadOptions, Source, unpacked};
use crate::table::{CellRules, Column, ColumnBuilder, Lines, Table, is_header_data, trimmed};

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
            // The length of the text in an archive is not known.
            let total = opened.packing.is_none().then_some(opened.metadata.len());
            let text = SourceText::of_file(&opened);
            let unpacked = unpacked(Box::new(opened.file), opened.packing);
            (text, total, unpacked.map_err(|source| ReadError::Io { file: file.clone(), source })?)
        }
        Input::Stream(stream) => (SourceText::Gone, None, Box::new(stream)),
    };
    let mut records = Records::new(Tee { input, copy: is_kept.then(Vec::new) });
    let head = read_head(&mut records, &file, delimiting, options)?;
    let rows = Rows { file: &file, head: &head, options, most: usize::MAX, total };
    let Block { columns, lines, n_rows, .. } =
        rows.read(&mut records, &mut |n_bytes| progress(n_bytes, total))?;
    if n_rows == 0 {
        return Err(ReadError::NoRows { file });
    }
    let text = records.into_input().copy.map_or(text, |copy| SourceText::Kept(copy.into()));
    let Head { dialect, rules, notes, .. } = head;
    let source = CsvSource { file: file.clone(), text, dialect, rules };
    Ok(Table::from_file(file, columns, n_rows).with_text_source(lines, source).with_notes(notes))
}

/// What the beginning of a text shows.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) dialect: Dialect,
    pub(super) names: Vec<String>,
    /// Whether the header has no name for the first column.
    pub(super) has_index: bool,
    pub(super) rules: CellRules,
    pub(super) notes: Vec<ReadNote>,
}

/// How the rows after a header are read.
pub(super) struct Rows<'a> {
    pub(super) file: &'a FileName,
    pub(super) head: &'a Head,
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
        let Self { file, head, options, most, total } = self;
        let names = &head.names;
        let builder = |name: &String| column_builder(name, &head.rules, options);
        let mut columns: Vec<ColumnBuilder> = names.iter().map(builder).collect();
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
                if let Err(text) = column.push(&record.content(cell), Place::Line(line)) {
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
        let mut columns: Vec<Column> = columns.into_iter().map(ColumnBuilder::finish).collect();
        if head.has_index {
            let index = columns.remove(0);
            columns.insert(0, index.into_unnamed());
        }
        Ok(Block { columns, lines, n_rows, is_last })
    }
}

/// The builder of a column with this name.
pub(crate) fn column_builder(name: &str, rules: &CellRules, options: &ReadOptions) -> ColumnBuilder {
    let column = ColumnBuilder::new(name.to_owned(), rules.clone());
    if options.text_columns.iter().any(|wanted| wanted == name) { column.into_text_only() } else { column }
}

/// Dialect, rules and column names, from the beginning of a text.
pub(super) fn read_head<R: Read>(
    records: &mut Records<R>,
    file: &FileName,
    delimiting: Delimiting,
    options: &ReadOptions,
) -> Result<Head, ReadError> {
    records.head().map_err(|source| ReadError::Io { file: file.clone(), source })?;
    let is_whole = records.is_whole();
    let head = records.head().map_err(|source| ReadError::Io { file: file.clone(), source })?;
    if head.is_empty() {
        return Err(ReadError::Empty { file: file.clone() });
    }
    let dialect = dialect::dialect_of(head, delimiting)
        .map_err(|content| ReadError::WrongContent { file: file.clone(), content })?;
    let text = &head[dialect.mark_length..];
    let (dialect, note) = sniff::skip_notes(text, is_whole, delimiting, dialect);
    let mut notes: Vec<ReadNote> = note.into_iter().collect();
    let rules = sniff::rules_of(text, dialect, options, &mut notes);
    records.set_dialect(dialect.delimiter, dialect.mark_length);
    records.skip(dialect.skipped_bytes, dialect.skipped_lines);
    let (names, has_index) = read_header(records, file)?;
    Ok(Head { dialect, names, has_index, rules, notes })
}

/// The names of the columns, from the first line that is not blank, and whether the first of several had none.
fn read_header<R: Read>(records: &mut Records<R>, file: &FileName) -> Result<(Vec<String>, bool), ReadError> {
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
        let has_index = name_index(&mut names);
        check_names(&names, file)?;
        return Ok((names, has_index));
    }
}

/// Names the index that pandas writes first and without a name. Returns whether there was one.
pub(crate) fn name_index(names: &mut [String]) -> bool {
    let [first, others @ ..] = names else { return false };
    if !first.is_empty() || others.is_empty() || others.iter().any(String::is_empty) {
        return false;
    }
    let free =
        ["index", "index_1", "index_2"].into_iter().find(|name| others.iter().all(|other| other != name));
    *first = free.unwrap_or("row_index").to_owned();
    true
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
