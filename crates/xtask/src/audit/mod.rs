//! Checks before a release that take too long, or need too many tools, for every change: `cargo xtask audit`.
//!
//! A check passes, fails, is absent (a tool is missing; the command that installs it is shown) or is skipped for want of an
//! option. All checks run; the table at the end lists the results. Only a failure makes the command fail.

mod checks;
mod options;
mod tool;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use checks::CHECKS;
pub(crate) use options::Options;
pub(crate) use tool::starts;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Passed, with a remark.
    Passed(String),
    /// Failed, with the reason.
    Failed(String),
    /// A tool is missing: how to install it.
    Absent(String),
    /// An option was not given: which.
    Skipped(String),
}

/// The inputs of a check.
pub(crate) struct Context<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) target: &'a Path,
    pub(crate) options: &'a Options,
}

/// Runs the chosen checks and prints the table.
pub(crate) fn audit(workspace: &Path, target: &Path, options: &Options) -> ExitCode {
    let context = Context { workspace, target, options };
    let mut rows = vec![];
    for check in CHECKS.iter().filter(|check| options.wants(check.name)) {
        eprintln!("\n== {}: {}", check.name, check.what);
        let begin = Instant::now();
        let verdict = (check.run)(&context).map_or_else(|verdict| verdict, Verdict::Passed);
        rows.push((check.name, verdict, begin.elapsed().as_secs()));
    }
    eprint!("\n{}", table(&rows));
    if rows.iter().any(|(_, verdict, _)| matches!(verdict, Verdict::Failed(_))) {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The names of all checks.
pub(crate) fn names() -> String {
    CHECKS.iter().map(|check| check.name).collect::<Vec<_>>().join(", ")
}

fn table(rows: &[(&str, Verdict, u64)]) -> String {
    let mut text = format!("{:<14} {:<10} {:>7}  {}\n", "check", "verdict", "seconds", "result");
    for (name, verdict, seconds) in rows {
        let (word, detail) = match verdict {
            Verdict::Passed(detail) => ("passed", detail),
            Verdict::Failed(detail) => ("FAILED", detail),
            Verdict::Absent(detail) => ("absent", detail),
            Verdict::Skipped(detail) => ("skipped", detail),
        };
        text.push_str(&format!("{name:<14} {word:<10} {seconds:>7}  {detail}\n"));
    }
    let count = |is: fn(&Verdict) -> bool| rows.iter().filter(|(_, verdict, _)| is(verdict)).count();
    let (failed, absent) = (
        count(|verdict| matches!(verdict, Verdict::Failed(_))),
        count(|verdict| matches!(verdict, Verdict::Absent(_))),
    );
    text.push_str(&format!("{} checks, {failed} failed, {absent} without a tool\n", rows.len()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_tells_failures_from_absent_tools() {
        let rows = [
            ("licenses", Verdict::Passed("fine".to_owned()), 1),
            ("book", Verdict::Absent("cargo install mdbook".to_owned()), 0),
            ("msrv", Verdict::Failed("does not compile".to_owned()), 9),
        ];
        let text = table(&rows);
        assert!(text.contains("msrv           FAILED           9  does not compile"), "{text}");
        assert!(text.ends_with("3 checks, 1 failed, 1 without a tool\n"), "{text}");
    }

    #[test]
    fn every_check_has_a_name_of_its_own() {
        let mut names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CHECKS.len());
    }
}
