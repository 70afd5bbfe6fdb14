//! The way from instants to the numbers a model works with, and back.

use serde_json::{Value, json};

use super::{Instant, TimeStyle};

/// A time input as numbers: seconds after an origin.
///
/// The origin is near the data, not 1970: there a double holds seconds to 2e-7 only, too coarse for fast recordings.
/// A model must keep the axis of its training data and read new tables with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeAxis {
    /// Where the numbers are zero, in whole seconds since 1970-01-01 00:00 UTC.
    pub origin_seconds: i64,
    /// How instants are printed.
    pub style: TimeStyle,
}

impl TimeAxis {
    /// The number of an instant.
    pub fn number_of(&self, instant: Instant) -> f64 {
        instant.seconds_after(self.origin())
    }

    /// The instant of a number, to the nearest microsecond within four thousand years of the origin, or `None` if the
    /// number is not finite or outside the calendar.
    pub fn instant_of(&self, number: f64) -> Option<Instant> {
        // Microseconds, so that rounding in the model's arithmetic does not show as 11:59:59.999999999; nanoseconds
        // only where the number is so small, about a day, that they are real.
        let digits = if number.abs() < 1e5 { 1e9 } else { 1e6 };
        let ticks = (number * digits).round();
        if !(ticks.abs() < 4e17 || (digits == 1e9 && ticks.is_finite())) {
            return None;
        }
        let nanoseconds = ticks as i128 * if digits == 1e9 { 1 } else { 1000 };
        Some(Instant::from_nanoseconds(self.origin().nanoseconds() + nanoseconds))
    }

    /// A number as a time, in the style of the column it came from.
    pub fn print(&self, number: f64) -> String {
        self.instant_of(number).map_or_else(|| format!("{number}"), |instant| self.style.print(instant))
    }

    fn origin(&self) -> Instant {
        Instant::from_nanoseconds(i128::from(self.origin_seconds) * 1_000_000_000)
    }

    /// The axis as a piece of a model file's header.
    pub fn to_json(&self) -> Value {
        json!({"origin_seconds": self.origin_seconds, "style": self.style.to_json()})
    }

    /// The way back from [`TimeAxis::to_json`]; `None` if it is something else.
    pub fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            origin_seconds: value.get("origin_seconds")?.as_i64()?,
            style: TimeStyle::from_json(value.get("style")?)?,
        })
    }
}
