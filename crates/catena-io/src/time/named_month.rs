//! Dates with the English name of their month: `3 Jan 2020`, `January 3, 2020`, `2020-Jan-03`, `Jan-2020`.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

const NAMES: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The least number of letters of a name.
const SHORTEST: usize = 3;

/// The order of day, month and year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedOrder {
    /// `3 Jan 2020`.
    DayFirst,
    /// `Jan 3 2020`, or `Jan 2020` without a day.
    MonthFirst,
    /// `2020 Jan 3`, or `2020 Jan` without a day.
    YearFirst,
}

/// The case of the letters of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LetterCase {
    /// `Jan`.
    Title,
    /// `JAN`.
    Upper,
    /// `jan`.
    Lower,
}

/// How a date with the name of its month is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedMonth {
    /// The order of its parts.
    pub order: NamedOrder,
    /// The case of the name.
    pub letters: LetterCase,
    /// Whether the name is whole, such as `January`; else it has three letters.
    pub is_whole: bool,
    /// Whether days below 10 begin with 0.
    pub is_padded: bool,
    /// Whether a comma stands before the year.
    pub has_comma: bool,
}

impl NamedMonth {
    /// The style of a column whose cells so far had this style, with one more cell. `May` is both a whole name and a short one, and
    /// days above 9 need no 0.
    pub(crate) fn with(self, next: Self) -> Self {
        Self { is_whole: self.is_whole || next.is_whole, is_padded: self.is_padded && next.is_padded, ..self }
    }

    /// Appends a date, or only its year and month.
    pub(crate) fn print_to(
        self,
        text: &mut String,
        (year, month): (i16, i8),
        day: Option<i8>,
        separator: char,
    ) {
        let name =
            NAMES.get(usize::from(month.unsigned_abs()).saturating_sub(1)).copied().unwrap_or_default();
        let name = if self.is_whole { name } else { &name[..SHORTEST] };
        let name = match self.letters {
            LetterCase::Title => name.to_owned(),
            LetterCase::Upper => name.to_ascii_uppercase(),
            LetterCase::Lower => name.to_ascii_lowercase(),
        };
        let comma = if self.has_comma { "," } else { "" };
        let day = day.map(|day| if self.is_padded { format!("{day:02}") } else { day.to_string() });
        // Writing to a string cannot fail.
        let _ = match (self.order, day) {
            (NamedOrder::DayFirst, Some(day)) => {
                write!(text, "{day}{separator}{name}{comma}{separator}{year:04}")
            }
            (NamedOrder::MonthFirst, Some(day)) => {
                write!(text, "{name}{separator}{day}{comma}{separator}{year:04}")
            }
            (NamedOrder::YearFirst, Some(day)) => write!(text, "{year:04}{separator}{name}{separator}{day}"),
            (NamedOrder::YearFirst, None) => write!(text, "{year:04}{separator}{name}"),
            (NamedOrder::DayFirst | NamedOrder::MonthFirst, None) => {
                write!(text, "{name}{comma}{separator}{year:04}")
            }
        };
    }
}

/// A date with the name of its month at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NamedDate {
    pub(super) year: i32,
    pub(super) month: i32,
    pub(super) day: Option<i32>,
    pub(super) form: NamedMonth,
    pub(super) separator: u8,
    /// The number of bytes of the date.
    pub(super) length: usize,
    /// Whether the year has four digits.
    pub(super) has_long_year: bool,
}

/// The date at the beginning of a text; what follows is not looked at.
pub(super) fn named_date(text: &[u8]) -> Option<NamedDate> {
    let mut words = Words { text, at: 0, separator: None, n_commas: 0 };
    let first = words.run()?;
    let second = words.next_part()?;
    let before_third = (words.at, words.n_commas);
    let third = words.next_part();
    let is_day = |word: &[u8]| word.len() <= 2 && word.iter().all(u8::is_ascii_digit);
    let is_year = |word: &[u8]| matches!(word.len(), 2 | 4) && word.iter().all(u8::is_ascii_digit);
    let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<i32>().ok();
    let (order, day, name, year) = match (first, second, third) {
        (day, name, Some(year)) if is_day(day) && month_of(name).is_some() && is_year(year) => {
            (NamedOrder::DayFirst, Some(day), name, year)
        }
        (name, day, Some(year)) if month_of(name).is_some() && is_day(day) && is_year(year) => {
            (NamedOrder::MonthFirst, Some(day), name, year)
        }
        (year, name, Some(day))
            if year.len() == 4 && is_year(year) && month_of(name).is_some() && is_day(day) =>
        {
            (NamedOrder::YearFirst, Some(day), name, year)
        }
        (one, other, _) => {
            (words.at, words.n_commas) = before_third;
            match (month_of(one), month_of(other)) {
                (Some(_), None) if is_year(other) => (NamedOrder::MonthFirst, None, one, other),
                (None, Some(_)) if one.len() == 4 && is_year(one) => {
                    (NamedOrder::YearFirst, None, other, one)
                }
                _ => return None,
            }
        }
    };
    let letters = match name {
        [first, rest @ ..] if first.is_ascii_uppercase() && rest.iter().all(u8::is_ascii_uppercase) => {
            LetterCase::Upper
        }
        [first, ..] if first.is_ascii_lowercase() => LetterCase::Lower,
        _ => LetterCase::Title,
    };
    let month = month_of(name)?;
    let is_padded = day.is_none_or(|day| day.len() == 2);
    let day = match day {
        None => None,
        Some(day) => Some(number(day)?),
    };
    let form = NamedMonth {
        order,
        letters,
        is_whole: name.len() > SHORTEST && name.len() == NAMES[month - 1].len(),
        is_padded,
        has_comma: words.n_commas > 0,
    };
    Some(NamedDate {
        year: number(year)?,
        month: i32::try_from(month).ok()?,
        day,
        form,
        separator: words.separator?,
        length: words.at,
        has_long_year: year.len() == 4,
    })
}

/// The month of an English name, or of its first letters.
fn month_of(word: &[u8]) -> Option<usize> {
    // `Sept` is the only common abbreviation of four letters.
    let is_length =
        |length: usize| word.len() == SHORTEST || word.len() == length || word.eq_ignore_ascii_case(b"sept");
    let is_name = |name: &&str| {
        let start = name.as_bytes().get(..word.len());
        is_length(name.len()) && start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    NAMES.iter().position(is_name).map(|at| at + 1)
}

/// Runs of digits or of letters, with one separator between them.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
    separator: Option<u8>,
    n_commas: usize,
}

impl<'a> Words<'a> {
    fn run(&mut self) -> Option<&'a [u8]> {
        let rest = &self.text[self.at..];
        let is_digit = rest.first()?.is_ascii_digit();
        let same = |byte: &u8| if is_digit { byte.is_ascii_digit() } else { byte.is_ascii_alphabetic() };
        let length = rest.iter().take_while(|byte| same(byte)).count();
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }

    /// The next run after a separator, which is the same between all runs; a comma may stand before it.
    fn next_part(&mut self) -> Option<&'a [u8]> {
        let begin = (self.at, self.n_commas);
        let found = self.separated();
        if found.is_none() {
            (self.at, self.n_commas) = begin;
        }
        found
    }

    fn separated(&mut self) -> Option<&'a [u8]> {
        if self.text.get(self.at) == Some(&b',') {
            self.at += 1;
            self.n_commas += 1;
        }
        let separator = *self.text.get(self.at).filter(|byte| matches!(byte, b' ' | b'-' | b'/'))?;
        if *self.separator.get_or_insert(separator) != separator {
            return None;
        }
        self.at += 1;
        self.run()
    }
}
