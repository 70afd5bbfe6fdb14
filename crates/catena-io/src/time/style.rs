//! The textual form of a column of times: remembered when it is read, used when it is written.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Instant, OffsetForm, ParsedTime, ParsedZone, ZoneStyle};

/// How much of a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

/// How times are written. Printing never drops what an instant needs: a date style shows the clock when it is not midnight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeStyle {
    /// How much is written.
    pub shape: TimeShape,
    /// `-` or `/` between year, month and day.
    pub date_separator: char,
    /// `T`, `t` or a blank before the clock.
    pub separator: char,
    /// Digits behind the second that are always written.
    pub fraction_digits: u8,
    /// The zone.
    pub zone: ZoneStyle,
}

impl Default for TimeStyle {
    fn default() -> Self {
        Self {
            shape: TimeShape::Second,
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

    /// Appends the instant in this style, with the offset it was read with if that is known.
    pub(crate) fn print_to(&self, text: &mut String, instant: Instant, offset: Option<i32>) {
        let Ok(timestamp) = jiff::Timestamp::from_nanosecond(instant.nanoseconds()) else {
            // Outside the years -9999 to 9999 there is no calendar; the number is still true.
            let _ = write!(text, "{}", instant.nanoseconds() as f64 / 1e9);
            return;
        };
        let mut seconds = offset.unwrap_or_else(|| self.zone.offset_at(timestamp));
        // Before standard time, zones had odd seconds; an offset is written in minutes and the clock must agree with it.
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
        // A date that needs a clock gets a whole one.
        let shape = match self.shape {
            TimeShape::Month | TimeShape::Date if needed >= TimeShape::Minute => TimeShape::Second,
            shape => shape.max(needed),
        };
        let _ = write!(text, "{:04}{dash}{:02}", civil.year(), civil.month());
        if shape >= TimeShape::Date {
            let _ = write!(text, "{dash}{:02}", civil.day());
        }
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

    /// The style as a piece of a model file's header.
    pub fn to_json(&self) -> Value {
        let shape = match self.shape {
            TimeShape::Month => "month",
            TimeShape::Date => "date",
            TimeShape::Minute => "minute",
            TimeShape::Second => "second",
        };
        let zone = match &self.zone {
            ZoneStyle::Naive => json!("naive"),
            ZoneStyle::Utc => json!("utc"),
            ZoneStyle::Offset { seconds, form } => {
                let form = match form {
                    OffsetForm::Colon => "colon",
                    OffsetForm::Plain => "plain",
                    OffsetForm::Hours => "hours",
                };
                json!({"seconds": seconds, "form": form})
            }
            ZoneStyle::Named { name, has_offset } => json!({"name": name, "has_offset": has_offset}),
        };
        json!({
            "shape": shape,
            "date_separator": self.date_separator.to_string(),
            "separator": self.separator.to_string(),
            "fraction_digits": self.fraction_digits,
            "zone": zone,
        })
    }

    /// The way back from [`TimeStyle::to_json`]; `None` if it is something else.
    pub fn from_json(value: &Value) -> Option<Self> {
        let shape = match value.get("shape")?.as_str()? {
            "month" => TimeShape::Month,
            "date" => TimeShape::Date,
            "minute" => TimeShape::Minute,
            "second" => TimeShape::Second,
            _ => return None,
        };
        let letter = |name: &str| value.get(name)?.as_str()?.chars().next();
        Some(Self {
            shape,
            date_separator: letter("date_separator")?,
            separator: letter("separator")?,
            fraction_digits: u8::try_from(value.get("fraction_digits")?.as_u64()?).ok()?,
            zone: zone_from_json(value.get("zone")?)?,
        })
    }
}

fn zone_from_json(value: &Value) -> Option<ZoneStyle> {
    match value.as_str() {
        Some("naive") => return Some(ZoneStyle::Naive),
        Some("utc") => return Some(ZoneStyle::Utc),
        Some(_) => return None,
        None => {}
    }
    if let Some(name) = value.get("name") {
        let has_offset = value.get("has_offset")?.as_bool()?;
        return Some(ZoneStyle::Named { name: name.as_str()?.to_owned(), has_offset });
    }
    let seconds = i32::try_from(value.get("seconds")?.as_i64()?).ok()?;
    let form = match value.get("form")?.as_str()? {
        "colon" => OffsetForm::Colon,
        "plain" => OffsetForm::Plain,
        "hours" => OffsetForm::Hours,
        _ => return None,
    };
    Some(ZoneStyle::Offset { seconds, form })
}
