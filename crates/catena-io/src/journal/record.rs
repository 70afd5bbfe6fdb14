//! The bytes of a journal: a header, and records with checksums.
//!
//! ```text
//! catena-journal 3\n                     the magic line, with the version of the format
//! model 9f86d0...\n                      SHA-256 of the model file the journal belongs to
//! begins 0 0 0 0 00... 5c1d...\n         lines applied before the first record, their file as in a record, check of the header
//! record, record, ...                    one after the other, little-endian
//!
//! record: u32 length of the body | u32 check of the length | body | first 8 bytes of the SHA-256 of the body
//! body:   u64 line | file | key | groups | f64 × M inputs | (u32 output, f64 value) × cells; NaN removes a value
//! file:   u64 offset of the next line | u64 device | u64 number of the file | first 16 bytes of the SHA-256 of its bytes before
//!         that offset; zeros for a pipe
//! key:    16 bytes that recognize a request which ends with this record; zeros without one
//! groups: u32 number of names | (u32 length, UTF-8 bytes) × names
//! ```
//!
//! Version 1 has only the offset of the file, version 2 no key, no groups and no NaN; they are read, and continued, as they are.

use sha2::{Digest as _, Sha256};

use super::origin::{DIGEST, Origin};
use crate::place::FileId;

/// One line of a stream: its position and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Number of the line, from 1, after any header.
    pub line: u64,
    /// Offset of the next line in its file; 0 for a pipe.
    pub behind: u64,
    /// The file; `None` for a pipe.
    pub origin: Option<Origin>,
    /// The names of the row's group, one per column of groups; empty without groups.
    pub groups: Vec<String>,
    /// The inputs.
    pub inputs: Vec<f64>,
    /// Observed outputs with their values; NaN removes the value of an output.
    pub cells: Vec<(u32, f64)>,
    /// Recognizes the request whose last record this is, if it was sent with a key.
    pub key: Option<RequestKey>,
}

/// Recognizes a request that is sent again; never zeros.
pub type RequestKey = [u8; 16];

/// Length of a body, and its check.
const PREFIX: usize = 8;
const CHECKSUM: usize = 8;
const CELL: usize = 12;
const WORD: usize = 4;

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

/// The version of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
    Three,
}

impl Version {
    fn number(self) -> u64 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
        }
    }

    /// Bytes of a body before the groups or the inputs.
    fn fixed(self) -> usize {
        match self {
            Self::One => 16,
            Self::Two => 32 + DIGEST,
            Self::Three => 32 + DIGEST + size_of::<RequestKey>(),
        }
    }
}

impl Record {
    /// Appends the bytes of this record.
    pub(super) fn push_to(&self, bytes: &mut Vec<u8>, version: Version) {
        let names = self.groups.iter().map(|name| WORD + name.len()).sum::<usize>();
        let of_groups = if version == Version::Three { WORD + names } else { 0 };
        let length = version.fixed() + of_groups + 8 * self.inputs.len() + CELL * self.cells.len();
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        bytes.extend(length.to_le_bytes());
        bytes.extend(check_of(length).to_le_bytes());
        let begin = bytes.len();
        bytes.extend(self.line.to_le_bytes());
        bytes.extend(self.behind.to_le_bytes());
        if version != Version::One {
            let FileId { device, file } = self.origin.map_or(NO_FILE, |origin| origin.id);
            bytes.extend(device.to_le_bytes());
            bytes.extend(file.to_le_bytes());
            bytes.extend(self.origin.map_or([0; DIGEST], |origin| origin.digest));
        }
        if version == Version::Three {
            bytes.extend(self.key.unwrap_or_default());
            let word = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes();
            bytes.extend(word(self.groups.len()));
            for name in &self.groups {
                bytes.extend(word(name.len()));
                bytes.extend(name.as_bytes());
            }
        }
        self.inputs.iter().for_each(|input| bytes.extend(input.to_le_bytes()));
        for (output, value) in &self.cells {
            bytes.extend(output.to_le_bytes());
            bytes.extend(value.to_le_bytes());
        }
        let sum = checksum(&bytes[begin..]);
        bytes.extend(sum);
    }

    /// Whether `bytes` begin with a record whose end is missing, as a write that was interrupted leaves it.
    pub(super) fn is_cut(bytes: &[u8]) -> bool {
        match framed_length(bytes) {
            Some(length) => bytes.len() < length,
            None => bytes.len() < PREFIX,
        }
    }

