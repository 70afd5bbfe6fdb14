//! `watch`: a kept model takes observations line by line and answers each; a journal makes sure that none is lost.

use std::fs::File;
use std::path::{Path, PathBuf};

use catena::index::OutputIndex;
use catena_fit::{Fit, LiveFit, Quantity};
use catena_io::FileName;
use catena_io::journal::{Journal, Replay};
use catena_io::model_file::Digest;
use catena_io::select::nearest_name;
use catena_io::stream::{LineReader, ReplyWriter, StreamFormat};
use catena_io::write::TargetFile;
use catena_store::{About, Model, load, save, to_bytes};
use clap::{Args, ValueEnum};

use crate::arguments::column;
use crate::console::Console;
use crate::error::CliError;
use crate::watch::{Ask, Feed, OnError, Session, Wishes};

const EXAMPLES: &str = "\
Examples:
  sensor | catena watch sensors.catena                        a reply for every line
  catena watch sensors.catena --from today.csv --follow       a file that grows
  catena watch sensors.catena --format json --ask missing     what is not observed
  catena watch sensors.catena --apply -o newer.catena         a model with all of it

Lines: CSV begins with a header that names all inputs of the model and some of its outputs; every line behind it is a row, and \
empty cells are not observed. JSON is one object per line with the same names. A row with the inputs of an earlier one replaces \
what was observed there. A line without any observed cell is a question: it is answered and changes nothing.

Replies: one line for each, in the same format: its number, its inputs, and NAME_mean and NAME_std of every output, after it was \
applied. Lines are counted from 1 behind the header, blank ones too.

Journal: every observation is in it before its reply is written. At the start a sentence on standard error, and with JSON a first \
object {\"ready\":true,\"applied\":K}, says up to which line it goes: continue with line K+1, behind the header, and nothing is lost \
or applied twice. Without --sync this holds when the process dies, by whatever signal; with --sync also when the power fails.";

/// Options of `watch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The model file; it is only read.
    model: PathBuf,
    /// Read lines from this file, from where the journal ends; without it, or with `-`, from standard input.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Wait for the file to grow instead of ending with it. A last line without an end is then not taken yet.
    #[arg(long, requires = "from")]
    follow: bool,
    /// The format of lines and replies; without it that of the suffix of --from, else csv.
    #[arg(long, value_enum)]
    format: Option<FormatWord>,
    /// The journal; without it MODEL.journal.
    #[arg(long, value_name = "PATH")]
    journal: Option<PathBuf>,
    /// What is answered to an observation; questions are always answered.
    #[arg(long, value_enum, default_value = "row")]
    ask: Ask,
    /// Outputs to answer; without it all.
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', value_parser = column)]
    outputs: Vec<String>,
    /// Answer with the function itself, without the noise of an observation.
    #[arg(long)]
    latent: bool,
    /// What to do with a line that cannot be used.
    #[arg(long, value_enum, default_value = "skip")]
    on_error: OnError,
    /// Wait for the disk before every reply, so that a power failure loses nothing either.
    #[arg(long)]
    sync: bool,
    /// Read no lines; write a model with everything in the journal to -o, and begin its journal behind it.
    #[arg(long, requires = "output", conflicts_with_all = ["from", "format", "outputs", "latent", "sync"])]
    apply: bool,
    /// The model file to write with --apply; another than MODEL.
    #[arg(short, long, value_name = "NEW_MODEL", requires = "apply")]
    output: Option<PathBuf>,
    /// Say nothing but errors.
    #[arg(long, short)]
    quiet: bool,
}

/// A format on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatWord {
    Csv,
    Json,
}

/// Listens until the input ends.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let console = Console::new(arguments.quiet);
    let path = &arguments.model;
    let Model { fit, about } = load(path)?;
    let (mut live, journal) = opened(arguments, &fit, &about, console)?;
    if let Some(output) = &arguments.output {
        return fold(output, (&fit, &about), &live, &journal, (path, console));
    }
    // A million rows need not be in memory twice.
    drop(fit);
    listen(arguments, &about, &mut live, journal, console)
}

/// The model with everything in its journal.
fn opened(
    arguments: &Arguments,
    fit: &Fit,
    about: &About,
    console: Console,
) -> Result<(LiveFit, Journal), CliError> {
    let path = &arguments.model;
    let file = FileName::from(path.as_path());
    let failed = |cause| CliError::Live { file: file.clone(), cause };
    let mut live = LiveFit::new(fit).map_err(failed)?;
    let read = File::open(path).and_then(Digest::of_reader);
    let model = read.map_err(|cause| CliError::Stream { file: file.clone(), cause })?;
    let journal_path = arguments.journal.clone().unwrap_or_else(|| Journal::beside(path));
    let (journal, replay) = Journal::open(&journal_path, model, about.inputs.len())?;
    let Replay { records, n_torn_bytes } = replay;
    if n_torn_bytes > 0 {
        console.say(format!(
            "{}: the last record was cut short and is cut off ({n_torn_bytes} bytes); it was never acknowledged",
            journal.name()
        ));
    }
    for record in &records {
        let cells: Vec<(OutputIndex, f64)> =
            record.cells.iter().map(|(output, value)| (OutputIndex::new(*output as usize), *value)).collect();
        let applied = live.observe_row(&record.inputs, &cells);
        applied.map_err(|cause| CliError::Line {
            file: journal.name().clone(),
            line: record.line,
            what: format!("the model no longer takes this observation ({cause})"),
        })?;
    }
    if arguments.output.is_none() {
        let lines = journal.lines();
        console.say(format!(
            "ready: {} has {} observed lines up to line {lines}; continue with line {}",
            journal.name(),
            records.len(),
            lines + 1
        ));
    }
    Ok((live, journal))
}

