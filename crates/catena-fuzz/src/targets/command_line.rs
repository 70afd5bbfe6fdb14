//! The words of the command line: each is read as the program would, nothing is done, and a mistake is one sentence.

use std::ffi::OsString;

/// One word per line.
pub(super) fn run(bytes: &[u8]) {
    let words = bytes.split(|byte| *byte == b'\n').map(word);
    let said = catena_cli::check_words([OsString::from("catena")].into_iter().chain(words));
    if let Err(Some(sentence)) = said {
        let is_one = !sentence.contains('\n') && sentence.ends_with("; see `catena --help`");
        assert!(is_one && !sentence.starts_with(';'), "{sentence:?}");
    }
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
