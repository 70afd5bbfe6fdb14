//! Chores. `cargo xtask test` runs every check: formatting, lints, tests, documentation, examples.

mod browser;

use std::process::{Command, ExitCode};

/// Each check: what it is, and the `cargo` arguments that run it.
const CHECKS: &[(&str, &[&str])] = &[
    ("formatting", &["fmt", "--all", "--check"]),
    ("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]),
    ("tests", &["test", "--workspace", "--all-targets"]),
    ("documentation examples", &["test", "--workspace", "--doc"]),
    ("documentation", &["doc", "--workspace", "--no-deps", "--quiet"]),
    ("example 01", &["run", "--release", "--quiet", "--package", "catena", "--example", "01_posterior"]),
    (
        "example 02",
        &["run", "--release", "--quiet", "--package", "catena", "--example", "02_missing_outputs"],
    ),
    ("example 03", &["run", "--release", "--quiet", "--package", "catena", "--example", "03_gradient"]),
    ("example 04", &["run", "--release", "--quiet", "--package", "catena-auto", "--example", "04_fit"]),
];

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("test") => test(),
        _ => {
            eprintln!("usage: cargo xtask test");
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
    eprintln!("\nall checks passed");
    ExitCode::SUCCESS
}
