//! Parses ISO 8601 dates and times, dates with the year last and quarters, and how they were written.

use jiff::civil;

use super::named_month::named_date;
use super::zone::OffsetForm;
use super::{DateForm, Instant, TimeShape};
use crate::table::DateOrder;

/// A parsed time: the instant, and how it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ParsedTime<'a> {
    pub(crate) instant: Instant,
    pub(crate) shape: TimeShape,
    pub(crate) form: DateForm,
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

/// The numbers of a date with the year last, such as `15/03/2013`: which of them is the day is not known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct YearLast {
    pub(crate) first: u8,
    pub(crate) second: u8,
    pub(crate) has_long_year: bool,
}

impl YearLast {
    /// The order of day and month, if only one is possible.
    pub(crate) fn order(self) -> Option<DateOrder> {
        match (self.first, self.second) {
            (13..=31, 1..=12) => Some(DateOrder::DayFirst),
            (1..=12, 13..=31) => Some(DateOrder::MonthFirst),
            _ => None,
        }
    }
}

/// The date with the year last at the beginning of a text, if there is one; a clock time may follow.
pub(crate) fn year_last_date(text: &[u8]) -> Option<YearLast> {
    let date = text.split(|byte| matches!(byte, b' ' | b'T')).next().unwrap_or_default();
    let parts: Vec<&[u8]> = date.split(|byte| matches!(byte, b'/' | b'-' | b'.')).collect();
    let [first @ ([_] | [_, _]), second @ ([_] | [_, _]), year @ ([_, _] | [_, _, _, _])] = parts[..] else {
        return None;
    };
    let small = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse().ok();
    year.iter().all(u8::is_ascii_digit).then_some(())?;
    Some(YearLast { first: small(first)?, second: small(second)?, has_long_year: year.len() == 4 })
}

/// Parses a trimmed date with the year last and an optional clock time.
pub(crate) fn parse_year_last(text: &[u8], order: DateOrder) -> Option<ParsedTime<'_>> {
    let date = year_last_date(text).filter(|date| date.has_long_year)?;
    let mut cursor = Cursor { text, at: 0 };
    let first = cursor.short_number()?;
    let date_separator = cursor.one_of(b"/-.")?;
    let second = cursor.short_number()?;
    cursor.one_of(&[date_separator])?;
    let is_padded = cursor.at == 6;
    let year = cursor.digits(4)?;
    let (day, month, form) = match (order, is_padded) {
        (DateOrder::DayFirst, true) => (first, second, DateForm::DayFirst),
        (DateOrder::DayFirst, false) => (first, second, DateForm::DayFirstShort),
        (DateOrder::MonthFirst, true) => (second, first, DateForm::MonthFirst),
        (DateOrder::MonthFirst, false) => (second, first, DateForm::MonthFirstShort),
    };
    let mut parsed = ParsedTime { form, ..ParsedTime::date(date_separator) };
    let mut clock = [0; 4];
    if !cursor.is_done() {
        parsed.separator = cursor.one_of(b"T ")?;
        cursor.clock(&mut parsed, &mut clock, true)?;
    }
    debug_assert_eq!((i32::from(date.first), i32::from(date.second)), (first, second));
    let civil = datetime(year, month, day, clock)?;
    (parsed.zone, parsed.instant) = cursor.zone(civil, parsed.shape)?;
    cursor.is_done().then_some(parsed)
}

/// Parses a trimmed date with the English name of its month and an optional clock time.
fn parse_named_month(text: &[u8]) -> Option<ParsedTime<'_>> {
    let date = named_date(text).filter(|date| date.has_long_year)?;
    let mut parsed = ParsedTime { form: DateForm::NamedMonth(date.form), ..ParsedTime::date(date.separator) };
    let mut cursor = Cursor { text, at: date.length };
    let mut clock = [0; 4];
    if date.day.is_none() {
        parsed.shape = TimeShape::Month;
    } else if !cursor.is_done() {
        parsed.separator = cursor.one_of(b"T ")?;
        cursor.clock(&mut parsed, &mut clock, true)?;
    }
    let civil = datetime(date.year, date.month, date.day.unwrap_or(1), clock)?;
    (parsed.zone, parsed.instant) = cursor.zone(civil, parsed.shape)?;
    cursor.is_done().then_some(parsed)
}

/// Whether the year of a date with the name of its month has four digits; `None` if a text is no such date, with or without a clock.
pub(crate) fn named_month_has_year(text: &[u8]) -> Option<bool> {
    let date = named_date(text)?;
    let is_date = match text[date.length..] {
        [] => true,
        [b' ' | b'T', next, ..] => next.is_ascii_digit(),
        _ => false,
    };
    is_date.then_some(date.has_long_year)
}

/// Parses a quarter such as `2009Q3` or `2009-Q3`.
fn parse_quarter(text: &[u8]) -> Option<ParsedTime<'_>> {
    let (year, rest) = text.split_at_checked(4)?;
    let (form, digit) = match rest {
        [b'Q' | b'q', digit] => (DateForm::Quarter, digit),
        [b'-', b'Q' | b'q', digit] => (DateForm::QuarterDash, digit),
        _ => return None,
    };
    let quarter = i32::from(matches!(digit, b'1'..=b'4').then(|| digit - b'0')?);
    let year = Cursor { text: year, at: 0 }.digits(4)?;
    let instant = instant_of(datetime(year, 3 * quarter - 2, 1, [0; 4])?, 0)?;
    Some(ParsedTime { instant, form, shape: TimeShape::Month, ..ParsedTime::date(b'-') })
}

