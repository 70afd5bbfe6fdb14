//! What a table format must provide.

use crate::read::csv::Delimiting;
use crate::read::{Progress, ReadError, Source};
use crate::table::Table;
use crate::write::{TargetFile, WriteError};

/// Writes a table.
pub(crate) type Write = fn(&Table, &mut TargetFile) -> Result<(), WriteError>;

/// A table format: its names, its reader and its writer.
pub(crate) struct Definition {
    /// Suffixes and names for `--format`, in lower case; the first is the usual one.
    pub(crate) names: &'static [&'static str],
    /// How cells are delimited, if it is text.
    pub(crate) delimiting: Option<Delimiting>,
    pub(crate) read: fn(Source<'_>, Progress<'_>) -> Result<Table, ReadError>,
    /// The writer; `None` if the format is only read.
    pub(crate) write: Option<Write>,
}
