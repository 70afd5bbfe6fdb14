//! Errors of the program: one sentence each, with an exit code.

use std::ffi::OsString;
use std::process::ExitCode;

use catena_fit::{FitError, LiveFitError};
use catena_io::journal::JournalError;
use catena_io::read::ReadError;
use catena_io::select::SelectError;
use catena_io::time::AheadError;
use catena_io::units::DurationError;
use catena_io::write::WriteError;
use catena_io::{FileName, Place};
use catena_methods::Bytes;
use catena_store::StoreError;
use clap::CommandFactory;
use thiserror::Error;

use crate::arguments::Command;

/// Reason why a command failed.
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
    #[error("--step {0}")]
    Step(#[from] DurationError),
    #[error("{file}: {cause}")]
    Fit { file: FileName, cause: FitError },
    #[error("{file}: {place}, column {column}: {what}")]
    Cell { file: FileName, place: Place, column: String, what: &'static str },
    #[error("{file}: {place}, column {column}: {what}")]
    Value { file: FileName, place: Place, column: String, what: String },
    #[error(
        "{file}: numeric overflow at {place}; check the values near it, and the weights and noise if they were given"
    )]
    Overflow { file: FileName, place: Place },
    #[error(
        "{file}: has one row, but learning needs at least two; add rows, or use --no-learn --parameters FILE.json"
    )]
    OneRow { file: FileName },
    #[error("{file}: {what}")]
    Known { file: FileName, what: String },
    #[error("--no-learn needs --parameters FILE.json, a file written by `catena fit --parameters-out`")]
    NoParameters,
    #[error("{file}: {what}")]
    Parameters { file: FileName, what: String },
    #[error("--json and the result cannot both go to standard output; write the result to a file with -o")]
    TwoOutputs,
    #[error(
        "{file}: column {name:?} already exists; rename it, or drop the option that would add it (--std, --interval, --quantiles, --paths)"
    )]
    NameTaken { file: FileName, name: String },
    #[error(
        "{file}: column {column} holds true and false and cannot be filled; exclude it from --outputs, or encode it as 1 and 0"
    )]
    NotFillable { file: FileName, column: String },
    #[error("{file}: is read by this command and cannot also be written by it; give another path")]
    SamePath { file: FileName },
    #[error("{file}: two results cannot be written to the same path; give another path for one of them")]
    TwoAtOnePath { file: FileName },
    #[error(
        "{file}: contains observations for the model beside it, so that model cannot be overwritten; merge them into a new model first: catena watch MODEL --apply -o NEW_MODEL"
    )]
    JournalWouldBeLost { file: FileName },
    #[error("{what} cannot be written to standard output; give a file")]
    NeedsFile { what: &'static str },
    #[error("{file}: input {column} holds numbers, not times; give the horizon as a number of steps")]
    HorizonNeedsTime { file: FileName, column: String },
    #[error(
        "{file}: --step {step} is not a positive number, but input {column} holds numbers, not times; give the step as a number"
    )]
    StepNeedsTime { file: FileName, column: String, step: String },
    #[error(
        "{file}: forecasts, blocks and time models need one input, but {found} were selected; select one with --inputs"
    )]
    SeveralInputs { file: FileName, found: usize },
    #[error("--space is a method of its own; leave --method {method} out, or name the inputs with --inputs")]
    SpaceWithMethod { method: String },
    #[error(
        "{file}: forecast has no --paths with --space yet; leave --paths out, or draw paths in Python with sample_y"
    )]
    SpacePaths { file: FileName },
    #[error("{file}: {what} does not know groups; leave --group out, or make a file of each group")]
    NoGroups { file: FileName, what: &'static str },
    #[error("the structure joins the rows of the table as they are; leave --wide out")]
    WideStructure,
    #[error("--max-gap {0}")]
    MaxGap(DurationError),
    #[error(
        "{file}: --max-gap {gap} is not a positive number, but input {column} holds numbers, not times; give the gap as a number"
    )]
    GapNeedsTime { file: FileName, column: String, gap: String },
    #[error(
        "{file}: gaps are counted along one input, but {found} were selected; select one with --inputs, or use --max-std"
    )]
    GapInputs { file: FileName, found: usize },
    #[error("--max-std {text} is not a positive number; write a number, or OUTPUT=NUMBER for one output")]
    MaxStd { text: String },
    #[error(
        "{file}: {place}, column {column}: the model has the value {known} at this input, but this table has {value}; correct the \
         table, fit a new model, or pass --append to add both as repeated measurements"
    )]
    KnownRow { file: FileName, place: Place, column: String, known: f64, value: f64 },
    #[error("{0}")]
    Period(String),
    #[error(
        "--periods needs a time model, but --kernel names a single kernel; drop --kernel, or use --kernel time"
    )]
    PeriodWithKernel,
    #[error("the parameters of this model cannot be written as JSON; use the model file instead")]
    NoParametersToWrite,
    #[error(
        "{file}: rolling scores need rows after the last row of the model; give a table that continues it"
    )]
    NothingLater { file: FileName },
    #[error("{file}: all rows have the same {column}, so the step cannot be inferred; give --step")]
    NoStep { file: FileName, column: String },
    #[error(
        "the horizon {horizon} is shorter than one step of {step}; give a longer horizon or a smaller --step"
    )]
    ShortHorizon { horizon: String, step: String },
    #[error(
        "the horizon {horizon} has more than {limit} steps of {step}; give a shorter horizon or a larger --step"
    )]
    LongHorizon { horizon: String, step: String, limit: usize },
    #[error(transparent)]
    Ahead(#[from] AheadError),
    #[error(
        "the forecast needs about {needed} of memory, more than {limit}; give a shorter horizon, a larger --step or fewer --paths, or \
         raise --max-memory"
    )]
    ForecastMemory { needed: Bytes, limit: Bytes },
    #[error("{file}: has no observed value of any output of the model; give a table with values")]
    NoValues { file: FileName },
    #[error(
        "{file}: column {column} has series {name:?}, which is not in the model ({known}); fit a new model for other series"
    )]
    NewSeries { file: FileName, column: String, name: String, known: String },
    #[error(
        "{file}: too few observed cells to hold some out; compare needs at least 20, and 5 in one output"
    )]
    TooFewCells { file: FileName },
    #[error("filling in blocks needs at least {needed} of memory, more than {limit}; raise --max-memory")]
    BlockMemory { needed: String, limit: String },
    #[error(
        "{file}: {place}, column {column}: rows are not in ascending order, which filling in blocks requires; sort the table, or drop --max-memory"
    )]
    NotSorted { file: FileName, place: Place, column: String },
    #[error("{file}: {what}")]
    Blocks { file: FileName, what: &'static str },
    #[error("cannot write to standard output ({0})")]
    Output(#[from] std::io::Error),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{file}: {cause}")]
    Live { file: FileName, cause: LiveFitError },
    #[error("{file}: cannot be read ({cause})")]
    Stream { file: FileName, cause: std::io::Error },
    #[error("{file}: invalid header: {what}")]
    StreamHeader { file: FileName, what: String },
    #[error("{file}: line {line}: {what}")]
    Line { file: FileName, line: u64, what: String },
    #[error("{file}: a line is longer than {} MiB; check the line breaks", crate::watch::LONGEST_LINE >> 20)]
    LongLine { file: FileName },
    #[error("the model has no output {name:?}{}", nearest.as_ref().map(|name| format!("; did you mean {name}?")).unwrap_or_default())]
    UnknownOutput { name: String, nearest: Option<String> },
    #[error("{file}: --apply cannot overwrite its own model; give another path with -o")]
    SameModel { file: FileName },
    #[error(
        "{file}: the journal already exists; give another path with -o, or remove the journal if it is not needed"
    )]
    JournalExists { file: FileName },
    #[error(
        "the program catena-serve is not installed; install it with `cargo install catena-serve`, or put it beside this program"
    )]
    NoService,
    #[error("the program catena-serve cannot be started ({0})")]
    Service(std::io::Error),
    #[error("--threads {0} is out of range; give a number from 1 to 1024")]
    Threads(usize),
}

