//! Builds the test programs of the workspace once and runs several at a time.
//!
//! Not cargo-nextest: it is not part of a Rust installation, and compiling it first (some ten processor minutes) would cost a new
//! machine more than it saves. It also starts a process per test, and cannot leave one core to the tests of Python.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::Value;

/// The slowest programs. They start first, so that none of them runs alone at the end.
const SLOWEST: &[&str] =
    &["a_quick_run_meets_the_paper", "fitting_is_safe", "cli", "learning_default_starts_suffice"];

/// One test program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    name: String,
    path: PathBuf,
    /// The folder of its package, in which cargo would run it.
    folder: PathBuf,
}

/// The results of some programs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) n_passed: usize,
    pub(crate) n_failed: usize,
    /// Names of the programs that failed; one that crashed may have no failed test.
    pub(crate) failed: Vec<String>,
}

/// Compiles the tests and examples of the whole workspace. For a single package, dependencies would be compiled once more with
/// other features; with `--all-targets`, examples would be compiled as tests.
///
/// # Errors
/// If they do not compile.
pub(crate) fn build(workspace: &Path) -> Result<Vec<Program>, String> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"]);
    let failed = || "the tests do not compile".to_owned();
    let mut cargo = command.current_dir(workspace).stdout(Stdio::piped()).spawn().map_err(|_| failed())?;
    let messages = BufReader::new(cargo.stdout.take().ok_or_else(failed)?).lines();
    let mut programs: Vec<Program> =
        messages.map_while(Result::ok).filter_map(|line| program(&line)).collect();
    if !cargo.wait().is_ok_and(|status| status.success()) {
        return Err(failed());
    }
    let rank = |one: &Program| SLOWEST.iter().position(|name| *name == one.name).unwrap_or(SLOWEST.len());
    programs.sort_by_key(rank);
    Ok(programs)
}

/// The test program in a message of cargo, if it has one.
fn program(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    if !message["profile"]["test"].as_bool()? {
        return None;
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let target = &message["target"];
    let name = target["name"].as_str()?;
    let is_integration = target["kind"].as_array()?.iter().any(|kind| kind == "test");
    let name = if is_integration { name.to_owned() } else { format!("{name}, unit tests") };
    Some(Program { name, path: PathBuf::from(message["executable"].as_str()?), folder })
}

/// Runs the programs on all cores; the first core runs `first` before it joins.
pub(crate) fn run<T>(programs: &[Program], first: impl FnOnce() -> T) -> (Outcome, T) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut outcome = Outcome::default();
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            outcome.add(program.run());
        }
        outcome
    };
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..n_cores).map(|_| scope.spawn(work)).collect();
        let result = first();
        let mut outcome = work();
        for other in others {
            outcome.add(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        (outcome, result)
    })
}

impl Program {
    /// Runs the program and prints its result, with its output if it failed.
    fn run(&self) -> Outcome {
        let start = Instant::now();
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder).stdin(Stdio::null());
        let (success, output) = match command.output() {
            Ok(output) => {
                let text = [output.stdout, output.stderr].concat();
                (output.status.success(), String::from_utf8_lossy(&text).into_owned())
            }
            Err(error) => (false, error.to_string()),
        };
        let (name, seconds) = (&self.name, start.elapsed().as_secs());
        let (n_passed, n_failed) = counts(&output).unwrap_or((0, 0));
        if success {
            eprintln!("{name}: {n_passed} passed in {seconds} s");
        } else {
            eprintln!("\n== {name} FAILED after {seconds} s\n{output}");
        }
        Outcome { n_passed, n_failed, failed: if success { vec![] } else { vec![name.clone()] } }
    }
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.n_passed += other.n_passed;
        self.n_failed += other.n_failed;
        self.failed.extend(other.failed);
    }
}

/// The numbers of passed and failed tests.
fn counts(output: &str) -> Option<(usize, usize)> {
    let line = output.lines().rfind(|line| line.starts_with("test result:"))?;
    let before = |word: &str| -> Option<usize> {
        line[..line.find(word)?].trim_end().rsplit(' ').next()?.parse().ok()
    };
    Some((before(" passed")?, before(" failed;")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_counted() {
        let result =
            "running 38 tests\n\ntest result: ok. 36 passed; 2 failed; 0 ignored; finished in 11.12s\n";
        assert_eq!(counts(result), Some((36, 2)));
        assert_eq!(counts("thread 'main' panicked"), None);
    }

    #[test]
    fn messages_of_cargo_are_parsed() {
        let message = |kind: &str, is_test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/a/crates/b/Cargo.toml","target":{{"kind":["{kind}"],
                "name":"b"}},"profile":{{"test":{is_test}}},"executable":"/a/target/b"}}"#
            )
        };
        let own = Program { name: "b".to_owned(), path: "/a/target/b".into(), folder: "/a/crates/b".into() };
        assert_eq!(program(&message("test", true)), Some(own.clone()));
        let unit = Program { name: "b, unit tests".to_owned(), ..own };
        assert_eq!(program(&message("lib", true)), Some(unit));
        assert_eq!(program(&message("example", false)), None);
        assert_eq!(program("not a message"), None);
    }

    #[test]
    fn a_failing_program_is_reported_and_the_others_run() {
        let program =
            |name: &str, path: &str| Program { name: name.to_owned(), path: path.into(), folder: "/".into() };
        let (outcome, first) = run(&[program("good", "true"), program("bad", "false")], || 7);
        assert_eq!((outcome.failed, first), (vec!["bad".to_owned()], 7));
    }
}
