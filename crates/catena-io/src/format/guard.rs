//! Turns a panic inside a format library into an error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use crate::place::FileName;
use crate::read::ReadError;
use crate::table::Table;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Suppresses the panic message of a guarded reader, whose panic becomes an error.
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

/// Runs a reader of a binary format and turns a panic into an error: the Parquet decoders index out of bounds on some damaged
/// pages. Everything the reader owns is dropped, so unwinding leaves no partial state.
pub(super) fn guarded(
    file: &FileName,
    format: &'static str,
    reader: impl FnOnce() -> Result<Table, ReadError>,
) -> Result<Table, ReadError> {
    silence_guarded();
    let was_guarded = IS_GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(reader));
    IS_GUARDED.set(was_guarded);
    outcome.unwrap_or_else(|_| {
        let detail = "its pages cannot be decoded".to_owned();
        Err(ReadError::Damaged { file: file.clone(), format, detail })
    })
}
