//! Durations as text: `48h`, `7d`, `15min`, `6mo`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::time::{BUSINESS_DAY, MONTH};

/// A length of time in seconds: finite and positive.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Duration(f64);

/// An invalid duration. Positions count letters from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name every field")]
pub enum DurationError {
    #[error("the duration is empty; write it as 48h, 7d or 15min")]
    Empty,
    #[error("{text:?} has no number at letter {position}; write a duration as 48h, 7d or 15min")]
    NoNumber { text: String, position: usize },
    #[error("{text:?} has no unit after letter {position}; write ms, s, min, h, d, w, mo, Q, y or B")]
    NoUnit { text: String, position: usize },
    #[error(
        "{text:?} has the unknown unit {unit:?} at letter {position}; write ms, s, min, h, d, w, mo, Q, y or B"
    )]
    UnknownUnit { text: String, unit: String, position: usize },
    #[error("{text:?} may mean minutes or months; write {number}min or {number}mo")]
    MinutesOrMonths { text: String, number: String },
    #[error("{text:?} is not a whole number of {unit}; give a whole number, or a duration such as 48h or 7d")]
    NotWhole { text: String, unit: &'static str },
    #[error("{text:?} is not a positive, finite duration")]
    NotPositive { text: String },
}

/// Names (the printed one first) and seconds of the units, from large to small.
const UNITS: &[(&[&str], f64)] = &[
    (&["w", "week", "weeks"], 604_800.0),
    (&["d", "day", "days"], 86_400.0),
    (&["h", "hr", "hour", "hours"], 3600.0),
    (&["min", "minute", "minutes"], 60.0),
    (&["s", "sec", "second", "seconds"], 1.0),
    (&["ms"], 1e-3),
    (&["us", "µs"], 1e-6),
    (&["ns"], 1e-9),
];

/// Names of the units of the calendar. As durations they have their mean lengths.
const CALENDAR_UNITS: &[(&[&str], CalendarUnit)] = &[
    (&["y", "Y", "yr", "year", "years"], CalendarUnit::Months(12)),
    (&["Q", "q", "quarter", "quarters"], CalendarUnit::Months(3)),
    (&["mo", "month", "months"], CalendarUnit::Months(1)),
    (&["B", "bd"], CalendarUnit::BusinessDay),
];

/// A unit whose length differs from one time to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalendarUnit {
    /// A number of months.
    Months(u32),
    BusinessDay,
}

impl CalendarUnit {
    /// The number of months or business days.
    pub(crate) fn count(self) -> u32 {
        match self {
            Self::Months(months) => months,
            Self::BusinessDay => 1,
        }
    }

    /// What it counts.
    pub(crate) fn base_name(self) -> &'static str {
        match self {
            Self::Months(_) => "months",
            Self::BusinessDay => "business days",
        }
    }

    fn seconds(self) -> f64 {
        match self {
            Self::Months(months) => f64::from(months) * MONTH,
            Self::BusinessDay => BUSINESS_DAY,
        }
    }
}

impl Duration {
    /// A duration in seconds, or `None` if it is not positive and finite.
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        (seconds > 0.0 && seconds.is_finite()).then_some(Self(seconds))
    }

    /// The duration in seconds.
    pub fn seconds(self) -> f64 {
        self.0
    }

    /// A text that reads back to the same duration up to the last digit, in the largest unit up to days in which it is at least one.
    pub fn exact_text(self) -> String {
        let units = &UNITS[1..];
        let unit = units.iter().find(|(_, seconds)| self.0 >= *seconds).unwrap_or(&units[units.len() - 1]);
        let number = self.0 / unit.1;
        // Fifteen digits hide a rounding error from unit conversion.
        let short: f64 = format!("{number:.14e}").parse().unwrap_or(number);
        let is_same = (short * unit.1 / self.0 - 1.0).abs() <= 4.0 * f64::EPSILON;
        format!("{}{}", if is_same { short } else { number }, unit.0[0])
    }
}

impl FromStr for Duration {
    type Err = DurationError;

    /// A month, a quarter or a year has its mean length in the Gregorian calendar; a business day is a fifth of a week.
    fn from_str(given: &str) -> Result<Self, DurationError> {
        match parse_duration(given)? {
            (_, Err(duration)) => Ok(duration),
            (number, Ok(unit)) => Self::from_seconds(number * unit.seconds())
                .ok_or_else(|| DurationError::NotPositive { text: given.to_owned() }),
        }
    }
}

/// The number of a duration with its unit of the calendar, or the duration if its unit has a fixed length.
pub(crate) fn parse_duration(given: &str) -> Result<(f64, Result<CalendarUnit, Duration>), DurationError> {
    let text = given.to_owned();
    let blank = given.len() - given.trim_start().len();
    let trimmed = given.trim();
    if trimmed.is_empty() {
        return Err(DurationError::Empty);
    }
    let letter = |offset: usize| given[..blank + offset].chars().count() + 1;
    let is_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-' | '+');
    let mut length = trimmed.find(|letter| !is_number(letter)).unwrap_or(trimmed.len());
    // An exponent, unless the letter begins a unit.
    let rest = &trimmed[length..];
    if length > 0 && rest.starts_with(['e', 'E']) {
        let exponent = rest[1..].find(|letter| !is_number(letter)).unwrap_or(rest.len() - 1);
        length += if exponent > 0 { 1 + exponent } else { 0 };
    }
    let Ok(number) = trimmed[..length].parse::<f64>() else {
        return Err(DurationError::NoNumber { text, position: letter(0) });
    };
    let unit = trimmed[length..].trim_start();
    let begin = trimmed.len() - unit.len();
    if unit.is_empty() {
        return Err(DurationError::NoUnit { text, position: letter(length) - 1 });
    }
    if matches!(unit, "m" | "M") {
        return Err(DurationError::MinutesOrMonths { text, number: trimmed[..length].to_owned() });
    }
    if !(number > 0.0 && number.is_finite()) {
        return Err(DurationError::NotPositive { text });
    }
    if let Some((_, unit)) = CALENDAR_UNITS.iter().find(|(names, _)| names.contains(&unit)) {
        return Ok((number, Ok(*unit)));
    }
    let known = UNITS.iter().find(|(names, _)| names.contains(&unit));
    let Some((_, seconds)) = known else {
        return Err(DurationError::UnknownUnit { text, unit: unit.to_owned(), position: letter(begin) });
    };
    let duration = Duration::from_seconds(number * seconds).ok_or(DurationError::NotPositive { text })?;
    Ok((number, Err(duration)))
}

