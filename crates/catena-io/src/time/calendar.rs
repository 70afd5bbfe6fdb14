//! Calendars: axes on which every month, or every day from Monday to Friday, is equally long.
//!
//! A calendar numbers instants in seconds, like elapsed time, so that lengths keep their units: a month counts as a twelfth of the
//! mean Gregorian year, a business day as a fifth of a week. So `1y` is exactly twelve months on one axis, and `1w` exactly five
//! business days on the other.

use std::fmt;
use std::str::FromStr;

use jiff::civil;
use jiff::tz::{Offset, TimeZone};
use serde::{Deserialize, Serialize};

use super::{Instant, ZoneStyle};

/// Seconds of a mean month: a twelfth of 365.2425 days.
pub(crate) const MONTH: f64 = 2_629_746.0;
/// Seconds of a mean business day: a fifth of a week.
pub(crate) const BUSINESS_DAY: f64 = 120_960.0;
/// Nanoseconds of a day.
pub(crate) const DAY: i128 = 86_400_000_000_000;

/// The day of the month and the time of day that mark the beginning of each month of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonthDay {
    /// From 1 to 31; months with fewer days have their last day. So 31 means the end of every month.
    pub day: u8,
    /// Seconds after midnight.
    pub clock_seconds: u32,
}

impl MonthDay {
    /// Midnight of the first day.
    pub const FIRST: Self = Self { day: 1, clock_seconds: 0 };
}

/// A calendar along which distances are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Calendar {
    /// Every month has the same length, from one [`MonthDay`] to the next; between them time is linear.
    Month(MonthDay),
    /// Days from Monday to Friday; weekends do not exist.
    Business,
}

/// Which calendar the times of a table are put on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CalendarChoice {
    /// Months if all times lie on a calendar of months, quarters or years; else elapsed time.
    #[default]
    Auto,
    /// Elapsed time.
    Elapsed,
    /// Months.
    Month,
    /// Business days.
    Business,
}

/// A word that is not a calendar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write auto, elapsed, month or business")]
pub struct UnknownCalendar;

impl FromStr for CalendarChoice {
    type Err = UnknownCalendar;

    fn from_str(text: &str) -> Result<Self, UnknownCalendar> {
        match text {
            "auto" => Ok(Self::Auto),
            "elapsed" => Ok(Self::Elapsed),
            "month" => Ok(Self::Month),
            "business" => Ok(Self::Business),
            _ => Err(UnknownCalendar),
        }
    }
}

impl Calendar {
    /// Seconds between the beginning of the month or day of `origin` and an instant; `None` beyond the years -9999 to 9999, and at
    /// a weekend of the business calendar.
    pub(crate) fn number_of(self, instant: Instant, origin: Instant, zone: &ZoneStyle) -> Option<f64> {
        let (instant, origin) = (local_of(instant, zone)?, local_of(origin, zone)?);
        match self {
            Self::Month(start) => {
                let month = start.month_of(instant)?;
                let (from, to) = (start.beginning(month)?, start.beginning(month + 1)?);
                let months = month - start.month_of(origin)?;
                Some(MONTH * (months as f64 + (instant - from) as f64 / (to - from) as f64))
            }
            Self::Business => {
                let days = business_day(instant.div_euclid(DAY))? - business_day(origin.div_euclid(DAY))?;
                Some(BUSINESS_DAY * (days as f64 + instant.rem_euclid(DAY) as f64 / DAY as f64))
            }
        }
    }

    /// The instant of a number, to the nearest microsecond.
    pub(crate) fn instant_of(self, number: f64, origin: Instant, zone: &ZoneStyle) -> Option<Instant> {
        let origin = local_of(origin, zone)?;
        // Far beyond the years that exist, where an integer would overflow.
        if number.is_nan() || number.abs() >= 1e13 {
            return None;
        }
        let local = match self {
            Self::Month(start) => {
                let months = number / MONTH;
                let month = start.month_of(origin)? + months.floor() as i64;
                let (from, to) = (start.beginning(month)?, start.beginning(month + 1)?);
                from + microseconds((months - months.floor()) * (to - from) as f64)
            }
            Self::Business => {
                let ticks = microseconds(number / BUSINESS_DAY * DAY as f64);
                let day = business_day(origin.div_euclid(DAY))? + ticks.div_euclid(DAY) as i64;
                day_of_business(day) * DAY + ticks.rem_euclid(DAY)
            }
        };
        instant_at(local, zone)
    }
}

