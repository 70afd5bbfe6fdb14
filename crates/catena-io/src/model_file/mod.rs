//! The file a model is kept in: a readable header and raw arrays, with a checksum over all of it.
//!
//! ```text
//! catena-model 1                    the magic line, with the version of the format
//! header 1234                       how many bytes of JSON follow
//! {"arrays": [...], ...}            names, kinds, shapes and offsets of the arrays, and what the model says about itself
//! ...                               zeros up to a multiple of eight, then the arrays, little-endian, one after the other
//! sha256 9f86d0...                  of every byte before this line
//! ```
//!
//! Opening a file runs no code and believes no number in it: sizes are checked against the size of the file before
//! anything is allocated. SHA-256 serves as checksum and as digest of the data, because every system has a command to
//! compute it.

mod array;
mod digest;
mod error;
mod layout;
mod reader;
mod writer;

pub use array::{Array, ArrayValues};
pub use digest::Digest;
pub use error::ModelFileError;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::place::FileName;
use crate::write::TargetFile;

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// What a model file holds. What the header and the arrays mean is decided elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// What the model says about itself.
    pub header: Value,
    /// Arrays by name.
    pub arrays: BTreeMap<String, Array>,
    /// A digest of the data the model was made from.
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
    /// If there is none.
    pub fn array(&self, name: &str) -> Result<&Array, ModelFileError> {
        self.arrays.get(name).ok_or_else(|| ModelFileError::NoArray { name: name.to_owned() })
    }

    /// The file as bytes.
    ///
    /// # Errors
    /// Only if memory cannot be written, which does not happen.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelFileError> {
        let mut bytes = vec![];
        writer::write(self, &mut bytes)
            .map_err(|source| ModelFileError::Io { file: FileName::Memory, source })?;
        Ok(bytes)
    }

    /// Reads what [`Container::to_bytes`] gave.
    ///
    /// # Errors
    /// As [`Container::read_from`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelFileError> {
        reader::read(bytes, bytes.len() as u64, &FileName::Memory)
    }

    /// Writes the file; whatever was there before is replaced at the end, at once.
    ///
    /// # Errors
    /// If the path cannot be written; then the old file is still there.
    pub fn write_to(&self, path: &Path) -> Result<(), ModelFileError> {
        let mut file = TargetFile::create_path(path)?;
        writer::write(self, &mut file).map_err(|source| file.error(source))?;
        Ok(file.commit()?)
    }

    /// Reads a file. Arrays are read straight into place, so no second copy is in memory.
    ///
    /// # Errors
    /// If there is no such file, or it is not a model, truncated, damaged, or from a newer version.
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
