//! Programs that an audit needs and that may be missing.

use std::process::{Command, Stdio};

use super::Verdict;

/// Whether a program runs with these arguments.
pub(crate) fn starts(program: &str, words: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(words).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A subcommand of cargo, or how to install it.
///
/// # Errors
/// The verdict `Absent`.
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
/// The verdict `Absent`.
pub(crate) fn program(name: &str, install: &str) -> Result<Command, Verdict> {
    if starts(name, &["--version"]) {
        Ok(Command::new(name))
    } else {
        Err(Verdict::Absent(install.to_owned()))
    }
}

/// Runs a command; `Passed` with this remark if it succeeds.
///
/// # Errors
/// The verdict `Failed`.
pub(crate) fn run(command: &mut Command, passed: &str) -> Result<String, Verdict> {
    match command.status() {
        Ok(status) if status.success() => Ok(passed.to_owned()),
        Ok(status) => Err(Verdict::Failed(format!("ended with {status}; see its output above"))),
        Err(error) => Err(Verdict::Failed(error.to_string())),
    }
}
