//! Writes a model file and its checksum.

use std::io::{self, Write};

use sha2::{Digest as _, Sha256};

use super::layout::{CHECKSUM_WORD, HEADER_WORD, MAGIC, header_of, padding_after};
use super::{Container, Digest, FORMAT_VERSION};

pub(crate) fn write(container: &Container, output: &mut impl Write) -> io::Result<()> {
    let mut hashing = Hashing { output, hasher: Sha256::new(), length: 0 };
    let header = header_of(container).to_string();
    let head = format!("{MAGIC}{FORMAT_VERSION}\n{HEADER_WORD}{}\n{header}\n", header.len());
    hashing.put(head.as_bytes())?;
    let padding = padding_after(hashing.length);
    hashing.put(&[0; 8][..padding as usize])?;
    for array in container.arrays.values() {
        array.for_each_piece(|piece| hashing.put(piece))?;
    }
    let Hashing { output, hasher, .. } = hashing;
    writeln!(output, "{CHECKSUM_WORD}{}", Digest::of_hasher(hasher))
}

/// A writer that counts and hashes bytes.
struct Hashing<'a, W> {
    output: &'a mut W,
    hasher: Sha256,
    length: u64,
}

impl<W: Write> Hashing<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        self.output.write_all(bytes)
    }
}
