//! Errors of model files.

use std::io;

use thiserror::Error;

use crate::place::FileName;
use crate::write::WriteError;

/// A model file that cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name every field")]
pub enum ModelFileError {
    #[error("{file}: no such file; check the path")]
    NotFound { file: FileName },
    #[error("{file}: is not a catena model; use a file written by `catena fit`")]
    NotAModel { file: FileName },
    #[error(
        "{file}: has model format {found}, but this version reads formats up to {newest}; install a newer catena"
    )]
    Newer { file: FileName, found: u64, newest: u64 },
    #[error("{file}: is truncated: {found} bytes of at least {expected}; copy or write it again")]
    Truncated { file: FileName, expected: u64, found: u64 },
    #[error("{file}: is damaged: {what}; copy or write it again")]
    Damaged { file: FileName, what: &'static str },
    #[error(
        "{file}: another process uses or replaces this model; wait until it ends, or write to another file"
    )]
    InUse { file: FileName },
    #[error("{file}: cannot be read ({source})")]
    Io { file: FileName, source: io::Error },
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("the model has no array {name:?}")]
    NoArray { name: String },
    #[error("{found} numbers do not fill the shape {shape:?}")]
    Shape { shape: Vec<usize>, found: usize },
}