impl fmt::Display for Duration {
    /// In the largest unit in which it is at least one (weeks only if whole, as in `2w`), with three significant digits.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weeks = UNITS[0].1;
        let is_whole_weeks = self.0 >= weeks && self.0 % weeks == 0.0 && self.0 < 100.0 * weeks;
        let units = if is_whole_weeks { UNITS } else { &UNITS[1..] };
        let last = units.len() - 1;
        let mut index = units.iter().position(|(_, seconds)| self.0 >= *seconds).unwrap_or(last);
        // 59.96 s rounds to 60.0 s, which is a minute.
        let mut rounded = three_digits(self.0 / units[index].1);
        if index > 0 && rounded * units[index].1 >= units[index - 1].1 {
            rounded = three_digits(rounded * units[index].1 / units[index - 1].1);
            index -= 1;
        }
        let unit = units[index].0[0];
        // Exponential notation below 0.001 ns and above a million days.
        if (1e-3..1e6).contains(&rounded) {
            write!(formatter, "{rounded}{unit}")
        } else {
            write!(formatter, "{rounded:e}{unit}")
        }
    }
}

/// The number with three significant digits, or rounded to an integer from 1000 on.
fn three_digits(value: f64) -> f64 {
    if (1000.0..1e15).contains(&value) {
        return value.round();
    }
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_parsed() {
        for (text, seconds) in [
            ("48h", 172_800.0),
            ("7d", 604_800.0),
            ("15min", 900.0),
            ("30s", 30.0),
            ("2w", 1_209_600.0),
            ("1.5h", 5400.0),
            ("500ms", 0.5),
            ("365.25d", 31_557_600.0),
            (" 2 days ", 172_800.0),
            ("1e3s", 1000.0),
            (".5min", 30.0),
            ("1y", 365.2425 * 86_400.0),
            ("4Q", 365.2425 * 86_400.0),
            ("12 months", 365.2425 * 86_400.0),
            ("5B", 604_800.0),
        ] {
            assert_eq!(text.parse::<Duration>().unwrap().seconds(), seconds, "{text}");
        }
    }

    #[test]
    fn durations_print_in_a_readable_unit() {
        for (seconds, text) in [
            (172_800.0, "2d"),
            (1_209_600.0, "2w"),
            (5400.0, "1.5h"),
            (900.0, "15min"),
            (59.96, "1min"),
            (0.5, "500ms"),
            (31_557_600.0, "365d"),
            (1.0 / 3.0, "333ms"),
            (2e-7, "200ns"),
            (123_456.0, "1.43d"),
        ] {
            assert_eq!(Duration(seconds).to_string(), text);
        }
    }

    #[test]
    fn errors_point_at_the_letter() {
        let error = |text: &str| text.parse::<Duration>().unwrap_err();
        assert_eq!(error("  "), DurationError::Empty);
        assert!(matches!(error("48"), DurationError::NoUnit { position: 2, .. }));
        assert!(matches!(error("48 fortnights"), DurationError::UnknownUnit { position: 4, .. }));
        assert_eq!(error("6m").to_string(), "\"6m\" may mean minutes or months; write 6min or 6mo");
        assert!(matches!(error(" soon"), DurationError::NoNumber { position: 2, .. }));
        assert!(matches!(error("0h"), DurationError::NotPositive { .. }));
        assert!(matches!(error("-1d"), DurationError::NotPositive { .. }));
    }

    #[test]
    fn exact_texts_are_short() {
        for (seconds, text) in [
            (86_400.0, "1d"),
            (3.0 * (86_400.0 / 3.0 + 1e-11), "1d"),
            (31_557_600.0, "365.25d"),
            (5400.0, "1.5h"),
            (0.25, "250ms"),
            (1e-12, "0.001ns"),
        ] {
            assert_eq!(Duration(seconds).exact_text(), text);
        }
    }

    proptest! {
        #[test]
        fn exact_texts_read_back(exponent in -12.0_f64..15.0) {
            let seconds = 10_f64.powf(exponent);
            let read: Duration = Duration(seconds).exact_text().parse().unwrap();
            prop_assert!((read.seconds() / seconds - 1.0).abs() <= 1e-15);
        }

        /// Three digits are an error of at most half a percent, whatever the unit.
        #[test]
        fn printing_and_reading_agree_to_three_digits(exponent in -8.0_f64..10.0) {
            let seconds = 10_f64.powf(exponent);
            let printed = Duration(seconds).to_string();
            let read: Duration = printed.parse().unwrap();
            prop_assert!((read.seconds() / seconds - 1.0).abs() <= 0.005 + 1e-12, "{} {}", seconds, printed);
        }

        #[test]
        fn any_text_is_parsed_or_rejected(text in "\\PC{0,12}") {
            let _ = text.parse::<Duration>();
        }
    }
}
