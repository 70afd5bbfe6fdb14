//! The kinds of columns.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{CellRules, InvalidCell, TimeColumn};

/// A named column.
#[derive(Debug, Clone)]
pub struct Column {
    name: String,
    data: ColumnData,
    invalid: Option<InvalidCell>,
    decimals: Option<u8>,
    is_unnamed: bool,
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
    /// A column without invalid cells.
    pub fn new(name: impl Into<String>, data: ColumnData) -> Self {
        Self { name: name.into(), data, invalid: None, decimals: None, is_unnamed: false }
    }

    /// A column of doubles; NaN is missing.
    pub fn numbers(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self::new(name, ColumnData::Number(NumberColumn { values, style: NumberStyle::Double }))
    }

    pub(crate) fn with_invalid_cell(mut self, invalid: Option<InvalidCell>) -> Self {
        self.invalid = invalid;
        self
    }

    pub(crate) fn with_decimals(mut self, decimals: Option<u8>) -> Self {
        self.decimals = decimals;
        self
    }

    pub(crate) fn into_unnamed(mut self) -> Self {
        self.is_unnamed = true;
        self
    }

    pub(super) fn drop_codes(&mut self, rules: &CellRules) {
        if let ColumnData::Number(numbers) = &mut self.data {
            for value in numbers.values.iter_mut().filter(|value| rules.is_code_number(**value)) {
                *value = f64::NAN;
            }
        }
    }

    pub(super) fn drop_numbers(&mut self) {
        if let ColumnData::Number(numbers) = &mut self.data {
            numbers.values = vec![];
        }
    }

    /// The name in the header.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The most digits after the decimal sign of a number in the text of this column; `None` if the column was not read from text,
    /// or a number has an exponent.
    pub fn decimals(&self) -> Option<u8> {
        self.decimals
    }

    /// Whether the header has no name for this column, as for the index that pandas writes.
    pub fn is_unnamed(&self) -> bool {
        self.is_unnamed
    }

    /// The cells.
    pub fn data(&self) -> &ColumnData {
        &self.data
    }

    /// The first cell that does not fit the column and was read as missing. An ignored column may have such cells; a used one
    /// must not.
    pub fn invalid_cell(&self) -> Option<&InvalidCell> {
        self.invalid.as_ref()
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
    pub fn is_missing(&self, row: usize) -> bool {
        match self {
            Self::Number(column) => column.values.get(row).is_none_or(|value| value.is_nan()),
            Self::Time(column) => column.instant(row).is_none(),
            Self::Text(column) => column.get(row).is_none(),
            Self::Bool(column) => column.get(row).is_none(),
        }
    }
}

/// How the numbers of a column were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberStyle {
    /// All integers.
    Integer,
    /// Single precision, from a Parquet or Arrow file.
    Single,
    /// Double precision.
    Double,
}

/// Numbers; NaN is missing.
#[derive(Debug, Clone)]
pub struct NumberColumn {
    /// One number per row.
    pub values: Vec<f64>,
    /// How they were written.
    pub style: NumberStyle,
}

impl PartialEq for NumberColumn {
    /// Equal to the bit; missing cells are equal.
    fn eq(&self, other: &Self) -> bool {
        let same = |(left, right): (&f64, &f64)| {
            left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
        };
        self.values.len() == other.values.len() && self.values.iter().zip(&other.values).all(same)
    }
}

/// Text, stored once per distinct value.
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
    const MISSING: u32 = u32::MAX;

    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The text of a row, or `None` if missing.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.code(row).map(|code| &*self.values[code])
    }

    /// Index of a row's text among the distinct values, or `None` if missing.
    pub fn code(&self, row: usize) -> Option<usize> {
        self.codes.get(row).filter(|code| **code != Self::MISSING).map(|code| *code as usize)
    }

    /// The distinct values, in order of first appearance.
    pub fn distinct(&self) -> &[Box<str>] {
        &self.values
    }
}

impl<'a> FromIterator<Option<&'a str>> for TextColumn {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(cells: I) -> Self {
        let mut dictionary = Dictionary::default();
        let codes = cells.into_iter().map(|cell| dictionary.code_or_missing(cell)).collect();
        dictionary.into_column(codes)
    }
}

/// Collects distinct texts.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    codes: HashMap<Box<str>, u32>,
    n_letters: usize,
}

impl Dictionary {
    /// The memory of the distinct texts, in bytes: the letters, the entries and their place in the table.
    pub(crate) fn n_bytes(&self) -> usize {
        self.n_letters + 48 * self.codes.len()
    }

    pub(crate) fn code_of(&mut self, text: &str) -> u32 {
        if let Some(code) = self.codes.get(text) {
            return *code;
        }
        // The number of rows, and so of texts, fits in a `u32`.
        let code = self.codes.len() as u32;
        self.codes.insert(text.into(), code);
        self.n_letters += text.len();
        code
    }

    pub(crate) fn code_or_missing(&mut self, cell: Option<&str>) -> u32 {
        cell.map_or(TextColumn::MISSING, |text| self.code_of(text))
    }

    pub(crate) fn into_column(self, codes: Vec<u32>) -> TextColumn {
        let mut values: Vec<(Box<str>, u32)> = self.codes.into_iter().collect();
        values.sort_unstable_by_key(|(_, code)| *code);
        TextColumn { codes, values: values.into_iter().map(|(text, _)| text).collect() }
    }
}

/// True, false or missing per row, a byte each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BoolColumn {
    values: Vec<Option<bool>>,
}

impl BoolColumn {
    /// The value of a row, or `None` if missing.
    pub fn get(&self, row: usize) -> Option<bool> {
        self.values.get(row).copied().flatten()
    }
}

impl FromIterator<Option<bool>> for BoolColumn {
    fn from_iter<I: IntoIterator<Item = Option<bool>>>(cells: I) -> Self {
        Self { values: cells.into_iter().collect() }
    }
}
