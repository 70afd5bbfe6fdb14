//! What was decided from the content of a table while it was read.

use std::fmt;

use crate::place::{Excerpt, Place};
use crate::table::DateOrder;

/// A decision about how a table is read, for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadNote {
    /// Lines before the header were skipped.
    Skipped {
        /// The first of them.
        first: Place,
        /// The last of them.
        last: Place,
    },
    /// Numbers have a decimal comma.
    DecimalComma {
        /// The first of them.
        text: Excerpt,
        /// Its place.
        place: Place,
    },
    /// Dates have the year last, in this order.
    Dates {
        /// The order.
        order: DateOrder,
        /// The first date that has no other reading.
        text: Excerpt,
        /// Its place.
        place: Place,
    },
    /// One of several sheets was read.
    Sheet {
        /// Its name.
        name: String,
        /// The names of the others that are not empty.
        others: Vec<String>,
    },
}

impl fmt::Display for ReadNote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skipped { first, last } if first == last => {
                write!(formatter, "skipped {first}, which is before the header")
            }
            Self::Skipped { first, last } => {
                write!(formatter, "skipped {first} to {last}, which are before the header")
            }
            Self::DecimalComma { text, place } => {
                write!(formatter, "numbers are read with a decimal comma, as in {text} ({place})")
            }
            Self::Dates { order, text, place } => {
                let first = match order {
                    DateOrder::DayFirst => "day",
                    DateOrder::MonthFirst => "month",
                };
                write!(formatter, "dates are read with the {first} first, as in {text} ({place})")
            }
            Self::Sheet { name, others } => {
                let others = others.join(", ");
                write!(formatter, "sheet {name} is read; pass --sheet to read another ({others})")
            }
        }
    }
}
