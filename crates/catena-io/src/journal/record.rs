//! The bytes of a journal: a header, and records with checksums.
//!
//! ```text
//! catena-journal 1\n                     the magic line, with the version of the format
//! model 9f86d0...\n                      SHA-256 of the model file the journal belongs to
//! begins 0 0 5c1d...\n                   lines applied before the first record, bytes of their file, check of the header
//! record, record, ...                    one after the other, little-endian
//!
//! record: u32 length of the body | u32 check of the length | body | first 8 bytes of the SHA-256 of the body
//! body:   u64 line | u64 offset of the next line in its file | f64 × M inputs | (u32 output, f64 value) × cells
//! ```

use sha2::{Digest as _, Sha256};

/// One line of a stream: its position and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Number of the line, from 1, after any header.
    pub line: u64,
    /// Offset of the next line in its file; 0 for a pipe.
    pub behind: u64,
    /// The inputs.
    pub inputs: Vec<f64>,
    /// Observed outputs with their values.
    pub cells: Vec<(u32, f64)>,
}

/// Length of a body, and its check.
const PREFIX: usize = 8;
const CHECKSUM: usize = 8;
/// Line and place of a body.
const FIXED: usize = 16;
const CELL: usize = 12;

/// Mixed into the check of a length, so that zeros are not valid.
const LENGTH_MASK: u32 = 0x9e37_79b9;

fn check_of(length: u32) -> u32 {
    (length ^ LENGTH_MASK).rotate_left(13).wrapping_mul(0x85eb_ca6b)
}

fn checksum(body: &[u8]) -> [u8; CHECKSUM] {
    let digest = Sha256::digest(body);
    let mut first = [0; CHECKSUM];
    first.copy_from_slice(&digest[..CHECKSUM]);
    first
}

impl Record {
    /// Appends the bytes of this record.
    pub(super) fn push_to(&self, bytes: &mut Vec<u8>) {
        let length = FIXED + 8 * self.inputs.len() + CELL * self.cells.len();
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        bytes.extend(length.to_le_bytes());
        bytes.extend(check_of(length).to_le_bytes());
        let begin = bytes.len();
        bytes.extend(self.line.to_le_bytes());
        bytes.extend(self.behind.to_le_bytes());
        self.inputs.iter().for_each(|input| bytes.extend(input.to_le_bytes()));
        for (output, value) in &self.cells {
            bytes.extend(output.to_le_bytes());
            bytes.extend(value.to_le_bytes());
        }
        let sum = checksum(&bytes[begin..]);
        bytes.extend(sum);
    }

    /// The record at the start of `bytes`, if it is whole, and its length.
    pub(super) fn read(bytes: &[u8], n_inputs: usize) -> Option<(Self, usize)> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (check, rest) = rest.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length);
        if u32::from_le_bytes(*check) != check_of(length) {
            return None;
        }
        let (body, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        if *rest.first_chunk::<CHECKSUM>()? != checksum(body) {
            return None;
        }
        let mut words = body.get(..FIXED + 8 * n_inputs)?.as_chunks::<8>().0.iter();
        let line = u64::from_le_bytes(*words.next()?);
        let behind = u64::from_le_bytes(*words.next()?);
        let inputs: Vec<f64> = words.map(|word| f64::from_le_bytes(*word)).collect();
        let (cells, rest) = body[FIXED + 8 * n_inputs..].as_chunks::<CELL>();
        let cell = |bytes: &[u8; CELL]| -> Option<(u32, f64)> {
            let (output, value) = bytes.split_first_chunk::<4>()?;
            Some((u32::from_le_bytes(*output), f64::from_le_bytes(*value.first_chunk::<8>()?)))
        };
        let cells: Vec<(u32, f64)> = cells.iter().map(cell).collect::<Option<_>>()?;
        rest.is_empty().then_some((Self { line, behind, inputs, cells }, PREFIX + body.len() + CHECKSUM))
    }
}

/// The header of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beginning {
    /// The model it belongs to.
    pub(super) model: crate::model_file::Digest,
    /// Lines applied before the first record.
    pub(super) lines: u64,
    /// Offset of the next line in their file.
    pub(super) behind: u64,
}

pub(super) const MAGIC: &str = "catena-journal ";
pub(super) const VERSION: u64 = 1;

/// An invalid header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadBeginning {
    /// Not a journal.
    NotAJournal,
    /// A later version.
    Newer(u64),
}

impl Beginning {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let Self { model, lines, behind } = self;
        let mut text = format!("{MAGIC}{VERSION}\nmodel {model}\nbegins {lines} {behind} ");
        let check = u64::from_le_bytes(checksum(text.as_bytes()));
        text.push_str(&format!("{check:016x}\n"));
        text.into_bytes()
    }

    /// The header, and how many bytes it has.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, usize), BadBeginning> {
        // Headers are shorter.
        let head = &bytes[..bytes.len().min(256)];
        let parsed = || -> Option<Result<(Self, usize), BadBeginning>> {
            let mut lines = head.split_inclusive(|byte| *byte == b'\n');
            let mut line = |word: &str| {
                let line = std::str::from_utf8(lines.next()?).ok()?;
                line.strip_suffix('\n')?.strip_prefix(word)
            };
            let version: u64 = line(MAGIC)?.parse().ok()?;
            if version != VERSION {
                return Some(Err(BadBeginning::Newer(version)));
            }
            let model = crate::model_file::Digest::parse(line("model ")?)?;
            let mut numbers = line("begins ")?.split(' ');
            let mut number = || numbers.next()?.parse::<u64>().ok();
            let beginning = Self { model, lines: number()?, behind: number()? };
            // Equal bytes mean an equal check.
            let expected = beginning.to_bytes();
            head.starts_with(&expected).then_some(Ok((beginning, expected.len())))
        };
        parsed().unwrap_or(Err(BadBeginning::NotAJournal))
    }
}
