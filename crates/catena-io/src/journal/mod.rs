//! A write-ahead journal of observations beside a model file.
//!
//! [`Journal::append`] writes records before they are acknowledged, so they survive a crash of the process; with `sync` they also
//! survive a loss of power. A last record that was cut short or damaged is removed when the journal is opened. Damage before whole
//! records is an error, because they would be lost.

mod error;
mod origin;
mod record;
#[cfg(test)]
mod tests;

pub use error::JournalError;
pub use origin::{Origin, Prefix};
pub use record::{Record, RequestKey};

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::model_file::Digest;
use crate::place::FileName;
use record::{BadBeginning, Beginning, Version};

/// An open journal, locked against other processes.
#[derive(Debug)]
pub struct Journal {
    file: File,
    name: FileName,
    n_inputs: usize,
    /// Bytes of whole records, header included.
    length: u64,
    lines: u64,
    behind: u64,
    origin: Option<Origin>,
    version: Version,
    buffer: Vec<u8>,
    /// Whether the rest of a failed write may still be in the file.
    is_unclean: bool,
}

/// The content of a journal when it was opened.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Replay {
    /// The records, in order.
    pub records: Vec<Record>,
    /// Removed bytes of a last record that was cut short or damaged.
    pub n_torn_bytes: u64,
    /// Whether all bytes of that record were there but changed, so that its line may have been acknowledged.
    pub is_damaged: bool,
}

impl Journal {
    /// Opens or creates the journal of a model with `n_inputs` inputs.
    ///
    /// # Errors
    /// If it belongs to another model, is damaged, is in use, or cannot be read or written.
    pub fn open(path: &Path, model: Digest, n_inputs: usize) -> Result<(Self, Replay), JournalError> {
        let name = FileName::from(path);
        let failed = |source| JournalError::Io { file: name.clone(), source };
        // Truncated only after a record that was cut short.
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = options.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse { file: name }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let mut bytes = vec![];
        file.read_to_end(&mut bytes).map_err(failed)?;
        // If the header was cut short, nothing was acknowledged yet.
        let fresh =
            Beginning { model, lines: 0, behind: 0, origin: None, version: Version::Three }.to_bytes();
        if bytes.len() < fresh.len() && fresh.starts_with(&bytes) {
            file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
            file.write_all(&fresh).map_err(failed)?;
            bytes = fresh;
        }
        let found = match read(&bytes, n_inputs) {
            Ok(found) => found,
            Err(Unreadable::Beginning(BadBeginning::NotAJournal)) => {
                return Err(JournalError::NotAJournal { file: name });
            }
            Err(Unreadable::Beginning(BadBeginning::Newer(version))) => {
                return Err(JournalError::Newer { file: name, version });
            }
            Err(Unreadable::Damaged { at, n_whole }) => {
                return Err(JournalError::Damaged { file: name, at, n_whole });
            }
        };
        let Found { beginning, records, length, n_torn, is_damaged } = found;
        if beginning.model != model {
            return Err(JournalError::OtherModel { file: name });
        }
        if n_torn > 0 {
            file.set_len(length as u64).map_err(failed)?;
        }
        file.seek(SeekFrom::Start(length as u64)).map_err(failed)?;
        let last = records.last().map(|record| (record.line, record.behind, record.origin));
        let (lines, behind, origin) = last.unwrap_or((beginning.lines, beginning.behind, beginning.origin));
        let (length, version, buffer) = (length as u64, beginning.version, vec![]);
        let is_unclean = false;
        let journal =
            Self { file, name, n_inputs, length, lines, behind, origin, version, buffer, is_unclean };
        Ok((journal, Replay { records, n_torn_bytes: n_torn as u64, is_damaged }))
    }

