//! Parses ISO 8601 dates and times, and how they were written.

use jiff::civil;

use super::zone::OffsetForm;
use super::{Instant, TimeShape};

/// A parsed time: the instant, and how it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ParsedTime<'a> {
    pub(crate) instant: Instant,
    pub(crate) shape: TimeShape,
    pub(crate) date_separator: u8,
    pub(crate) separator: u8,
    pub(crate) fraction_digits: u8,
    pub(crate) zone: ParsedZone<'a>,
}

/// The zone of one cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ParsedZone<'a> {
    Naive,
    Utc,
    Offset { seconds: i32, form: OffsetForm },
    Named { seconds: i32, has_offset: bool, name: &'a str },
}

/// Whether a text begins with a year-first date. If it cannot be parsed, it is an invalid time rather than text.
pub(crate) fn looks_like_time(text: &[u8]) -> bool {
    text.len() >= 7
        && text[..4].iter().all(u8::is_ascii_digit)
        && matches!(text[4], b'-' | b'/')
        && text[5..7].iter().all(u8::is_ascii_digit)
}

/// Whether a text is a date with the year last, such as `15/03/2013`, whose day and month are ambiguous.
pub(crate) fn is_ambiguous_date(text: &[u8]) -> bool {
    let date = text.split(|byte| matches!(byte, b' ' | b'T')).next().unwrap_or_default();
    let parts: Vec<&[u8]> = date.split(|byte| matches!(byte, b'/' | b'-' | b'.')).collect();
    let has_lengths = matches!(parts[..], [[_] | [_, _], [_] | [_, _], [_, _] | [_, _, _, _]]);
    has_lengths && parts.concat().iter().all(u8::is_ascii_digit)
}

/// Why a well-formed time has no instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeProblem {
    /// It is beyond the calendar.
    OutOfRange,
    /// Clocks change: it occurs twice or never in its time zone.
    ClockChange,
}

/// Why a text that [`parse_time`] rejects is not a time; `None` if it is malformed.
pub(crate) fn time_problem(text: &[u8]) -> Option<TimeProblem> {
    let mut cursor = Cursor { text, at: 0 };
    let (parsed, civil) = cursor.civil()?;
    if instant_of(civil, 0).is_none() {
        return Some(TimeProblem::OutOfRange);
    }
    if parsed.shape < TimeShape::Minute || cursor.is_done() {
        return None;
    }
    let _ = cursor.one_of(b" ");
    let (offset, name) = (cursor.offset(), cursor.bracketed());
    match (offset, name) {
        (Some((seconds, _)), _) if cursor.is_done() => {
            instant_of(civil, seconds).is_none().then_some(TimeProblem::OutOfRange)
        }
        (None, Some(name)) => {
            let zone = jiff::tz::TimeZone::get(name).ok()?;
            zone.to_ambiguous_timestamp(civil).is_ambiguous().then_some(TimeProblem::ClockChange)
        }
        _ => None,
    }
}

/// Parses a trimmed date or time; `None` if it is anything else.
pub(crate) fn parse_time(text: &[u8]) -> Option<ParsedTime<'_>> {
    if !looks_like_time(text) {
        return None;
    }
    let mut cursor = Cursor { text, at: 0 };
    let (mut parsed, civil) = cursor.civil()?;
    (parsed.zone, parsed.instant) = cursor.zone(civil, parsed.shape)?;
    cursor.is_done().then_some(parsed)
}

fn datetime(year: i32, month: i32, day: i32, clock: [i32; 4]) -> Option<civil::DateTime> {
    let small = |value: i32| i8::try_from(value).ok();
    civil::DateTime::new(
        i16::try_from(year).ok()?,
        small(month)?,
        small(day)?,
        small(clock[0])?,
        small(clock[1])?,
        small(clock[2])?,
        clock[3],
    )
    .ok()
}

fn instant_of(civil: civil::DateTime, offset_seconds: i32) -> Option<Instant> {
    let offset = jiff::tz::Offset::from_seconds(offset_seconds).ok()?;
    Some(Instant(offset.to_timestamp(civil).ok()?.as_nanosecond()))
}

