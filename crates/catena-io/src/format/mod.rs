//! The table formats: one file each, which defines how the format is named, read and written.

mod arrow;
mod definition;
mod delimited;
mod from_arrow;
mod guard;
mod parquet;
mod sheet;
mod to_arrow;

pub(crate) use definition::Definition;

use std::fmt;
use std::path::Path;

use crate::packing::without_packing;

/// How a table is stored.
#[derive(Clone, Copy)]
pub struct Format(&'static Definition);

impl Format {
    /// Every format. To add one, write its file beside the others and list its `Definition` here.
    pub const ALL: &'static [Self] = &[
        Self::CSV,
        Self(&delimited::TSV),
        Self(&delimited::TXT),
        Self(&parquet::PARQUET),
        Self(&arrow::ARROW),
        Self(&sheet::XLSX),
        Self(&sheet::ODS),
    ];

    /// Comma-separated text, the format of pipes. A header with semicolons or tabs and no comma is read as separated by those.
    pub const CSV: Self = Self(&delimited::CSV);

    /// The format of a path's suffix; the suffix of a gzip or zstd archive is skipped, as in `table.csv.gz`.
    pub fn of_path(path: &Path) -> Option<Self> {
        Self::of_name(without_packing(path).extension()?.to_str()?)
    }

    /// The format of a name such as `csv` or `parquet`.
    pub fn of_name(name: &str) -> Option<Self> {
        let is_named = |format: &&Self| format.0.names.iter().any(|known| name.eq_ignore_ascii_case(known));
        Self::ALL.iter().find(is_named).copied()
    }

    /// Its usual name and suffix.
    pub fn name(self) -> &'static str {
        self.0.names[0]
    }

    /// The usual names of all formats, as `csv, tsv or parquet`.
    pub fn names() -> String {
        Self::listed(Self::ALL.iter())
    }

    /// The usual names of the formats that can be written.
    pub fn written_names() -> String {
        Self::listed(Self::ALL.iter().filter(|format| format.is_written()))
    }

    fn listed<'a>(formats: impl Iterator<Item = &'a Self>) -> String {
        let names: Vec<&str> = formats.map(|format| format.name()).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    /// Whether it is delimited text, whose cells can be copied and which can be read in blocks.
    pub fn is_text(self) -> bool {
        self.0.delimiting.is_some()
    }

    /// Whether tables can be written in it; spreadsheets are only read.
    pub fn is_written(self) -> bool {
        self.0.write.is_some()
    }

    pub(crate) fn definition(self) -> &'static Definition {
        self.0
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
