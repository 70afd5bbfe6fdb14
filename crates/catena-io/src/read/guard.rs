//! Turns a panic inside a format library into an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::ReadError;
use crate::place::FileName;
use crate::table::Table;

/// Runs a reader of a binary format. The Parquet decoders index out of bounds on some damaged pages, and a damaged file must
/// be an error like any other. Everything the reader touched is dropped, so nothing half-done is seen afterward.
pub(crate) fn guarded(
    file: &FileName,
    format: &'static str,
    reader: impl FnOnce() -> Result<Table, ReadError>,
) -> Result<Table, ReadError> {
    catch_unwind(AssertUnwindSafe(reader)).unwrap_or_else(|_| {
        let detail = "its pages do not decode".to_owned();
        Err(ReadError::Damaged { file: file.clone(), format, detail })
    })
}