impl CliError {
    /// 2 for bad input or usage, 3 for a numerical failure.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Overflow { .. } => 3,
            Self::Fit { cause, .. } if cause.is_numerical() => 3,
            Self::Live { cause, .. } if cause.is_numerical() => 3,
            Self::Store(StoreError::NotFinite) => 3,
            Self::Store(StoreError::Fit { cause, .. }) if cause.is_numerical() => 3,
            _ => 2,
        }
    }

    /// Whether the reader closed the pipe.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Write(WriteError::PipeClosed { .. }) => true,
            Self::Output(source) => source.kind() == std::io::ErrorKind::BrokenPipe,
            _ => false,
        }
    }
}

/// The reply to the former verb `reproduce`.
const REPRODUCE: &str = "`reproduce` is a program of its own; in a checkout of the source, run \
                         `cargo run --release -p catena-experiments -- sensor -o results`; see `catena --help`";

/// Prints help, or a usage error as one sentence, and returns the exit code.
pub(crate) fn usage_exit(error: &clap::Error, words: &[OsString]) -> ExitCode {
    match usage_sentence(error, words) {
        Some(sentence) => crate::console::complain(&sentence),
        None => {
            let _ = error.print();
        }
    }
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// A usage error in these words as one sentence; `None` for help.
pub(crate) fn usage_sentence(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let is_help = error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help || !error.use_stderr() {
        return None;
    }
    let is_reproduce = error.kind() == clap::error::ErrorKind::InvalidSubcommand
        && words.iter().skip(1).any(|word| word == "reproduce");
    if is_reproduce {
        return Some(REPRODUCE.to_owned());
    }
    let text = error.render().to_string();
    let lines = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let sentence: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    let sentence = sentence.join(" ").replace(" tip:", ";").replace("error: ", "");
    // The help of the verb is more specific where the verb is known.
    let verb = words.get(1).and_then(|word| word.to_str());
    let help = match verb.filter(|verb| Command::command().find_subcommand(verb).is_some()) {
        Some(verb) => format!("catena help {verb}"),
        None => "catena --help".to_owned(),
    };
    Some(format!("{}; see `{help}`", sentence.trim_end_matches(['.', ';'])))
}