/// The instant of a date written as an integer, such as 20120131, if it is one of the years 1800 to 2199.
pub(crate) fn compact_date(number: f64) -> Option<Instant> {
    if !(1800.0 * 1e4..2200.0 * 1e4).contains(&number) || number.fract() != 0.0 {
        return None;
    }
    let number = number as i32;
    instant_of(datetime(number / 10_000, number / 100 % 100, number % 100, [0; 4])?, 0)
}

/// The instant of a date written as an integer: `2012` (the years 1000 to 2999) or `20120131`.
pub(crate) fn numeric_date(number: f64, form: DateForm) -> Option<Instant> {
    match form {
        DateForm::Compact => compact_date(number),
        DateForm::Year if number.fract() == 0.0 && (1000.0..3000.0).contains(&number) => {
            instant_of(datetime(number as i32, 1, 1, [0; 4])?, 0)
        }
        _ => None,
    }
}

impl ParsedTime<'_> {
    /// A date without a zone, whose instant is not known yet.
    fn date(date_separator: u8) -> Self {
        Self {
            instant: Instant(0),
            shape: TimeShape::Date,
            form: DateForm::YearFirst,
            date_separator,
            separator: b'T',
            fraction_digits: 0,
            zone: ParsedZone::Naive,
        }
    }
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
        return parse_quarter(text).or_else(|| parse_named_month(text));
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
        let mut parsed = ParsedTime::date(date_separator);
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
            self.clock(&mut parsed, &mut clock, false)?;
        }
        Some((parsed, datetime(year, month, day, clock)?))
    }

    /// The clock time; its hour may have one digit if `is_short`.
    fn clock(&mut self, parsed: &mut ParsedTime<'a>, clock: &mut [i32; 4], is_short: bool) -> Option<()> {
        clock[0] = if is_short { self.short_number()? } else { self.digits(2)? };
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
        Some(())
    }

    /// A number of two digits, or of one that no digit follows.
    fn short_number(&mut self) -> Option<i32> {
        self.digits(2).or_else(|| self.digits(1))
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
        for (text, order) in [
            ("15/03/2013", Some(DateOrder::DayFirst)),
            ("03/15/2013 12:00", Some(DateOrder::MonthFirst)),
            ("3-4-13 12:00", None),
        ] {
            assert_eq!(year_last_date(text.as_bytes()).unwrap().order(), order, "{text}");
        }
        for text in ["2013-03-15", "1.5.2-rc", "1/2", "a/b/2013", "1.2.2013.4"] {
            assert_eq!(year_last_date(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn dates_with_the_year_last_are_read_in_the_given_order() {
        use DateOrder::{DayFirst, MonthFirst};
        for (text, order, iso) in [
            ("15/03/2013", DayFirst, "2013-03-15T00:00:00Z"),
            ("3/15/2013 6:30", MonthFirst, "2013-03-15T06:30:00Z"),
            ("05.03.2013 06:30:15", DayFirst, "2013-03-05T06:30:15Z"),
            ("5-3-2013", MonthFirst, "2013-05-03T00:00:00Z"),
        ] {
            let expected: jiff::Timestamp = iso.parse().unwrap();
            let parsed = parse_year_last(text.as_bytes(), order).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(parsed.instant.nanoseconds(), expected.as_nanosecond(), "{text}");
            let style = crate::time::TimeStyle::of(&parsed);
            let is_short_hour = text.contains(" 6:");
            assert!(is_short_hour || style.print(parsed.instant) == text, "{}", style.print(parsed.instant));
        }
        for (text, order) in [
            ("15/03/2013", MonthFirst),
            ("30/02/2013", DayFirst),
            ("15/03-2013", DayFirst),
            ("15/03/13", DayFirst),
        ] {
            assert_eq!(parse_year_last(text.as_bytes(), order), None, "{text}");
        }
    }

    #[test]
    fn quarters_and_dates_without_separators_are_read() {
        for (text, iso) in [("2009Q3", "2009-07-01T00:00:00Z"), ("2010-Q1", "2010-01-01T00:00:00Z")] {
            let expected: jiff::Timestamp = iso.parse().unwrap();
            let parsed = parse_time(text.as_bytes()).unwrap();
            assert_eq!(parsed.instant.nanoseconds(), expected.as_nanosecond(), "{text}");
            assert_eq!(crate::time::TimeStyle::of(&parsed).print(parsed.instant), text);
        }
        for text in ["2009Q5", "2009Q", "09Q3", "2009-Q31"] {
            assert_eq!(parse_time(text.as_bytes()), None, "{text}");
        }
        let expected: jiff::Timestamp = "2012-01-31T00:00:00Z".parse().unwrap();
        assert_eq!(compact_date(20_120_131.0).unwrap().nanoseconds(), expected.as_nanosecond());
        for number in [20_120_132.0, 20_121_301.0, 20_120_131.5, 120_131.0, 99_990_101.0] {
            assert_eq!(compact_date(number), None, "{number}");
        }
    }
}
