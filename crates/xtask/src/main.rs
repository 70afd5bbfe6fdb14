//! Development tasks. `cargo xtask test` runs every check: formatting, lints, tests, documentation, examples, the Python package;
//! `cargo xtask test python` runs the last of these alone. Separate, because they take long or need more tools:
//! `cargo xtask audit` (licenses, minimum compiler, interfaces, coverage, fuzzing), `cargo xtask fuzz` and `cargo xtask dist`.
//! `cargo xtask strings` writes the list of user-facing texts.

mod audit;
mod browser;
mod dist;
mod fuzz;
mod programs;
mod python;
mod strings;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Checks before any test: name and `cargo` arguments.
const FIRST: &[(&str, &[&str])] = &[
    ("formatting", &["fmt", "--all", "--check"]),
    ("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]),
    ("the core without threads", &["check", "--package", "catena", "--no-default-features", "--quiet"]),
];

/// Checks made while the tests run.
const BESIDE: &[(&str, &[&str])] = &[
    ("examples in the documentation", &["test", "--workspace", "--doc", "--quiet"]),
    ("documentation", &["doc", "--workspace", "--no-deps", "--quiet"]),
];

/// Examples for readers, which are run; the other examples are measurements.
const EXAMPLES: &[&str] = &["01_posterior", "02_missing_outputs", "03_gradient", "04_fit", "05_live"];

const USAGE: &str = "\
usage: cargo xtask test [python]
       cargo xtask audit [CHECK...] [--seconds N] [--seed N] [--advisories PATH] [--baseline REV|PATH]
       cargo xtask fuzz [TARGET...] [--seconds N]
       cargo xtask dist [--twice]
       cargo xtask strings [--check]";

fn main() -> ExitCode {
    if let Some(code) = fuzz::as_compiler() {
        return code;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => test(),
        ["test", "python"] => test_python(),
        ["audit", ref options @ ..] => match audit::Options::parse(options, &audit::names()) {
            Ok(options) => audit::audit(&workspace(), &target(), &options),
            Err(message) => refuse(&message),
        },
        ["fuzz", ref options @ ..] => match fuzz::Plan::parse(options) {
            Ok(plan) => run_fuzzer(&plan),
            Err(message) => refuse(&message),
        },
        ["dist", ref options @ ..] if options.is_empty() || *options == ["--twice"] => {
            ended(dist::dist(&workspace(), &target(), !options.is_empty()))
        }
        ["strings"] => ended(strings::strings(&workspace(), false)),
        ["strings", "--check"] => ended(strings::strings(&workspace(), true)),
        _ => refuse("unknown arguments"),
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}\n{USAGE}\nchecks of an audit: {}", audit::names());
    ExitCode::from(2)
}

fn ended(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("\n{message}");
            ExitCode::FAILURE
        }
    }
}

fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    here.canonicalize().unwrap_or(here)
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

fn run_fuzzer(plan: &fuzz::Plan) -> ExitCode {
    let outcomes = match fuzz::run(&workspace(), &target(), plan) {
        Ok(outcomes) => outcomes,
        Err(message) => return ended(Err(message)),
    };
    eprintln!();
    outcomes.iter().for_each(|outcome| eprintln!("{}", fuzz::line(outcome)));
    let is_clean = outcomes.iter().all(|outcome| outcome.finding.is_none());
    if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs every check. A failure of lints or compilation ends the run; tests and later checks all run.
fn test() -> ExitCode {
    let start = Instant::now();
    let outcome = browser::ensure().and_then(|()| every_check(start));
    if outcome.is_ok() {
        eprintln!("\nall checks passed in {}", minutes(start));
    }
    ended(outcome)
}

fn every_check(start: Instant) -> Result<(), String> {
    let environments = std::thread::spawn(|| python::prepare(&target()));
    FIRST.iter().try_for_each(|check| run_cargo(check, start))?;
    eprintln!("\n== building the tests, after {}", minutes(start));
    let programs = programs::build(&workspace())?;
    eprintln!("\n== {} test programs, after {}", programs.len(), minutes(start));
    let (tests, others) = programs::run(&programs, || {
        let _ = environments.join();
        let python = python::test(&workspace(), &target());
        let examples = EXAMPLES.iter().map(|name| run_example(name, start));
        let documents = BESIDE.iter().map(|check| run_cargo(check, start));
        examples.chain(documents).chain([python]).filter_map(Result::err).collect::<Vec<_>>()
    });
    eprintln!(
        "\nRust tests, after {}:\n{} passed, {} failed",
        minutes(start),
        tests.n_passed,
        tests.n_failed
    );
    let failed: Vec<String> = others.into_iter().chain(tests.failed).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join("; "))) }
}

fn run_cargo((name, arguments): &(&str, &[&str]), start: Instant) -> Result<(), String> {
    eprintln!("\n== {name}, after {}: cargo {}", minutes(start), arguments.join(" "));
    let mut command = Command::new(env!("CARGO"));
    // For rustdoc: a broken link is an error.
    let status =
        command.args(*arguments).current_dir(workspace()).env("RUSTDOCFLAGS", "--deny warnings").status();
    if status.is_ok_and(|status| status.success()) { Ok(()) } else { Err((*name).to_owned()) }
}

fn run_example(name: &str, start: Instant) -> Result<(), String> {
    eprintln!("\n== example {name}, after {}", minutes(start));
    let program = target().join("debug/examples").join(name);
    let status = Command::new(program).current_dir(workspace()).status();
    if status.is_ok_and(|status| status.success()) { Ok(()) } else { Err(format!("example {name}")) }
}

fn minutes(since: Instant) -> String {
    let seconds = since.elapsed().as_secs();
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

/// Builds, installs and tests the Python package, which exchanges model files with the program of the Rust tests.
fn test_python() -> ExitCode {
    ended(programs::build(&workspace()).and_then(|_| python::test(&workspace(), &target())))
}
