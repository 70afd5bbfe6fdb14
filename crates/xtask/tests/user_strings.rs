//! The committed list of user-facing texts is the one that `cargo xtask strings` writes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::process::Command;

#[test]
fn the_list_of_texts_is_current() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["strings", "--check"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
