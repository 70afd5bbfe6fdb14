//! The layout of a model file, shared by writer and reader.

use serde_json::{Value, json};

use super::Container;

pub(crate) const MAGIC: &str = "catena-model ";
pub(crate) const HEADER_WORD: &str = "header ";
pub(crate) const CHECKSUM_WORD: &str = "sha256 ";
/// `sha256 `, 64 digits and the end of the line.
pub(crate) const TRAILER_LENGTH: u64 = 7 + 64 + 1;
/// Maximum length of the magic line and the length line.
pub(crate) const MOST_LINE_BYTES: usize = 40;

/// Zeros between the header and the arrays, which start at a multiple of eight.
pub(crate) fn padding_after(length: u64) -> u64 {
    length.next_multiple_of(8) - length
}

/// The header as it is written.
pub(crate) fn header_of(container: &Container) -> Value {
    let mut offset = 0;
    let mut arrays = vec![];
    for (name, array) in &container.arrays {
        arrays.push(json!({"name": name, "kind": array.kind(), "shape": array.shape(), "offset": offset}));
        offset += 8 * array.len() as u64;
    }
    let digest = container.data_digest.map(|digest| digest.to_string());
    json!({"arrays": arrays, "data_digest": digest, "model": container.header})
}

/// One array in the header.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) is_float: bool,
    pub(crate) shape: Vec<usize>,
    pub(crate) n_numbers: usize,
}

/// Reads and checks the list of arrays; the error names what is wrong.
pub(crate) fn entries_of(header: &Value) -> Result<Vec<Entry>, &'static str> {
    let listed = header.get("arrays").and_then(Value::as_array).ok_or("the list of arrays is missing")?;
    let mut entries: Vec<Entry> = vec![];
    let mut offset = 0_u64;
    for value in listed {
        let entry = entry_of(value).ok_or("the description of an array is incomplete")?;
        if value.get("offset").and_then(Value::as_u64) != Some(offset) {
            return Err("an array has the wrong offset");
        }
        if entries.last().is_some_and(|last| last.name >= entry.name) {
            return Err("the arrays are not in order");
        }
        let length = (entry.n_numbers as u64).checked_mul(8);
        offset =
            length.and_then(|length| offset.checked_add(length)).ok_or("an array is larger than memory")?;
        entries.push(entry);
    }
    Ok(entries)
}

fn entry_of(value: &Value) -> Option<Entry> {
    let is_float = match value.get("kind")?.as_str()? {
        "f64" => true,
        "u64" => false,
        _ => return None,
    };
    let sizes = value.get("shape")?.as_array()?.iter();
    let shape: Vec<usize> = sizes.map(|size| usize::try_from(size.as_u64()?).ok()).collect::<Option<_>>()?;
    let n_numbers = shape.iter().try_fold(1_usize, |product, size| product.checked_mul(*size))?;
    Some(Entry { name: value.get("name")?.as_str()?.to_owned(), is_float, shape, n_numbers })
}
