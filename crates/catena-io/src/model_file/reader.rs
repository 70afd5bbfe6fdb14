//! Reads a model file and rejects anything truncated or damaged.

use std::io::{self, Read};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::layout::{
    CHECKSUM_WORD, Entry, HEADER_WORD, MAGIC, MOST_LINE_BYTES, TRAILER_LENGTH, entries_of, padding_after,
};
use super::{Array, Container, Digest, FORMAT_VERSION, ModelFileError};
use crate::place::FileName;

pub(crate) fn read(input: impl Read, total: u64, file: &FileName) -> Result<Container, ModelFileError> {
    Reader { input, total, position: 0, hasher: Sha256::new(), file }.read()
}

struct Reader<'a, R> {
    input: R,
    total: u64,
    position: u64,
    hasher: Sha256,
    file: &'a FileName,
}

impl<R: Read> Reader<'_, R> {
    fn read(mut self) -> Result<Container, ModelFileError> {
        self.check_magic()?;
        let line = self.line()?;
        let length = line.strip_prefix(HEADER_WORD).and_then(|digits| digits.parse::<u64>().ok());
        let length = length.ok_or_else(|| self.damaged("the length of the header cannot be read"))?;
        // Check the length against the file before allocating.
        self.expect(length.saturating_add(1).saturating_add(TRAILER_LENGTH))?;
        let text = self.bytes(length as usize)?;
        let header: Value =
            serde_json::from_slice(&text).map_err(|_| self.damaged("the header is not JSON"))?;
        let entries = entries_of(&header).map_err(|what| self.damaged(what))?;
        self.bytes(1)?;
        let padding = padding_after(self.position);
        let n_bytes = entries
            .iter()
            .try_fold(padding, |sum, entry| sum.checked_add((entry.n_numbers as u64).checked_mul(8)?));
        let n_bytes = n_bytes.ok_or_else(|| self.damaged("the arrays are larger than memory"))?;
        self.expect(n_bytes.saturating_add(TRAILER_LENGTH))?;
        self.bytes(padding as usize)?;
        let mut container = Container::new(Value::Null);
        for entry in entries {
            let array = self.array(&entry)?;
            container.arrays.insert(entry.name, array);
        }
        self.check_end()?;
        container.data_digest = match header.get("data_digest") {
            None | Some(Value::Null) => None,
            Some(digest) => {
                let digest = digest.as_str().and_then(Digest::parse);
                Some(digest.ok_or_else(|| damaged(self.file, "the digest of the data cannot be read"))?)
            }
        };
        let Value::Object(mut fields) = header else {
            return Err(damaged(self.file, "the header is not an object"));
        };
        container.header = fields.remove("model").unwrap_or(Value::Null);
        Ok(container)
    }

    fn check_magic(&mut self) -> Result<(), ModelFileError> {
        let not_a_model = || ModelFileError::NotAModel { file: self.file.clone() };
        if self.total < MAGIC.len() as u64 {
            return Err(not_a_model());
        }
        let mut magic = [0; MAGIC.len()];
        self.input.read_exact(&mut magic).map_err(|error| self.io(error))?;
        if magic != MAGIC.as_bytes() {
            return Err(not_a_model());
        }
        self.hasher.update(magic);
        self.position = MAGIC.len() as u64;
        let version = self.line()?;
        match version.parse::<u64>() {
            Ok(FORMAT_VERSION) => Ok(()),
            Ok(found) if found > FORMAT_VERSION => {
                Err(ModelFileError::Newer { file: self.file.clone(), found, newest: FORMAT_VERSION })
            }
            _ => Err(self.damaged("the version cannot be read")),
        }
    }

    /// A short line, without its end.
    fn line(&mut self) -> Result<String, ModelFileError> {
        let mut line = vec![];
        loop {
            let byte = self.bytes(1)?[0];
            if byte == b'\n' {
                return String::from_utf8(line).map_err(|_| self.damaged("the first lines cannot be read"));
            }
            line.push(byte);
            if line.len() > MOST_LINE_BYTES {
                return Err(self.damaged("the first lines cannot be read"));
            }
        }
    }

    fn array(&mut self, entry: &Entry) -> Result<Array, ModelFileError> {
        let shape = |array: Array| array.with_shape(&entry.shape);
        if entry.is_float {
            shape(Array::from_f64(self.numbers(entry.n_numbers, f64::from_le_bytes)?))
        } else {
            shape(Array::from_u64(self.numbers(entry.n_numbers, u64::from_le_bytes)?))
        }
    }

    fn numbers<T>(&mut self, count: usize, number: fn([u8; 8]) -> T) -> Result<Vec<T>, ModelFileError> {
        const NUMBERS_PER_PIECE: usize = 4096;
        let mut numbers = Vec::with_capacity(count);
        while numbers.len() < count {
            let piece = self.bytes(8 * (count - numbers.len()).min(NUMBERS_PER_PIECE))?;
            // Pieces are multiples of eight bytes.
            numbers.extend(piece.as_chunks::<8>().0.iter().map(|bytes| number(*bytes)));
        }
        Ok(numbers)
    }

    /// Reads and hashes the next bytes.
    fn bytes(&mut self, count: usize) -> Result<Vec<u8>, ModelFileError> {
        self.expect(count as u64)?;
        let mut bytes = vec![0; count];
        self.input.read_exact(&mut bytes).map_err(|error| self.io(error))?;
        self.hasher.update(&bytes);
        self.position += count as u64;
        Ok(bytes)
    }

    fn check_end(&mut self) -> Result<(), ModelFileError> {
        let expected = Digest::of_hasher(std::mem::take(&mut self.hasher));
        let trailer = self.bytes(TRAILER_LENGTH as usize)?;
        if trailer != format!("{CHECKSUM_WORD}{expected}\n").as_bytes() {
            return Err(self.damaged("the checksum does not match"));
        }
        if self.position != self.total {
            return Err(self.damaged("there are bytes after its end"));
        }
        Ok(())
    }

    /// Checks that `count` bytes are left.
    fn expect(&self, count: u64) -> Result<(), ModelFileError> {
        let expected = self.position.saturating_add(count);
        if expected <= self.total {
            return Ok(());
        }
        Err(ModelFileError::Truncated { file: self.file.clone(), expected, found: self.total })
    }

    fn damaged(&self, what: &'static str) -> ModelFileError {
        damaged(self.file, what)
    }

    fn io(&self, source: io::Error) -> ModelFileError {
        ModelFileError::Io { file: self.file.clone(), source }
    }
}

fn damaged(file: &FileName, what: &'static str) -> ModelFileError {
    ModelFileError::Damaged { file: file.clone(), what }
}
