//! Writes the table that was read with missing cells filled, others replaced on request, and columns added; every other cell is
//! unchanged.
//!
//! Text is copied from its source cell by cell, so what was observed keeps the user's spelling, quotes and line ends, and
//! nothing of the text has to stay in memory.

use std::collections::BTreeSet;
use std::io::Write;

use super::csv::{is_formula, number_text, push_cell, write_cell, write_name};
use super::{Target, TargetFile, WriteError, write_table};
use crate::read::ReadError;
use crate::read::csv::{CsvSource, Delimiting, split_error};
use crate::table::{Cell, CellRules, Column, ColumnData, Decimal, NumberColumn, NumberStyle, Table, trimmed};

/// Values for the missing cells of a column.
#[derive(Debug, Clone)]
pub struct FilledColumn {
    /// The column of the table, counted from 0.
    pub position: usize,
    /// A value per row of the table, used where the cell is missing; NaN leaves it missing.
    pub values: Vec<f64>,
    /// The number of decimals to write; `None` writes all digits.
    pub decimals: Option<u8>,
}

/// Values and columns added to a table.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    /// Values for missing cells.
    pub filled: Vec<FilledColumn>,
    /// Columns after the last.
    pub appended: Vec<Column>,
    /// Observed cells that are replaced like missing ones, by column and row of the table, counted from 0.
    pub replaced: BTreeSet<(usize, usize)>,
}

impl Completion {
    fn column(&self, position: usize) -> Option<&FilledColumn> {
        self.filled.iter().find(|filled| filled.position == position)
    }
}

/// A number with this many decimals, as it would be read from a text.
fn rounded(value: f64, decimals: u8) -> f64 {
    filled_text(value, Some(decimals)).parse().unwrap_or(value)
}

/// The text of a filled cell.
fn filled_text(value: f64, decimals: Option<u8>) -> String {
    match decimals {
        // A number that large has no decimals to cut.
        Some(decimals) if value.abs() < 1e15 => {
            let text = format!("{value:.0$}", usize::from(decimals));
            // Rounded to zero, the sign has no meaning.
            let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
            if is_zero { text.trim_start_matches('-').to_owned() } else { text }
        }
        _ => number_text(value, NumberStyle::Double),
    }
}

/// The table with missing cells filled and columns added, in memory.
///
/// # Errors
/// If the number of rows differs, or a filled column is not of numbers.
pub fn complete(table: &Table, completion: &Completion) -> Result<Table, WriteError> {
    check(table, completion)?;
    let mut columns = table.columns().to_vec();
    for FilledColumn { position, values, decimals } in &completion.filled {
        let not_fillable = || WriteError::NotFillable { column: name_of(table, *position) };
        let column = columns.get_mut(*position).ok_or_else(not_fillable)?;
        let ColumnData::Number(numbers) = column.data() else { return Err(not_fillable()) };
        let is_replaced = |row: usize| completion.replaced.contains(&(*position, row));
        let observed = |row: usize| {
            numbers.values.get(row).copied().filter(|value| !value.is_nan() && !is_replaced(row))
        };
        let cells = values.iter().enumerate().map(|(row, filled)| {
            observed(row).unwrap_or_else(|| decimals.map_or(*filled, |decimals| rounded(*filled, decimals)))
        });
        let data = ColumnData::Number(NumberColumn { values: cells.collect(), style: numbers.style });
        *column = Column::new(column.name().to_owned(), data);
    }
    columns.extend(completion.appended.iter().cloned());
    Ok(Table::new(columns))
}

/// Writes the table that was read, with missing cells filled and columns added.
///
/// If source and target are text, all other cells keep their text. A table from a pipe must be read with
/// [`crate::read::ReadOptions::keep_piped_text`].
///
/// # Errors
/// If the source changed, the values do not fit the table, or the target cannot be written. Then nothing is written.
pub fn write_completed(table: &Table, completion: &Completion, target: &Target) -> Result<(), WriteError> {
    match table.csv_source().filter(|_| target.format().is_text()) {
        None => write_table(&complete(table, completion)?, target),
        Some(source) => {
            for FilledColumn { position, .. } in &completion.filled {
                let column = table.columns().get(*position).map(Column::data);
                if !matches!(column, Some(ColumnData::Number(_))) {
                    return Err(WriteError::NotFillable { column: name_of(table, *position) });
                }
            }
            check(table, completion)?;
            copy_completed(source, table.n_rows(), completion, target)
        }
    }
}

