//! The checks, in the order in which they run: the quick ones first.

use std::process::{Command, Stdio};

use super::tool::{judged, program, starts, subcommand};
use super::{Context, Verdict};
use crate::fuzz;

/// One check.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) run: fn(&Context<'_>) -> Verdict,
}

const fn check(name: &'static str, what: &'static str, run: fn(&Context<'_>) -> Verdict) -> Check {
    Check { name, what, run }
}

/// All of them.
pub(crate) const CHECKS: &[Check] = &[
    check("licences", "licences, doubles and sources of all dependencies (deny.toml)", licences),
    check("advisories", "known faults of dependencies, from a database that is given", advisories),
    check("book", "the book builds without a warning", book),
    check("features", "every crate compiles alone, with no more features than it asks for", features),
    check("msrv", "the oldest compiler that is promised compiles everything", msrv),
    check("semver", "no public interface changed against a baseline that is given", semver),
    check("guard", "instruction counts of the release build", guard),
    check("coverage", "lines of the core that its tests reach", coverage),
    check("fuzzing", "every target under libFuzzer", fuzzing),
];

/// Crates that people use as libraries.
const PUBLISHED: &[&str] = &["catena", "catena-fit", "catena-methods", "catena-io", "catena-store"];

fn licences(context: &Context<'_>) -> Verdict {
    let mut command = match subcommand("deny") {
        Ok(command) => command,
        Err(absent) => return absent,
    };
    command.args(["check", "licenses", "bans", "sources"]).current_dir(context.workspace);
    judged(&mut command, "all licences allowed, all sources crates.io")
}

fn advisories(context: &Context<'_>) -> Verdict {
    let Some(database) = &context.options.advisories else {
        return Verdict::NotAsked("--advisories PATH of a copy of the RustSec advisory-db".to_owned());
    };
    let mut command = match subcommand("audit") {
        Ok(command) => command,
        Err(absent) => return absent,
    };
    command.args(["--no-fetch", "--stale", "--db"]).arg(database).current_dir(context.workspace);
    judged(&mut command, "no known fault")
}

fn book(context: &Context<'_>) -> Verdict {
    if !context.workspace.join("docs/book.toml").is_file() {
        return Verdict::Failed("docs/book.toml is not there".to_owned());
    }
    let mut command = match program("mdbook", "cargo install mdbook --locked") {
        Ok(command) => command,
        Err(absent) => return absent,
    };
    let place = context.target.join("book");
    let output =
        command.args(["build", "docs", "--dest-dir"]).arg(place).current_dir(context.workspace).output();
    let Ok(output) = output else { return Verdict::Failed("mdbook could not be run".to_owned()) };
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    eprint!("{said}");
    let warnings = said.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).count();
    match (output.status.success(), warnings) {
        (true, 0) => Verdict::Passed("built without a warning".to_owned()),
        (true, count) => Verdict::Failed(format!("{count} warnings")),
        (false, _) => Verdict::Failed("does not build".to_owned()),
    }
}

/// Built together, crates lend each other features; alone they show what they forgot to ask for.
fn features(context: &Context<'_>) -> Verdict {
    let entries = std::fs::read_dir(context.workspace.join("crates"));
    let names =
        entries.into_iter().flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    for name in &names {
        let mut command = Command::new(env!("CARGO"));
        command.args(["check", "--quiet", "--package", name]).current_dir(context.workspace);
        if !command.status().is_ok_and(|status| status.success()) {
            return Verdict::Failed(format!("{name} does not compile alone"));
        }
    }
    Verdict::Passed(format!("{} crates, each alone", names.len()))
}

/// The promise is `rust-version` in Cargo.toml.
fn msrv(context: &Context<'_>) -> Verdict {
    let manifest = std::fs::read_to_string(context.workspace.join("Cargo.toml")).unwrap_or_default();
    let promised =
        manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'));
    let Some(promised) = promised else {
        return Verdict::Failed("Cargo.toml promises no rust-version".to_owned());
    };
    let toolchain = format!("+{promised}");
    if !starts("cargo", &[&toolchain, "--version"]) {
        return Verdict::Absent(format!("rustup toolchain install {promised} --profile minimal"));
    }
    let mut command = Command::new("cargo");
    command.args([
        &toolchain,
        "check",
        "--workspace",
        "--all-targets",
        "--locked",
        "--quiet",
        "--target-dir",
    ]);
    command.arg(context.target.join("msrv")).current_dir(context.workspace);
    // The compiler of this run must not decide for the other.
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
    judged(&mut command, &format!("everything compiles with {promised}"))
}

