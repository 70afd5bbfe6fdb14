//! Converts instants to the numbers of a model and back.

use serde::{Deserialize, Serialize};

use super::{Calendar, Instant, TimeStyle};

/// A time input as numbers: seconds after an origin.
///
/// The origin is near the data, not at 1970, where a double resolves only 2e-7 seconds. A model keeps the axis of its training
/// data and reads new tables with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeAxis {
    /// The origin, in seconds since 1970-01-01 00:00 UTC.
    pub origin_seconds: i64,
    /// The style of printed instants.
    pub style: TimeStyle,
    /// The calendar along which distances are counted; `None` for elapsed time, as in model files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calendar: Option<Calendar>,
}

impl TimeAxis {
    /// An axis of elapsed time.
    pub fn elapsed(origin_seconds: i64, style: TimeStyle) -> Self {
        Self { origin_seconds, style, calendar: None }
    }

    /// The number of an instant. `None` if its calendar does not have it: at a weekend of the business calendar, or beyond the year
    /// 9999. Elapsed time has every instant.
    pub fn number_of(&self, instant: Instant) -> Option<f64> {
        match self.calendar {
            None => Some(instant.seconds_after(self.origin())),
            Some(calendar) => calendar.number_of(instant, self.origin(), &self.style.zone),
        }
    }

    /// The instant of a number, to the nearest microsecond, or `None` if the number is not finite or more than 4·10¹¹ seconds
    /// from the origin.
    pub fn instant_of(&self, number: f64) -> Option<Instant> {
        if let Some(calendar) = self.calendar {
            return calendar.instant_of(number, self.origin(), &self.style.zone);
        }
        // Microseconds, so that rounding errors do not show as 11:59:59.999999999; nanoseconds within about a day of the
        // origin, where they are exact.
        let digits = if number.abs() < 1e5 { 1e9 } else { 1e6 };
        let ticks = (number * digits).round();
        if !(ticks.abs() < 4e17 || (digits == 1e9 && ticks.is_finite())) {
            return None;
        }
        let nanoseconds = ticks as i128 * if digits == 1e9 { 1 } else { 1000 };
        Some(Instant::from_nanoseconds(self.origin().nanoseconds() + nanoseconds))
    }

    /// A number as a time, in the style of the axis.
    pub fn print(&self, number: f64) -> String {
        self.instant_of(number).map_or_else(|| format!("{number}"), |instant| self.style.print(instant))
    }

    /// Seconds since 1970 of a number: its instant, or the number after the origin if there is no such instant.
    pub fn unix_seconds(&self, number: f64) -> f64 {
        match self.calendar.and_then(|_| self.instant_of(number)) {
            Some(instant) => instant.seconds_after(Instant::from_nanoseconds(0)),
            None => self.origin_seconds as f64 + number,
        }
    }

    fn origin(&self) -> Instant {
        Instant::from_nanoseconds(i128::from(self.origin_seconds) * 1_000_000_000)
    }
}
