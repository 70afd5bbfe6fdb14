//! Chores. `cargo xtask test` runs every check: formatting, lints, tests, documentation, examples, the Python package.
//! `cargo xtask test python` runs the last of these alone. Not part of it, because they take long or need more tools:
//! `cargo xtask audit` (licences, oldest compiler, interfaces, coverage, fuzzing), `cargo xtask fuzz` and `cargo xtask dist`.
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

/// What is checked before anything is run: what it is, and the `cargo` arguments that check it.
const FIRST: &[(&str, &[&str])] = &[
    ("formatting", &["fmt", "--all", "--check"]),
    ("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]),
    ("the core without threads", &["check", "--package", "catena", "--no-default-features", "--quiet"]),
];

/// What is checked while the tests run.
const BESIDE: &[(&str, &[&str])] = &[
    ("examples in the documentation", &["test", "--workspace", "--doc", "--quiet"]),
    ("documentation", &["doc", "--workspace", "--no-deps", "--quiet"]),
];

/// Examples for readers, which must run as they are; the others measure.
const EXAMPLES: &[&str] = &["01_posterior", "02_missing_outputs", "03_gradient", "04_fit", "05_live"];

const USAGE: &str = "\
usage: cargo xtask test [python]
       cargo xtask audit [CHECK...] [--seconds N] [--advisories PATH] [--baseline REV|PATH]
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
            Err(complaint) => refuse(&complaint),
        },
        ["fuzz", ref options @ ..] => match fuzz::Plan::parse(options) {
            Ok(plan) => run_fuzzer(&plan),
            Err(complaint) => refuse(&complaint),
        },
        ["dist", ref options @ ..] if options.is_empty() || *options == ["--twice"] => {
            ended(dist::dist(&workspace(), &target(), !options.is_empty()))
        }
        ["strings"] => ended(strings::strings(&workspace(), false)),
        ["strings", "--check"] => ended(strings::strings(&workspace(), true)),
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

/// Runs every check. Lints and compiling stop it where they fail; of what runs, everything is run.
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
    FIRST.iter().try_for_each(|check| by_cargo(check, start))?;
    eprintln!("\n== building the tests, after {}", minutes(start));
    let programs = programs::build(&workspace())?;
    eprintln!("\n== {} programs with tests, after {}", programs.len(), minutes(start));
    let (tests, others) = programs::run(&programs, || {
        let _ = environments.join();
        let python = python::test(&workspace(), &target());
        let examples = EXAMPLES.iter().map(|name| run_example(name, start));
        let documents = BESIDE.iter().map(|check| by_cargo(check, start));
        examples.chain(documents).chain([python]).filter_map(Result::err).collect::<Vec<_>>()
    });
    eprintln!(
        "\ntests of Rust, after {}:\n{} passed, {} failed",
        minutes(start),
        tests.n_passed,
        tests.n_failed
    );
    let broken: Vec<String> = others.into_iter().chain(tests.broken).collect();
    if broken.is_empty() { Ok(()) } else { Err(format!("failed: {}", broken.join("; "))) }
}

fn by_cargo((name, arguments): &(&str, &[&str]), start: Instant) -> Result<(), String> {
    eprintln!("\n== {name}, after {}: cargo {}", minutes(start), arguments.join(" "));
    let mut command = Command::new(env!("CARGO"));
    // Only rustdoc reads this: a broken link in the documentation fails, as a lint does.
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

/// Builds, installs and tests the Python package. The program it exchanges model files with is the one of the Rust tests.
fn test_python() -> ExitCode {
    ended(programs::build(&workspace()).and_then(|_| python::test(&workspace(), &target())))
}
