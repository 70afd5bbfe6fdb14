//! Applies lines to a live model in order. A line is journaled before its reply is written.

use std::io::Write;
use std::time::{Duration, Instant};

use catena::index::OutputIndex;
use catena_fit::{LiveFitError, Quantity};
use catena_io::journal::{Journal, Origin, Prefix, Record};
use catena_io::stream::{Answer, LineReader, ReplyWriter, StreamRow};
use catena_io::{FileId, FileName};
use clap::ValueEnum;

use super::LiveModel;
use crate::console::complain;
use crate::error::CliError;

/// Maximum number of lines per write, and maximum delay of the first of them.
const MOST_AT_ONCE: usize = 256;
const LONGEST_WAIT: Duration = Duration::from_millis(5);

/// The reply to an observation; a query is always answered in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ask {
    /// All outputs at the inputs of the line.
    Row,
    /// Only the outputs that are missing in the line.
    Missing,
    /// Only the line number.
    None,
}

/// What to do with an invalid line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnError {
    /// Report it and continue.
    Skip,
    /// Report it and exit with code 2.
    Stop,
}

/// Options of a session.
#[derive(Debug, Clone)]
pub(crate) struct SessionOptions {
    pub(crate) ask: Ask,
    /// Outputs in the replies.
    pub(crate) outputs: Vec<usize>,
    pub(crate) quantity: Quantity,
    pub(crate) on_error: OnError,
    pub(crate) sync: bool,
    /// Whether a last line without a line break is refused: it may be truncated in the middle of a number.
    pub(crate) whole_lines: bool,
}

/// A live model, its journal and the replies not written yet.
pub(crate) struct Session<'a> {
    live: &'a mut LiveModel,
    journal: Journal,
    reader: LineReader,
    writer: ReplyWriter,
    options: SessionOptions,
    names: &'a [String],
    file: FileName,
    /// Number of lines taken, including earlier sessions.
    line: u64,
    /// The file that lines come from, up to the next line; `None` for a pipe.
    file_so_far: Option<(FileId, Prefix)>,
    /// Whether the next line begins another file, in which a header may be missing: a truncated file goes on without one.
    is_first_of_other: bool,
    records: Vec<Record>,
    n_waiting: usize,
    /// Arrival of the first waiting line.
    since: Instant,
    replies: String,
    n_skipped: usize,
}

impl<'a> Session<'a> {
    /// A session that continues after `line` lines.
    pub(crate) fn new(
        (live, journal): (&'a mut LiveModel, Journal),
        (reader, writer): (LineReader, ReplyWriter),
        options: SessionOptions,
        names: &'a [String],
        (file, line): (FileName, u64),
    ) -> Self {
        let (records, replies) = (vec![], String::new());
        Self {
            live,
            journal,
            reader,
            writer,
            options,
            names,
            file,
            line,
            file_so_far: None,
            is_first_of_other: false,
            records,
            n_waiting: 0,
            since: Instant::now(),
            replies,
            n_skipped: 0,
        }
    }

    /// Writes the reply that announces readiness.
    pub(crate) fn say_ready(&mut self) -> Result<(), CliError> {
        self.writer.push_ready(&mut self.replies, self.journal.lines());
        self.flush()
    }

    /// Number of invalid lines.
    pub(crate) fn n_skipped(&self) -> usize {
        self.n_skipped
    }

    /// Whether the next line must be a header.
    pub(crate) fn needs_header(&self) -> bool {
        self.reader.needs_header()
    }

    /// Reads the header of CSV lines.
    pub(crate) fn take_header(&mut self, line: &[u8]) -> Result<(), CliError> {
        let refused = |error: catena_io::stream::LineError| CliError::StreamHeader {
            file: self.file.clone(),
            what: error.to_string(),
        };
        self.reader.read_header(line).map_err(refused)
    }

    /// Number of lines taken, including earlier sessions.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The next lines come from this file, after its first bytes.
    pub(crate) fn continue_file(&mut self, id: FileId, prefix: Prefix) {
        self.file_so_far = Some((id, prefix));
    }

    /// The next lines come from the start of another file.
    pub(crate) fn begin_other_file(&mut self, id: Option<FileId>) {
        self.file_so_far = id.map(|id| (id, Prefix::default()));
        self.is_first_of_other = true;
    }

    /// Whether a line is the header of another file. A line that is not, but is a row under the previous header, is a row.
    fn is_header_of_other(&mut self, line: &[u8]) -> Result<bool, CliError> {
        if !std::mem::take(&mut self.is_first_of_other) || !self.reader.has_headers() {
            return Ok(false);
        }
        let is_row = !self.reader.needs_header() && self.reader.read(line).is_ok_and(|row| row.is_some());
        match self.take_header(line) {
            Err(_) if is_row => Ok(false),
            taken => taken.map(|()| true),
        }
    }

    /// Takes whole lines. On return, all of them are journaled and answered.
    pub(crate) fn take(&mut self, lines: &[u8]) -> Result<(), CliError> {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            if let Some((_, prefix)) = &mut self.file_so_far {
                prefix.add(line);
            }
            if self.is_header_of_other(line)? {
                continue;
            }
            if self.reader.needs_header() {
                self.take_header(line)?;
                continue;
            }
            self.line += 1;
            // Lines already in the journal are not applied again.
            if self.line <= self.journal.lines() {
                continue;
            }
            let taken = self.take_line(line);
            if taken.is_err() {
                // Earlier lines are kept.
                self.flush()?;
                return taken;
            }
            if self.n_waiting == MOST_AT_ONCE || self.since.elapsed() > LONGEST_WAIT {
                self.flush()?;
            }
        }
        self.flush()
    }

