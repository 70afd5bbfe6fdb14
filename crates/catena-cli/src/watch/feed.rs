//! Reads lines from standard input, or from a file that may grow, be rotated or be truncated.
//!
//! A file is recognized by its number and its bytes, never by its name or length alone. Every read repeats the last bytes that were
//! read before; if they are others, the file was truncated or rewritten and is read from its start. A file that is followed is
//! left for another one of its name when that one has bytes and nothing more arrives in the old one.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use catena_io::journal::{Origin, Prefix};
use catena_io::{FileId, FileName};

use crate::error::CliError;

/// Maximum length of a line in bytes.
pub(crate) const LONGEST_LINE: usize = 16 << 20;

/// Interval between reads of a growing file.
const NAP: Duration = Duration::from_millis(20);

/// How long a file that was renamed must not grow before it is left.
const GRACE: Duration = Duration::from_millis(500);

const BUFFER_SIZE: usize = 1 << 16;

/// Bytes that every read of a file repeats.
const REPEATED: usize = 1 << 12;

/// A source of lines. Each read returns the available bytes, so slow lines arrive one by one and fast ones in batches.
#[derive(Debug)]
pub(crate) struct Feed {
    source: Source,
    name: FileName,
    /// Bytes of an incomplete line.
    pending: Vec<u8>,
    buffer: Vec<u8>,
    /// Whether the next call announces another file.
    switch: Option<Switch>,
}

#[derive(Debug)]
enum Source {
    Stream(Stream),
    File(OpenFile),
}

/// A pipe or device, which has no offsets.
#[derive(Debug)]
enum Stream {
    StandardInput(io::Stdin),
    File(File),
}

#[derive(Debug)]
struct OpenFile {
    /// The path given by the user.
    path: PathBuf,
    file: File,
    id: FileId,
    follows: bool,
    /// Whether the file has another name by now: its end is followed by the file at the path.
    is_renamed: bool,
    /// Offset of the next byte.
    end: u64,
    /// The bytes before that offset.
    tail: Vec<u8>,
    /// Since when another file has the name of this one and this one does not grow.
    idle_since: Option<Instant>,
}

/// The next part of a source.
#[derive(Debug)]
pub(crate) enum Next<'a> {
    /// Whole lines with their line breaks; the last line of a file or pipe may have none.
    Lines(&'a [u8]),
    /// The start of a line whose end is missing, because the file was truncated or replaced.
    Cut,
    /// The lines that follow are those of another file, from its start.
    Switch(Switch),
    /// The end.
    End,
}

/// Why the lines that follow are those of another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    /// Another file has the name.
    Replaced,
    /// The file was truncated or rewritten.
    Rewritten,
}

/// Where reading a file continues.
#[derive(Debug)]
pub(crate) enum Resumed {
    /// After the bytes that were read before. The first line is the header, if lines have one.
    Same { prefix: Prefix, first_line: Vec<u8> },
    /// After the bytes that were read before, in a file that has another name now.
    Renamed { prefix: Prefix, first_line: Vec<u8>, path: PathBuf },
    /// At the start: the file is another one, or its first bytes have changed.
    Other,
}

impl Feed {
    /// Standard input.
    pub(crate) fn pipe() -> Self {
        Self::new(Source::Stream(Stream::StandardInput(io::stdin())), FileName::StandardInput)
    }

    /// A file; if `follows`, waits at its end for more. A named pipe or device is read as a pipe.
    pub(crate) fn file(path: &Path, follows: bool) -> Result<Self, CliError> {
        let name = FileName::from(path);
        let failed = |cause| CliError::Stream { file: name.clone(), cause };
        let file = File::open(path).map_err(failed)?;
        let source = if file.metadata().map_err(failed)?.is_file() {
            Source::File(OpenFile::new(path, file, follows).map_err(failed)?)
        } else {
            Source::Stream(Stream::File(file))
        };
        Ok(Self::new(source, name))
    }

    fn new(source: Source, name: FileName) -> Self {
        Self { source, name, pending: vec![], buffer: vec![0; BUFFER_SIZE], switch: None }
    }

    /// The name of the source in messages.
    pub(crate) fn name(&self) -> &FileName {
        &self.name
    }

    /// The number of the file; `None` for a pipe.
    pub(crate) fn file_id(&self) -> Option<FileId> {
        match &self.source {
            Source::Stream(_) => None,
            Source::File(file) => Some(file.id),
        }
    }

