//! Time zones: how they are written, and their offset at an instant.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// How an offset from UTC is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OffsetForm {
    /// `+01:00`.
    Colon,
    /// `+0100`.
    Plain,
    /// `+01`.
    Hours,
}

/// How the zone of a column of times is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ZoneStyle {
    /// No zone.
    Naive,
    /// `Z`.
    Utc,
    /// An offset. Times that were read keep their own offset; new ones get this one.
    #[serde(untagged)]
    Offset {
        /// Seconds east of UTC.
        seconds: i32,
        /// How it is written.
        form: OffsetForm,
    },
    /// A name of the time zone database, in brackets.
    #[serde(untagged)]
    Named {
        /// The name, such as `Europe/Berlin`.
        name: String,
        /// Whether an offset is written before the brackets.
        has_offset: bool,
    },
}

impl ZoneStyle {
    /// Whether there is a zone.
    pub fn is_zoned(&self) -> bool {
        *self != Self::Naive
    }

    /// Seconds east of UTC at an instant; zero if the zone is not in the database.
    pub(crate) fn offset_at(&self, timestamp: jiff::Timestamp) -> i32 {
        match self {
            Self::Naive | Self::Utc => 0,
            Self::Offset { seconds, .. } => *seconds,
            Self::Named { name, .. } => {
                TimeZone::get(name).map_or(0, |zone| zone.to_offset(timestamp).seconds())
            }
        }
    }

    /// Appends the zone as it is written after a clock time.
    pub(crate) fn push_to(&self, text: &mut String, seconds: i32) {
        match self {
            Self::Naive => {}
            Self::Utc => text.push('Z'),
            Self::Offset { form, .. } => push_offset(text, seconds, *form),
            Self::Named { name, has_offset } => {
                if *has_offset {
                    push_offset(text, seconds, OffsetForm::Colon);
                }
                text.push('[');
                text.push_str(name);
                text.push(']');
            }
        }
    }
}

fn push_offset(text: &mut String, seconds: i32, form: OffsetForm) {
    use std::fmt::Write;
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    let (hours, minutes) = (minutes / 60, minutes % 60);
    // Writing to a string cannot fail.
    let _ = match form {
        OffsetForm::Colon => write!(text, "{sign}{hours:02}:{minutes:02}"),
        OffsetForm::Plain => write!(text, "{sign}{hours:02}{minutes:02}"),
        // An offset with minutes needs them.
        OffsetForm::Hours if minutes != 0 => write!(text, "{sign}{hours:02}:{minutes:02}"),
        OffsetForm::Hours => write!(text, "{sign}{hours:02}"),
    };
}
