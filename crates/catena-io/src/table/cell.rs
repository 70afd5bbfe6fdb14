//! Classifies the text of a cell: missing, a number, a time, or something else and why.

use std::fmt;

use super::{CellRules, Decimal};
use crate::place::{Excerpt, Place};
use crate::time::{
    ParsedTime, TimeProblem, looks_like_time, named_month_has_year, parse_time, parse_year_last,
    time_problem, year_last_date,
};

/// A cell that does not fit its column. A column with such a cell is rejected when it is used.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidCell {
    /// Location of the first such cell.
    pub place: Place,
    /// Its text.
    pub text: Excerpt,
    /// The problem.
    pub reason: CellProblem,
    /// Number of such cells in the column.
    pub count: usize,
}

/// Why a cell does not fit its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellProblem {
    /// Text among numbers or times.
    Text,
    /// An infinite number, or one beyond the range of a double.
    Infinite,
    /// A comma where a decimal point should be.
    DecimalComma,
    /// A point where a decimal comma should be.
    DecimalPoint,
    /// Thousands separators.
    ThousandsSeparator,
    /// A date whose day and month are ambiguous.
    AmbiguousDate,
    /// A date with the year last that does not exist in the order in which the dates of the table are read.
    OtherDateOrder,
    /// A date whose year has two digits.
    ShortYear,
    /// Looks like an ISO time but is invalid.
    InvalidTime,
    /// A time after the last that can be represented, or too far from others with nanoseconds.
    TimeOutOfRange,
    /// A local time that occurs twice or never in its time zone.
    TimeOfClockChange,
    /// Times with and without a zone, or zones of different kinds, in one column.
    MixedZones,
    /// An integer beyond 2^53.
    TooManyDigits,
    /// A number in a column of times.
    NumberAmongTimes,
    /// A time in a column of numbers.
    TimeAmongNumbers,
}

impl CellProblem {
    /// Whether the cell is almost a time.
    pub(crate) fn is_about_times(self) -> bool {
        matches!(
            self,
            Self::AmbiguousDate
                | Self::OtherDateOrder
                | Self::ShortYear
                | Self::InvalidTime
                | Self::MixedZones
                | Self::TimeOutOfRange
                | Self::TimeOfClockChange
        )
    }

    /// Whether the cell is almost a number or a time, rather than text.
    pub(crate) fn is_nearly_value(self) -> bool {
        self.is_about_times()
            || matches!(
                self,
                Self::DecimalComma | Self::DecimalPoint | Self::ThousandsSeparator | Self::TooManyDigits
            )
    }
}

impl fmt::Display for CellProblem {
    /// The problem and what to do, as the end of a sentence.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Text => "is text; empty the cell or write NA if the value is missing",
            Self::Infinite => "is infinite; empty the cell or write NA if the value is missing",
            Self::DecimalComma => {
                "has a decimal comma; pass --decimal comma if all numbers have one, else write numbers with a decimal point"
            }
            Self::DecimalPoint => {
                "has a decimal point in a table with decimal commas; write all numbers with the same sign, and pass --decimal point or \
                 --decimal comma"
            }
            Self::ThousandsSeparator => {
                "has thousands separators; write numbers without them, or pass --decimal comma if the comma is a decimal sign"
            }
            Self::AmbiguousDate => {
                "is a date with the year last, so day and month are ambiguous; pass --dates day-first or --dates month-first, or write \
                 dates as 2013-03-15"
            }
            Self::OtherDateOrder => {
                "is not a valid date in the order of the other dates; pass --dates day-first or --dates month-first, or write dates as \
                 2013-03-15"
            }
            Self::ShortYear => "is a date whose year has two digits; write dates as 2013-03-15",
            Self::InvalidTime => "is not a valid date or time; write times as 2013-03-15T06:30:00",
            Self::TimeOutOfRange => {
                "is out of range: times end in 9999-12-30, and in 2262 if a column has nanoseconds; empty the cell if the value is \
                 missing"
            }
            Self::TimeOfClockChange => {
                "is ambiguous or skipped, because clocks change in its time zone; write the offset, as in \
                 2024-11-03T01:30:00-04:00[America/New_York]"
            }
            Self::MixedZones => {
                "has another kind of zone than the cells before it; write all times of a column with a zone, or none"
            }
            Self::TooManyDigits => {
                "is an integer beyond 2^53, which would lose digits; subtract an origin, write times such as 2013-03-15T06:30:00, or \
                 write an exponent if it is not exact"
            }
            Self::NumberAmongTimes => "is a number in a column of times; write it as a time",
            Self::TimeAmongNumbers => {
                "is a time in a column of numbers; empty the cell if the value is missing"
            }
        })
    }
}

/// The content of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    Missing,
    /// Whether the number was written as an integer that a double holds exactly.
    Number {
        value: f64,
        is_integer: bool,
        /// The number of digits after the decimal sign; `None` if the number has an exponent.
        decimals: Option<u8>,
    },
    Time(ParsedTime<'a>),
    Other(CellProblem),
}

