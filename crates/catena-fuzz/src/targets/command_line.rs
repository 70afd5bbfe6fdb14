//! The words of the command line: each is read as the program would, and nothing is done.

use std::ffi::OsString;

/// One word per line.
pub(super) fn run(bytes: &[u8]) {
    let words = bytes.split(|byte| *byte == b'\n').map(word);
    let said = catena_cli::check_words([OsString::from("catena")].into_iter().chain(words));
    assert!(said.is_ok() || said.is_err_and(|what| !what.is_empty()));
}

#[cfg(unix)]
fn word(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).to_owned()
}

#[cfg(not(unix))]
fn word(bytes: &[u8]) -> OsString {
    OsString::from(String::from_utf8_lossy(bytes).into_owned())
}
