//! The programs of the Rust tests: built at once, then several run side by side, since many spend their time in one long test.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;

/// Programs that take longest. They begin first, so that none of them is left alone at the end.
const LONGEST: &[&str] =
    &["a_quick_run_meets_the_paper", "fitting_is_safe", "cli", "learning_default_starts_suffice"];

/// One program with tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    name: String,
    path: PathBuf,
    /// The folder of its package, where cargo would run it.
    folder: PathBuf,
}

/// What came of the programs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) n_passed: usize,
    pub(crate) n_failed: usize,
    /// The programs that did not end well; one that crashed may have no test that failed.
    pub(crate) broken: Vec<String>,
}

/// Compiles the tests of the whole workspace. For one package alone, dependencies would be compiled once more with other features.
/// This builds the examples too, as programs; with `--all-targets` they would be compiled as tests.
///
/// # Errors
/// That they do not compile.
pub(crate) fn build(workspace: &Path) -> Result<Vec<Program>, String> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"]);
    let failed = || "the tests do not compile".to_owned();
    let mut cargo = command.current_dir(workspace).stdout(Stdio::piped()).spawn().map_err(|_| failed())?;
    let said = cargo.stdout.take().ok_or_else(failed)?;
    let mut programs: Vec<Program> =
        BufReader::new(said).lines().map_while(Result::ok).filter_map(|line| program(&line)).collect();
    if !cargo.wait().is_ok_and(|status| status.success()) {
        return Err(failed());
    }
    let place =
        |program: &Program| LONGEST.iter().position(|name| *name == program.name).unwrap_or(LONGEST.len());
    programs.sort_by_key(place);
    Ok(programs)
}

/// The program that a message of cargo speaks of, if it is one with tests.
fn program(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    if !message["profile"]["test"].as_bool()? {
        return None;
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let target = &message["target"];
    let name = target["name"].as_str()?;
    let is_own = target["kind"].as_array()?.iter().any(|kind| kind == "test");
    let name = if is_own { name.to_owned() } else { format!("{name}, beside the code") };
    Some(Program { name, path: PathBuf::from(message["executable"].as_str()?), folder })
}

/// Runs `beside`, and the programs on as many threads as there are cores; `beside` has the first of them until it ends.
pub(crate) fn run<T: Send>(programs: &[Program], beside: impl FnOnce() -> T + Send) -> (Outcome, T) {
    let waiting = Mutex::new(programs.iter().collect::<VecDeque<_>>());
    let outcome = Mutex::new(Outcome::default());
    let work = || {
        while let Some(program) = pop(&waiting) {
            let run = program.run();
            let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            outcome.add(&program.name, &run);
        }
    };
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let result = std::thread::scope(|scope| {
        for _ in 1..n_cores {
            scope.spawn(work);
        }
        let result = beside();
        work();
        result
    });
    (outcome.into_inner().unwrap_or_else(PoisonError::into_inner), result)
}

fn pop<'a>(waiting: &Mutex<VecDeque<&'a Program>>) -> Option<&'a Program> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// One run of one program.
struct Run {
    is_well: bool,
    output: String,
    seconds: u64,
}

impl Program {
    fn run(&self) -> Run {
        let start = Instant::now();
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder).stdin(Stdio::null());
        let (is_well, output) = match command.output() {
            Ok(output) => {
                let text =
                    [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
                (output.status.success(), text.concat())
            }
            Err(error) => (false, error.to_string()),
        };
        Run { is_well, output, seconds: start.elapsed().as_secs() }
    }
}

impl Outcome {
    /// Counts a run and tells of it: all that was said where something failed, else the last line.
    fn add(&mut self, name: &str, run: &Run) {
        let (passed, failed) = counts(&run.output).unwrap_or((0, 0));
        self.n_passed += passed;
        self.n_failed += failed;
        let last = run.output.lines().rfind(|line| line.starts_with("test result:")).unwrap_or("no result");
        if run.is_well {
            eprintln!("{name}, {} s\n{last}", run.seconds);
        } else {
            self.broken.push(name.to_owned());
            eprintln!("\n== {name} FAILED after {} s\n{}", run.seconds, run.output);
        }
    }
}

/// How many tests passed and failed.
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

    const RESULT: &str =
        "test result: ok. 36 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 11.12s";

    #[test]
    fn results_are_counted() {
        assert_eq!(counts(&format!("running 38 tests\n\n{RESULT}\n")), Some((36, 2)));
        assert_eq!(counts("thread 'main' panicked"), None);
    }

    #[test]
    fn messages_of_cargo_are_understood() {
        let message = |kind: &str, is_test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/a/crates/b/Cargo.toml","target":{{"kind":["{kind}"],
                "name":"b"}},"profile":{{"test":{is_test}}},"executable":"/a/target/b"}}"#
            )
        };
        let own = Program { name: "b".to_owned(), path: "/a/target/b".into(), folder: "/a/crates/b".into() };
        assert_eq!(program(&message("test", true)), Some(own.clone()));
        let beside = Program { name: "b, beside the code".to_owned(), ..own };
        assert_eq!(program(&message("lib", true)), Some(beside));
        assert_eq!(program(&message("example", false)), None);
        assert_eq!(program("a line that is no message"), None);
    }

    #[test]
    fn a_program_that_cannot_run_is_broken_and_the_others_run() {
        let program =
            |name: &str, path: &str| Program { name: name.to_owned(), path: path.into(), folder: "/".into() };
        let (outcome, beside) = run(&[program("well", "true"), program("ill", "false")], || 7);
        assert_eq!((outcome.broken, beside), (vec!["ill".to_owned()], 7));
    }
}
