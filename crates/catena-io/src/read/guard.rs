//! Turns a panic inside a format library into an error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::ReadError;
use crate::place::FileName;
use crate::table::Table;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Lets a panic pass in silence while a reader is guarded: it becomes an error, and a message of its own would only confuse.
fn silence_guarded() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !IS_GUARDED.try_with(Cell::get).unwrap_or(false) {
                usual(info);
            }
        }));
    });
}

/// Runs a reader of a binary format. The Parquet decoders index out of bounds on some damaged pages, and a damaged file must
/// be an error like any other. Everything the reader touched is dropped, so nothing half-done is seen afterward.
pub(crate) fn guarded(
    file: &FileName,
    format: &'static str,
    reader: impl FnOnce() -> Result<Table, ReadError>,
) -> Result<Table, ReadError> {
    silence_guarded();
    let was_guarded = IS_GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(reader));
    IS_GUARDED.set(was_guarded);
    outcome.unwrap_or_else(|_| {
        let detail = "its pages do not decode".to_owned();
        Err(ReadError::Damaged { file: file.clone(), format, detail })
    })
}
