//! Chores. `cargo xtask test` runs every check: formatting, lints, tests, documentation, examples, the Python package.
//! `cargo xtask test python` runs the last of these alone. Not part of it, because they take long or need more tools:
//! `cargo xtask audit` (licences, oldest compiler, interfaces, coverage, fuzzing), `cargo xtask fuzz` and `cargo xtask dist`.

mod audit;
mod browser;
mod dist;
mod fuzz;
mod python;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Each check: what it is, and the `cargo` arguments that run it.
const CHECKS: &[(&str, &[&str])] = &[
    ("formatting", &["fmt", "--all", "--check"]),
    ("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]),
    // Of the whole workspace: for one package alone, dependencies would be compiled once more with other features. This builds the
    // examples too, as programs; with `--all-targets` they would be compiled as tests.
    ("tests", &["test", "--workspace"]),
    ("documentation", &["doc", "--workspace", "--no-deps", "--quiet"]),
];

/// Examples for readers, which must run as they are; the others measure.
const EXAMPLES: &[&str] = &["01_posterior", "02_missing_outputs", "03_gradient", "04_fit", "05_live"];

const USAGE: &str = "\
usage: cargo xtask test [python]
       cargo xtask audit [CHECK...] [--seconds N] [--advisories PATH] [--baseline REV|PATH]
       cargo xtask fuzz [TARGET...] [--seconds N]
       cargo xtask dist [--twice]";

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
            Err(complaint) => refuse(&complaint),
        },
        ["fuzz", ref options @ ..] => match fuzz::Plan::parse(options) {
            Ok(plan) => run_fuzzer(&plan),
            Err(complaint) => refuse(&complaint),
        },
        ["dist", ref options @ ..] if options.is_empty() || *options == ["--twice"] => {
            ended(dist::dist(&workspace(), &target(), !options.is_empty()))
        }
        _ => refuse("unknown words"),
    }
}

fn refuse(complaint: &str) -> ExitCode {
    eprintln!("{complaint}\n{USAGE}\nchecks of an audit: {}", audit::names());
    ExitCode::from(2)
}

fn ended(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => {
            eprintln!("\n{complaint}");
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
        Err(complaint) => return ended(Err(complaint)),
    };
    eprintln!();
    outcomes.iter().for_each(|outcome| eprintln!("{}", fuzz::line(outcome)));
    let is_clean = outcomes.iter().all(|outcome| outcome.finding.is_none());
    if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs every check in order and stops at the first that fails.
fn test() -> ExitCode {
    let start = Instant::now();
    if let Err(complaint) = browser::ensure() {
        eprintln!("{complaint}");
        return ExitCode::FAILURE;
    }
    let environments = std::thread::spawn(|| python::prepare(&target()));
    for (name, arguments) in CHECKS {
        eprintln!("\n== {name}, after {}: cargo {}", minutes(start), arguments.join(" "));
        // Only rustdoc reads this: a broken link in the documentation fails, as a lint does.
        let mut command = Command::new(env!("CARGO"));
        let status = command.args(*arguments).env("RUSTDOCFLAGS", "--deny warnings").status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("\n{name} failed");
            return ExitCode::FAILURE;
        }
    }
    for name in EXAMPLES {
        eprintln!("\n== example {name}, after {}", minutes(start));
        let program = target().join("debug/examples").join(name);
        if !Command::new(program).current_dir(workspace()).status().is_ok_and(|status| status.success()) {
            eprintln!("\nexample {name} failed");
            return ExitCode::FAILURE;
        }
    }
    eprintln!("\n== Python, after {}", minutes(start));
    let _ = environments.join();
    if test_python() != ExitCode::SUCCESS {
        return ExitCode::FAILURE;
    }
    eprintln!("\nall checks passed in {}", minutes(start));
    ExitCode::SUCCESS
}

fn minutes(since: Instant) -> String {
    let seconds = since.elapsed().as_secs();
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

/// Builds, installs and tests the Python package. The program it exchanges model files with is the one of the Rust tests; it is
/// built with the whole workspace, as they are, or every dependency would be compiled once more with other features.
fn test_python() -> ExitCode {
    let built = Command::new(env!("CARGO"))
        .args(["test", "--workspace", "--no-run", "--quiet"])
        .current_dir(workspace())
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return ended(Err("the program could not be built".to_owned()));
    }
    ended(python::test(&workspace(), &target()))
}
