//! CSV, TSV and text whose header shows the delimiter.

use super::Definition;
use crate::read::csv::{Delimiting, read_csv};
use crate::write::write_csv;

pub(super) const CSV: Definition = Definition {
    names: &["csv"],
    delimiting: Some(Delimiting::Comma),
    read: |source, progress| read_csv(source, Delimiting::Comma, progress),
    write: Some(|table, file| write_csv(table, b',', file)),
};

pub(super) const TSV: Definition = Definition {
    names: &["tsv", "tab"],
    delimiting: Some(Delimiting::Tab),
    read: |source, progress| read_csv(source, Delimiting::Tab, progress),
    write: Some(|table, file| write_csv(table, b'\t', file)),
};

pub(super) const TXT: Definition = Definition {
    names: &["txt"],
    delimiting: Some(Delimiting::FromHeader),
    read: |source, progress| read_csv(source, Delimiting::FromHeader, progress),
    write: Some(|table, file| write_csv(table, b',', file)),
};
