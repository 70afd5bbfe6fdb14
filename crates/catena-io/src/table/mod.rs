//! A table in memory: named, typed columns and the source of their text.
//!
//! `column` has the kinds of columns, `time_column` the column of times, `cell` classifies the text of a cell, and `builder`
//! collects cells and finds the kind of their column.

mod builder;
mod cell;
mod column;
mod lines;
mod rules;
mod time_column;

pub(crate) use builder::ColumnBuilder;
pub(crate) use cell::{Cell, LARGEST_EXACT, is_header_data, looks_like_data, trimmed};
pub use cell::{CellProblem, InvalidCell};
pub(crate) use column::Dictionary;
pub use column::{BoolColumn, Column, ColumnData, NumberColumn, NumberStyle, TextColumn};
pub(crate) use lines::Lines;
pub(crate) use rules::CellRules;
pub use rules::{DateOrder, Decimal};
pub use time_column::TimeColumn;
pub(crate) use time_column::TimeColumnBuilder;

use crate::place::{FileName, Place};
use crate::read::ReadNote;
use crate::read::csv::CsvSource;

/// A column of a file that was not read because of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedColumn {
    /// The name.
    pub name: String,
    /// The type.
    pub type_name: String,
}

/// Named columns of equal length, and where they came from.
#[derive(Debug, Clone)]
pub struct Table {
    file: FileName,
    columns: Vec<Column>,
    unsupported: Vec<UnsupportedColumn>,
    n_rows: usize,
    lines: Option<Lines>,
    csv_source: Option<CsvSource>,
    notes: Vec<ReadNote>,
}

impl Table {
    /// A table made in memory. Shorter columns end in missing cells.
    pub fn new(columns: Vec<Column>) -> Self {
        let n_rows = columns.iter().map(|column| column.data().len()).max().unwrap_or(0);
        Self::from_file(FileName::Memory, columns, n_rows)
    }

    pub(crate) fn from_file(file: FileName, columns: Vec<Column>, n_rows: usize) -> Self {
        Self { file, columns, unsupported: vec![], n_rows, lines: None, csv_source: None, notes: vec![] }
    }

    pub(crate) fn with_unsupported(mut self, unsupported: Vec<UnsupportedColumn>) -> Self {
        self.unsupported = unsupported;
        self
    }

    pub(crate) fn with_text_source(mut self, lines: Lines, source: CsvSource) -> Self {
        self.lines = Some(lines);
        self.csv_source = Some(source);
        self
    }

    /// The rows of a sheet in which the rows of the table are.
    pub(crate) fn with_sheet_rows(mut self, lines: Lines) -> Self {
        self.lines = Some(lines);
        self
    }

    /// Makes numbers that are codes of missing values missing, in formats whose cells are not text.
    pub(crate) fn without_codes(mut self, codes: &[String]) -> Self {
        let rules = CellRules::new(codes, Decimal::Point, None);
        self.columns.iter_mut().filter(|_| !codes.is_empty()).for_each(|column| column.drop_codes(&rules));
        self
    }

    pub(crate) fn with_notes(mut self, notes: Vec<ReadNote>) -> Self {
        self.notes = notes;
        self
    }

    /// How the table was read where its content decided it: skipped lines, a decimal comma, the order of dates.
    pub fn notes(&self) -> &[ReadNote] {
        &self.notes
    }

    /// Where the table came from.
    pub fn file(&self) -> &FileName {
        &self.file
    }

    /// Number of rows, the header not counted.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// All columns, in the order of the file.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Columns of the file that were not read because of their types. They are not written either.
    pub fn unsupported(&self) -> &[UnsupportedColumn] {
        &self.unsupported
    }

    /// Frees the numbers of these columns, whose cells become missing. A copy of the text of the table does not need them.
    pub fn drop_numbers(&mut self, positions: &[usize]) {
        for position in positions {
            if let Some(column) = self.columns.get_mut(*position) {
                column.drop_numbers();
            }
        }
    }

    /// The position of a column by its exact name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name() == name)
    }

    /// A column by its exact name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    /// The line or row in the file, for messages.
    pub fn place_of(&self, row: usize) -> Place {
        match &self.lines {
            Some(lines) if self.csv_source.is_some() => Place::Line(lines.line_of(row)),
            Some(lines) => Place::Row(lines.line_of(row)),
            None => Place::Row(row as u64 + 1),
        }
    }

    /// The text the table was read from, if it was text. With it the table can be written with its cells unchanged.
    pub fn csv_source(&self) -> Option<&CsvSource> {
        self.csv_source.as_ref()
    }
}