/// Text without surrounding blanks.
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

/// The content of a cell under the default rules; `text` must be [`trimmed`].
pub(crate) fn classify(text: &[u8]) -> Cell<'_> {
    CellRules::default().classify(text)
}

impl CellRules {
    /// The content of a cell; `text` must be [`trimmed`].
    pub(crate) fn classify<'a>(&self, text: &'a [u8]) -> Cell<'a> {
        let Some(first) = text.first() else { return Cell::Missing };
        let may_be_number = first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.' | b',');
        if let Some(cell) = may_be_number.then(|| self.number(text)).flatten() {
            return match cell {
                Cell::Number { value, .. } if self.is_code_number(value) => Cell::Missing,
                _ if self.is_code(text) => Cell::Missing,
                cell => cell,
            };
        }
        if is_missing_word(text) || self.is_code(text) {
            return Cell::Missing;
        }
        if let Some(time) = parse_time(text) {
            return Cell::Time(time);
        }
        if let Some(cell) = self.dates.and_then(|order| parse_year_last(text, order)) {
            return Cell::Time(cell);
        }
        Cell::Other(self.reason(text))
    }

    fn number(&self, text: &[u8]) -> Option<Cell<'static>> {
        let text = std::str::from_utf8(text).ok()?;
        if self.decimal == Decimal::Point {
            return number(text);
        }
        if let Some((whole, decimals)) = text.split_once(',') {
            // A point beside a comma separates thousands.
            let is_plain = !text.contains('.') && !decimals.contains(',');
            return is_plain.then(|| number(&format!("{whole}.{decimals}"))).flatten();
        }
        match number(text)? {
            Cell::Number { .. } if text.contains('.') => Some(Cell::Other(CellProblem::DecimalPoint)),
            cell => Some(cell),
        }
    }

    fn reason(&self, text: &[u8]) -> CellProblem {
        match reason(text) {
            CellProblem::AmbiguousDate if self.dates.is_some() => CellProblem::OtherDateOrder,
            CellProblem::DecimalComma if self.decimal == Decimal::Comma => CellProblem::ThousandsSeparator,
            reason => reason,
        }
    }
}

/// Doubles hold integers below this bound exactly.
pub(crate) const LARGEST_EXACT: u64 = 1 << 53;

fn number(text: &str) -> Option<Cell<'static>> {
    let value: f64 = text.parse().ok()?;
    if value.is_nan() {
        return None;
    }
    if value.is_infinite() {
        return Some(Cell::Other(CellProblem::Infinite));
    }
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_integer = digits.iter().all(u8::is_ascii_digit);
    let is_whole = is_integer
        || text.strip_prefix('+').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    // 2^53 + 1 parses as 2^53, so the bound itself is excluded.
    if is_whole && value.abs() >= LARGEST_EXACT as f64 {
        return Some(Cell::Other(CellProblem::TooManyDigits));
    }
    let decimals = if is_whole { Some(0) } else { decimals_of(text.as_bytes()) };
    Some(Cell::Number { value, is_integer, decimals })
}

/// The number of digits after the point; `None` if there is an exponent.
fn decimals_of(number: &[u8]) -> Option<u8> {
    // From the end, where the point is near.
    match number.iter().rposition(|byte| !byte.is_ascii_digit()) {
        Some(at) if number[at] == b'.' => u8::try_from(number.len() - at - 1).ok(),
        _ => None,
    }
}

fn is_missing_word(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 12] =
        [b"na", b"nan", b"null", b"none", b"n/a", b"-", b"#n/a", b"<na>", b"nat", b".", b"..", b"?"];
    text.len() <= 4 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn reason(text: &[u8]) -> CellProblem {
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if unsigned.eq_ignore_ascii_case(b"inf") || unsigned.eq_ignore_ascii_case(b"infinity") {
        return CellProblem::Infinite;
    }
    if looks_like_time(text) {
        return match time_problem(text) {
            Some(TimeProblem::OutOfRange) => CellProblem::TimeOutOfRange,
            Some(TimeProblem::ClockChange) => CellProblem::TimeOfClockChange,
            None => CellProblem::InvalidTime,
        };
    }
    if let Some(has_year) = named_month_has_year(text) {
        return if has_year { CellProblem::InvalidTime } else { CellProblem::ShortYear };
    }
    if let Some(date) = year_last_date(text) {
        return if date.has_long_year { CellProblem::AmbiguousDate } else { CellProblem::ShortYear };
    }
    let is_numeric = |bytes: &[u8]| {
        bytes.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b' ' | b'\''))
    };
    if unsigned.first().is_some_and(u8::is_ascii_digit) && is_numeric(unsigned) {
        let commas = unsigned.iter().filter(|byte| **byte == b',').count();
        let points = unsigned.iter().filter(|byte| **byte == b'.').count();
        let tail = unsigned.rsplit(|byte| !byte.is_ascii_digit()).next().map_or(0, <[u8]>::len);
        // `1,234` is read as a thousand, `3,14` and `1.234,5` as a decimal comma.
        return match (commas, points) {
            (1, 0) if tail != 3 => CellProblem::DecimalComma,
            (1, points) if points > 0 && ends_in_comma_group(unsigned) => CellProblem::DecimalComma,
            _ => CellProblem::ThousandsSeparator,
        };
    }
    CellProblem::Text
}

