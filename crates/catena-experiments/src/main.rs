//! The program `catena-reproduce`: runs the paper's studies and compares every number with the printed one.
//!
//! Exit codes: 0 success, 2 bad input or usage, 3 numerical failure or, with `--check`, a number that misses, 130 interrupted.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use catena_experiments::settings::{Extent, Settings, StudyName};
use catena_experiments::verdict::Verdict;
use catena_experiments::{ExperimentError, Outcome, Progress};
use catena_io::FileName;
use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use thiserror::Error;

const EXAMPLES: &str = "\
Examples:
  catena-reproduce sensor -o results                 all 100 seeds: minutes
  catena-reproduce ett --ett ETTh1.csv -o results    electricity with three inputs
  catena-reproduce all --ett ETTh1.csv --seeds 3 --exact-seeds 1 -o results
  catena-reproduce all --quick --seeds 1 -o look     a reduced version of every study that needs no electricity table
  catena-reproduce sensor -o results --check         exit code 3 if a number misses the paper's

Results are saved in the folder as they are computed, so an interrupted run continues where it stopped. README.md and \
report.html show all results in the folder. ETTh1.csv is ETT-small/ETTh1.csv of the repository zhouhaoyi/ETDataset on \
GitHub.";

/// Run the paper's studies and compare every number with the printed one.
#[derive(Debug, Parser)]
#[command(name = "catena-reproduce", version, max_term_width = 110, after_help = EXAMPLES)]
struct Arguments {
    /// The study to run: sensor (accuracy over the input dimension), ett (electricity with three inputs), ett-time (electricity over
    /// time), start (the first row of the chain, and Proposition 1), bounds (both sides of the lemmas and of the theorem), complexity
    /// (the table of costs, measured), beyond (learned parameters, trees, ensembles, and tasks that can rank methods), or all (those of
    /// electricity only with --ett).
    #[arg(value_parser = studies)]
    study: Studies,
    /// Folder for the results; created if it does not exist.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Maximum number of seeds per study; without it, as many as in the paper.
    #[arg(long, value_name = "N")]
    seeds: Option<u32>,
    /// Maximum number of seeds of the exact method, whose cost is cubic; without it, as many as for the others.
    #[arg(long, value_name = "N")]
    exact_seeds: Option<u32>,
    /// The table ETTh1, for the studies of electricity.
    #[arg(long, value_name = "PATH")]
    ett: Option<PathBuf>,
    /// Run fewer settings and smaller problems, as a test of the program; the tables state it.
    #[arg(long)]
    quick: bool,
    /// Exit with code 3 if a number of the study misses the paper's.
    #[arg(long)]
    check: bool,
    /// Number of threads; without it, all cores.
    #[arg(long)]
    threads: Option<usize>,
    /// Print the result as JSON on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Print errors only.
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
}

/// One study, or all of them.
#[derive(Debug, Clone)]
struct Studies(Vec<StudyName>);

fn studies(text: &str) -> Result<Studies, String> {
    if text == "all" {
        return Ok(Studies(StudyName::ALL.to_vec()));
    }
    let named = StudyName::ALL.into_iter().find(|name| name.word() == text);
    named
        .map(|name| Studies(vec![name]))
        .ok_or_else(|| format!("possible values: {}, all", StudyName::ALL.map(StudyName::word).join(", ")))
}

/// Reason why the program failed.
#[derive(Debug, Error)]
enum Failure {
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error("{misses} of {judged} numbers miss the paper's; {file} lists them with their differences")]
    Missed { misses: usize, judged: usize, file: FileName },
    #[error("cannot write to standard output ({0})")]
    Output(#[from] io::Error),
    #[error("--threads {0} is out of range; give a number from 1 to 1024")]
    Threads(usize),
}

impl Failure {
    /// 2 for bad input or usage, 3 for a numerical failure or a miss.
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Missed { .. } => ExitCode::from(3),
            Self::Experiment(cause) if cause.is_numeric() => ExitCode::from(3),
            _ => ExitCode::from(2),
        }
    }
}

fn main() -> ExitCode {
    let interrupted = || {
        catena_io::write::remove_unfinished_files();
        std::process::exit(130);
    };
    // Without a handler, Ctrl-C ends the program.
    let _ = ctrlc::set_handler(interrupted);
    let arguments = match Arguments::try_parse_from(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => return usage_exit(&error),
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe, as in `catena-reproduce ... | head`.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            complain(&failure.to_string());
            failure.exit_code()
        }
    }
}