    /// Continues after the first `length` bytes of a file that was read before, here or, if the file was renamed, in its folder.
    pub(crate) fn resume(&mut self, length: u64, origin: Origin) -> Result<Resumed, CliError> {
        let failed = |cause| CliError::Stream { file: self.name.clone(), cause };
        let Source::File(file) = &mut self.source else { return Ok(Resumed::Other) };
        if let Some((prefix, first_line)) = file.skip(length, origin).map_err(failed)? {
            return Ok(Resumed::Same { prefix, first_line });
        }
        let Some((path, renamed)) = renamed_file(&file.path, origin.id) else { return Ok(Resumed::Other) };
        let Ok(mut old) = OpenFile::new(&file.path, renamed, file.follows) else { return Ok(Resumed::Other) };
        match old.skip(length, origin) {
            Ok(Some((prefix, first_line))) => {
                old.is_renamed = true;
                *file = old;
                Ok(Resumed::Renamed { prefix, first_line, path })
            }
            _ => Ok(Resumed::Other),
        }
    }

    /// The next lines; waits for at least one.
    pub(crate) fn next(&mut self) -> Result<Next<'_>, CliError> {
        if let Some(switch) = self.switch.take() {
            if switch == Switch::Replaced
                && let Source::File(file) = &mut self.source
            {
                let follows = file.follows;
                *self = Self::file(&file.path.clone(), follows)?;
            }
            return Ok(Next::Switch(switch));
        }
        loop {
            match self.read()? {
                Arrived::Bytes => {}
                Arrived::End if self.pending.is_empty() => return Ok(Next::End),
                Arrived::End => return Ok(Next::Lines(self.take(self.pending.len()))),
                Arrived::Switch(switch) => {
                    self.switch = Some(switch);
                    if self.pending.is_empty() {
                        return self.next();
                    }
                    self.pending.clear();
                    return Ok(Next::Cut);
                }
            }
            match self.pending.iter().rposition(|byte| *byte == b'\n') {
                Some(last) => return Ok(Next::Lines(self.take(last + 1))),
                None if self.pending.len() > LONGEST_LINE => {
                    return Err(CliError::LongLine { file: self.name.clone() });
                }
                None => {}
            }
        }
    }

    /// The first pending bytes, which stay in the buffer until the next call.
    fn take(&mut self, length: usize) -> &[u8] {
        let rest = self.pending.split_off(length);
        self.buffer.clear();
        std::mem::swap(&mut self.buffer, &mut self.pending);
        self.pending = rest;
        &self.buffer
    }

    /// Appends the available bytes; waits for some.
    fn read(&mut self) -> Result<Arrived, CliError> {
        let Self { source, pending, buffer, .. } = self;
        loop {
            let arrived = match source {
                Source::Stream(stream) => stream.read(pending, buffer),
                Source::File(file) => file.read(pending, buffer),
            };
            match arrived {
                Ok(Some(arrived)) => return Ok(arrived),
                Ok(None) => std::thread::sleep(NAP),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(CliError::Stream { file: self.name.clone(), cause }),
            }
        }
    }
}

/// The result of one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrived {
    Bytes,
    End,
    Switch(Switch),
}

impl Stream {
    fn read(&mut self, pending: &mut Vec<u8>, buffer: &mut Vec<u8>) -> io::Result<Option<Arrived>> {
        buffer.resize(BUFFER_SIZE, 0);
        let n_read = match self {
            Self::StandardInput(pipe) => pipe.lock().read(buffer)?,
            Self::File(file) => file.read(buffer)?,
        };
        pending.extend_from_slice(&buffer[..n_read]);
        Ok(Some(if n_read == 0 { Arrived::End } else { Arrived::Bytes }))
    }
}

impl OpenFile {
    fn new(path: &Path, file: File, follows: bool) -> io::Result<Self> {
        let id = FileId::of(&file.metadata()?);
        let path = path.to_owned();
        Ok(Self { path, file, id, follows, is_renamed: false, end: 0, tail: vec![], idle_since: None })
    }

