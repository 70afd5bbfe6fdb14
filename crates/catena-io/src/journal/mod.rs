//! A journal of observations beside a model: appended before anything is acknowledged, read back after the process died.
//!
//! Every record is handed to the system by one write before the caller goes on, so it survives the death of the process;
//! with [`Journal::append`]'s `sync` it is on the disk and survives the loss of power too. A record that was cut short is
//! never read: it is cut off when the journal is opened. Damage anywhere else is refused, because whole records would be
//! lost behind it.

mod error;
mod record;
#[cfg(test)]
mod tests;

pub use error::JournalError;
pub use record::Record;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::model_file::Digest;
use crate::place::FileName;
use record::{BadBeginning, Beginning};

/// An open journal; no other process can open it meanwhile.
#[derive(Debug)]
pub struct Journal {
    file: File,
    name: FileName,
    n_inputs: usize,
    /// Bytes of whole records, header included.
    length: u64,
    lines: u64,
    behind: u64,
    buffer: Vec<u8>,
}

/// What was found when a journal was opened.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Replay {
    /// Every line that was applied, in order.
    pub records: Vec<Record>,
    /// Bytes of a last record that was cut short; they are gone now.
    pub n_torn_bytes: u64,
}

impl Journal {
    /// Opens the journal of a model with this many inputs, or begins one.
    ///
    /// # Errors
    /// When it is of another model or damaged, another process has it open, or it cannot be read or written.
    pub fn open(path: &Path, model: Digest, n_inputs: usize) -> Result<(Self, Replay), JournalError> {
        let name = FileName::from(path);
        let failed = |source| JournalError::Io { file: name.clone(), source };
        // It is cut only where a record is torn.
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = options.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse { file: name }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let mut bytes = vec![];
        file.read_to_end(&mut bytes).map_err(failed)?;
        // A header that was cut short: nothing was acknowledged yet.
        let fresh = Beginning { model, lines: 0, behind: 0 }.to_bytes();
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
        let Found { beginning, records, length, n_torn } = found;
        if beginning.model != model {
            return Err(JournalError::OtherModel { file: name });
        }
        if n_torn > 0 {
            file.set_len(length as u64).map_err(failed)?;
        }
        file.seek(SeekFrom::Start(length as u64)).map_err(failed)?;
        let last = records.last().map(|record| (record.line, record.behind));
        let (lines, behind) = last.unwrap_or((beginning.lines, beginning.behind));
        let journal = Self { file, name, n_inputs, length: length as u64, lines, behind, buffer: vec![] };
        Ok((journal, Replay { records, n_torn_bytes: n_torn as u64 }))
    }

    /// Begins the journal of a model whose table already has the first lines of a stream; whatever was at the path is replaced.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin_behind(path: &Path, model: Digest, lines: u64, behind: u64) -> Result<(), JournalError> {
        let name = FileName::from(path);
        let mut file = crate::write::TargetFile::create_path(path)?;
        let bytes = Beginning { model, lines, behind }.to_bytes();
        file.write_all(&bytes).map_err(|source| JournalError::Io { file: name, source })?;
        Ok(file.commit()?)
    }

    /// Where the journal of a model is, unless another place is named.
    pub fn beside(model: &Path) -> PathBuf {
        let mut name = model.as_os_str().to_owned();
        name.push(".journal");
        name.into()
    }

    /// Whether there is a journal with records at a path. Nobody could read them without the model they were written for.
    ///
    /// # Errors
    /// When another process has it open, or it cannot be read.
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

    /// What it is called.
    pub fn name(&self) -> &FileName {
        &self.name
    }

    /// The number of the last line that was applied.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Where the line after the last one begins in its file; 0 if that is not known.
    pub fn behind(&self) -> u64 {
        self.behind
    }

    /// Appends records with one write, and with `sync` waits until they are on the disk. Only then may they be acknowledged.
    ///
    /// # Errors
    /// When the disk is full or fails; then nothing of them is left behind if the system lets it be removed.
    pub fn append(&mut self, records: &[Record], sync: bool) -> Result<(), JournalError> {
        let Some(last) = records.last() else { return Ok(()) };
        self.buffer.clear();
        for record in records {
            if record.inputs.len() != self.n_inputs || record.line <= self.lines {
                return Err(JournalError::OutOfOrder { file: self.name.clone(), line: record.line });
            }
            record.push_to(&mut self.buffer);
        }
        let mut written = self.file.write_all(&self.buffer);
        if sync && written.is_ok() {
            written = self.file.sync_data();
        }
        if let Err(source) = written {
            // What cannot be removed here is cut off when the journal is opened.
            let _ = self.file.set_len(self.length);
            let _ = self.file.seek(SeekFrom::Start(self.length));
            return Err(JournalError::Io { file: self.name.clone(), source });
        }
        self.length += self.buffer.len() as u64;
        (self.lines, self.behind) = (last.line, last.behind);
        Ok(())
    }
}

#[derive(Debug)]
struct Found {
    beginning: Beginning,
    records: Vec<Record>,
    /// Bytes up to behind the last whole record.
    length: usize,
    n_torn: usize,
}

#[derive(Debug)]
enum Unreadable {
    Beginning(BadBeginning),
    Damaged { at: u64, n_whole: usize },
}

/// Everything whole in the bytes of a journal.
fn read(bytes: &[u8], n_inputs: usize) -> Result<Found, Unreadable> {
    let (beginning, mut at) = Beginning::read(bytes).map_err(Unreadable::Beginning)?;
    let mut records: Vec<Record> = vec![];
    let mut lines = beginning.lines;
    while at < bytes.len() {
        match Record::read(&bytes[at..], n_inputs) {
            Some((record, length)) if record.line > lines => {
                lines = record.line;
                records.push(record);
                at += length;
            }
            // Only the end may be torn: with a whole record behind it, this is damage.
            _ => {
                let is_followed =
                    (at + 1..bytes.len()).any(|later| Record::read(&bytes[later..], n_inputs).is_some());
                if is_followed {
                    return Err(Unreadable::Damaged { at: at as u64, n_whole: records.len() });
                }
                break;
            }
        }
    }
    Ok(Found { beginning, records, length: at, n_torn: bytes.len() - at })
}
