//! Time stamps: exact instants and the style they were written in.
//!
//! `parse` reads ISO 8601, `named_month` dates such as `3 Jan 2020`, `style` prints, `zone` has the time zones. `calendar` has months and business days of equal length, and
//! `axis` converts instants to numbers and back. `step` has steps and horizons, `grid` finds the calendar of a column, and `ahead`
//! gives the rows of a forecast.

mod ahead;
mod axis;
mod calendar;
mod grid;
mod named_month;
mod parse;
mod step;
mod style;
mod zone;

pub use ahead::{AheadError, RowsAhead, Stepping};
pub use axis::TimeAxis;
pub(crate) use calendar::{BUSINESS_DAY, MONTH};
pub use calendar::{Calendar, CalendarChoice, MonthDay, UnknownCalendar};
pub use grid::Grid;
pub use named_month::{LetterCase, NamedMonth, NamedOrder};
pub(crate) use parse::{
    ParsedTime, ParsedZone, TimeProblem, compact_date, looks_like_time, named_month_has_year, numeric_date,
    parse_time, parse_year_last, time_problem, year_last_date,
};
pub use step::{Horizon, Step};
pub use style::{DateForm, TimeShape, TimeStyle};
pub use zone::{OffsetForm, ZoneStyle};

/// An exact instant: nanoseconds since 1970-01-01 00:00 UTC. A time without a zone counts as UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i128);

impl Instant {
    /// The instant this many nanoseconds after the epoch.
    pub fn from_nanoseconds(nanoseconds: i128) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the epoch.
    pub fn nanoseconds(self) -> i128 {
        self.0
    }

    /// Seconds after another instant, rounded once.
    pub fn seconds_after(self, origin: Instant) -> f64 {
        let difference = self.0 - origin.0;
        // Seconds and fraction are exact; only their sum rounds.
        let whole = difference.div_euclid(1_000_000_000);
        let rest = difference.rem_euclid(1_000_000_000);
        whole as f64 + rest as f64 / 1e9
    }
}
