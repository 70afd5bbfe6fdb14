//! Finds the cells of one record of delimited text. Tables and streams share this rule for quotes and line breaks.

use std::borrow::Cow;

/// The range of a cell in its record, quotes included.
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

    /// The cell, quotes included.
    pub(crate) fn raw<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.end]
    }

    /// The content of the cell, without its quotes; copied only if quotes are doubled.
    pub(crate) fn content<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.is_quoted {
            return Cow::Borrowed(self.raw(text));
        }
        let inner = &text[self.start + 1..self.end - 1];
        if !self.has_doubled_quotes {
            return Cow::Borrowed(inner);
        }
        let mut content = Vec::with_capacity(inner.len());
        let mut is_first = false;
        for byte in inner {
            is_first = *byte == b'"' && !is_first;
            // Of two consecutive quotes the first is kept.
            if *byte != b'"' || is_first {
                content.push(*byte);
            }
        }
        Cow::Owned(content)
    }
}

/// State of the splitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    CellBegins,
    Plain,
    Quoted,
    QuoteCloses,
}

/// Result of splitting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The record does not end within the text; more text is needed.
    Unfinished,
    /// A whole record.
    Record {
        /// Bytes before the line break.
        length: usize,
        /// Bytes of the line break; zero at the end of the text.
        length_of_break: usize,
    },
}

/// An invalid quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuoteError {
    /// It is never closed.
    Unclosed,
    /// Text follows the closing quote.
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
    /// Starts a new record, reusing the memory of the last.
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

    /// Position of the last opening quote: line breaks before it in the record, and its cell (from 0).
    pub(crate) fn place_of_quote(&self) -> (u64, usize) {
        (self.n_breaks_before_quote, self.fields.len())
    }

    /// Continues to split a record. `text` starts at the record and grows from call to call; `is_whole` marks the end of the input.
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
                    // A line feed may follow that has not been read yet.
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
