//! Writes a file atomically.
//!
//! The content goes to a temporary file in the same folder, which replaces the target once all of it is on disk. If writing fails,
//! the temporary file is removed when it is dropped, or by [`remove_unfinished_files`] when the program is interrupted.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::WriteError;
use crate::place::FileName;

/// Temporary files that have not replaced their targets yet.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static COUNTER: AtomicU64 = AtomicU64::new(0);

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A panic while the lock is held cannot leave the set inconsistent.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets a temporary file that was removed.
pub(super) fn forget_unfinished(path: &Path) {
    unfinished().remove(path);
}

/// Removes all temporary files. Called before an interrupted program ends.
pub fn remove_unfinished_files() {
    for path in std::mem::take(&mut *unfinished()) {
        // A file that cannot be removed is left behind.
        let _ = fs::remove_file(path);
    }
}

enum Place {
    /// A temporary file that will be renamed to the target.
    Beside { temporary: PathBuf, target: PathBuf },
    /// Standard output, a pipe or a device, written directly.
    Direct,
}

/// A file or stream being written.
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
    /// Starts to write a file or standard output.
    ///
    /// # Errors
    /// If the folder is missing or not writable.
    pub fn create(file: &FileName) -> Result<Self, WriteError> {
        match file {
            FileName::Path(path) => Self::create_path(path),
            _ => {
                let writer = Writer::Stream(BufWriter::with_capacity(BUFFER, io::stdout()));
                let name = FileName::StandardOutput;
                Ok(Self { name, writer: Some(writer), place: Place::Direct })
            }
        }
    }

    /// Starts to write a file.
    ///
    /// # Errors
    /// As [`TargetFile::create`].
    pub fn create_path(path: &Path) -> Result<Self, WriteError> {
        let name = FileName::from(path);
        let failed = |error| WriteError::from_io(&name, error);
        // Links are followed: the file they point to is replaced.
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
            // Renaming would replace even a write-protected file, so check the permission first.
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

    /// An I/O error as a [`WriteError`].
    pub fn error(&self, source: io::Error) -> WriteError {
        WriteError::from_io(&self.name, source)
    }

    /// Flushes everything to disk and replaces the target.
    ///
    /// # Errors
    /// If that fails, the old file is unchanged.
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
            // Locked, so that an interrupt between the two steps does not remove the renamed file.
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
        // Discard the buffer instead of writing it.
        if let Some(Writer::File(writer)) = self.writer.take() {
            drop(writer.into_parts());
        }
        let _ = fs::remove_file(temporary);
        unfinished().remove(temporary);
    }
}

/// Creates a hidden file in the folder of the target, so that renaming is atomic.
pub(super) fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    let stem = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // File systems limit names to 255 bytes.
    let stem: String = stem.chars().take(40).collect();
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".{stem}.{}-{number}.unfinished", std::process::id());
        let path = target.with_file_name(name);
        // Registered before it exists, so that an interrupt always removes it.
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

/// Makes the new name durable, where the system supports it.
fn sync_folder(target: &Path) {
    if cfg!(unix) {
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
    }
}
