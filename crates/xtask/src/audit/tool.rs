//! Programs that an audit needs and that may not be there.

use std::process::{Command, Stdio};

use super::Verdict;

/// Whether a program starts with these words.
pub(crate) fn starts(program: &str, words: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(words).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A subcommand of cargo, or how to install it.
///
/// # Errors
/// The verdict that it is absent.
pub(crate) fn subcommand(name: &str) -> Result<Command, Verdict> {
    if starts("cargo", &[name, "--version"]) {
        let mut command = Command::new("cargo");
        command.arg(name);
        return Ok(command);
    }
    Err(Verdict::Absent(format!("cargo install cargo-{name} --locked")))
}

/// A program, or how to install it.
///
/// # Errors
/// The verdict that it is absent.
pub(crate) fn program(name: &str, install: &str) -> Result<Command, Verdict> {
    if starts(name, &["--version"]) {
        Ok(Command::new(name))
    } else {
        Err(Verdict::Absent(install.to_owned()))
    }
}

/// Runs a command to its end: passed with these words if it succeeds.
pub(crate) fn judged(command: &mut Command, passed: &str) -> Verdict {
    match command.status() {
        Ok(status) if status.success() => Verdict::Passed(passed.to_owned()),
        Ok(status) => Verdict::Failed(format!("ended with {status}; its words are above")),
        Err(error) => Verdict::Failed(error.to_string()),
    }
}