/// The name of a column, or its number.
fn name_of(table: &Table, position: usize) -> String {
    let name = table.columns().get(position).map(|column| column.name().to_owned());
    name.unwrap_or_else(|| (position + 1).to_string())
}

fn check(table: &Table, completion: &Completion) -> Result<(), WriteError> {
    let n_rows = table.n_rows();
    let filled = completion.filled.iter();
    let filled = filled.map(|filled| (name_of(table, filled.position), filled.values.len()));
    let appended = completion.appended.iter().map(|column| (column.name().to_owned(), column.data().len()));
    for (column, found) in filled.chain(appended) {
        if found != n_rows {
            return Err(WriteError::RowCount { column, found, expected: n_rows });
        }
    }
    Ok(())
}

/// Copies the source text of a table as [`write_completed`] does, without the table.
///
/// # Errors
/// As [`write_completed`].
pub fn copy_completed(
    source: &CsvSource,
    n_rows: usize,
    completion: &Completion,
    target: &Target,
) -> Result<(), WriteError> {
    copy_filled(source, n_rows as u64, &mut InMemory { completion, row: None }, target)
}

/// Values for the missing cells of a table, row by row, for tables larger than memory.
pub trait Fillings {
    /// Moves to the next row; the first call moves to the first row.
    ///
    /// # Errors
    /// If the values cannot be read.
    fn advance(&mut self) -> Result<(), WriteError>;
    /// The value for a missing cell of this row, by column of the table; NaN leaves it missing.
    fn filling(&self, position: usize) -> Option<f64>;
    /// Whether the cell of this row is replaced though it is observed.
    fn is_replaced(&self, _position: usize) -> bool {
        false
    }
    /// The number of decimals of a filled column; `None` writes all digits.
    fn decimals(&self, position: usize) -> Option<u8>;
    /// Names of the appended columns.
    fn appended_names(&self) -> Vec<String>;
    /// Appends the text of this row in an appended column.
    fn push_appended(&self, column: usize, text: &mut String);
}

/// A completion, row by row.
struct InMemory<'a> {
    completion: &'a Completion,
    row: Option<usize>,
}

impl Fillings for InMemory<'_> {
    fn advance(&mut self) -> Result<(), WriteError> {
        self.row = Some(self.row.map_or(0, |row| row + 1));
        Ok(())
    }

    fn filling(&self, position: usize) -> Option<f64> {
        self.completion.column(position)?.values.get(self.row?).copied()
    }

    fn is_replaced(&self, position: usize) -> bool {
        self.row.is_some_and(|row| self.completion.replaced.contains(&(position, row)))
    }

    fn decimals(&self, position: usize) -> Option<u8> {
        self.completion.column(position)?.decimals
    }

    fn appended_names(&self) -> Vec<String> {
        self.completion.appended.iter().map(|column| column.name().to_owned()).collect()
    }

    fn push_appended(&self, column: usize, text: &mut String) {
        if let Some(row) = self.row {
            push_cell(text, self.completion.appended[column].data(), row);
        }
    }
}

/// Copies a text of `n_rows` rows with missing cells filled and columns added, row by row.
///
/// # Errors
/// If the source changed, or the target cannot be written. Then nothing is written.
pub fn copy_filled(
    source: &CsvSource,
    n_rows: u64,
    fillings: &mut dyn Fillings,
    target: &Target,
) -> Result<(), WriteError> {
    let delimiting = target.format().definition().delimiting.unwrap_or(Delimiting::Comma);
    let delimiter = match (delimiting, source.delimiter()) {
        (Delimiting::Tab, _) => b'\t',
        (Delimiting::Comma, b'\t') => b',',
        // A header may contain several delimiters: the copy must be read with the one it is written with.
        (_, delimiter) if source.delimiter_by(delimiting)? != delimiter => b',',
        (_, delimiter) => delimiter,
    };
    let is_same = delimiter == source.delimiter();
    let keeps_notes = is_same && (source.dialect.skipped_bytes == 0 || source.is_alike_by(delimiting)?);
    let mut file = target.create()?;
    let mut copy = Copy { fillings, file: &mut file, delimiter, rules: &source.rules, is_same, keeps_notes };
    copy.run(source, n_rows)?;
    file.commit()
}

