//! SHA-256 digests of data and files.

use std::{fmt, io};

use sha2::{Digest as _, Sha256};

use super::Array;

/// A SHA-256 digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of named arrays: of their names, kinds, shapes and numbers, in the order given.
    pub fn of_arrays<'a>(arrays: impl IntoIterator<Item = (&'a str, &'a Array)>) -> Self {
        let mut hasher = Sha256::new();
        for (name, array) in arrays {
            // Lengths first, so that different lists of arrays give different bytes.
            hasher.update((name.len() as u64).to_le_bytes());
            hasher.update(name);
            hasher.update(array.kind());
            hasher.update((array.shape().len() as u64).to_le_bytes());
            for size in array.shape() {
                hasher.update((*size as u64).to_le_bytes());
            }
            let result: Result<(), std::convert::Infallible> = array.for_each_piece(|piece| {
                hasher.update(piece);
                Ok(())
            });
            let Ok(()) = result;
        }
        Self(hasher.finalize().into())
    }

    /// The digest of all bytes of a reader, as printed by `sha256sum`.
    ///
    /// # Errors
    /// If reading fails.
    pub fn of_reader(mut reader: impl io::Read) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut piece = vec![0; 1 << 16];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => return Ok(Self::of_hasher(hasher)),
                Ok(n_bytes) => hasher.update(&piece[..n_bytes]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn of_hasher(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }

    /// Parses 64 hexadecimal digits in lower case.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            *byte = 16 * digit(pair[0])? + digit(pair[1])?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}