fn listen(
    arguments: &Arguments,
    about: &About,
    live: &mut LiveFit,
    journal: Journal,
    console: Console,
) -> Result<(), CliError> {
    let Arguments { follow, format, outputs, latent, ask, on_error, sync, .. } = arguments;
    let from = arguments.from.as_ref().filter(|path| path.as_os_str() != "-");
    let format = match format {
        Some(FormatWord::Csv) => StreamFormat::Csv,
        Some(FormatWord::Json) => StreamFormat::Json,
        None => from.and_then(|path| StreamFormat::of_path(path)).unwrap_or(StreamFormat::Csv),
    };
    let outputs = asked(outputs, about)?;
    let names: Vec<String> = outputs.iter().map(|at| about.outputs[*at].clone()).collect();
    let quantity = if *latent { Quantity::Function } else { Quantity::Observation };
    // A JSON object says itself that it is whole, and a file that is not followed is.
    let whole_lines = format == StreamFormat::Csv && from.is_none();
    let wishes = Wishes { ask: *ask, outputs, quantity, on_error: *on_error, sync: *sync, whole_lines };
    let reader = LineReader::new(format, &about.inputs, &about.outputs);
    let writer = ReplyWriter::new(format, &about.inputs, &names);
    let mut feed = match from {
        Some(path) => Feed::file(path, *follow)?,
        None => Feed::pipe(),
    };
    // A file goes on where the journal ends, if that is known; else its first lines are counted and left out.
    let behind = if from.is_some() { journal.behind() } else { 0 };
    let line = if from.is_some() && behind == 0 { 0 } else { journal.lines() };
    let place = (feed.name().clone(), line);
    let mut session = Session::new((live, journal), (reader, writer), wishes, &about.outputs, place);
    session.say_ready()?;
    if behind > 0 {
        if session.needs_header()
            && let Some(lines) = feed.next()?
        {
            let header = lines.bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
            session.take_header(header)?;
        }
        feed.go_to(behind)?;
    }
    while let Some(lines) = feed.next()? {
        session.take(lines.bytes, lines.at)?;
    }
    if session.n_skipped() > 0 {
        console.say(format!("{} lines could not be used and were skipped", session.n_skipped()));
    }
    Ok(())
}

/// The outputs that are answered.
fn asked(names: &[String], about: &About) -> Result<Vec<usize>, CliError> {
    if names.is_empty() {
        return Ok((0..about.outputs.len()).collect());
    }
    let place = |name: &String| {
        let found = about.outputs.iter().position(|output| output == name);
        found.ok_or_else(|| {
            let nearest = nearest_name(name, about.outputs.iter().map(String::as_str));
            CliError::UnknownOutput { name: name.clone(), nearest: nearest.map(str::to_owned) }
        })
    };
    names.iter().map(place).collect()
}

/// Writes a model with everything in the journal; its own journal goes on where this one ends.
fn fold(
    output: &Path,
    (fit, about): (&Fit, &About),
    live: &LiveFit,
    journal: &Journal,
    (path, console): (&Path, Console),
) -> Result<(), CliError> {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    if canonical(output).is_some_and(|output| Some(output) == canonical(path)) {
        return Err(CliError::SameModel { file: FileName::from(output) });
    }
    let next = Journal::beside(output);
    if next.exists() {
        return Err(CliError::JournalExists { file: FileName::from(next.as_path()) });
    }
    // A path that cannot be written must leave nothing behind.
    drop(TargetFile::create_path(output)?);
    let failed = |cause| CliError::Fit { file: FileName::from(path), cause };
    let folded = live.to_fit(fit).map_err(failed)?;
    let digest = Digest::of_reader(to_bytes(&folded, about)?.as_slice())?;
    // The journal first: a model without it would take the same lines again.
    Journal::begin_behind(&next, digest, journal.lines(), journal.behind())?;
    if let Err(error) = save(&folded, about, output) {
        // Without its model it would stand in the way of the next try.
        let _ = std::fs::remove_file(&next);
        return Err(error.into());
    }
    console.say(format!("{} rows, with all lines up to {}", folded.table().n_rows(), journal.lines()));
    Ok(())
}
