//! A file that appears at once and complete, or not at all.
//!
//! What is written goes to a file beside the target, which takes the target's place only when all of it is on the disk.
//! If anything fails before, the file beside it is removed: when it is dropped, or by [`remove_unfinished_files`], which a
//! program calls when it is interrupted.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::WriteError;
use crate::place::FileName;
use crate::read::Format;

/// Where a table goes, and in which format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    file: FileName,
    format: Format,
}

impl Target {
    /// A file in the format of its suffix, or standard output as CSV for `-`; `format` overrides both.
    ///
    /// # Errors
    /// If neither the suffix nor `format` tells the format.
    pub fn new(path: &Path, format: Option<Format>) -> Result<Self, WriteError> {
        if path == Path::new("-") {
            return Ok(Self { file: FileName::StandardOutput, format: format.unwrap_or(Format::Csv) });
        }
        let file = FileName::from(path);
        match format.or_else(|| Format::of_path(path)) {
            Some(format) => Ok(Self { file, format }),
            None => Err(WriteError::UnknownFormat { file }),
        }
    }

    /// Where it goes.
    pub fn file(&self) -> &FileName {
        &self.file
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }
}

/// Files beside their targets that have not yet taken their place.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static COUNTER: AtomicU64 = AtomicU64::new(0);

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A set of paths is whole whatever happened to the thread that held it.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that was removed need not be.
pub(super) fn forget_unfinished(path: &Path) {
    unfinished().remove(path);
}

/// Removes every file that was begun and not completed. For a program that is about to end because of an interrupt.
pub fn remove_unfinished_files() {
    for path in std::mem::take(&mut *unfinished()) {
        // Nothing can be done about a file that cannot be removed.
        let _ = fs::remove_file(path);
    }
}

enum Place {
    /// Beside the target, to be moved there.
    Beside { temporary: PathBuf, target: PathBuf },
    /// Standard output, a pipe or a device: what is written is gone.
    Direct,
}

/// A file or stream that is being written.
pub struct TargetFile {
    name: FileName,
    writer: Option<Writer>,
    place: Place,
}

enum Writer {
    File(BufWriter<File>),
    Stream(BufWriter<io::Stdout>),
}

const BUFFER: usize = 256 << 10;

impl TargetFile {
    /// Begins to write a target.
    ///
    /// # Errors
    /// If its folder is not there or may not be written.
    pub fn create(target: &Target) -> Result<Self, WriteError> {
        match target.file() {
            FileName::Path(path) => Self::create_path(path),
            _ => {
                let writer = Writer::Stream(BufWriter::with_capacity(BUFFER, io::stdout()));
                let name = FileName::StandardOutput;
                Ok(Self { name, writer: Some(writer), place: Place::Direct })
            }
        }
    }

    /// Begins to write a file.
    ///
    /// # Errors
    /// As [`TargetFile::create`].
    pub fn create_path(path: &Path) -> Result<Self, WriteError> {
        let name = FileName::from(path);
        let failed = |error| WriteError::from_io(&name, error);
        // A link is followed, so that the file behind it is replaced and the link stays.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&target).ok();
        if old.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(WriteError::IsDirectory { file: name });
        }
        if old.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let file = OpenOptions::new().write(true).open(&target).map_err(failed)?;
            let writer = Some(Writer::File(BufWriter::with_capacity(BUFFER, file)));
            return Ok(Self { name, writer, place: Place::Direct });
        }
        if let Some(old) = &old {
            // Renaming would replace a file that is protected; ask for it as plain writing would.
            OpenOptions::new().write(true).open(&target).map_err(failed)?;
            let (temporary, file) = create_beside(&target).map_err(failed)?;
            let beside = Self::beside(name.clone(), file, temporary.clone(), target);
            fs::set_permissions(&temporary, old.permissions()).map_err(failed)?;
            return Ok(beside);
        }
        let (temporary, file) = create_beside(&target).map_err(failed)?;
        Ok(Self::beside(name.clone(), file, temporary, target))
    }

    fn beside(name: FileName, file: File, temporary: PathBuf, target: PathBuf) -> Self {
        let writer = Some(Writer::File(BufWriter::with_capacity(BUFFER, file)));
        Self { name, writer, place: Place::Beside { temporary, target } }
    }

    /// The name of the target, for messages.
    pub fn name(&self) -> &FileName {
        &self.name
    }

    /// An error of the system in the words of the user.
    pub fn error(&self, source: io::Error) -> WriteError {
        WriteError::from_io(&self.name, source)
    }

    /// Brings everything to the disk and puts the file in its place.
    ///
    /// # Errors
    /// If that fails, the old file is still there.
    pub fn commit(mut self) -> Result<(), WriteError> {
        self.try_commit().map_err(|source| self.error(source))
    }

    fn try_commit(&mut self) -> io::Result<()> {
        self.flush()?;
        let Some(Writer::File(writer)) = self.writer.take() else { return Ok(()) };
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        let Place::Beside { temporary, target } = &self.place else { return Ok(()) };
        file.sync_all()?;
        drop(file);
        {
            // An interrupt between the two must not remove what is already in its place under the old name.
            let mut unfinished = unfinished();
            fs::rename(temporary, target)?;
            unfinished.remove(temporary);
        }
        sync_folder(target);
        self.place = Place::Direct;
        Ok(())
    }
}

impl Write for TargetFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.writer {
            Some(Writer::File(writer)) => writer.write(bytes),
            Some(Writer::Stream(writer)) => writer.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.writer {
            Some(Writer::File(writer)) => writer.flush(),
            Some(Writer::Stream(writer)) => writer.flush(),
            None => Ok(()),
        }
    }
}

impl Drop for TargetFile {
    fn drop(&mut self) {
        let Place::Beside { temporary, .. } = &self.place else { return };
        // The rest of the buffer must not be written to a file that goes away.
        if let Some(Writer::File(writer)) = self.writer.take() {
            drop(writer.into_parts());
        }
        let _ = fs::remove_file(temporary);
        unfinished().remove(temporary);
    }
}

/// A new, hidden file in the folder of the target, so that it can be renamed in one step.
pub(super) fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    let stem = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // A name of 255 bytes is the most that file systems take.
    let stem: String = stem.chars().take(40).collect();
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".{stem}.{}-{number}.unfinished", std::process::id());
        let path = target.with_file_name(name);
        // Registered before it exists: an interrupt in between removes nothing, one after removes it.
        unfinished().insert(path.clone());
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) => {
                unfinished().remove(&path);
                if error.kind() != io::ErrorKind::AlreadyExists {
                    return Err(error);
                }
            }
        }
    }
}

/// Makes the new name durable where the system can; the file is complete either way.
fn sync_folder(target: &Path) {
    if cfg!(unix) {
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
    }
}