    /// Appends the available bytes; `None` while the source has no more.
    fn read(&mut self, pending: &mut Vec<u8>, buffer: &mut Vec<u8>) -> io::Result<Option<Arrived>> {
        let n_repeated = self.tail.len();
        buffer.resize(n_repeated + BUFFER_SIZE, 0);
        self.file.seek(SeekFrom::Start(self.end - n_repeated as u64))?;
        let mut n_read = 0;
        while n_read <= n_repeated {
            match self.file.read(&mut buffer[n_read..])? {
                0 => break,
                more => n_read += more,
            }
        }
        if n_read < n_repeated || buffer[..n_repeated] != self.tail {
            (self.end, self.idle_since) = (0, None);
            self.tail.clear();
            return Ok(Some(Arrived::Switch(Switch::Rewritten)));
        }
        if n_read > n_repeated {
            pending.extend_from_slice(&buffer[n_repeated..n_read]);
            self.end += (n_read - n_repeated) as u64;
            self.idle_since = None;
            let kept = n_read.min(REPEATED);
            self.tail.clear();
            self.tail.extend_from_slice(&buffer[n_read - kept..n_read]);
            return Ok(Some(Arrived::Bytes));
        }
        if self.is_renamed {
            return Ok(Some(Arrived::Switch(Switch::Replaced)));
        }
        if !self.follows {
            return Ok(Some(Arrived::End));
        }
        // Until its first bytes, the new file may be empty because the writer has not changed to it yet.
        let is_replaced = fs::metadata(&self.path)
            .is_ok_and(|named| named.is_file() && named.len() > 0 && FileId::of(&named) != self.id);
        if !is_replaced {
            self.idle_since = None;
            return Ok(None);
        }
        let since = *self.idle_since.get_or_insert_with(Instant::now);
        Ok((since.elapsed() >= GRACE).then_some(Arrived::Switch(Switch::Replaced)))
    }

    /// Skips the first `length` bytes if they are those of a digest; returns them as a digest, and their first line. A last line
    /// that had no line break and has grown since is not skipped.
    fn skip(&mut self, length: u64, origin: Origin) -> io::Result<Option<(Prefix, Vec<u8>)>> {
        let Some(mut read) = self.read_prefix(length)? else { return Ok(None) };
        if read.prefix.digest() != origin.digest {
            return Ok(None);
        }
        if !read.tail.ends_with(b"\n") {
            let mut next = [0];
            let n_next = self.file.read(&mut next)?;
            if n_next == 1 && !matches!(next[0], b'\n' | b'\r') {
                let Some(shorter) = self.read_prefix(read.last_line)? else { return Ok(None) };
                read = shorter;
            }
        }
        (self.end, self.tail) = (read.prefix.length(), read.tail);
        Ok(Some((read.prefix, read.first_line)))
    }

    /// The first `length` bytes; `None` if the file is shorter.
    fn read_prefix(&mut self, length: u64) -> io::Result<Option<ReadPrefix>> {
        self.file.rewind()?;
        let (mut prefix, mut first_line, mut last_line) = (Prefix::default(), vec![], 0);
        let mut tail: Vec<u8> = vec![];
        let mut piece = vec![0; BUFFER_SIZE];
        while prefix.length() < length {
            let wanted = (length - prefix.length()).min(BUFFER_SIZE as u64) as usize;
            let n_read = match self.file.read(&mut piece[..wanted]) {
                Ok(0) => return Ok(None),
                Ok(n_read) => n_read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let bytes = &piece[..n_read];
            if !first_line.ends_with(b"\n") && first_line.len() <= LONGEST_LINE {
                let line = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
                first_line.extend_from_slice(line);
            }
            // The last byte may be the line break of the last line.
            if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
                last_line = prefix.length() + at as u64 + 1;
            }
            prefix.add(bytes);
            tail.extend_from_slice(bytes);
            tail.drain(..tail.len().saturating_sub(REPEATED));
        }
        Ok(Some(ReadPrefix { prefix, first_line, last_line, tail }))
    }
}

/// The first bytes of a file.
#[derive(Debug)]
struct ReadPrefix {
    prefix: Prefix,
    first_line: Vec<u8>,
    /// Offset of the last line.
    last_line: u64,
    /// The last bytes.
    tail: Vec<u8>,
}

/// The file with this number in the folder of a path, under another name.
fn renamed_file(path: &Path, id: FileId) -> Option<(PathBuf, File)> {
    if !id.is_known() {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_it = |entry: &fs::DirEntry| {
        entry.metadata().is_ok_and(|metadata| metadata.is_file() && FileId::of(&metadata) == id)
    };
    let found = fs::read_dir(folder).ok()?.flatten().find(is_it)?.path();
    let file = File::open(&found).ok()?;
    Some((found, file))
}
