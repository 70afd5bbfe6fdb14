//! Converts instants to the numbers of a model and back.

use serde::{Deserialize, Serialize};

use super::{Instant, TimeStyle};

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
}

impl TimeAxis {
    /// The number of an instant.
    pub fn number_of(&self, instant: Instant) -> f64 {
        instant.seconds_after(self.origin())
    }

    /// The instant of a number, to the nearest microsecond, or `None` if the number is not finite or more than 4·10¹¹ seconds
    /// from the origin.
    pub fn instant_of(&self, number: f64) -> Option<Instant> {
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

    fn origin(&self) -> Instant {
        Instant::from_nanoseconds(i128::from(self.origin_seconds) * 1_000_000_000)
    }
}