    /// Refuses the start of a line whose end is missing.
    pub(crate) fn refuse_cut(&mut self) -> Result<(), CliError> {
        self.line += 1;
        self.refuse("was cut off when its file was truncated or replaced".to_owned())?;
        self.flush()
    }

    fn take_line(&mut self, line: &[u8]) -> Result<(), CliError> {
        if self.n_waiting == 0 {
            self.since = Instant::now();
        }
        self.n_waiting += 1;
        if self.options.whole_lines && !line.ends_with(b"\n") {
            return self.refuse("has no line break at its end and may be truncated".to_owned());
        }
        let row = match self.reader.read(line) {
            Ok(Some(row)) => row,
            Ok(None) => {
                self.writer.push_skipped(&mut self.replies, self.line, None);
                return Ok(());
            }
            Err(error) => return self.refuse(error.to_string()),
        };
        let StreamRow { groups, inputs, cells } = row;
        let indexed: Vec<(OutputIndex, f64)> =
            cells.iter().map(|(output, value)| (OutputIndex::new(*output), *value)).collect();
        let answers = match self.observe_and_answer((&groups, &inputs), &cells, &indexed) {
            Ok(answers) => answers,
            Err(error) => return self.refuse_by_model(&error),
        };
        self.writer.push_answer(&mut self.replies, self.line, (&groups, &inputs), &answers);
        if !cells.is_empty() {
            let cells = cells.iter().map(|(output, value)| (*output as u32, *value)).collect();
            let so_far = self.file_so_far.as_ref();
            let origin = so_far.map(|(id, prefix)| Origin { id: *id, digest: prefix.digest() });
            let behind = so_far.map_or(0, |(_, prefix)| prefix.length());
            self.records.push(Record { line: self.line, behind, origin, groups, inputs, cells, key: None });
        }
        Ok(())
    }

    /// Observes a line and returns the answers of its reply, by requested output.
    fn observe_and_answer(
        &mut self,
        (groups, inputs): (&[String], &[f64]),
        cells: &[(usize, f64)],
        indexed: &[(OutputIndex, f64)],
    ) -> Result<Vec<Answer>, LiveFitError> {
        let SessionOptions { ask, outputs, quantity, .. } = &self.options;
        let is_query = cells.is_empty();
        let is_asked = |output: &usize| match ask {
            _ if is_query => true,
            Ask::Row => true,
            Ask::Missing => cells.iter().all(|(observed, _)| observed != output),
            Ask::None => false,
        };
        let mut answers = vec![Answer::default(); outputs.len()];
        let live = self.live.of(groups, inputs)?;
        if outputs.iter().any(is_asked) {
            let predictive = live.observe_and_predict(inputs, indexed, *quantity)?;
            for (output, answer) in outputs.iter().zip(&mut answers).filter(|(output, _)| is_asked(output)) {
                answer.predicted = Some((predictive.mean(*output), predictive.deviation(*output)));
            }
        } else {
            live.observe_row(inputs, indexed)?;
        }
        if self.writer.has_deviations() && !is_query {
            let deviations = live.deviations_at(inputs)?;
            for (output, answer) in outputs.iter().zip(&mut answers) {
                let is_new = cells.iter().any(|(observed, _)| observed == output);
                answer.deviation = deviations[*output].filter(|_| is_new);
            }
        }
        Ok(answers)
    }

    fn refuse_by_model(&mut self, error: &LiveFitError) -> Result<(), CliError> {
        let what = match error {
            LiveFitError::Value { output, .. } => format!("column {}: {error}", self.names[output.get()]),
            _ if error.is_numerical() => "the prediction overflows; check the values of this line".to_owned(),
            _ => error.to_string(),
        };
        self.refuse(what)
    }

    fn refuse(&mut self, what: String) -> Result<(), CliError> {
        self.n_skipped += 1;
        let error = CliError::Line { file: self.file.clone(), line: self.line, what };
        if self.options.on_error == OnError::Stop {
            return Err(error);
        }
        complain(&error);
        if let CliError::Line { what, .. } = &error {
            self.writer.push_skipped(&mut self.replies, self.line, Some(what));
        }
        Ok(())
    }

    /// Writes the waiting lines to the journal, then their replies.
    fn flush(&mut self) -> Result<(), CliError> {
        self.journal.append(&self.records, self.options.sync)?;
        self.records.clear();
        self.n_waiting = 0;
        if !self.replies.is_empty() {
            let mut out = std::io::stdout().lock();
            out.write_all(self.replies.as_bytes())?;
            out.flush()?;
            self.replies.clear();
        }
        Ok(())
    }
}
