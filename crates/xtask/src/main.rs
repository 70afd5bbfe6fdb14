//! Chores. `cargo xtask test` runs every check: formatting, lints, tests, documentation, examples, the Python package.
//! `cargo xtask test python` runs the last of these alone.

mod browser;
mod python;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Each check: what it is, and the `cargo` arguments that run it.
const CHECKS: &[(&str, &[&str])] = &[
    ("formatting", &["fmt", "--all", "--check"]),
    ("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]),
    ("tests", &["test", "--workspace", "--all-targets"]),
    ("documentation examples", &["test", "--workspace", "--doc"]),
    ("documentation", &["doc", "--workspace", "--no-deps", "--quiet"]),
    ("example 01", &["run", "--profile", "test", "--quiet", "--example", "01_posterior"]),
    ("example 02", &["run", "--profile", "test", "--quiet", "--example", "02_missing_outputs"]),
    ("example 03", &["run", "--profile", "test", "--quiet", "--example", "03_gradient"]),
    ("example 04", &["run", "--profile", "test", "--quiet", "--example", "04_fit"]),
    ("example 05", &["run", "--profile", "test", "--quiet", "--example", "05_live"]),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => test(),
        ["test", "python"] => test_python(),
        _ => {
            eprintln!("usage: cargo xtask test [python]");
            ExitCode::from(2)
        }
    }
}

/// Runs every check in order and stops at the first that fails.
fn test() -> ExitCode {
    if let Err(complaint) = browser::ensure() {
        eprintln!("{complaint}");
        return ExitCode::FAILURE;
    }
    for (name, arguments) in CHECKS {
        eprintln!("\n== {name}: cargo {}", arguments.join(" "));
        // Only rustdoc reads this: a broken link in the documentation fails, as a lint does.
        let mut command = Command::new(env!("CARGO"));
        let status = command.args(*arguments).env("RUSTDOCFLAGS", "--deny warnings").status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("\n{name} failed");
            return ExitCode::FAILURE;
        }
    }
    if test_python() != ExitCode::SUCCESS {
        return ExitCode::FAILURE;
    }
    eprintln!("\nall checks passed");
    ExitCode::SUCCESS
}

/// Builds, installs and tests the Python package. The program it exchanges model files with is the one of the Rust tests; it is
/// built with the whole workspace, as they are, or every dependency would be compiled once more with other features.
fn test_python() -> ExitCode {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    let built = Command::new(env!("CARGO"))
        .args(["test", "--workspace", "--all-targets", "--no-run", "--quiet"])
        .current_dir(&workspace)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        eprintln!("\nthe program could not be built");
        return ExitCode::FAILURE;
    }
    match python::test(&workspace, &target) {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => {
            eprintln!("\n{complaint}");
            ExitCode::FAILURE
        }
    }
}