fn ends_in_comma_group(text: &[u8]) -> bool {
    text.iter().rposition(|byte| *byte == b',') > text.iter().rposition(|byte| *byte == b'.')
}

/// Whether all cells of the first line are values, so that the header is missing.
pub(crate) fn is_header_data<'a>(mut names: impl Iterator<Item = &'a [u8]>) -> bool {
    names.all(looks_like_data)
}

/// Whether an unquoted name is a number or a time.
pub(crate) fn looks_like_data(name: &[u8]) -> bool {
    let name = trimmed(name);
    !name.is_empty() && matches!(classify(name), Cell::Number { .. } | Cell::Time(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::DateOrder;

    #[test]
    fn cells_are_classified() {
        for missing in
            ["", "NA", "nan", "NULL", "None", "n/a", "N/A", "-", "#N/A", "<NA>", "NaT", ".", "..", "?"]
        {
            assert_eq!(classify(missing.as_bytes()), Cell::Missing, "{missing}");
        }
        for (text, value) in [
            ("1", 1.0),
            ("9007199254740991", 9_007_199_254_740_991.0),
            ("1e16", 1e16),
            ("-2.5e3", -2500.0),
            (".5", 0.5),
            ("+7", 7.0),
            ("5.", 5.0),
        ] {
            assert!(matches!(classify(text.as_bytes()), Cell::Number { value: read, .. } if read == value));
        }
        for (text, reason) in [
            ("inf", CellProblem::Infinite),
            ("9007199254740993", CellProblem::TooManyDigits),
            ("+9007199254740993", CellProblem::TooManyDigits),
            ("-12345678901234567890123", CellProblem::TooManyDigits),
            ("-Infinity", CellProblem::Infinite),
            ("1e999", CellProblem::Infinite),
            ("3,14", CellProblem::DecimalComma),
            ("1.234,5", CellProblem::DecimalComma),
            ("1,234", CellProblem::ThousandsSeparator),
            ("1,234.5", CellProblem::ThousandsSeparator),
            ("1 234", CellProblem::ThousandsSeparator),
            ("15/03/2013", CellProblem::AmbiguousDate),
            ("15/03/13", CellProblem::ShortYear),
            ("2013-02-30", CellProblem::InvalidTime),
            ("2013-02-30T01:30:00[America/New_York]", CellProblem::InvalidTime),
            ("9999-12-31", CellProblem::TimeOutOfRange),
            ("9999-12-31T23:59:59Z", CellProblem::TimeOutOfRange),
            ("2024-11-03T01:30:00[America/New_York]", CellProblem::TimeOfClockChange),
            ("2024-03-10T02:30:00[America/New_York]", CellProblem::TimeOfClockChange),
            ("12%", CellProblem::Text),
            ("cold", CellProblem::Text),
        ] {
            assert_eq!(classify(text.as_bytes()), Cell::Other(reason), "{text}");
        }
    }

    #[test]
    fn rules_change_what_cells_are() {
        let codes = ["-999".to_owned(), "miss".to_owned()];
        let rules = CellRules::new(&codes, Decimal::Comma, Some(DateOrder::DayFirst));
        for missing in ["-999", "-999,0", "MISS", "NA"] {
            assert_eq!(rules.classify(missing.as_bytes()), Cell::Missing, "{missing}");
        }
        for (text, value, decimals) in [
            ("3,25", 3.25, Some(2)),
            ("-0,5", -0.5, Some(1)),
            (",25", 0.25, Some(2)),
            ("1,234", 1.234, Some(3)),
            ("7", 7.0, Some(0)),
            ("1,5e3", 1500.0, None),
        ] {
            let is_integer = text == "7";
            assert_eq!(
                rules.classify(text.as_bytes()),
                Cell::Number { value, is_integer, decimals },
                "{text}"
            );
        }
        for (text, reason) in [
            ("3.14", CellProblem::DecimalPoint),
            ("1.234,5", CellProblem::ThousandsSeparator),
            ("1,2,3", CellProblem::ThousandsSeparator),
            ("12/31/2013", CellProblem::OtherDateOrder),
            ("31/12/13", CellProblem::ShortYear),
        ] {
            assert_eq!(rules.classify(text.as_bytes()), Cell::Other(reason), "{text}");
        }
        let Cell::Time(day) = rules.classify(b"31/12/2013") else { panic!("not a date") };
        let Cell::Time(iso) = classify(b"2013-12-31") else { panic!("not a date") };
        assert_eq!(day.instant, iso.instant);
    }
}
