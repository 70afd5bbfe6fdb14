//! The container of model files: a JSON header and raw arrays, with a checksum.
//!
//! ```text
//! catena-model 1                    the magic line, with the version of the format
//! header 1234                       how many bytes of JSON follow
//! {"arrays": [...], ...}            names, kinds, shapes and offsets of the arrays, and the header of the model
//! ...                               zeros up to a multiple of eight, then the arrays, little-endian, one after the other
//! sha256 9f86d0...                  of every byte before this line
//! ```
//!
//! Opening a file runs no code and trusts no number in it: sizes are checked against the length of the file before anything is
//! allocated. Checksum and digest of the data are SHA-256, which every system can compute.

mod array;
mod digest;
mod error;
mod layout;
mod lock;
mod reader;
mod writer;

pub use array::Array;
pub use digest::Digest;
pub use error::ModelFileError;
pub use lock::ModelLock;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::place::FileName;
use crate::write::TargetFile;

/// The version of the format: written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// The content of a model file. Its meaning is defined in `catena-store`.
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// The header of the model.
    pub header: Value,
    /// Arrays by name.
    pub arrays: BTreeMap<String, Array>,
    /// Digest of the training data.
    pub data_digest: Option<Digest>,
}

impl Container {
    /// A container without arrays.
    pub fn new(header: Value) -> Self {
        Self { header, arrays: BTreeMap::new(), data_digest: None }
    }

    /// An array by its name.
    ///
    /// # Errors
    /// If there is no such array.
    pub fn array(&self, name: &str) -> Result<&Array, ModelFileError> {
        self.arrays.get(name).ok_or_else(|| ModelFileError::NoArray { name: name.to_owned() })
    }

    /// The file as bytes.
    ///
    /// # Errors
    /// Never: writing to memory does not fail.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelFileError> {
        let mut bytes = vec![];
        writer::write(self, &mut bytes)
            .map_err(|source| ModelFileError::Io { file: FileName::Memory, source })?;
        Ok(bytes)
    }

    /// Reads the bytes of [`Container::to_bytes`].
    ///
    /// # Errors
    /// As [`Container::read_from`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelFileError> {
        reader::read(bytes, bytes.len() as u64, &FileName::Memory)
    }

    /// Writes the file atomically, unless another process uses the model that it would replace.
    ///
    /// # Errors
    /// If the path cannot be written or its model is in use; an old file is unchanged.
    pub fn write_to(&self, path: &Path) -> Result<(), ModelFileError> {
        self.write_under(&ModelLock::to_replace(path)?, path)
    }

    /// The same for a process that has locked the model to replace it.
    ///
    /// # Errors
    /// If the path cannot be written; an old file is unchanged.
    pub fn write_under(&self, _lock: &ModelLock, path: &Path) -> Result<(), ModelFileError> {
        let mut file = TargetFile::create_path(path)?;
        writer::write(self, &mut file).map_err(|source| file.error(source))?;
        Ok(file.commit()?)
    }

    /// Reads a file, without a second copy of its arrays in memory.
    ///
    /// # Errors
    /// If the file is missing, not a model, truncated, damaged, or of a newer version.
    pub fn read_from(path: &Path) -> Result<Self, ModelFileError> {
        let file = FileName::from(path);
        let failed = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::NotFound => ModelFileError::NotFound { file: file.clone() },
            std::io::ErrorKind::IsADirectory => ModelFileError::NotAModel { file: file.clone() },
            _ => ModelFileError::Io { file: file.clone(), source },
        };
        let opened = std::fs::File::open(path).map_err(failed)?;
        let metadata = opened.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(ModelFileError::NotAModel { file });
        }
        reader::read(std::io::BufReader::with_capacity(1 << 16, opened), metadata.len(), &file)
    }
}
