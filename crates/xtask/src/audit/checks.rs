//! The checks, in the order in which they run: the quick ones first.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::tool::{program, run, starts, subcommand};
use super::{Context, Verdict};
use crate::fuzz;

/// A remark if the check passed, otherwise the verdict.
type Outcome = Result<String, Verdict>;

/// One check.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) run: fn(&Context<'_>) -> Outcome,
}

const fn check(name: &'static str, what: &'static str, run: fn(&Context<'_>) -> Outcome) -> Check {
    Check { name, what, run }
}

/// All checks.
pub(crate) const CHECKS: &[Check] = &[
    check("licenses", "licenses, duplicates and sources of all dependencies (deny.toml)", licenses),
    check("advisories", "known vulnerabilities of dependencies, from a local database", advisories),
    check("book", "the book builds without warnings", book),
    check("features", "every crate compiles alone, with its own features only", features),
    check("msrv", "everything compiles with the minimum compiler version", msrv),
    check("semver", "public interfaces are compatible with a baseline", semver),
    check("guard", "instruction counts of the release build", guard),
    check("coverage", "line coverage of the core", coverage),
    check("break", "kills, rotation, several writers, full disks, damaged files", breaking),
    check("fuzzing", "every target under libFuzzer", fuzzing),
];

/// Crates that are published as libraries.
const PUBLISHED: &[&str] = &["catena", "catena-fit", "catena-methods", "catena-io", "catena-store"];

fn failed<T>(reason: impl Into<String>) -> Result<T, Verdict> {
    Err(Verdict::Failed(reason.into()))
}

fn licenses(context: &Context<'_>) -> Outcome {
    let mut command = subcommand("deny")?;
    command.args(["check", "licenses", "bans", "sources"]).current_dir(context.workspace);
    run(&mut command, "all licenses allowed, all sources crates.io")
}

fn advisories(context: &Context<'_>) -> Outcome {
    let missing = || Verdict::Skipped("--advisories PATH of a copy of the RustSec advisory-db".to_owned());
    let database = context.options.advisories.as_ref().ok_or_else(missing)?;
    let mut command = subcommand("audit")?;
    command.args(["--no-fetch", "--stale", "--db"]).arg(database).current_dir(context.workspace);
    run(&mut command, "no known vulnerability")
}

fn book(context: &Context<'_>) -> Outcome {
    if !context.workspace.join("docs/book.toml").is_file() {
        return failed("docs/book.toml is missing");
    }
    let mut command = program("mdbook", "cargo install mdbook --locked")?;
    let place = context.target.join("book");
    command.args(["build", "docs", "--dest-dir"]).arg(place).current_dir(context.workspace);
    let Ok(output) = command.output() else { return failed("mdbook could not be run") };
    let text = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
    eprint!("{text}");
    let warnings = text.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).count();
    match (output.status.success(), warnings) {
        (true, 0) => Ok("built without warnings".to_owned()),
        (true, count) => failed(format!("{count} warnings")),
        (false, _) => failed("does not build"),
    }
}