/// Prints help, or a usage error as one sentence, and returns the exit code.
fn usage_exit(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    let lines = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let sentence = lines.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let sentence = sentence.replace(" tip:", ";").replace("error: ", "");
    complain(&format!("{}; see `catena-reproduce --help`", sentence.trim_end_matches(['.', ';'])));
    ExitCode::from(2)
}

/// Prints an error as one line.
fn complain(sentence: &str) {
    let _ = writeln!(io::stderr(), "catena-reproduce: {}", sentence.replace('\n', " "));
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let settings = Settings {
        studies: arguments.study.0.clone(),
        folder: arguments.output.clone(),
        seeds: arguments.seeds,
        exact_seeds: arguments.exact_seeds,
        ett: arguments.ett.clone(),
        extent: if arguments.quick { Extent::Quick } else { Extent::Full },
    };
    let bar = progress_bar(arguments.quiet);
    let monitor = |progress: &Progress| {
        bar.set_position((1000.0 * progress.done) as u64);
        bar.set_message(progress.cell.clone());
    };
    let outcome = catena_experiments::run(&settings, rayon::current_num_threads(), &monitor);
    bar.finish_and_clear();
    let outcome = outcome?;
    if !arguments.quiet {
        print_messages(&outcome, &arguments.output);
    }
    print_result(&outcome, arguments.json)?;
    let (misses, agreements) = (outcome.count(Verdict::Misses), outcome.count(Verdict::Agrees));
    if arguments.check && misses > 0 {
        let file = FileName::from(arguments.output.join("README.md").as_path());
        return Err(Failure::Missed { misses, judged: misses + agreements, file });
    }
    Ok(())
}

/// Sets the number of threads of the process.
fn use_threads(threads: Option<usize>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    if !(1..=1024).contains(&threads) {
        return Err(Failure::Threads(threads));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build_global().map_err(|_| Failure::Threads(threads))
}

/// The progress in thousandths of the work; hidden if standard error is not a terminal.
fn progress_bar(is_quiet: bool) -> ProgressBar {
    let is_seen = !is_quiet && io::stderr().is_terminal();
    let target = if is_seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{bar:30} {elapsed}, {eta} left  {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(Some(1000), target).with_style(style);
    if is_seen {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    bar
}

fn print_messages(outcome: &Outcome, folder: &Path) {
    let mut errors = io::stderr();
    for study in &outcome.left_out {
        let _ = writeln!(errors, "left out: {study}");
    }
    let report = folder.join("report.html");
    let _ = writeln!(errors, "computed {} new cells; wrote {}", outcome.n_computed, report.display());
}

fn print_result(outcome: &Outcome, is_json: bool) -> Result<(), io::Error> {
    let text =
        if is_json { serde_json::to_string_pretty(&to_json(outcome))? + "\n" } else { to_text(outcome) };
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

/// The number of comparisons by verdict, and every number that misses.
fn to_text(outcome: &Outcome) -> String {
    let kinds = [Verdict::Agrees, Verdict::Misses, Verdict::FewSeeds, Verdict::Refutes, Verdict::Context];
    let counts: Vec<String> =
        kinds.iter().map(|kind| format!("{} {}", outcome.count(*kind), kind.word())).collect();
    let mut lines = vec![counts.join(", ")];
    for (study, row) in &outcome.comparisons {
        if row.verdict == Verdict::Misses {
            let reference = row.reference.map(|number| number.to_string()).unwrap_or_default();
            lines.push(format!(
                "  {study}: {}: {} (paper: {reference}, {})",
                row.quantity, row.ours, row.rule
            ));
        }
    }
    lines.join("\n") + "\n"
}

fn to_json(outcome: &Outcome) -> Value {
    let rows = outcome.comparisons.iter().map(|(study, row)| {
        json!({
            "study": study, "quantity": row.quantity, "reference": row.reference, "ours": row.ours,
            "rule": row.rule, "verdict": row.verdict.word(),
        })
    });
    json!({"computed": outcome.n_computed, "left_out": outcome.left_out, "comparisons": rows.collect::<Vec<_>>()})
}