/// A position in the bytes of one cell.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn is_done(&self) -> bool {
        self.at == self.text.len()
    }

    /// The date and the clock time before a zone, and how they are written.
    fn civil(&mut self) -> Option<(ParsedTime<'a>, civil::DateTime)> {
        let year = self.digits(4)?;
        let date_separator = self.one_of(b"-/")?;
        let month = self.digits(2)?;
        let mut parsed = ParsedTime {
            instant: Instant(0),
            shape: TimeShape::Date,
            date_separator,
            separator: b'T',
            fraction_digits: 0,
            zone: ParsedZone::Naive,
        };
        if self.one_of(&[date_separator]).is_none() {
            // Year and month; only with a dash, since 2013/03 may be a fraction or a season.
            let is_month = self.is_done() && date_separator == b'-';
            let civil = datetime(year, month, 1, [0; 4])?;
            return is_month.then_some((ParsedTime { shape: TimeShape::Month, ..parsed }, civil));
        }
        let day = self.digits(2)?;
        let mut clock = [0; 4];
        if !self.is_done() {
            parsed.separator = self.one_of(b"T t")?;
            clock[0] = self.digits(2)?;
            self.one_of(b":")?;
            clock[1] = self.digits(2)?;
            parsed.shape = TimeShape::Minute;
            if self.one_of(b":").is_some() {
                parsed.shape = TimeShape::Second;
                clock[2] = self.digits(2)?;
                if self.one_of(b".").is_some() {
                    (clock[3], parsed.fraction_digits) = self.fraction()?;
                }
            }
        }
        Some((parsed, datetime(year, month, day, clock)?))
    }

    fn one_of(&mut self, accepted: &[u8]) -> Option<u8> {
        let byte = *self.text.get(self.at)?;
        accepted.contains(&byte).then(|| {
            self.at += 1;
            byte
        })
    }

    fn digits(&mut self, count: usize) -> Option<i32> {
        let digits = self.text.get(self.at..self.at + count)?;
        let mut value = 0;
        for digit in digits {
            value = 10 * value + i32::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        }
        self.at += count;
        Some(value)
    }

    /// The fraction of a second in nanoseconds, and its number of digits.
    fn fraction(&mut self) -> Option<(i32, u8)> {
        let (mut value, mut count) = (0, 0);
        while let Some(digit) = self.text.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            // More than nine digits do not fit in nanoseconds.
            if count == 9 {
                return None;
            }
            value = 10 * value + i32::from(digit - b'0');
            count += 1;
            self.at += 1;
        }
        let missing = 9 - u32::from(count);
        (count > 0).then(|| (value * 10_i32.pow(missing), count))
    }

    /// `Z`, `+01:00`, `+0100`, `+01`, and a name in brackets, with or without an offset.
    fn zone(&mut self, civil: civil::DateTime, shape: TimeShape) -> Option<(ParsedZone<'a>, Instant)> {
        let has_clock = shape >= TimeShape::Minute;
        if !has_clock || self.is_done() {
            return Some((ParsedZone::Naive, instant_of(civil, 0)?));
        }
        // Pandas and Postgres write a blank before an offset or a zone.
        let _ = self.one_of(b" ");
        if self.one_of(b"Zz").is_some() {
            return Some((ParsedZone::Utc, instant_of(civil, 0)?));
        }
        let offset = self.offset();
        if let Some(name) = self.bracketed() {
            let zone = jiff::tz::TimeZone::get(name).ok()?;
            let seconds = match offset {
                Some((seconds, _)) => seconds,
                None => {
                    let timestamp = zone.to_ambiguous_timestamp(civil).unambiguous().ok()?;
                    zone.to_offset(timestamp).seconds()
                }
            };
            let parsed = ParsedZone::Named { seconds, has_offset: offset.is_some(), name };
            return Some((parsed, instant_of(civil, seconds)?));
        }
        if self.text[self.at..] == *b"UTC" {
            self.at = self.text.len();
            return Some((ParsedZone::Utc, instant_of(civil, 0)?));
        }
        let (seconds, form) = offset?;
        Some((ParsedZone::Offset { seconds, form }, instant_of(civil, seconds)?))
    }

    fn offset(&mut self) -> Option<(i32, OffsetForm)> {
        let sign = if self.one_of(b"+-")? == b'-' { -1 } else { 1 };
        let hours = self.digits(2)?;
        let (minutes, form) = if self.one_of(b":").is_some() {
            (self.digits(2)?, OffsetForm::Colon)
        } else if let Some(minutes) = self.digits(2) {
            (minutes, OffsetForm::Plain)
        } else {
            (0, OffsetForm::Hours)
        };
        (hours < 24 && minutes < 60).then_some((sign * (3600 * hours + 60 * minutes), form))
    }

    fn bracketed(&mut self) -> Option<&'a str> {
        let name = self.text[self.at..].strip_prefix(b"[")?.strip_suffix(b"]")?;
        let name = std::str::from_utf8(name).ok()?;
        self.at = self.text.len();
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference is jiff's parser; it shares the calendar but not the parsing.
    #[test]
    fn instants_are_those_jiff_reads() {
        let cases = [
            ("2013-03-15T00:00:00Z", "2013-03-15T00:00:00Z"),
            ("2013-03-15 06:30:00+02:00", "2013-03-15T06:30:00+02:00"),
            ("2013-03-15T06:30:00.125-0730", "2013-03-15T06:30:00.125-07:30"),
            ("2013-03-15T06:30+05", "2013-03-15T06:30:00+05:00"),
            ("1659-01-01", "1659-01-01T00:00:00Z"),
            ("2013-03", "2013-03-01T00:00:00Z"),
            ("2013/03/15 23:59", "2013-03-15T23:59:00Z"),
            ("2024-07-01T12:00:00[America/New_York]", "2024-07-01T12:00:00-04:00"),
            ("2024-01-01T12:00:00-05:00[America/New_York]", "2024-01-01T12:00:00-05:00"),
            ("2013-03-15 06:30:00.123456789 UTC", "2013-03-15T06:30:00.123456789Z"),
        ];
        for (text, iso) in cases {
            let expected: jiff::Timestamp = iso.parse().unwrap();
            let parsed = parse_time(text.as_bytes()).unwrap_or_else(|| panic!("{text} is not read"));
            assert_eq!(parsed.instant.nanoseconds(), expected.as_nanosecond(), "{text}");
        }
    }

    #[test]
    fn invalid_times_are_rejected() {
        for text in [
            "2013",
            "2013-3-15",
            "2013-02-30",
            "2013-13-01",
            "2013-03-15T25:00",
            "2013-03-15T12",
            "2013-03-15T12:00:00.",
            "2013-03-15T12:00:00.1234567890",
            "2013-03-15T12:00+25:00",
            "2013-03-15T12:00[Nowhere/Town]",
            "2013-03-15x",
            "2013/03",
            "15/03/2013",
            "2024-03-10T02:30:00[America/New_York]",
        ] {
            assert_eq!(parse_time(text.as_bytes()), None, "{text}");
        }
        assert!(is_ambiguous_date(b"15/03/2013") && is_ambiguous_date(b"3-4-13 12:00"));
        assert!(!is_ambiguous_date(b"2013-03-15") && !is_ambiguous_date(b"1.5.2-rc"));
    }
}