fn semver(context: &Context<'_>) -> Verdict {
    let Some(baseline) = &context.options.baseline else {
        return Verdict::NotAsked("--baseline REV, or a folder with the sources of a release".to_owned());
    };
    let mut command = match subcommand("semver-checks") {
        Ok(command) => command,
        Err(absent) => return absent,
    };
    let option = if std::path::Path::new(baseline).is_dir() { "--baseline-root" } else { "--baseline-rev" };
    command.args([option, baseline]).current_dir(context.workspace);
    for name in PUBLISHED {
        command.args(["--package", name]);
    }
    judged(&mut command, &format!("nothing breaks against {baseline}"))
}

fn guard(context: &Context<'_>) -> Verdict {
    if let Err(absent) = program("valgrind", "apt-get install valgrind (or your system's package)") {
        return absent;
    }
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--release", "--quiet", "--package", "catena-bench", "--", "guard"]);
    judged(command.current_dir(context.workspace), "no hot path needs more instructions than recorded")
}

fn coverage(context: &Context<'_>) -> Verdict {
    let mut command = match subcommand("llvm-cov") {
        Ok(command) => command,
        Err(absent) => return absent,
    };
    command.args(["--package", "catena", "--summary-only", "--json", "--ignore-filename-regex"]);
    command.arg("catena-(testkit|methods|studies)|/tests/|registry");
    let output = command.current_dir(context.workspace).stderr(Stdio::inherit()).output();
    let Ok(output) = output.map(|output| (output.status.success(), output.stdout)) else {
        return Verdict::Failed("cargo llvm-cov could not be run".to_owned());
    };
    let said = String::from_utf8_lossy(&output.1);
    match (output.0, total_lines(&said)) {
        (true, Some((covered, count))) => {
            let share = 100.0 * covered as f64 / count as f64;
            Verdict::Passed(format!("{share:.1} % of {count} lines of the core"))
        }
        _ => Verdict::Failed("no coverage was measured".to_owned()),
    }
}

/// Lines covered and lines in all, from the totals of llvm-cov's JSON.
fn total_lines(json: &str) -> Option<(u64, u64)> {
    let totals = &json[json.rfind("\"totals\"")?..];
    let lines = &totals[totals.find("\"lines\"")?..];
    let number = |name: &str| -> Option<u64> {
        let rest = &lines[lines.find(&format!("\"{name}\":"))? + name.len() + 3..];
        rest.trim_start().chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    };
    Some((number("covered")?, number("count")?)).filter(|(_, count)| *count > 0)
}

fn fuzzing(context: &Context<'_>) -> Verdict {
    let plan = fuzz::Plan { targets: vec![], seconds: context.options.seconds };
    match fuzz::run(context.workspace, context.target, &plan) {
        Err(what) => Verdict::Failed(what),
        Ok(outcomes) => {
            eprintln!();
            outcomes.iter().for_each(|outcome| eprintln!("{}", fuzz::line(outcome)));
            let executions: u64 = outcomes.iter().map(|outcome| outcome.executions).sum();
            let n_findings = outcomes.iter().filter(|outcome| outcome.finding.is_some()).count();
            match n_findings {
                0 => Verdict::Passed(format!(
                    "{executions} executions of {} targets, nothing found",
                    outcomes.len()
                )),
                count => Verdict::Failed(format!("{count} targets broken; inputs are named above")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::total_lines;

    #[test]
    fn totals_are_read() {
        let json = r#"{"data":[{"files":[],"totals":{"branches":{"count":0,"covered":0},"lines":{"count":200,"covered":150,"percent":75}}}]}"#;
        assert_eq!(total_lines(json), Some((150, 200)));
        assert_eq!(total_lines("{}"), None);
    }
}
