//! Reads lines from standard input or from a file that may grow.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use catena_io::FileName;

use crate::error::CliError;

/// Maximum length of a line in bytes.
pub(crate) const LONGEST_LINE: usize = 16 << 20;

/// Interval between reads of a growing file.
const NAP: Duration = Duration::from_millis(20);

const BUFFER_SIZE: usize = 1 << 16;

/// A source of lines. Each read returns the available bytes, so slow lines arrive one by one and fast ones in batches.
#[derive(Debug)]
pub(crate) struct Feed {
    source: Source,
    name: FileName,
    /// Bytes of an incomplete line.
    pending: Vec<u8>,
    /// Offset of the first pending byte in the file.
    at: u64,
    buffer: Vec<u8>,
}

#[derive(Debug)]
enum Source {
    Pipe(io::Stdin),
    File { file: File, follows: bool },
}

/// A batch of lines.
pub(crate) struct Lines<'a> {
    /// Whole lines with their line breaks; the last line of the input may have none.
    pub(crate) bytes: &'a [u8],
    /// Their offset in the file; `None` for a pipe.
    pub(crate) at: Option<u64>,
}

impl Feed {
    /// Standard input.
    pub(crate) fn pipe() -> Self {
        Self::new(Source::Pipe(io::stdin()), FileName::StandardInput)
    }

    /// A file; if `follows`, waits at its end for more.
    pub(crate) fn file(path: &Path, follows: bool) -> Result<Self, CliError> {
        let name = FileName::from(path);
        let file = File::open(path).map_err(|cause| CliError::Stream { file: name.clone(), cause })?;
        Ok(Self::new(Source::File { file, follows }, name))
    }

    fn new(source: Source, name: FileName) -> Self {
        Self { source, name, pending: vec![], at: 0, buffer: vec![0; BUFFER_SIZE] }
    }

    /// The name of the source in messages.
    pub(crate) fn name(&self) -> &FileName {
        &self.name
    }

    /// Continues at another offset of a file.
    pub(crate) fn go_to(&mut self, at: u64) -> Result<(), CliError> {
        if let Source::File { file, .. } = &mut self.source {
            let failed = |cause| CliError::Stream { file: self.name.clone(), cause };
            if file.metadata().map_err(failed)?.len() < at {
                return Err(CliError::StreamIsShort { file: self.name.clone(), at });
            }
            file.seek(SeekFrom::Start(at)).map_err(failed)?;
            self.pending.clear();
            self.at = at;
        }
        Ok(())
    }

    /// The whole lines of the next read; waits for at least one. `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Lines<'_>>, CliError> {
        loop {
            let n_read = self.read()?;
            let is_end = n_read == 0;
            if is_end && self.pending.is_empty() {
                return Ok(None);
            }
            let whole = match self.pending.iter().rposition(|byte| *byte == b'\n') {
                Some(last) => last + 1,
                None if is_end => self.pending.len(),
                None if self.pending.len() > LONGEST_LINE => {
                    return Err(CliError::LongLine { file: self.name.clone() });
                }
                None => continue,
            };
            let at = matches!(self.source, Source::File { .. }).then_some(self.at);
            let rest = self.pending.split_off(whole);
            // The lines stay in the buffer until the next call.
            self.buffer.clear();
            std::mem::swap(&mut self.buffer, &mut self.pending);
            self.pending = rest;
            self.at += whole as u64;
            return Ok(Some(Lines { bytes: &self.buffer, at }));
        }
    }

    /// Appends the available bytes and returns their number; 0 at the end.
    fn read(&mut self) -> Result<usize, CliError> {
        self.buffer.resize(BUFFER_SIZE, 0);
        loop {
            let read = match &mut self.source {
                Source::Pipe(pipe) => pipe.lock().read(&mut self.buffer),
                Source::File { file, follows } => match file.read(&mut self.buffer) {
                    Ok(0) if *follows => {
                        let end = self.at + self.pending.len() as u64;
                        if file.metadata().is_ok_and(|metadata| metadata.len() < end) {
                            return Err(CliError::StreamIsShort { file: self.name.clone(), at: end });
                        }
                        std::thread::sleep(NAP);
                        continue;
                    }
                    read => read,
                },
            };
            match read {
                Ok(n_bytes) => {
                    self.pending.extend_from_slice(&self.buffer[..n_bytes]);
                    return Ok(n_bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(CliError::Stream { file: self.name.clone(), cause }),
            }
        }
    }
}