/// Nanoseconds, rounded to microseconds.
fn microseconds(nanoseconds: f64) -> i128 {
    (nanoseconds / 1000.0).round() as i128 * 1000
}

impl MonthDay {
    /// The month in which a local time lies, counted from the year 0; it begins at this day.
    fn month_of(self, local: i128) -> Option<i64> {
        let month = civil_month(local)?;
        Some(if local < self.beginning(month)? { month - 1 } else { month })
    }

    /// The local time at which a month begins.
    fn beginning(self, month: i64) -> Option<i128> {
        Some(midnight_in(month, self.day)? + i128::from(self.clock_seconds) * 1_000_000_000)
    }
}

/// The month of a local time, counted from January of the year 0.
pub(crate) fn civil_month(local: i128) -> Option<i64> {
    let date = civil_of(local)?;
    Some(12 * i64::from(date.year()) + i64::from(date.month()) - 1)
}

/// Local midnight of a day of a month, or of its last day if the month is shorter.
pub(crate) fn midnight_in(month: i64, day: u8) -> Option<i128> {
    let year = i16::try_from(month.div_euclid(12)).ok()?;
    let first = civil::Date::new(year, (month.rem_euclid(12) + 1) as i8, 1).ok()?;
    let date = civil::Date::new(year, first.month(), (day as i8).min(first.days_in_month())).ok()?;
    Some(Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?.as_nanosecond())
}

/// The date and clock of a local time.
pub(crate) fn civil_of(local: i128) -> Option<civil::DateTime> {
    Some(Offset::UTC.to_datetime(jiff::Timestamp::from_nanosecond(local).ok()?))
}

/// The day of the week of a day counted from 1970, with 0 for Monday. 1970 began with a Thursday.
pub(crate) fn weekday(day: i128) -> i64 {
    (day + 3).rem_euclid(7) as i64
}

/// The number of a day among business days; `None` at a weekend.
fn business_day(day: i128) -> Option<i64> {
    let weekday = weekday(day);
    (weekday < 5).then(|| 5 * (day + 3).div_euclid(7) as i64 + weekday)
}

/// The day of a business day; the inverse of [`business_day`].
fn day_of_business(number: i64) -> i128 {
    i128::from(7 * number.div_euclid(5) + number.rem_euclid(5) - 3)
}

/// The day that lies a number of business days after a day; a weekend counts as the Friday before it.
pub(crate) fn business_days_after(day: i128, count: i64) -> i128 {
    let last = day - i128::from((weekday(day) - 4).max(0));
    // The day before a weekend is a business day.
    day_of_business(business_day(last).unwrap_or_default() + count)
}

/// The local time of an instant as nanoseconds, as if the zone had no offset.
pub(crate) fn local_of(instant: Instant, zone: &ZoneStyle) -> Option<i128> {
    let timestamp = jiff::Timestamp::from_nanosecond(instant.nanoseconds()).ok()?;
    Some(instant.nanoseconds() + i128::from(zone.offset_at(timestamp)) * 1_000_000_000)
}

/// The instant of a local time. A time that clocks skip is moved forward; of a repeated one, the first counts.
pub(crate) fn instant_at(local: i128, zone: &ZoneStyle) -> Option<Instant> {
    let civil = civil_of(local)?;
    let nanoseconds = match zone {
        ZoneStyle::Naive | ZoneStyle::Utc => local,
        ZoneStyle::Offset { seconds, .. } => local - i128::from(*seconds) * 1_000_000_000,
        ZoneStyle::Named { name, .. } => match TimeZone::get(name) {
            Ok(zone) => zone.to_ambiguous_timestamp(civil).compatible().ok()?.as_nanosecond(),
            Err(_) => local,
        },
    };
    Some(Instant::from_nanoseconds(nanoseconds))
}

impl fmt::Display for Calendar {
    /// As in `months, each on its last day`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Month(start) => write!(formatter, "months of equal length, {start}"),
            Self::Business => formatter.write_str("business days, Monday to Friday"),
        }
    }
}

impl fmt::Display for MonthDay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.day {
            1 => formatter.write_str("on the first day of the month"),
            31 => formatter.write_str("on the last day of the month"),
            day => write!(formatter, "on day {day} of the month"),
        }
    }
}
