//! Finds the cells of one record of delimited text, byte by byte: the one rule about quotes and line breaks that tables and
//! streams go by.

use std::borrow::Cow;

/// Where a cell lies in its record, quotes included.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Field {
    start: usize,
    end: usize,
    is_quoted: bool,
    has_doubled_quotes: bool,
}

impl Field {
    fn at(start: usize) -> Self {
        Self { start, end: start, ..Self::default() }
    }

    /// The cell as it stands in its record, quotes included.
    pub(crate) fn raw<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.end]
    }

    /// What the cell says, without its quotes; copied only where some were doubled.
    pub(crate) fn content<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.is_quoted {
            return Cow::Borrowed(self.raw(text));
        }
        let inner = &text[self.start + 1..self.end - 1];
        if !self.has_doubled_quotes {
            return Cow::Borrowed(inner);
        }
        let mut content = Vec::with_capacity(inner.len());
        let mut is_second = false;
        for byte in inner {
            is_second = *byte == b'"' && !is_second;
            // Of two quotes in a row the first is kept.
            if *byte != b'"' || is_second {
                content.push(*byte);
            }
        }
        Cow::Owned(content)
    }
}

/// What the splitter is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    CellBegins,
    Plain,
    Quoted,
    QuoteCloses,
}

/// How far a record has been split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The text ends before it is known where the record does: more of it is wanted.
    Unfinished,
    /// A line break of so many bytes, none at the end of the text, ends the record.
    Record {
        /// Bytes before the line break.
        length: usize,
        /// Bytes of the line break.
        length_of_break: usize,
    },
}

/// What is wrong with a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuoteError {
    /// It is never closed.
    Unclosed,
    /// Text follows the closing one.
    TextAfter,
}

/// A record that is being split.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    fields: Vec<Field>,
    field: Field,
    state: State,
    at: usize,
    n_breaks: u64,
    n_breaks_before_quote: u64,
}

impl Splitter {
    /// Forgets the record before, and keeps its memory.
    pub(crate) fn begin(&mut self) {
        let mut fields = std::mem::take(&mut self.fields);
        fields.clear();
        *self = Self { fields, ..Self::default() };
    }

    /// The cells, once the record is found.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Line breaks within quotes.
    pub(crate) fn n_breaks(&self) -> u64 {
        self.n_breaks
    }

    /// Whether a quote is open.
    pub(crate) fn is_in_quotes(&self) -> bool {
        self.state == State::Quoted
    }

    /// Where the latest quote was opened: line breaks of the record before it, and its cell, counted from 0.
    pub(crate) fn place_of_quote(&self) -> (u64, usize) {
        (self.n_breaks_before_quote, self.fields.len())
    }

    /// Goes on splitting a record. `text` begins where the record does, and grows from call to call; it is the last of it if
    /// `is_whole`.
    pub(crate) fn split(&mut self, text: &[u8], delimiter: u8, is_whole: bool) -> Result<Found, QuoteError> {
        let length_of_break = loop {
            let rest = &text[self.at..];
            let Some(byte) = rest.first().copied() else {
                match (is_whole, self.state) {
                    (false, _) => return Ok(Found::Unfinished),
                    (true, State::Quoted) => return Err(QuoteError::Unclosed),
                    (true, _) => break 0,
                }
            };
            match self.state {
                State::CellBegins if byte == b'"' => {
                    self.field.is_quoted = true;
                    self.n_breaks_before_quote = self.n_breaks;
                    self.state = State::Quoted;
                    self.at += 1;
                }
                State::CellBegins => self.state = State::Plain,
                State::Plain | State::QuoteCloses if byte == delimiter => {
                    self.end_field();
                    self.at += 1;
                    self.field = Field::at(self.at);
                    self.state = State::CellBegins;
                }
                State::Plain | State::QuoteCloses if byte == b'\n' => break 1,
                State::Plain | State::QuoteCloses if byte == b'\r' => {
                    // Whether a line feed follows must be known, even if it is not read yet.
                    match rest.get(1) {
                        None if !is_whole => return Ok(Found::Unfinished),
                        Some(b'\n') => break 2,
                        _ => break 1,
                    }
                }
                State::Plain => {
                    let is_special = |byte: &u8| *byte == delimiter || *byte == b'\n' || *byte == b'\r';
                    self.at += rest.iter().position(is_special).unwrap_or(rest.len());
                }
                State::Quoted => {
                    self.n_breaks += u64::from(byte == b'\n');
                    if byte == b'"' {
                        self.state = State::QuoteCloses;
                    }
                    self.at += 1;
                }
                State::QuoteCloses if byte == b'"' => {
                    self.field.has_doubled_quotes = true;
                    self.state = State::Quoted;
                    self.at += 1;
                }
                State::QuoteCloses => return Err(QuoteError::TextAfter),
            }
        };
        self.end_field();
        Ok(Found::Record { length: self.at, length_of_break })
    }

    fn end_field(&mut self) {
        self.field.end = self.at;
        self.fields.push(self.field);
    }
}