/// Compiled together, crates share features; alone, a missing feature shows.
fn features(context: &Context<'_>) -> Outcome {
    let entries = std::fs::read_dir(context.workspace.join("crates")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    for name in &names {
        let mut command = Command::new(env!("CARGO"));
        command.args(["check", "--quiet", "--package", name]).current_dir(context.workspace);
        if !command.status().is_ok_and(|status| status.success()) {
            return failed(format!("{name} does not compile alone"));
        }
    }
    Ok(format!("{} crates, each alone", names.len()))
}

/// The minimum version is `rust-version` in Cargo.toml.
fn msrv(context: &Context<'_>) -> Outcome {
    let manifest = std::fs::read_to_string(context.workspace.join("Cargo.toml")).unwrap_or_default();
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'));
    let Some(version) = version else { return failed("Cargo.toml has no rust-version") };
    let toolchain = format!("+{version}");
    if !starts("cargo", &[&toolchain, "--version"]) {
        return Err(Verdict::Absent(format!("rustup toolchain install {version} --profile minimal")));
    }
    let mut command = Command::new("cargo");
    command.args([&toolchain, "check", "--workspace", "--all-targets", "--locked", "--quiet"]);
    command.arg("--target-dir").arg(context.target.join("msrv")).current_dir(context.workspace);
    // These would select the compiler of this process.
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
    run(&mut command, &format!("everything compiles with {version}"))
}

fn semver(context: &Context<'_>) -> Outcome {
    let missing = || Verdict::Skipped("--baseline REV, or a folder with the sources of a release".to_owned());
    let baseline = context.options.baseline.as_ref().ok_or_else(missing)?;
    let mut command = subcommand("semver-checks")?;
    let option = if std::path::Path::new(baseline).is_dir() { "--baseline-root" } else { "--baseline-rev" };
    command.args([option, baseline]).current_dir(context.workspace);
    for name in PUBLISHED {
        command.args(["--package", name]);
    }
    run(&mut command, &format!("compatible with {baseline}"))
}

fn guard(context: &Context<'_>) -> Outcome {
    program("valgrind", "apt-get install valgrind (or your system's package)")?;
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--release", "--quiet", "--package", "catena-bench", "--", "guard"]);
    run(command.current_dir(context.workspace), "no hot path needs more instructions than recorded")
}

fn coverage(context: &Context<'_>) -> Outcome {
    let mut command = subcommand("llvm-cov")?;
    command.args(["--package", "catena", "--summary-only", "--json", "--ignore-filename-regex"]);
    command.arg("catena-(testkit|methods|studies)|/tests/|registry");
    let output = command.current_dir(context.workspace).stderr(Stdio::inherit()).output();
    let lines = output.ok().filter(|output| output.status.success()).and_then(|one| total_lines(&one.stdout));
    match lines {
        Some((covered, count)) => {
            Ok(format!("{:.1} % of {count} lines of the core", 100.0 * covered as f64 / count as f64))
        }
        None => failed("no coverage was measured"),
    }
}

/// Covered lines and all lines, from the totals of llvm-cov's JSON.
fn total_lines(json: &[u8]) -> Option<(u64, u64)> {
    let json: Value = serde_json::from_slice(json).ok()?;
    let lines = &json["data"][0]["totals"]["lines"];
    Some((lines["covered"].as_u64()?, lines["count"].as_u64()?)).filter(|(_, count)| *count > 0)
}

/// The attacks of `crates/catena-cli/tests/breaking/`, which run one round in the tests, for as long as given.
fn breaking(context: &Context<'_>) -> Outcome {
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--workspace", "--quiet", "--test", "breaking", "--", "--nocapture"]);
    command.env("CATENA_BREAK_SECONDS", context.options.seconds.to_string());
    command.env("CATENA_BREAK_SEED", context.options.seed.to_string());
    run(command.current_dir(context.workspace), "nothing lost, nothing wrong without a message; counts above")
}

fn fuzzing(context: &Context<'_>) -> Outcome {
    let plan = fuzz::Plan { targets: vec![], seconds: context.options.seconds };
    let outcomes = fuzz::run(context.workspace, context.target, &plan).map_err(Verdict::Failed)?;
    eprintln!();
    outcomes.iter().for_each(|outcome| eprintln!("{}", fuzz::line(outcome)));
    let executions: u64 = outcomes.iter().map(|outcome| outcome.executions).sum();
    match outcomes.iter().filter(|outcome| outcome.finding.is_some()).count() {
        0 => Ok(format!("{executions} executions of {} targets, nothing found", outcomes.len())),
        count => failed(format!("{count} targets failed; their inputs are named above")),
    }
}

#[cfg(test)]
mod tests {
    use super::total_lines;

    #[test]
    fn totals_are_read() {
        let json = br#"{"data":[{"files":[],"totals":{"branches":{"count":0,"covered":0},"lines":{"count":200,"covered":150}}}]}"#;
        assert_eq!(total_lines(json), Some((150, 200)));
        assert_eq!(total_lines(b"{}"), None);
    }
}
