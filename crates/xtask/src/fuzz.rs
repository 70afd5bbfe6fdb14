//! Fuzzing on the stable toolchain: libFuzzer over catena's crates, instrumented by the compiler's coverage pass.
//!
//! `-C passes` and `-C llvm-args` are stable, so libFuzzer sees every edge and every comparison; only sanitizers would need a
//! nightly compiler. This program is also the compiler wrapper that adds the flags, to catena's crates only: dependencies are not
//! recompiled, and the fuzzer searches for new paths in our code.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Set while this program acts as the compiler.
const WRAPPING: &str = "CATENA_XTASK_INSTRUMENTS";

/// Flags for libFuzzer's coverage.
const INSTRUMENTATION: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Seconds per input; a slower input is a finding.
const MOST_SECONDS: u32 = 30;
/// Megabytes per input.
const MOST_MEGABYTES: u32 = 2048;

/// The targets and the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Names of targets; all if empty.
    pub(crate) targets: Vec<String>,
    /// Seconds for all of them together.
    pub(crate) seconds: u64,
}

impl Plan {
    /// Reads `[TARGET...] [--seconds N]`.
    ///
    /// # Errors
    /// The argument that is not understood.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let mut plan = Self { targets: vec![], seconds: 3600 };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--seconds" => {
                    let seconds = words.next().and_then(|word| word.parse().ok());
                    plan.seconds = seconds.ok_or("--seconds needs a whole number")?;
                }
                name if name.starts_with('-') => return Err(format!("unknown option {name}")),
                name => plan.targets.push(name.to_owned()),
            }
        }
        Ok(plan)
    }
}

/// The result of one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) target: String,
    pub(crate) executions: u64,
    pub(crate) edges: u64,
    pub(crate) corpus: u64,
    /// The input that made it fail.
    pub(crate) finding: Option<PathBuf>,
}

