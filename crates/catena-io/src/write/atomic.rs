//! Writes a file atomically.
//!
//! The content goes to a temporary file in the same folder, which replaces the target once all of it is on disk. If writing fails,
//! the temporary file is removed when it is dropped, or by [`remove_unfinished_files`] when the program is interrupted. It is
//! locked while it is written; the next run removes those that a killed process left behind unlocked. Pipes and devices are
//! written directly.

use std::collections::BTreeSet;
use std::fs::{self, File, FileType, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use super::WriteError;
use crate::packing::{Packer, Packing};
use crate::place::FileName;

/// How long a named pipe may lack a reader.
const PATIENCE: Duration = Duration::from_secs(10);

/// Names of standard output as a file. Redirected to a file, they would be replaced by name and lose what the shell appends to.
const STANDARD_OUTPUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Temporary files that have not replaced their targets yet.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static COUNTER: AtomicU64 = AtomicU64::new(0);
/// Folders in which the files of killed processes were removed.
static CLEANED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

const SUFFIX: &str = ".unfinished";

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
    pub(super) safe_headers: bool,
    writer: Option<Writer>,
    packer: Option<Packer>,
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
            _ => Ok(Self::standard_output(FileName::StandardOutput)),
        }
    }

    fn standard_output(name: FileName) -> Self {
        let writer = Writer::Stream(BufWriter::with_capacity(BUFFER, io::stdout()));
        Self { name, safe_headers: false, writer: Some(writer), packer: None, place: Place::Direct }
    }

    /// Checks that a path can be written, without opening a pipe or device: its reader would see an end.
    ///
    /// # Errors
    /// As [`TargetFile::create`].
    pub fn check_path(path: &Path) -> Result<(), WriteError> {
        match stream_type(path) {
            Some(kind) => check_stream(kind, &FileName::from(path)),
            None => Self::create_path(path).map(drop),
        }
    }

    /// Starts to write a file.
    ///
    /// # Errors
    /// As [`TargetFile::create`].
    pub fn create_path(path: &Path) -> Result<Self, WriteError> {
        let name = FileName::from(path);
        let failed = |error| WriteError::from_io(&name, error);
        if is_standard_output(path) {
            return Ok(Self::standard_output(name));
        }
        if let Some(kind) = stream_type(path) {
            check_stream(kind, &name)?;
            let file = open_stream(path, PATIENCE).map_err(failed)?;
            let file = file.ok_or_else(|| WriteError::NoReader { file: name.clone() })?;
            let writer = Some(Writer::File(BufWriter::with_capacity(BUFFER, file)));
            return Ok(Self { name, safe_headers: false, writer, packer: None, place: Place::Direct });
        }
        // Links are followed: the file they point to is replaced or created.
        let target = fs::canonicalize(path).or_else(|_| behind_links(path)).map_err(failed)?;
        let old = fs::metadata(&target).ok();
        if old.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(WriteError::IsDirectory { file: name });
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
        Self { name, safe_headers: false, writer, packer: None, place: Place::Beside { temporary, target } }
    }

    /// Packs everything that is written.
    pub(super) fn pack(&mut self, packing: Packing) -> Result<(), WriteError> {
        self.packer = Some(Packer::new(packing).map_err(|source| self.error(source))?);
        Ok(())
    }

    fn write_plain(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.writer {
            Some(Writer::File(writer)) => writer.write_all(bytes),
            Some(Writer::Stream(writer)) => writer.write_all(bytes),
            None => Ok(()),
        }
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
        if let Some(packer) = self.packer.take() {
            let end = packer.finish()?;
            self.write_plain(&end)?;
        }
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
        if let Some(packer) = &mut self.packer {
            let ready = packer.pack(bytes)?;
            self.write_plain(&ready)?;
            return Ok(bytes.len());
        }
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

fn is_standard_output(path: &Path) -> bool {
    STANDARD_OUTPUT.iter().any(|output| path == Path::new(output))
}

/// Whether a path names a pipe or device, or standard output.
pub(super) fn is_stream(path: &Path) -> bool {
    is_standard_output(path) || stream_type(path).is_some()
}

/// The type of what a path names, if it is neither a file nor a folder.
fn stream_type(path: &Path) -> Option<FileType> {
    let kind = fs::metadata(path).ok()?.file_type();
    (!kind.is_file() && !kind.is_dir()).then_some(kind)
}

fn check_stream(kind: FileType, name: &FileName) -> Result<(), WriteError> {
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_socket(&kind) {
        return Err(WriteError::IsSocket { file: name.clone() });
    }
    let _ = (kind, name);
    Ok(())
}

/// Opens a pipe or device. Opening a named pipe waits for a reader; `None` if none comes in time.
fn open_stream(path: &Path, patience: Duration) -> io::Result<Option<File>> {
    let (sender, receiver) = mpsc::channel();
    let path = path.to_owned();
    // The thread ends when a reader comes, or with the program.
    std::thread::spawn(move || {
        let _ = sender.send(OpenOptions::new().write(true).open(path));
    });
    receiver.recv_timeout(patience).ok().transpose()
}

/// The file that a dangling link would create.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    // As many links as Linux follows.
    const MOST_LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            // A relative link starts in the folder of the link.
            Ok(link) => target = target.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many links, or links in a circle"))
}

/// Removes temporary files in a folder that killed processes left behind: those that nobody has locked.
fn remove_abandoned_files(folder: &Path) {
    let mut cleaned = CLEANED.lock().unwrap_or_else(PoisonError::into_inner);
    if !cleaned.insert(folder.to_owned()) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(is_unfinished_name) {
            continue;
        }
        let path = entry.path();
        // What cannot be opened or locked is somebody else's.
        let opened = OpenOptions::new().write(true).open(&path);
        if opened.is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether a file name is one that [`create_beside`] gives: `.NAME.PROCESS-NUMBER.unfinished`.
fn is_unfinished_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = || {
        let (_, numbers) = name.strip_prefix('.')?.strip_suffix(SUFFIX)?.rsplit_once('.')?;
        numbers.split_once('-')
    };
    parts().is_some_and(|(process, number)| is_number(process) && is_number(number))
}

fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a hidden file in the folder of the target, so that renaming is atomic.
pub(super) fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    remove_abandoned_files(folder_of(target));
    let stem = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // File systems limit names to 255 bytes.
    let stem: String = stem.chars().take(40).collect();
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".{stem}.{}-{number}{SUFFIX}", std::process::id());
        let path = target.with_file_name(name);
        // Registered before it exists, so that an interrupt always removes it.
        unfinished().insert(path.clone());
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => {
                // Some file systems have no locks; there, nobody removes the file either.
                let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
                // Another process may have removed it before it was locked.
                if !is_taken && path.exists() {
                    return Ok((path, file));
                }
                unfinished().remove(&path);
            }
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
        let _ = File::open(folder_of(target)).and_then(|folder| folder.sync_all());
    }
}
