//! Locks a model file, so that it is not replaced while another process uses or replaces it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use super::ModelFileError;
use crate::place::{FileId, FileName};

/// A lock on the model file at a path, released on drop. Without effect where there is no file yet, on pipes and devices, and on
/// systems and file systems without such locks.
#[derive(Debug)]
pub struct ModelLock {
    /// Open for as long as the lock is held.
    _file: Option<File>,
}

/// What the holder of a lock does with the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Reads,
    Replaces,
}

impl ModelLock {
    /// The lock of a process that relies on the model to stay: others may do so too, none may replace it.
    ///
    /// # Errors
    /// If another process is about to replace the model.
    pub fn to_use(path: &Path) -> Result<Self, ModelFileError> {
        Self::take(path, Use::Reads)
    }

    /// The lock of a process that replaces the model: no other may use or replace it.
    ///
    /// # Errors
    /// If another process uses the model or is about to replace it.
    pub fn to_replace(path: &Path) -> Result<Self, ModelFileError> {
        Self::take(path, Use::Replaces)
    }

    fn take(path: &Path, use_: Use) -> Result<Self, ModelFileError> {
        let file = || FileName::from(path);
        let failed = |source| ModelFileError::Io { file: file(), source };
        // Locks of other systems would keep this process from reading its own file.
        if !cfg!(unix) || !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(Self { _file: None });
        }
        loop {
            let opened = match File::open(path) {
                Ok(opened) => opened,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self { _file: None }),
                Err(source) => return Err(failed(source)),
            };
            let locked = match use_ {
                Use::Reads => opened.try_lock_shared(),
                Use::Replaces => opened.try_lock(),
            };
            match locked {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(ModelFileError::InUse { file: file() }),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    return Ok(Self { _file: None });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // The path may have been given to another file before this one was locked.
            let id = opened.metadata().map(|metadata| FileId::of(&metadata)).map_err(failed)?;
            if fs::metadata(path).is_ok_and(|current| FileId::of(&current) == id) {
                return Ok(Self { _file: Some(opened) });
            }
        }
    }
}
