//! The bytes that travel between processes: a mark, a version, little-endian numbers, and a checksum.

use super::error::SegmentError;
use crate::inference::blocks::{Future, Past};
use crate::inference::gaussian::{Adjoint, Gaussian};

const VERSION: u32 = 1;
const PAST: (&[u8; 8], &str) = (b"catenapa", "the past of a segment");
const FUTURE: (&[u8; 8], &str) = (b"catenafu", "the future of a segment");

/// The first eight bytes of a kind of content, and its name.
pub(super) type Mark = (&'static [u8; 8], &'static str);

/// The bytes of content with this mark.
pub(super) fn sealed((magic, _): Mark, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = magic.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    write(&mut bytes);
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes
}

/// The content of bytes with this mark, if they are complete and of the known version.
pub(super) fn opened((magic, expected): Mark, bytes: &[u8]) -> Result<&[u8], SegmentError> {
    let damaged = SegmentError::Damaged { len: bytes.len() };
    let rest = bytes.strip_prefix(magic).ok_or(SegmentError::SomethingElse { expected })?;
    let (version, rest) = rest.split_first_chunk().ok_or(damaged.clone())?;
    let found = u32::from_le_bytes(*version);
    if found != VERSION {
        return Err(SegmentError::Version { found, known: VERSION });
    }
    let (content, sum) = rest.split_last_chunk().ok_or(damaged.clone())?;
    if checksum(&bytes[..bytes.len() - size_of::<u64>()]) != u64::from_le_bytes(*sum) {
        return Err(damaged);
    }
    Ok(content)
}

/// Adds numbers to bytes.
pub(super) fn push_numbers(bytes: &mut Vec<u8>, numbers: &[f64]) {
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
}

/// All bytes as numbers; `None` if their count is wrong.
pub(super) fn numbers(bytes: &[u8]) -> Option<Vec<f64>> {
    let (numbers, left_over) = bytes.as_chunks();
    left_over.is_empty().then(|| numbers.iter().map(|&number| f64::from_le_bytes(number)).collect())
}

/// FNV-1a: detects accidental damage, not forgery.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A vector and a square matrix of its size.
fn pair_to_bytes(mark: Mark, vector: &[f64], matrix: &[f64]) -> Vec<u8> {
    sealed(mark, |bytes| {
        bytes.extend((vector.len() as u32).to_le_bytes());
        push_numbers(bytes, vector);
        push_numbers(bytes, matrix);
    })
}

fn pair_from_bytes(mark: Mark, bytes: &[u8]) -> Result<(Vec<f64>, Vec<f64>), SegmentError> {
    let damaged = SegmentError::Damaged { len: bytes.len() };
    let content = opened(mark, bytes)?;
    let (size, content) = content.split_first_chunk().ok_or(damaged.clone())?;
    let size = u32::from_le_bytes(*size) as usize;
    let mut vector = numbers(content).ok_or(damaged.clone())?;
    if size.checked_mul(size).and_then(|square| square.checked_add(size)) != Some(vector.len()) {
        return Err(damaged);
    }
    let matrix = vector.split_off(size);
    Ok((vector, matrix))
}

impl Past {
    /// The past as bytes: little-endian, with a version and a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        pair_to_bytes(PAST, &self.0.mean, &self.0.full_covariance())
    }

    /// A past from its bytes.
    ///
    /// # Errors
    /// When the bytes are not of a past, are damaged, or have an unknown version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SegmentError> {
        let (mean, covariance) = pair_from_bytes(PAST, bytes)?;
        Ok(Self(Gaussian::new(mean, covariance)))
    }
}

impl Future {
    /// The future as bytes: little-endian, with a version and a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        pair_to_bytes(FUTURE, &self.0.vector, &self.0.matrix)
    }

    /// A future from its bytes.
    ///
    /// # Errors
    /// When the bytes are not of a future, are damaged, or have an unknown version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SegmentError> {
        let (vector, matrix) = pair_from_bytes(FUTURE, bytes)?;
        Ok(Self(Adjoint { vector, matrix }))
    }
}
