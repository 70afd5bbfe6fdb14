//! Why a model file cannot be read or written.

use std::io;

use thiserror::Error;

use crate::place::FileName;
use crate::write::WriteError;

/// A model file that cannot be used, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// There is no such file.
    #[error("{file}: no such file; check the path")]
    NotFound {
        /// The file.
        file: FileName,
    },
    /// Something else than a model.
    #[error("{file}: is not a catena model; give a file that `catena fit` wrote")]
    NotAModel {
        /// The file.
        file: FileName,
    },
    /// Written by a later version.
    #[error("{file}: has model format {found}, but this version reads up to {newest}; use a newer catena")]
    Newer {
        /// The file.
        file: FileName,
        /// Its version.
        found: u64,
        /// The newest version that can be read.
        newest: u64,
    },
    /// The end is missing.
    #[error("{file}: is truncated: {found} bytes of at least {expected}; copy or write it again")]
    Truncated {
        /// The file.
        file: FileName,
        /// Bytes there should be.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// Bytes have changed since it was written.
    #[error("{file}: is damaged: {what}; copy or write it again")]
    Damaged {
        /// The file.
        file: FileName,
        /// What does not hold.
        what: &'static str,
    },
    /// The system would not read or write it.
    #[error("{file}: cannot be read ({source})")]
    Io {
        /// The file.
        file: FileName,
        /// What the system says.
        source: io::Error,
    },
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The model lacks an array.
    #[error("the model has no array {name:?}")]
    NoArray {
        /// The name.
        name: String,
    },
    /// Numbers do not fill a shape.
    #[error("{found} numbers do not fill the shape {shape:?}")]
    Shape {
        /// The shape.
        shape: Vec<usize>,
        /// Numbers there are.
        found: usize,
    },
}
