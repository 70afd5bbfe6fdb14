//! Splits delimited text into records and cells without copying, and counts lines.

use std::borrow::Cow;
use std::io::{self, Read};

use super::split::{Field, Found, QuoteError, Splitter};

/// Maximum length of a record.
pub(crate) const MOST_BYTES_PER_RECORD: usize = 4 << 20;
const FIRST_BUFFER: usize = 256 << 10;

/// Why a record cannot be split. Cells are counted from 0.
#[derive(Debug)]
pub(crate) enum SplitError {
    Io(io::Error),
    TooLong { line: u64 },
    UnclosedQuote { line: u64, cell: usize },
    TextAfterQuote { line: u64, cell: usize },
}

/// Reads records one after the other; the buffer grows only as far as one record needs.
#[derive(Debug)]
pub(crate) struct Records<R> {
    input: R,
    delimiter: u8,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_at_end: bool,
    n_bytes_read: u64,
    line: u64,
    splitter: Splitter,
}

/// One record: a line, or several if a quoted cell has line breaks.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    text: &'a [u8],
    terminator: &'a [u8],
    fields: &'a [Field],
    delimiter: u8,
    line: u64,
}

impl<'a> Record<'a> {
    pub(crate) fn n_cells(&self) -> usize {
        self.fields.len()
    }

    /// The line where the record begins, counted from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The record as in the file, without the line break.
    pub(crate) fn text(&self) -> &'a [u8] {
        self.text
    }

    pub(crate) fn terminator(&self) -> &'a [u8] {
        self.terminator
    }

    /// Whether the line is empty.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim_ascii().is_empty() && !self.text.contains(&self.delimiter)
    }

    /// A cell as in the file, quotes included.
    pub(crate) fn raw(&self, cell: usize) -> &'a [u8] {
        self.fields[cell].raw(self.text)
    }

    /// The content of a cell, without its quotes.
    pub(crate) fn content(&self, cell: usize) -> Cow<'a, [u8]> {
        self.fields[cell].content(self.text)
    }
}

impl<R: Read> Records<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            delimiter: b',',
            buffer: vec![],
            start: 0,
            end: 0,
            is_at_end: false,
            n_bytes_read: 0,
            line: 1,
            splitter: Splitter::default(),
        }
    }

    /// The beginning of the text, before the first record is read.
    pub(crate) fn head(&mut self) -> io::Result<&[u8]> {
        while self.end - self.start < FIRST_BUFFER / 2 && !self.is_at_end {
            self.refill()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Sets the delimiter and skips the byte order mark.
    pub(crate) fn set_dialect(&mut self, delimiter: u8, mark_length: usize) {
        self.delimiter = delimiter;
        self.start += mark_length;
    }

    /// Skips notes that are in the [`head`](Self::head), and returns them.
    pub(crate) fn skip(&mut self, n_bytes: usize, n_lines: u64) -> Vec<u8> {
        let end = (self.start + n_bytes).min(self.end);
        let skipped = self.buffer[self.start..end].to_vec();
        self.start = end;
        self.line += n_lines;
        skipped
    }

    /// Whether the [`head`](Self::head) is the whole text.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_at_end
    }

    /// Byte offset (from the start of reading) and line of the next record.
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.n_bytes_read - (self.end - self.start) as u64, self.line)
    }

    /// Sets the line of the next record, if reading starts in the middle of a file.
    pub(crate) fn set_line(&mut self, line: u64) {
        self.line = line;
    }

    pub(crate) fn n_bytes_read(&self) -> u64 {
        self.n_bytes_read
    }

    pub(crate) fn into_input(self) -> R {
        self.input
    }

    /// Reads more bytes; unused ones move to the front.
    fn refill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            let size = (2 * self.buffer.len()).max(FIRST_BUFFER);
            self.buffer.resize(size, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_at_end = true,
                Ok(count) => {
                    self.end += count;
                    self.n_bytes_read += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    /// The next record, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>, SplitError> {
        let line = self.line;
        self.splitter.begin();
        let (length, length_of_break) = loop {
            let text = &self.buffer[self.start..self.end];
            match self.splitter.split(text, self.delimiter, self.is_at_end) {
                Ok(Found::Record { length, length_of_break }) => break (length, length_of_break),
                Ok(Found::Unfinished) => {
                    self.check_length(line)?;
                    self.refill().map_err(SplitError::Io)?;
                }
                Err(QuoteError::Unclosed) => return Err(self.unclosed_quote(line)),
                Err(QuoteError::TextAfter) => {
                    let (n_breaks, cell) = self.splitter.place_of_quote();
                    return Err(SplitError::TextAfterQuote { line: line + n_breaks, cell });
                }
            }
        };
        if length == 0 && length_of_break == 0 {
            return Ok(None);
        }
        if length > MOST_BYTES_PER_RECORD {
            return Err(SplitError::TooLong { line });
        }
        let begin = self.start;
        self.start += length + length_of_break;
        self.line += self.splitter.n_breaks() + u64::from(length_of_break > 0);
        Ok(Some(Record {
            text: &self.buffer[begin..begin + length],
            terminator: &self.buffer[begin + length..begin + length + length_of_break],
            fields: self.splitter.fields(),
            delimiter: self.delimiter,
            line,
        }))
    }

    fn check_length(&self, line: u64) -> Result<(), SplitError> {
        if self.end - self.start <= MOST_BYTES_PER_RECORD {
            return Ok(());
        }
        Err(if self.splitter.is_in_quotes() {
            self.unclosed_quote(line)
        } else {
            SplitError::TooLong { line }
        })
    }

    fn unclosed_quote(&self, line: u64) -> SplitError {
        let (n_breaks, cell) = self.splitter.place_of_quote();
        SplitError::UnclosedQuote { line: line + n_breaks, cell }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a few bytes at a time, so that records cross buffer boundaries.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(self.1).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    type Split = Vec<Vec<Vec<u8>>>;

    fn split(text: &[u8], step: usize) -> Option<Split> {
        let mut records = Records::new(Drip(text, step));
        let (mut all, mut copy) = (vec![], vec![]);
        while let Some(record) = records.next().ok()? {
            copy.extend_from_slice(record.text());
            copy.extend_from_slice(record.terminator());
            let cells = (0..record.n_cells()).map(|cell| record.content(cell).into_owned());
            // The reference skips empty lines.
            if !record.text().is_empty() {
                all.push(cells.collect());
            }
        }
        assert_eq!(copy, text, "records must add up to the text");
        Some(all)
    }

    fn reference(text: &[u8]) -> Split {
        let mut reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        reader.byte_records().map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect()).collect()
    }

    proptest! {
        #[test]
        fn records_equal_those_of_the_csv_crate(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "a", "12.5", ",", ",", "\n", "\r\n", "\r", "\"\"", "\"x,y\"", "\"q\"\"q\"", "\"l\nm\"", " ", "é",
            ]), 0..40),
            step in 1_usize..20,
        ) {
            let text = pieces.concat();
            // Malformed text, which the reference accepts, is an error here.
            if let Some(split) = split(text.as_bytes(), step) {
                prop_assert_eq!(split, reference(text.as_bytes()));
            }
        }
    }

    #[test]
    fn well_formed_text_is_accepted() {
        let text = b"a,\"b\"\r\n\"1\n2\",\"\"\n,\"\"\"\"";
        for step in 1..30 {
            assert_eq!(split(text, step), Some(reference(text)));
        }
    }
}
