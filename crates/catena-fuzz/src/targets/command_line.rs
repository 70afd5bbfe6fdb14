//! Command lines: parsed as by the program, not executed; an error is one sentence that names existing help.

use std::ffi::OsString;

/// One word per line.
pub(super) fn run(bytes: &[u8]) {
    let words = bytes.split(|byte| *byte == b'\n').map(word);
    let checked = catena_cli::check_words([OsString::from("catena")].into_iter().chain(words));
    if let Err(Some(sentence)) = checked {
        let is_one = !sentence.contains('\n') && !sentence.starts_with(';');
        let help = sentence.rsplit_once("; see `catena ").and_then(|(_, help)| help.strip_suffix('`'));
        assert!(is_one && help.is_some_and(is_help), "{sentence:?}");
    }
}

/// Whether these words print the help of the program or of an existing verb.
fn is_help(words: &str) -> bool {
    let all = ["catena"].into_iter().chain(words.split(' ')).map(OsString::from);
    matches!(catena_cli::check_words(all), Err(None))
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
