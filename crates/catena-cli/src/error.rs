//! Everything that can go wrong, as one sentence, and the exit code that belongs to it.

use std::process::ExitCode;

use catena_experiments::ExperimentError;
use catena_fit::fit::{FitError, LiveFitError};
use catena_io::journal::JournalError;
use catena_io::read::ReadError;
use catena_io::select::SelectError;
use catena_io::units::DurationError;
use catena_io::write::WriteError;
use catena_io::{FileName, Place};
use catena_store::StoreError;
use thiserror::Error;

/// Why a command ends without its result.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Duration(#[from] DurationError),
    #[error("{file}: {cause}")]
    Fit { file: FileName, cause: FitError },
    #[error("{file}: {place}, column {column}: {what}")]
    Cell { file: FileName, place: Place, column: String, what: &'static str },
    #[error(
        "{file}: numbers overflow at {place}; check the values around it, or weights and noise if they are given"
    )]
    Overflow { file: FileName, place: Place },
    #[error(
        "{file}: has one row only; learning needs at least two, so add rows or use --no-learn --parameters"
    )]
    OneRow { file: FileName },
    #[error(
        "--no-learn needs the parameters: give --parameters FILE.json, which `catena fit --parameters-out` writes"
    )]
    NoParameters,
    #[error("{file}: {what}")]
    Parameters { file: FileName, what: String },
    #[error("--json and another result cannot both go to standard output; give the other a file with -o")]
    TwoOutputs,
    #[error(
        "{file}: there is already a column {name:?}; rename it, or leave out the option that adds another (--std, --interval, --quantiles, --paths)"
    )]
    NameTaken { file: FileName, name: String },
    #[error(
        "{file}: column {column} holds true and false, which cannot be filled; leave it out of --outputs, or write 1 and 0"
    )]
    NotFillable { file: FileName, column: String },
    #[error("{file}: is read by this command, so it cannot be written by it; give another path")]
    SamePath { file: FileName },
    #[error("{file}: two results cannot be written to one path; give another for one of them")]
    TwoAtOnePath { file: FileName },
    #[error(
        "{file}: has observations that only the model beside it can read, so that model cannot be replaced; fold them into another first: catena watch MODEL --apply -o NEW_MODEL"
    )]
    JournalWouldBeLost { file: FileName },
    #[error("{what} cannot go to standard output; give it a file")]
    NeedsFile { what: &'static str },
    #[error("{file}: the input {column} holds numbers, not times; give the horizon as a number of steps")]
    HorizonNeedsTime { file: FileName, column: String },
    #[error(
        "{file}: the step {step} needs a time input, but {column} holds numbers; give the step as a number"
    )]
    StepNeedsTime { file: FileName, column: String, step: String },
    #[error("{file}: a forecast or a block needs one input, but {found} were chosen; name one with --inputs")]
    SeveralInputs { file: FileName, found: usize },
    #[error("{0}")]
    Period(String),
    #[error(
        "--period needs a sum of pieces, which a kernel such as matern32 is not; leave out --kernel, or write --kernel time"
    )]
    PeriodWithKernel,
    #[error("this model has more parameters than a file of them can hold; keep the model file instead")]
    NoParametersToWrite,
    #[error(
        "{file}: rolling scores need rows after the last one of the model; give a table that goes on from it"
    )]
    NothingLater { file: FileName },
    #[error("{file}: all rows have the same {column}, so there is no step to go on with; give --step")]
    NoStep { file: FileName, column: String },
    #[error(
        "the horizon {horizon} is shorter than one step of {step}; give a longer one or a smaller --step"
    )]
    ShortHorizon { horizon: String, step: String },
    #[error(
        "the horizon {horizon} has {n_steps} steps of {step}, more than {limit}; give a shorter one or a larger --step"
    )]
    LongHorizon { horizon: String, step: String, n_steps: f64, limit: usize },
    #[error("{file}: has no value of any output of the model, so there is nothing to do")]
    NoValues { file: FileName },
    #[error(
        "{file}: column {column} has no series of the model, but {name:?}; its series are {known}, so fit a new model for others"
    )]
    NewSeries { file: FileName, column: String, name: String, known: String },
    #[error(
        "{file}: too few observed cells to hide some and learn from the rest; compare needs at least 20, and 5 of one output"
    )]
    TooFewCells { file: FileName },
    #[error(
        "the fit needs about {needed} of memory, more than {limit}; raise --max-memory or use fewer rows or outputs"
    )]
    Memory { needed: String, limit: String },
    #[error("blocks need about {needed} of memory at the least, more than {limit}; raise --max-memory")]
    BlockMemory { needed: String, limit: String },
    #[error(
        "{file}: {place}, column {column}: this row comes before the one above it, but blocks need rows in ascending order; sort the table, or leave out --max-memory"
    )]
    NotSorted { file: FileName, place: Place, column: String },
    #[error("{file}: {what}")]
    Blocks { file: FileName, what: &'static str },
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error("{misses} of {judged} numbers miss the paper's; {file} says which and by how much")]
    Missed { misses: usize, judged: usize, file: FileName },
    #[error("standard output cannot be written ({0})")]
    Output(#[from] std::io::Error),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{file}: {cause}")]
    Live { file: FileName, cause: LiveFitError },
    #[error("{file}: cannot be read ({cause})")]
    Stream { file: FileName, cause: std::io::Error },
    #[error("{file}: the header cannot be used: {what}")]
    StreamHeader { file: FileName, what: String },
    #[error("{file}: line {line}: {what}")]
    Line { file: FileName, line: u64, what: String },
    #[error("{file}: a line is longer than {} MiB", crate::watch::LONGEST_LINE >> 20)]
    LongLine { file: FileName },
    #[error(
        "{file}: has fewer than the {at} bytes that were read from it; give the file that the journal was written from"
    )]
    StreamIsShort { file: FileName, at: u64 },
    #[error("the model has no output {name:?}{}", nearest.as_ref().map(|name| format!("; did you mean {name}?")).unwrap_or_default())]
    UnknownOutput { name: String, nearest: Option<String> },
    #[error("{file}: --apply writes another model; give -o another path")]
    SameModel { file: FileName },
    #[error("{file}: there is a journal already; give -o another path, or remove it if it is not needed")]
    JournalExists { file: FileName },
    #[error("--threads {0} cannot be used; give a number from 1 to 1024")]
    Threads(usize),
}