/// Copies one text into another.
struct Copy<'a> {
    fillings: &'a mut dyn Fillings,
    file: &'a mut TargetFile,
    delimiter: u8,
    rules: &'a CellRules,
    is_same: bool,
    /// With another delimiter or more columns, a note could be read as the header.
    keeps_notes: bool,
}

impl Copy<'_> {
    fn run(&mut self, source: &CsvSource, n_rows: u64) -> Result<(), WriteError> {
        let (mut records, before) = source.records()?;
        let appended = self.fillings.appended_names();
        self.put(if self.keeps_notes && appended.is_empty() {
            &before
        } else {
            &before[..source.dialect.mark_length]
        })?;
        let (mut n_done, mut n_columns): (Option<u64>, usize) = (None, 0);
        let mut text = String::new();
        loop {
            let record = records.next().map_err(|error| split_error(error, &source.file, &[]))?;
            let Some(record) = record else { break };
            if record.is_blank() {
                self.put(record.text())?;
                self.put(record.terminator())?;
                continue;
            }
            let is_changed = match n_done {
                None => {
                    n_columns = record.n_cells();
                    false
                }
                Some(row) => row >= n_rows || record.n_cells() != n_columns,
            };
            if is_changed {
                return Err(ReadError::Changed { file: source.file.clone() }.into());
            }
            if n_done.is_some() {
                self.fillings.advance()?;
            }
            for cell in 0..record.n_cells() {
                if cell > 0 {
                    self.put(&[self.delimiter])?;
                }
                let content = record.content(cell);
                match n_done.and_then(|_| self.filling(cell, &content)) {
                    // A replaced cell whose limits leave it empty.
                    Some(value) if value.is_nan() => {}
                    Some(value) => self.put_number(&filled_text(value, self.fillings.decimals(cell)))?,
                    None if n_done.is_none() && self.file.safe_headers && is_formula(&content) => {
                        self.put_name(&content)?;
                    }
                    None if self.is_same => self.put(record.raw(cell))?,
                    None if n_done.is_none() => self.put_name(&content)?,
                    // An empty line would not be read as a row.
                    None if content.is_empty() && record.n_cells() == 1 => self.put(b"\"\"")?,
                    None => self.put_cell(&content)?,
                }
            }
            for (column, name) in appended.iter().enumerate() {
                self.put(&[self.delimiter])?;
                if n_done.is_none() {
                    self.put_name(name.as_bytes())?;
                } else {
                    text.clear();
                    self.fillings.push_appended(column, &mut text);
                    self.put_number(&text)?;
                }
            }
            self.put(record.terminator())?;
            n_done = Some(n_done.map_or(0, |row| row + 1));
        }
        if n_done == Some(n_rows) {
            Ok(())
        } else {
            Err(ReadError::Changed { file: source.file.clone() }.into())
        }
    }

    /// The value for a cell, if it is missing or replaced.
    fn filling(&self, position: usize, content: &[u8]) -> Option<f64> {
        let value = self.fillings.filling(position)?;
        if self.fillings.is_replaced(position) {
            return Some(value);
        }
        (!value.is_nan() && self.rules.classify(trimmed(content)) == Cell::Missing).then_some(value)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.file.write_all(bytes).map_err(|source| self.file.error(source))
    }

    /// Writes a number with the decimal sign of the text.
    fn put_number(&mut self, text: &str) -> Result<(), WriteError> {
        match self.rules.decimal {
            Decimal::Point => self.put_cell(text.as_bytes()),
            Decimal::Comma => self.put_cell(text.replace('.', ",").as_bytes()),
        }
    }

    fn put_name(&mut self, name: &[u8]) -> Result<(), WriteError> {
        let delimiter = self.delimiter;
        write_name(self.file, name, delimiter).map_err(|source| self.file.error(source))
    }

    fn put_cell(&mut self, content: &[u8]) -> Result<(), WriteError> {
        let delimiter = self.delimiter;
        write_cell(self.file, content, delimiter).map_err(|source| self.file.error(source))
    }
}