    /// The record at the start of `bytes`, if it is whole, and its length.
    pub(super) fn read(bytes: &[u8], n_inputs: usize, version: Version) -> Option<(Self, usize)> {
        let length = framed_length(bytes)?;
        let framed = bytes.get(PREFIX..length)?;
        let (body, sum) = framed.split_last_chunk::<CHECKSUM>()?;
        if *sum != checksum(body) {
            return None;
        }
        let fixed = version.fixed();
        let mut words = body.get(..fixed)?.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let (line, behind) = (words.next()?, words.next()?);
        let origin = match version {
            Version::One => None,
            Version::Two | Version::Three => {
                let id = FileId { device: words.next()?, file: words.next()? };
                let digest = *body[32..].first_chunk::<DIGEST>()?;
                (behind > 0).then_some(Origin { id, digest })
            }
        };
        let key = match version {
            Version::One | Version::Two => None,
            Version::Three => body[..fixed].last_chunk().copied().filter(|key| *key != RequestKey::default()),
        };
        let (groups, rest) = match version {
            Version::Three => read_names(&body[fixed..])?,
            Version::One | Version::Two => (vec![], &body[fixed..]),
        };
        let inputs = rest.get(..8 * n_inputs)?.as_chunks::<8>().0;
        let inputs: Vec<f64> = inputs.iter().map(|word| f64::from_le_bytes(*word)).collect();
        let (cells, rest) = rest[8 * n_inputs..].as_chunks::<CELL>();
        let cell = |bytes: &[u8; CELL]| -> Option<(u32, f64)> {
            let (output, value) = bytes.split_first_chunk::<4>()?;
            Some((u32::from_le_bytes(*output), f64::from_le_bytes(*value.first_chunk::<8>()?)))
        };
        let cells: Vec<(u32, f64)> = cells.iter().map(cell).collect::<Option<_>>()?;
        rest.is_empty().then_some((Self { line, behind, origin, groups, inputs, cells, key }, length))
    }
}

/// The names of a group, and the bytes after them.
fn read_names(bytes: &[u8]) -> Option<(Vec<String>, &[u8])> {
    let (count, mut rest) = bytes.split_first_chunk::<WORD>()?;
    let mut names = vec![];
    for _ in 0..u32::from_le_bytes(*count) {
        let (length, behind) = rest.split_first_chunk::<WORD>()?;
        let (name, behind) = behind.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        names.push(std::str::from_utf8(name).ok()?.to_owned());
        rest = behind;
    }
    Some((names, rest))
}

/// Where the record at the start of `bytes` ends, if its length is intact.
fn framed_length(bytes: &[u8]) -> Option<usize> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length);
    let is_intact = u32::from_le_bytes(*rest.first_chunk::<4>()?) == check_of(length);
    is_intact.then_some(usize::try_from(length).ok()?.checked_add(PREFIX + CHECKSUM)?)
}

const NO_FILE: FileId = FileId { device: 0, file: 0 };

/// The header of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beginning {
    /// The model it belongs to.
    pub(super) model: crate::model_file::Digest,
    /// Lines applied before the first record.
    pub(super) lines: u64,
    /// Offset of the next line in their file.
    pub(super) behind: u64,
    /// Their file; `None` for a pipe.
    pub(super) origin: Option<Origin>,
    pub(super) version: Version,
}

pub(super) const MAGIC: &str = "catena-journal ";

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
        let Self { model, lines, behind, origin, version } = self;
        let mut text = format!("{MAGIC}{}\nmodel {model}\nbegins {lines} {behind} ", version.number());
        if version != Version::One {
            let FileId { device, file } = origin.map_or(NO_FILE, |origin| origin.id);
            let digest = u128::from_be_bytes(origin.map_or([0; DIGEST], |origin| origin.digest));
            text.push_str(&format!("{device} {file} {digest:032x} "));
        }
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
            let version = match line(MAGIC)?.parse().ok()? {
                1 => Version::One,
                2 => Version::Two,
                3 => Version::Three,
                newer => return Some(Err(BadBeginning::Newer(newer))),
            };
            let model = crate::model_file::Digest::parse(line("model ")?)?;
            let mut numbers = line("begins ")?.split(' ');
            let mut number = || numbers.next()?.parse::<u64>().ok();
            let (lines, behind) = (number()?, number()?);
            let origin = match version {
                Version::One => None,
                Version::Two | Version::Three => {
                    let id = FileId { device: number()?, file: number()? };
                    let digest = u128::from_str_radix(numbers.next()?, 16).ok()?.to_be_bytes();
                    (behind > 0).then_some(Origin { id, digest })
                }
            };
            let beginning = Self { model, lines, behind, origin, version };
            // Equal bytes mean an equal check.
            let expected = beginning.to_bytes();
            head.starts_with(&expected).then_some(Ok((beginning, expected.len())))
        };
        parsed().unwrap_or(Err(BadBeginning::NotAJournal))
    }
}
