//! `reproduce`: the paper's studies run again, with every number beside the printed one.

use std::path::PathBuf;

use catena_experiments::settings::{Extent, Settings, StudyName};
use catena_experiments::verdict::Verdict;
use catena_experiments::{Outcome, Progress};
use catena_io::FileName;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::arguments::Printing;
use crate::error::CliError;
use crate::learning::use_threads;
use crate::scoreboard::{print_json, print_text};

const EXAMPLES: &str = "\
Examples:
  catena reproduce sensor -o results                 all 100 seeds: minutes
  catena reproduce ett --ett ETTh1.csv -o results    electricity with three inputs
  catena reproduce all --ett ETTh1.csv --seeds 3 --exact-seeds 1 -o results
  catena reproduce all --quick --seeds 1 -o look     a small version of everything without electricity
  catena reproduce sensor -o results --check         exit code 3 if a number misses the paper's

What is computed is kept in the folder: an interrupted run goes on where it was, and README.md and report.html show all \
that the folder holds. ETTh1.csv is ETT-small/ETTh1.csv of the repository zhouhaoyi/ETDataset on GitHub.";

/// Options of `reproduce`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Which study.
    #[arg(value_enum)]
    study: Study,
    /// The folder for results; it is made if it is not there.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// At most this many seeds of each study; without it, as many as the paper has.
    #[arg(long, value_name = "N")]
    seeds: Option<u32>,
    /// At most this many seeds of the exact method, whose cost is cubic; without it, as many as the others.
    #[arg(long, value_name = "N")]
    exact_seeds: Option<u32>,
    /// The table ETTh1, for the studies of electricity.
    #[arg(long, value_name = "PATH")]
    ett: Option<PathBuf>,
    /// Fewer settings and smaller problems, to see that it works; tables say so.
    #[arg(long)]
    quick: bool,
    /// End with exit code 3 if a number of the study misses the paper's.
    #[arg(long)]
    check: bool,
    /// Threads to use; without it, all cores.
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    printing: Printing,
}

/// A study, or all of them.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Study {
    /// Accuracy over the input dimension.
    Sensor,
    /// Electricity with three inputs.
    Ett,
    /// Electricity over time.
    EttTime,
    /// Where the chain starts, and Proposition 1.
    Start,
    /// Both sides of the lemmas and of the theorem.
    Bounds,
    /// The table of costs, measured.
    Complexity,
    /// Learned parameters, trees, ensembles, and tasks that can rank methods.
    Beyond,
    /// All of them; those of electricity only with --ett.
    All,
}

impl Study {
    fn names(self) -> Vec<StudyName> {
        match self {
            Self::Sensor => vec![StudyName::Sensor],
            Self::Ett => vec![StudyName::Ett],
            Self::EttTime => vec![StudyName::EttTime],
            Self::Start => vec![StudyName::Start],
            Self::Bounds => vec![StudyName::Bounds],
            Self::Complexity => vec![StudyName::Complexity],
            Self::Beyond => vec![StudyName::Beyond],
            Self::All => StudyName::ALL.to_vec(),
        }
    }
}

/// Runs a study.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let console = arguments.printing.console();
    use_threads(arguments.threads)?;
    let settings = Settings {
        studies: arguments.study.names(),
        folder: arguments.output.clone(),
        seeds: arguments.seeds,
        exact_seeds: arguments.exact_seeds,
        ett: arguments.ett.clone(),
        extent: if arguments.quick { Extent::Quick } else { Extent::Full },
    };
    let bar = console.computing();
    let monitor = |progress: &Progress| {
        bar.set_position((1000.0 * progress.done) as u64);
        bar.set_message(progress.cell.clone());
    };
    let outcome = catena_experiments::run(&settings, rayon::current_num_threads(), &monitor);
    bar.finish_and_clear();
    let outcome = outcome?;
    for study in &outcome.left_out {
        console.say(format!("left out: {study}"));
    }
    let report = arguments.output.join("report.html");
    console.say(format!("computed {} cells anew; wrote {}", outcome.n_computed, report.display()));
    if arguments.printing.json {
        print_json(&to_json(&outcome))?;
    } else {
        print_text(&to_text(&outcome))?;
    }
    let (misses, agreements) = (outcome.count(Verdict::Misses), outcome.count(Verdict::Agrees));
    if arguments.check && misses > 0 {
        let file = FileName::from(arguments.output.join("README.md").as_path());
        return Err(CliError::Missed { misses, judged: misses + agreements, file });
    }
    Ok(())
}

/// Counts, and every number that misses.
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