    /// Writes an empty journal that continues this one, for a model whose table contains all lines of this one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn continue_at(&self, path: &Path, model: Digest) -> Result<(), JournalError> {
        self.continue_with(path, model, (self.lines, &[]))
    }

    /// Writes a journal that continues this one after line `lines`, for a model whose table contains all lines up to that one, with
    /// the later records of this one. The last of `keys` are kept, in as many records without a value as there are lines.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn continue_after(
        &self,
        path: &Path,
        model: Digest,
        (lines, keys): (u64, &[RequestKey]),
        later: &[Record],
    ) -> Result<(), JournalError> {
        let n_kept = keys.len().min(usize::try_from(lines).unwrap_or(usize::MAX));
        let keys = &keys[keys.len() - n_kept..];
        let first = lines - n_kept as u64;
        let empty = |(at, key): (usize, &RequestKey)| Record {
            line: first + 1 + at as u64,
            behind: 0,
            origin: None,
            groups: vec![],
            inputs: vec![0.0; self.n_inputs],
            cells: vec![],
            key: Some(*key),
        };
        let mut records: Vec<Record> = keys.iter().enumerate().map(empty).collect();
        records.extend_from_slice(later);
        self.continue_with(path, model, (first, &records))
    }

    fn continue_with(
        &self,
        path: &Path,
        model: Digest,
        (lines, records): (u64, &[Record]),
    ) -> Result<(), JournalError> {
        let Self { behind, origin, .. } = *self;
        let name = FileName::from(path);
        let mut file = crate::write::TargetFile::create_path(path)?;
        let mut bytes = Beginning { model, lines, behind, origin, version: Version::Three }.to_bytes();
        records.iter().for_each(|record| record.push_to(&mut bytes, Version::Three));
        file.write_all(&bytes).map_err(|source| JournalError::Io { file: name, source })?;
        Ok(file.commit()?)
    }

    /// The digest of the model that the journal at a path belongs to; `None` if there is no journal.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn model_of(path: &Path) -> Result<Option<Digest>, JournalError> {
        let mut head = vec![];
        let opened = File::open(path).and_then(|file| file.take(LONGEST_HEADER).read_to_end(&mut head));
        match opened {
            Ok(_) => Ok(Beginning::read(&head).ok().map(|(beginning, _)| beginning.model)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(JournalError::Io { file: FileName::from(path), source }),
        }
    }

    /// The records of the journal at a path up to its byte `end`, which another holder of it has.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn records_before(path: &Path, end: u64, n_inputs: usize) -> Result<Vec<Record>, JournalError> {
        let name = FileName::from(path);
        let mut bytes = vec![];
        let all = File::open(path).and_then(|file| file.take(end).read_to_end(&mut bytes));
        all.map_err(|source| JournalError::Io { file: name.clone(), source })?;
        match read(&bytes, n_inputs) {
            Ok(found) => Ok(found.records),
            Err(_) => Err(JournalError::NotAJournal { file: name }),
        }
    }

    /// The records from a byte on at which one begins.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn records_from(&self, begin: u64) -> Result<Vec<Record>, JournalError> {
        let mut file = &self.file;
        let mut bytes = vec![];
        let all = file
            .seek(SeekFrom::Start(begin))
            .and_then(|_| file.take(self.length - begin).read_to_end(&mut bytes));
        let back = file.seek(SeekFrom::Start(self.length));
        all.and(back).map_err(|source| JournalError::Io { file: self.name.clone(), source })?;
        let (mut records, mut at) = (vec![], 0);
        while let Some((record, length)) = Record::read(&bytes[at..], self.n_inputs, self.version) {
            records.push(record);
            at += length;
        }
        Ok(records)
    }

    /// Bytes of all records and the header.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        match &self.name {
            FileName::Path(path) => path,
            _ => Path::new(""),
        }
    }

    /// The same journal under another path, where it replaces what was there.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn renamed(self, path: &Path) -> Result<Self, JournalError> {
        let name = FileName::from(path);
        match std::fs::rename(self.path(), path) {
            Ok(()) => Ok(Self { name, ..self }),
            Err(source) => Err(JournalError::Io { file: name, source }),
        }
    }

    /// Whether the journal keeps the keys of requests and the removal of values: not if an earlier version began it.
    pub fn keeps_keys(&self) -> bool {
        self.version == Version::Three
    }

    /// The default path of the journal of a model.
    pub fn beside(model: &Path) -> PathBuf {
        let mut name = model.as_os_str().to_owned();
        name.push(".journal");
        name.into()
    }

    /// Whether there is a journal with records at a path.
    ///
    /// # Errors
    /// If another process has it open, or it cannot be read.
    pub fn has_records(path: &Path) -> Result<bool, JournalError> {
        let name = FileName::from(path);
        let failed = |source| JournalError::Io { file: name.clone(), source };
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed(error)),
        };
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse { file: name }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let mut bytes = vec![];
        file.read_to_end(&mut bytes).map_err(failed)?;
        match Beginning::read(&bytes) {
            Ok((_, length)) => Ok(bytes.len() > length),
            Err(BadBeginning::NotAJournal) => Ok(false),
            Err(BadBeginning::Newer(version)) => Err(JournalError::Newer { file: name, version }),
        }
    }

    /// The file.
    pub fn name(&self) -> &FileName {
        &self.name
    }

    /// Number of the last line in the journal.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Offset of the next line in its file; 0 if unknown.
    pub fn behind(&self) -> u64 {
        self.behind
    }

    /// The file of the last line; `None` if it came from a pipe or the file is unknown.
    pub fn origin(&self) -> Option<Origin> {
        self.origin
    }

    /// Appends records with one write, and with `sync` waits until they are on disk. They may be acknowledged when it returns.
    ///
    /// # Errors
    /// If the disk is full or fails; a partial record is removed, now or when the journal is opened.
    pub fn append(&mut self, records: &[Record], sync: bool) -> Result<(), JournalError> {
        let Some(last) = records.last() else { return Ok(()) };
        if self.is_unclean {
            // Records behind the rest of a failed write would be taken for damage.
            self.clean().map_err(|source| JournalError::Io { file: self.name.clone(), source })?;
            self.is_unclean = false;
        }
        self.buffer.clear();
        for record in records {
            if record.inputs.len() != self.n_inputs || record.line <= self.lines {
                return Err(JournalError::OutOfOrder { file: self.name.clone(), line: record.line });
            }
            record.push_to(&mut self.buffer, self.version);
        }
        let mut written = self.file.write_all(&self.buffer);
        if sync && written.is_ok() {
            written = self.file.sync_data();
        }
        if let Err(source) = written {
            // If this fails, the partial record is removed when the journal is opened.
            self.is_unclean = self.clean().is_err();
            return Err(JournalError::Io { file: self.name.clone(), source });
        }
        self.length += self.buffer.len() as u64;
        (self.lines, self.behind) = (last.line, last.behind);
        self.origin = if self.version == Version::One { None } else { last.origin };
        Ok(())
    }

    /// Removes what a failed write has left behind the last whole record.
    fn clean(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length)).map(|_| ())
    }
}

