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

/// The message of a format library as the end of a sentence: without its prefix, its lines after the first, and structures in braces
/// that are printed for programmers.
pub(super) fn plain(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.split(['{', '[']).next().unwrap_or_default();
    let without_prefix = |line: &str| {
        let prefixes =
            ["Parquet error: ", "Arrow: ", "Parser error: ", "Ipc error: ", "Io error: ", "External: "];
        prefixes.iter().find_map(|prefix| line.strip_prefix(prefix)).map(str::to_owned)
    };
    let mut text = line.to_owned();
    while let Some(rest) = without_prefix(&text) {
        text = rest;
    }
    // A structure follows the name of its type.
    let is_cut = line.len() < message.lines().next().unwrap_or_default().len();
    let words = text.trim_end();
    let words = if is_cut { words.rsplit_once(' ').map_or("", |(words, _)| words) } else { words };
    let words = words.trim_end_matches([':', '.', ',', '(', ' ']);
    if words.is_empty() { "it cannot be decoded".to_owned() } else { words.to_owned() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_libraries_end_a_sentence() {
        for (message, expected) in [
            ("Parquet error: Page CRC checksum mismatch", "Page CRC checksum mismatch"),
            (
                "Parser error: Unable to get root as footer: RangeOutOfBounds { range: 1..2, error_trace: ErrorTrace([]) }",
                "Unable to get root as footer",
            ),
            (
                "Arrow: Parquet argument error: Parquet error: EOF",
                "Parquet argument error: Parquet error: EOF",
            ),
            ("External: InvalidData { kind: 3 }\n  backtrace", "it cannot be decoded"),
        ] {
            assert_eq!(plain(message), expected, "{message}");
        }
    }
}