/// Runs the compiler with the flags added, if this program was started as the compiler.
pub(crate) fn as_compiler() -> Option<ExitCode> {
    std::env::var_os(WRAPPING)?;
    let mut words = std::env::args_os().skip(1);
    let mut command = Command::new(words.next()?);
    let status = command.args(words).args(INSTRUMENTATION).env_remove(WRAPPING).status();
    let code = status.ok().and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
    Some(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Builds the fuzzer and runs it on the chosen targets.
///
/// # Errors
/// If it cannot be built, or a target is unknown.
pub(crate) fn run(workspace: &Path, target: &Path, plan: &Plan) -> Result<Vec<Outcome>, String> {
    let program = build(workspace, target)?;
    let home = workspace.join("crates/catena-fuzz");
    let known = targets(&home)?;
    let chosen = if plan.targets.is_empty() { known.clone() } else { plan.targets.clone() };
    if let Some(unknown) = chosen.iter().find(|name| !known.contains(name)) {
        return Err(format!("unknown target {unknown}; the targets are {}", known.join(", ")));
    }
    let seconds = (plan.seconds / chosen.len() as u64).max(1);
    chosen.iter().map(|name| fuzz(&program, &home, target, name, seconds)).collect()
}

/// The targets are the folders of the corpus.
fn targets(home: &Path) -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(home.join("corpus")).map_err(|error| format!("the corpus: {error}"))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn build(workspace: &Path, target: &Path) -> Result<PathBuf, String> {
    eprintln!("\n== building the fuzzer");
    let wrapper = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(env!("CARGO"));
    // With the features of the workspace, to reuse compiled dependencies.
    command.args(["build", "--workspace", "--bin", "catena-fuzz", "--features", "catena-fuzz/libfuzzer"]);
    // The test profile, with its checks and its compiled dependencies.
    command.args(["--profile", "test", "--quiet"]).current_dir(workspace);
    command.env("RUSTC_WORKSPACE_WRAPPER", wrapper).env(WRAPPING, "1");
    match command.status() {
        Ok(status) if status.success() => Ok(target.join("debug").join("catena-fuzz")),
        _ => Err("the fuzzer could not be built; libFuzzer needs a C++ compiler (on Debian: `apt-get install g++`)"
            .to_owned()),
    }
}

/// Runs one target for some seconds. New inputs are kept in the target folder; seeds are only read.
fn fuzz(program: &Path, home: &Path, target: &Path, name: &str, seconds: u64) -> Result<Outcome, String> {
    eprintln!("\n== fuzzing {name} for {seconds} s");
    let place = target.join("fuzz").join(name);
    let (learned, artifacts) = (place.join("corpus"), place.join("findings"));
    for folder in [&learned, &artifacts] {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let log = place.join("log");
    let file = std::fs::File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let dictionary = home.join("dictionaries").join(name);
    let mut command = Command::new(program);
    command.env("CATENA_FUZZ_TARGET", name).env("RAYON_NUM_THREADS", "1").stderr(file);
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-timeout={MOST_SECONDS}"));
    command.arg(format!("-rss_limit_mb={MOST_MEGABYTES}")).args(["-print_final_stats=1", "-max_len=4096"]);
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    if dictionary.is_file() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    command.arg(&learned).arg(home.join("corpus").join(name));
    let regressions = home.join("regressions").join(name);
    // libFuzzer fails if a folder is missing.
    if regressions.is_dir() {
        command.arg(regressions);
    }
    let status = command.status().map_err(|error| format!("{}: {error}", program.display()))?;
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let outcome = outcome_of(name, &text);
    if !status.success() && outcome.finding.is_none() {
        return Err(format!("the fuzzer failed; see {}", log.display()));
    }
    eprintln!("{}", line(&outcome));
    Ok(outcome)
}

/// The result in libFuzzer's log.
fn outcome_of(name: &str, log: &str) -> Outcome {
    let last = |word: &str| {
        let found =
            log.lines().rev().find_map(|line| line.split_once(word).map(|(_, rest)| rest.trim_start()));
        let digits: String = found.unwrap_or("").chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    };
    let finding = log.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path);
    // After a finding there are no final statistics; the last progress line begins with the count.
    let progress =
        log.lines().rev().find_map(|line| line.strip_prefix('#')?.split_once('\t')?.0.parse().ok());
    let counted = last("stat::number_of_executed_units:");
    Outcome {
        target: name.to_owned(),
        executions: if counted > 0 { counted } else { progress.unwrap_or(0) },
        edges: last(" cov: "),
        corpus: last(" corp: "),
        finding: finding.map(PathBuf::from),
    }
}

/// One line of text.
pub(crate) fn line(outcome: &Outcome) -> String {
    let Outcome { target, executions, edges, corpus, finding } = outcome;
    let found =
        finding.as_ref().map_or("nothing found".to_owned(), |path| format!("FAILS ON {}", path.display()));
    format!("{target:<14} {executions:>10} executions {edges:>6} edges {corpus:>5} inputs kept   {found}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read() {
        let plan = Plan::parse(&["specs", "--seconds", "10", "sweep"]).unwrap();
        assert_eq!(plan, Plan { targets: vec!["specs".to_owned(), "sweep".to_owned()], seconds: 10 });
        assert!(Plan::parse(&["--seconds"]).is_err() && Plan::parse(&["--fast"]).is_err());
    }

    #[test]
    fn logs_of_both_endings_are_read() {
        let whole = "#2\tINITED cov: 10 ft: 11 corp: 1/1b exec/s: 0\n#900\tREDUCE cov: 42 ft: 60 corp: 7/99b lim: 4\n\
                     stat::number_of_executed_units: 1234\n";
        let outcome = outcome_of("specs", whole);
        assert_eq!((outcome.executions, outcome.edges, outcome.corpus, outcome.finding), (1234, 42, 7, None));
        let broken = "#900\tNEW    cov: 42 ft: 60 corp: 7/99b lim: 4\nTest unit written to /tmp/crash-1\n";
        let outcome = outcome_of("specs", broken);
        assert_eq!((outcome.executions, outcome.finding), (900, Some(PathBuf::from("/tmp/crash-1"))));
    }
}
