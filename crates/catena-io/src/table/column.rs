//! The kinds of column a table can have.

use std::collections::HashMap;

use super::{Stray, TimeColumn};

/// A named column.
#[derive(Debug, Clone)]
pub struct Column {
    name: String,
    data: ColumnData,
    stray: Option<Stray>,
}

/// The cells of a column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ColumnData {
    /// Numbers.
    Number(NumberColumn),
    /// Instants.
    Time(TimeColumn),
    /// Text.
    Text(TextColumn),
    /// True or false.
    Bool(BoolColumn),
}

impl Column {
    /// A column whose cells all fit.
    pub fn new(name: impl Into<String>, data: ColumnData) -> Self {
        Self { name: name.into(), data, stray: None }
    }

    /// A column of doubles; NaN is a hole.
    pub fn numbers(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self::new(name, ColumnData::Number(NumberColumn { values, style: NumberStyle::Double }))
    }

    pub(crate) fn with_stray(mut self, stray: Option<Stray>) -> Self {
        self.stray = stray;
        self
    }

    /// The name in the header.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cells.
    pub fn data(&self) -> &ColumnData {
        &self.data
    }

    /// The first cell that does not fit the column and was read as a hole, if there is one. Whoever uses the column
    /// must refuse it; a column nobody uses may have such cells.
    pub fn stray(&self) -> Option<&Stray> {
        self.stray.as_ref()
    }
}

impl ColumnData {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Number(column) => column.values.len(),
            Self::Time(column) => column.len(),
            Self::Text(column) => column.codes.len(),
            Self::Bool(column) => column.values.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the cell of a row is missing.
    pub fn is_hole(&self, row: usize) -> bool {
        match self {
            Self::Number(column) => column.values.get(row).is_none_or(|value| value.is_nan()),
            Self::Time(column) => column.instant(row).is_none(),
            Self::Text(column) => column.get(row).is_none(),
            Self::Bool(column) => column.get(row).is_none(),
        }
    }
}

/// How the numbers of a column were written, for writing them back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberStyle {
    /// All integers.
    Integer,
    /// Single precision, from a Parquet or Arrow file.
    Single,
    /// Double precision.
    Double,
}

/// Numbers; NaN is a hole.
#[derive(Debug, Clone)]
pub struct NumberColumn {
    /// One number per row.
    pub values: Vec<f64>,
    /// How they were written.
    pub style: NumberStyle,
}

impl PartialEq for NumberColumn {
    /// Equal to the bit, with holes equal to holes.
    fn eq(&self, other: &Self) -> bool {
        let same = |(left, right): (&f64, &f64)| {
            left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
        };
        self.values.len() == other.values.len() && self.values.iter().zip(&other.values).all(same)
    }
}

/// Text, each distinct value kept once.
#[derive(Debug, Clone, Default)]
pub struct TextColumn {
    codes: Vec<u32>,
    values: Vec<Box<str>>,
}

impl PartialEq for TextColumn {
    fn eq(&self, other: &Self) -> bool {
        self.codes.len() == other.codes.len()
            && (0..self.codes.len()).all(|row| self.get(row) == other.get(row))
    }
}

impl TextColumn {
    const HOLE: u32 = u32::MAX;

    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The text of a row, or `None` for a hole.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.code(row).map(|code| &*self.values[code])
    }

    /// The place of a row's text among the distinct values, or `None` for a hole.
    pub fn code(&self, row: usize) -> Option<usize> {
        self.codes.get(row).filter(|code| **code != Self::HOLE).map(|code| *code as usize)
    }

    /// The distinct values, in order of first appearance.
    pub fn distinct(&self) -> &[Box<str>] {
        &self.values
    }
}

impl<'a> FromIterator<Option<&'a str>> for TextColumn {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(cells: I) -> Self {
        let mut dictionary = Dictionary::default();
        let codes = cells.into_iter().map(|cell| dictionary.code_or_hole(cell)).collect();
        dictionary.into_column(codes)
    }
}

/// Collects distinct texts.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    codes: HashMap<Box<str>, u32>,
}

impl Dictionary {
    pub(crate) fn code_of(&mut self, text: &str) -> u32 {
        if let Some(code) = self.codes.get(text) {
            return *code;
        }
        // Rows are limited to what `u32` can count, and there are no more texts than rows.
        let code = self.codes.len() as u32;
        self.codes.insert(text.into(), code);
        code
    }

    pub(crate) fn code_or_hole(&mut self, cell: Option<&str>) -> u32 {
        cell.map_or(TextColumn::HOLE, |text| self.code_of(text))
    }

    pub(crate) fn into_column(self, codes: Vec<u32>) -> TextColumn {
        let mut values: Vec<(Box<str>, u32)> = self.codes.into_iter().collect();
        values.sort_unstable_by_key(|(_, code)| *code);
        TextColumn { codes, values: values.into_iter().map(|(text, _)| text).collect() }
    }
}

/// True, false or a hole per row, a byte each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BoolColumn {
    values: Vec<Option<bool>>,
}

impl BoolColumn {
    /// The value of a row, or `None` for a hole.
    pub fn get(&self, row: usize) -> Option<bool> {
        self.values.get(row).copied().flatten()
    }
}

impl FromIterator<Option<bool>> for BoolColumn {
    fn from_iter<I: IntoIterator<Item = Option<bool>>>(cells: I) -> Self {
        Self { values: cells.into_iter().collect() }
    }
}
