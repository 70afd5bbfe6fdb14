//! How cells are read: codes for missing values, the decimal sign, and the order of dates with the year last.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The sign before the decimals of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decimal {
    /// `3.14`.
    #[default]
    Point,
    /// `3,14`.
    Comma,
}

/// The order of a date with the year last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// `15/03/2013`.
    DayFirst,
    /// `03/15/2013`.
    MonthFirst,
}

/// A text that stands for a missing value, and the number it is, if it is one: `-999` is also written `-999.0`.
#[derive(Debug, Clone, PartialEq)]
struct MissingCode {
    text: Box<[u8]>,
    number: Option<f64>,
}

/// The rules by which the cells of a table are read. The default ones are those of ISO: a decimal point and the year first.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CellRules {
    missing: Arc<[MissingCode]>,
    pub(crate) decimal: Decimal,
    pub(crate) dates: Option<DateOrder>,
}

impl CellRules {
    /// Rules with these codes for missing values, beside the words that always mean one.
    pub(crate) fn new(missing: &[String], decimal: Decimal, dates: Option<DateOrder>) -> Self {
        let code = |text: &String| MissingCode {
            text: text.trim().as_bytes().into(),
            number: text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        };
        Self { missing: missing.iter().map(code).collect(), decimal, dates }
    }

    /// Whether a trimmed text is one of the codes.
    pub(super) fn is_code(&self, text: &[u8]) -> bool {
        self.missing.iter().any(|code| text.eq_ignore_ascii_case(&code.text))
    }

    /// Whether a number is one of the codes.
    pub(crate) fn is_code_number(&self, value: f64) -> bool {
        self.missing.iter().any(|code| code.number == Some(value))
    }
}