impl CliError {
    /// 2 for bad input or usage, 3 for numbers that failed.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Overflow { .. } | Self::Missed { .. } => 3,
            Self::Experiment(cause) if cause.is_numeric() => 3,
            Self::Fit { cause, .. } if cause.is_numerical() => 3,
            Self::Live { cause, .. } if cause.is_numerical() => 3,
            Self::Store(StoreError::NotFinite) => 3,
            Self::Store(StoreError::Fit { cause, .. }) if cause.is_numerical() => 3,
            _ => 2,
        }
    }

    /// Whether only the reader of a pipe has gone.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Write(WriteError::PipeClosed { .. }) => true,
            Self::Output(source) => source.kind() == std::io::ErrorKind::BrokenPipe,
            _ => false,
        }
    }
}

/// Prints what clap has to say: help as it is, a mistake as one sentence.
pub(crate) fn usage_exit(error: &clap::Error) -> ExitCode {
    match usage_sentence(error) {
        Some(sentence) => crate::console::complain(&sentence),
        None => {
            // Nothing can be done if help cannot be printed.
            let _ = error.print();
        }
    }
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// What clap has to say of a mistake, as one sentence; `None` if it is help.
pub(crate) fn usage_sentence(error: &clap::Error) -> Option<String> {
    let is_help = error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help || !error.use_stderr() {
        return None;
    }
    let text = error.render().to_string();
    let lines = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let sentence: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    let sentence = sentence.join(" ").replace(" tip:", ";").replace("error: ", "");
    // Where a verb is known its own help tells more.
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: catena "));
    let verb =
        usage.and_then(|usage| usage.split(' ').next()).filter(|word| word.starts_with(char::is_alphabetic));
    let help = verb.map_or_else(|| "catena --help".to_owned(), |verb| format!("catena help {verb}"));
    Some(format!("{}; see `{help}`", sentence.trim_end_matches(['.', ';'])))
}
