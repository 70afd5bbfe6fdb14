//! The style of a column of times: taken from the text that is read, used when times are printed.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::{Instant, NamedMonth, ParsedTime, ParsedZone, ZoneStyle};
use crate::table::DateOrder;

/// Precision of a written time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeShape {
    /// `2013-03`.
    Month,
    /// `2013-03-15`.
    Date,
    /// `2013-03-15T06:30`.
    Minute,
    /// `2013-03-15T06:30:00`, with or without a fraction.
    Second,
}

/// How the date of a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateForm {
    /// `2013-03-15`.
    #[default]
    YearFirst,
    /// `05/03/2013` for the fifth of March.
    DayFirst,
    /// `5/3/2013` for the fifth of March.
    DayFirstShort,
    /// `03/05/2013` for the fifth of March.
    MonthFirst,
    /// `3/5/2013` for the fifth of March.
    MonthFirstShort,
    /// `20130315`, if there is no clock time.
    Compact,
    /// `2013Q1`, if the time is the beginning of a quarter.
    Quarter,
    /// `2013-Q1`, if the time is the beginning of a quarter.
    QuarterDash,
    /// `2013`, if the time is the beginning of a year.
    Year,
    /// `15 Mar 2013`.
    NamedMonth(NamedMonth),
}

impl DateForm {
    /// The order of day and month, if the year is last.
    pub fn order(self) -> Option<DateOrder> {
        match self {
            Self::DayFirst | Self::DayFirstShort => Some(DateOrder::DayFirst),
            Self::MonthFirst | Self::MonthFirstShort => Some(DateOrder::MonthFirst),
            Self::YearFirst
            | Self::Compact
            | Self::Quarter
            | Self::QuarterDash
            | Self::Year
            | Self::NamedMonth(_) => None,
        }
    }
}

/// How times are written. Printing loses nothing: a date style shows the clock if it is not midnight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeStyle {
    /// The precision.
    pub shape: TimeShape,
    /// How the date is written.
    #[serde(default)]
    pub form: DateForm,
    /// `-`, `/` or `.` between year, month and day.
    pub date_separator: char,
    /// `T`, `t` or a blank before the clock.
    pub separator: char,
    /// Minimum number of digits of the fraction of a second.
    pub fraction_digits: u8,
    /// The zone.
    pub zone: ZoneStyle,
}

impl Default for TimeStyle {
    fn default() -> Self {
        Self {
            shape: TimeShape::Second,
            form: DateForm::YearFirst,
            date_separator: '-',
            separator: 'T',
            fraction_digits: 0,
            zone: ZoneStyle::Naive,
        }
    }
}

impl TimeStyle {
    pub(crate) fn of(parsed: &ParsedTime<'_>) -> Self {
        let zone = match parsed.zone {
            ParsedZone::Naive => ZoneStyle::Naive,
            ParsedZone::Utc => ZoneStyle::Utc,
            ParsedZone::Offset { seconds, form } => ZoneStyle::Offset { seconds, form },
            ParsedZone::Named { name, has_offset, .. } => {
                ZoneStyle::Named { name: name.to_owned(), has_offset }
            }
        };
        Self {
            shape: parsed.shape,
            form: parsed.form,
            date_separator: char::from(parsed.date_separator),
            separator: char::from(parsed.separator),
            fraction_digits: parsed.fraction_digits,
            zone,
        }
    }

    /// The instant in this style.
    pub fn print(&self, instant: Instant) -> String {
        let mut text = String::new();
        self.print_to(&mut text, instant, None);
        text
    }

    /// Appends the instant in this style, with the offset it was read with, if any.
    pub(crate) fn print_to(&self, text: &mut String, instant: Instant, offset: Option<i32>) {
        let Ok(timestamp) = jiff::Timestamp::from_nanosecond(instant.nanoseconds()) else {
            // The calendar ends at the years -9999 and 9999; print the number of seconds.
            let _ = write!(text, "{}", instant.nanoseconds() as f64 / 1e9);
            return;
        };
        let mut seconds = offset.unwrap_or_else(|| self.zone.offset_at(timestamp));
        // Historic offsets have seconds, but an offset is written in minutes and the clock must agree with it.
        if !matches!(self.zone, ZoneStyle::Named { has_offset: false, .. }) {
            seconds -= seconds % 60;
        }
        let offset = jiff::tz::Offset::from_seconds(seconds).unwrap_or(jiff::tz::Offset::UTC);
        let civil = offset.to_datetime(timestamp);
        let dash = self.date_separator;
        let fraction = civil.subsec_nanosecond();
        let needed = if fraction != 0 || civil.second() != 0 {
            TimeShape::Second
        } else if civil.hour() != 0 || civil.minute() != 0 {
            TimeShape::Minute
        } else if civil.day() != 1 {
            TimeShape::Date
        } else {
            TimeShape::Month
        };
        // A date with a clock gets seconds.
        let shape = match self.shape {
            TimeShape::Month | TimeShape::Date if needed >= TimeShape::Minute => TimeShape::Second,
            shape => shape.max(needed),
        };
        let (year, month, day) = (civil.year(), civil.month(), civil.day());
        // Writing to a string cannot fail.
        let _ = match self.form {
            DateForm::DayFirst => write!(text, "{day:02}{dash}{month:02}{dash}{year:04}"),
            DateForm::DayFirstShort => write!(text, "{day}{dash}{month}{dash}{year:04}"),
            DateForm::MonthFirst => write!(text, "{month:02}{dash}{day:02}{dash}{year:04}"),
            DateForm::MonthFirstShort => write!(text, "{month}{dash}{day}{dash}{year:04}"),
            DateForm::Compact if needed <= TimeShape::Date => {
                let _ = write!(text, "{year:04}{month:02}{day:02}");
                return;
            }
            DateForm::Quarter | DateForm::QuarterDash if needed == TimeShape::Month && month % 3 == 1 => {
                let dash = if self.form == DateForm::QuarterDash { "-" } else { "" };
                let _ = write!(text, "{year:04}{dash}Q{}", month / 3 + 1);
                return;
            }
            DateForm::Year if needed == TimeShape::Month && month == 1 => {
                let _ = write!(text, "{year:04}");
                return;
            }
            DateForm::NamedMonth(named) => {
                let day = (shape >= TimeShape::Date).then_some(day);
                named.print_to(text, (year, month), day, dash);
                Ok(())
            }
            _ if shape >= TimeShape::Date => write!(text, "{year:04}{dash}{month:02}{dash}{day:02}"),
            _ => write!(text, "{year:04}{dash}{month:02}"),
        };
        if shape >= TimeShape::Minute {
            let _ = write!(text, "{}{:02}:{:02}", self.separator, civil.hour(), civil.minute());
            if shape >= TimeShape::Second {
                let _ = write!(text, ":{:02}", civil.second());
                self.print_fraction(text, fraction);
            }
            self.zone.push_to(text, seconds);
        }
    }

    fn print_fraction(&self, text: &mut String, nanoseconds: i32) {
        let digits = format!("{nanoseconds:09}");
        let needed = digits.trim_end_matches('0').len();
        let shown = needed.max(usize::from(self.fraction_digits)).min(9);
        if shown > 0 {
            text.push('.');
            text.push_str(&digits[..shown]);
        }
    }
}
