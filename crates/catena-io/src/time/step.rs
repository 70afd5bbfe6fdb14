//! Steps and horizons: a length of elapsed time, or a number of months or business days.

use std::fmt;
use std::str::FromStr;

use super::calendar::{
    BUSINESS_DAY, DAY, MONTH, business_days_after, civil_month, instant_at, local_of, midnight_in,
};
use super::{Instant, MonthDay, ZoneStyle};
use crate::units::{CalendarUnit, Duration, DurationError, parse_duration};

/// A step along time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Elapsed time.
    Elapsed(Duration),
    /// Months: a day of one month to the same day of another, or to its last day if it is shorter.
    Months(u32),
    /// Days from Monday to Friday.
    BusinessDays(u32),
}

/// How far ahead: a number of steps, or a length of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Horizon {
    /// A number of steps, from 1.
    Steps(usize),
    /// A length of time.
    Along(Step),
}

impl Step {
    /// The instant `times` steps later, or earlier if negative. `day` is the day of the month on which a column lies: from it, the
    /// end of one month is followed by the end of the next. `None` beyond the calendar.
    pub fn after(
        self,
        instant: Instant,
        times: i64,
        zone: &ZoneStyle,
        day: Option<MonthDay>,
    ) -> Option<Instant> {
        match self {
            Self::Elapsed(duration) => {
                let nanoseconds = (duration.seconds() * times as f64 * 1e9).round();
                (nanoseconds.abs() < 1e30)
                    .then(|| Instant::from_nanoseconds(instant.nanoseconds() + nanoseconds as i128))
            }
            Self::Months(months) => {
                let local = local_of(instant, zone)?;
                let month = civil_month(local)?.checked_add(times.checked_mul(i64::from(months))?)?;
                let own = super::calendar::civil_of(local)?.day() as u8;
                let midnight = midnight_in(month, day.map_or(own, |day| day.day))?;
                instant_at(midnight + local.rem_euclid(DAY), zone)
            }
            Self::BusinessDays(days) => {
                let local = local_of(instant, zone)?;
                let count = times.checked_mul(i64::from(days)).filter(|count| count.abs() < 1 << 32)?;
                let day = business_days_after(local.div_euclid(DAY), count);
                instant_at(day * DAY + local.rem_euclid(DAY), zone)
            }
        }
    }

    /// The length in seconds; of months and business days, the mean.
    pub fn seconds(self) -> f64 {
        match self {
            Self::Elapsed(duration) => duration.seconds(),
            Self::Months(months) => f64::from(months) * MONTH,
            Self::BusinessDays(days) => f64::from(days) * BUSINESS_DAY,
        }
    }
}

impl FromStr for Step {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        let (number, unit) = match parse_duration(text)? {
            (number, Ok(unit)) => (number, unit),
            (_, Err(duration)) => return Ok(Self::Elapsed(duration)),
        };
        let count = number * f64::from(unit.count());
        if count.fract() != 0.0 || !(1.0..1e6).contains(&count) {
            return Err(DurationError::NotWhole { text: text.to_owned(), unit: unit.base_name() });
        }
        Ok(match unit {
            CalendarUnit::Months(_) => Self::Months(count as u32),
            CalendarUnit::BusinessDay => Self::BusinessDays(count as u32),
        })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Elapsed(duration) => write!(formatter, "{duration}"),
            Self::Months(months) if months % 12 == 0 => write!(formatter, "{}y", months / 12),
            Self::Months(months) if months % 3 == 0 => write!(formatter, "{}Q", months / 3),
            Self::Months(months) => write!(formatter, "{months}mo"),
            Self::BusinessDays(days) => write!(formatter, "{days}B"),
        }
    }
}

impl FromStr for Horizon {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(steps) = text.trim().parse::<usize>() {
            return if steps > 0 {
                Ok(Self::Steps(steps))
            } else {
                Err("write at least one step".to_owned())
            };
        }
        text.parse()
            .map(Self::Along)
            .map_err(|error: DurationError| format!("{error}, or a whole number of steps"))
    }
}

impl fmt::Display for Horizon {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps(1) => formatter.write_str("1 step"),
            Self::Steps(steps) => write!(formatter, "{steps} steps"),
            Self::Along(step) => write!(formatter, "{step}"),
        }
    }
}
