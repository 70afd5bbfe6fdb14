//! The file that lines were read from, recognized by its number and its bytes.

use sha2::{Digest as _, Sha256};

use crate::place::FileId;

/// Length of the digest of a prefix.
pub(super) const DIGEST: usize = 16;

/// A file up to a line: its number, and the digest of its bytes before the next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The number of the file.
    pub id: FileId,
    /// The first 16 bytes of the SHA-256 of the bytes that were read.
    pub digest: [u8; DIGEST],
}

/// The running digest of the bytes read from the start of a file.
#[derive(Debug, Clone, Default)]
pub struct Prefix {
    hasher: Sha256,
    length: u64,
}

impl Prefix {
    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
    }

    /// Number of bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The digest of all bytes so far.
    pub fn digest(&self) -> [u8; DIGEST] {
        let mut first = [0; DIGEST];
        first.copy_from_slice(&self.hasher.clone().finalize()[..DIGEST]);
        first
    }
}
