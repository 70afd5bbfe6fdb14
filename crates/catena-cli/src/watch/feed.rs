//! Where lines come from: standard input, or a file that may still grow.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use catena_io::FileName;

use crate::error::CliError;

/// What is longer is no line.
pub(crate) const LONGEST_LINE: usize = 16 << 20;

/// How long to wait for a file to grow.
const NAP: Duration = Duration::from_millis(20);

const PIECE: usize = 1 << 16;

/// Bytes as they come. A read brings what is there, so lines that come slowly come one by one and others many at once.
#[derive(Debug)]
pub(crate) struct Feed {
    source: Source,
    name: FileName,
    /// Bytes that are not a whole line yet.
    pending: Vec<u8>,
    /// Where the first of them stands in the file.
    at: u64,
    piece: Vec<u8>,
}

#[derive(Debug)]
enum Source {
    Pipe(io::Stdin),
    File { file: File, follows: bool },
}

/// A piece of the input.
pub(crate) struct Lines<'a> {
    /// Whole lines, their ends included; the very last may have none.
    pub(crate) bytes: &'a [u8],
    /// Where they begin in the file; `None` for a pipe.
    pub(crate) at: Option<u64>,
}

impl Feed {
    /// Standard input.
    pub(crate) fn pipe() -> Self {
        Self::new(Source::Pipe(io::stdin()), FileName::StandardInput)
    }

    /// A file; if it is followed, its end is not the end.
    pub(crate) fn file(path: &Path, follows: bool) -> Result<Self, CliError> {
        let name = FileName::from(path);
        let file = File::open(path).map_err(|cause| CliError::Stream { file: name.clone(), cause })?;
        Ok(Self::new(Source::File { file, follows }, name))
    }

    fn new(source: Source, name: FileName) -> Self {
        Self { source, name, pending: vec![], at: 0, piece: vec![0; PIECE] }
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &FileName {
        &self.name
    }

    /// Goes on at another place of a file.
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

    /// The whole lines that are there, at most all that one read brings; waits if there are none. `None` at the end.
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
            // The lines stay in the piece until the next call.
            self.piece.clear();
            std::mem::swap(&mut self.piece, &mut self.pending);
            self.pending = rest;
            self.at += whole as u64;
            return Ok(Some(Lines { bytes: &self.piece, at }));
        }
    }

    /// Appends what is there; 0 at the end.
    fn read(&mut self) -> Result<usize, CliError> {
        self.piece.resize(PIECE, 0);
        loop {
            let read = match &mut self.source {
                Source::Pipe(pipe) => pipe.lock().read(&mut self.piece),
                Source::File { file, follows } => match file.read(&mut self.piece) {
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
                    self.pending.extend_from_slice(&self.piece[..n_bytes]);
                    return Ok(n_bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(CliError::Stream { file: self.name.clone(), cause }),
            }
        }
    }
}