/// Bytes that hold every header.
const LONGEST_HEADER: u64 = 256;

#[derive(Debug)]
struct Found {
    beginning: Beginning,
    records: Vec<Record>,
    /// End of the last whole record.
    length: usize,
    n_torn: usize,
    is_damaged: bool,
}

#[derive(Debug)]
enum Unreadable {
    Beginning(BadBeginning),
    Damaged { at: u64, n_whole: usize },
}

/// All whole records in the bytes of a journal.
fn read(bytes: &[u8], n_inputs: usize) -> Result<Found, Unreadable> {
    let (beginning, mut at) = Beginning::read(bytes).map_err(Unreadable::Beginning)?;
    let mut records: Vec<Record> = vec![];
    let mut lines = beginning.lines;
    while at < bytes.len() {
        match Record::read(&bytes[at..], n_inputs, beginning.version) {
            Some((record, length)) if record.line > lines => {
                lines = record.line;
                records.push(record);
                at += length;
            }
            // A partial record is valid at the end only; before a whole record it is damage.
            _ => {
                let is_followed = (at + 1..bytes.len())
                    .any(|later| Record::read(&bytes[later..], n_inputs, beginning.version).is_some());
                if is_followed {
                    return Err(Unreadable::Damaged { at: at as u64, n_whole: records.len() });
                }
                break;
            }
        }
    }
    let n_torn = bytes.len() - at;
    let is_damaged = n_torn > 0 && !Record::is_cut(&bytes[at..]);
    Ok(Found { beginning, records, length: at, n_torn, is_damaged })
}
