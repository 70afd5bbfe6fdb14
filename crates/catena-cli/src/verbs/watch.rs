//! `watch`: streams observations into a saved model and replies to each; a journal keeps them.

use std::path::{Path, PathBuf};

use catena_fit::{Fit, Quantity};
use catena_io::FileName;
use catena_io::journal::{Journal, Origin, Prefix, Replay};
use catena_io::model_file::{Digest, ModelLock};
use catena_io::select::nearest_name;
use catena_io::stream::{LineReader, ReplyWriter, StreamFormat};
use catena_io::write::TargetFile;
use catena_store::{
    About, Model, StoreError, apply, finish_exchange, load, model_digest, save_under, to_bytes,
};
use clap::{Args, ValueEnum};

use crate::arguments::{column, is_standard_stream};
use crate::console::{Console, complain, counted};
use crate::error::CliError;
use crate::watch::{Ask, Feed, LiveModel, Next, OnError, Resumed, Session, SessionOptions, Switch};

const EXAMPLES: &str = "\
Examples:
  sensor | catena watch sensors.catena                        one reply per line
  catena watch sensors.catena --from today.csv --follow       follow a growing file
  catena watch sensors.catena --format json --ask missing     predict missing outputs only
  catena watch sensors.catena --apply -o newer.catena         save a model with all lines

Lines: CSV starts with a header that names all inputs and some outputs of the model, and the columns of its groups if it has any; each following line is a row, and empty \
cells are missing values. JSON has one object per line with the same names. A row with the inputs of an earlier row replaces its \
values. A line without observed values is a query: it gets a reply and changes nothing.

Replies: one line per line, in the same format: line number, group, inputs, and NAME_mean and NAME_std of every output after the line was \
applied. Lines are counted from 1 after the header, including blank lines.

Files: --from recognizes the file it read before by its content, also after it was renamed, and continues after the last line in \
the journal. Another file of the same name (log rotation) and a truncated file are read from their start, with a message on \
standard error; lines are counted on, and a row that was read before replaces itself.

Journal: every observation is written to the journal before its reply. At the start, a message on standard error (with JSON also a \
first object {\"ready\":true,\"applied\":K}) gives the last line K in the journal. Continue with line K+1 after the header; then no \
line is lost or applied twice. Without --sync this holds if the process is killed; with --sync also after a power failure.";

/// Options of `watch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Model file; it is not changed.
    model: PathBuf,
    /// Read lines from this file, starting after the last line in the journal; `-` is standard input [default: standard input].
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// At the end of the file, wait for more lines. A last line without a line break is not read yet.
    #[arg(long, requires = "from")]
    follow: bool,
    /// Format of lines and replies [default: by the suffix of --from, else csv].
    #[arg(long, value_enum)]
    format: Option<StreamFormatOption>,
    /// Journal file [default: MODEL.journal].
    #[arg(long, value_name = "PATH")]
    journal: Option<PathBuf>,
    /// What to reply to an observation; queries are always answered in full.
    #[arg(long, value_enum, default_value = "row")]
    ask: Ask,
    /// Outputs in the replies [default: all].
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', value_parser = column)]
    outputs: Vec<String>,
    /// Predict the latent function, without observation noise.
    #[arg(long)]
    without_noise: bool,
    /// Add NAME_deviation to the replies: how many standard deviations a new value is from what all other values say.
    #[arg(long)]
    deviations: bool,
    /// What to do with an invalid line.
    #[arg(long, value_enum, default_value = "skip")]
    on_error: OnError,
    /// Flush the journal to disk before every reply, so that a power failure loses nothing.
    #[arg(long)]
    sync: bool,
    /// Read no lines; write a model that includes all lines of the journal to -o, and start a new journal for it.
    #[arg(long, requires = "output", conflicts_with_all = ["from", "format", "outputs", "without_noise", "deviations", "sync"])]
    apply: bool,
    /// Model file to write with --apply; must differ from MODEL.
    #[arg(short, long, value_name = "NEW_MODEL", requires = "apply")]
    output: Option<PathBuf>,
    /// Print errors only.
    #[arg(long, short)]
    quiet: bool,
}

/// A value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StreamFormatOption {
    Csv,
    Json,
}

/// Replays the journal, then reads lines until the input ends.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let console = Console::new(arguments.quiet);
    let path = &arguments.model;
    let journal = arguments.journal.clone().unwrap_or_else(|| Journal::beside(path));
    finish_exchange(path, &journal)?;
    // Held to the end: a model that is replaced would leave its journal behind.
    let _lock = ModelLock::to_use(path).map_err(StoreError::from)?;
    let Model { fit, about } = load(path)?;
    let (mut live, journal) = opened(arguments, &journal, (&fit, &about), console)?;
    if let Some(output) = &arguments.output {
        return fold(output, (&fit, &about), &live, &journal, (path, console));
    }
    // Frees the first copy of the table.
    drop(fit);
    listen(arguments, &about, &mut live, journal, console)
}

/// The live model with all lines of its journal applied.
fn opened(
    arguments: &Arguments,
    journal: &Path,
    (fit, about): (&Fit, &About),
    console: Console,
) -> Result<(LiveModel, Journal), CliError> {
    let path = &arguments.model;
    let file = FileName::from(path.as_path());
    let failed = |cause| CliError::Live { file: file.clone(), cause };
    let mut live = LiveModel::new(fit, about).map_err(failed)?;
    let (journal, replay) = Journal::open(journal, model_digest(path)?, about.inputs.len())?;
    let Replay { records, n_torn_bytes, is_damaged } = replay;
    if is_damaged {
        complain(&format!(
            "{}: removed a damaged last record ({n_torn_bytes} bytes); its line may have been answered, so send it again",
            journal.name()
        ));
    } else if n_torn_bytes > 0 {
        console.say(format!(
            "{}: removed an incomplete last record ({n_torn_bytes} bytes), whose writing was interrupted",
            journal.name()
        ));
    }
    for record in &records {
        let applied = live.of(&record.groups, &record.inputs).and_then(|live| apply(live, record));
        let Err(cause) = applied else { continue };
        let what = format!("the model refuses this observation ({cause})");
        let refused = CliError::Line { file: journal.name().clone(), line: record.line, what };
        if arguments.on_error == OnError::Stop {
            return Err(refused);
        }
        complain(&refused);
    }
    if arguments.output.is_none() {
        let lines = journal.lines();
        console.say(format!(
            "ready: {} has {} observations up to line {lines}; continue with line {}",
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
    live: &mut LiveModel,
    journal: Journal,
    console: Console,
) -> Result<(), CliError> {
    let Arguments { follow, format, outputs, without_noise, deviations, ask, on_error, sync, .. } = arguments;
    let from = arguments.from.as_ref().filter(|path| !is_standard_stream(path));
    let format = match format {
        Some(StreamFormatOption::Csv) => StreamFormat::Csv,
        Some(StreamFormatOption::Json) => StreamFormat::Json,
        None => from.and_then(|path| StreamFormat::of_path(path)).unwrap_or(StreamFormat::Csv),
    };
    let outputs = output_indices(outputs, about)?;
    let names: Vec<String> = outputs.iter().map(|at| about.outputs[*at].clone()).collect();
    let quantity = if *without_noise { Quantity::Function } else { Quantity::Observation };
    let mut feed = match from {
        Some(path) => Feed::file(path, *follow)?,
        None => Feed::pipe(),
    };
    // A truncated JSON object is invalid by itself, and a file that is not followed is complete.
    let whole_lines = format == StreamFormat::Csv && feed.file_id().is_none();
    let options =
        SessionOptions { ask: *ask, outputs, quantity, on_error: *on_error, sync: *sync, whole_lines };
    let groups = about.groups.as_ref().map_or(&[][..], |groups| &groups.columns);
    let reader = LineReader::new(format, &about.inputs, &about.outputs);
    let reader = reader.with_cells(&about.cells).with_groups(groups);
    let writer = ReplyWriter::new(format, &about.inputs, &names).with_groups(groups);
    let writer = if *deviations { writer.with_deviations(&names) } else { writer };
    // A file is recognized and continued; if the journal knows none, lines are counted and skipped.
    let (lines, behind, origin) = (journal.lines(), journal.behind(), journal.origin());
    let is_counted = feed.file_id().is_some() && origin.is_none();
    let place = (feed.name().clone(), if is_counted { 0 } else { lines });
    let mut session = Session::new((live, journal), (reader, writer), options, &about.outputs, place);
    session.say_ready()?;
    match (feed.file_id(), origin) {
        (None, _) => {}
        (Some(id), None) => {
            session.continue_file(id, Prefix::default());
            if lines > 0 {
                console.say(format!(
                    "{}: skipping its first {lines} lines, which the journal has from a pipe or an unknown file",
                    feed.name()
                ));
            }
        }
        (Some(_), Some(origin)) => resume(&mut feed, &mut session, (behind, origin))?,
    }
    loop {
        match feed.next()? {
            Next::End => break,
            Next::Lines(lines) => session.take(lines)?,
            Next::Cut => session.refuse_cut()?,
            Next::Switch(switch) => {
                let what = match switch {
                    Switch::Replaced => "is a new file of this name",
                    Switch::Rewritten => "was truncated or rewritten",
                };
                begin_other_file(&feed, &mut session, what);
            }
        }
    }
    if session.n_skipped() > 0 {
        console.say(format!("skipped {}", counted(session.n_skipped(), "invalid line")));
    }
    Ok(())
}

/// Continues a file after the bytes that the journal has, or begins another file.
fn resume(
    feed: &mut Feed,
    session: &mut Session<'_>,
    (behind, origin): (u64, Origin),
) -> Result<(), CliError> {
    let (prefix, first_line) = match feed.resume(behind, origin)? {
        Resumed::Same { prefix, first_line } => (prefix, first_line),
        Resumed::Renamed { prefix, first_line, path } => {
            complain(&format!(
                "{}: is a new file of this name; reading the rest of the file before it first, {}",
                feed.name(),
                path.display()
            ));
            (prefix, first_line)
        }
        Resumed::Other => {
            let what = "is not the file that the journal was written from, or was truncated or rewritten";
            begin_other_file(feed, session, what);
            return Ok(());
        }
    };
    if session.needs_header() {
        session.take_header(&first_line)?;
    }
    if prefix.length() < behind {
        complain(&format!(
            "{}: line {} had no line break when it was read, and has grown since; reading it again as line {}",
            feed.name(),
            session.line(),
            session.line() + 1
        ));
    }
    if let Some(id) = feed.file_id() {
        session.continue_file(id, prefix);
    }
    Ok(())
}

/// Reads another file from its start. Said even with --quiet: rows of the file before it may not have been read.
fn begin_other_file(feed: &Feed, session: &mut Session<'_>, what: &str) {
    complain(&format!(
        "{}: {what}; reading it from its start, its first row is line {}",
        feed.name(),
        session.line() + 1
    ));
    session.begin_other_file(feed.file_id());
}

/// Indices of the outputs in the replies.
fn output_indices(names: &[String], about: &About) -> Result<Vec<usize>, CliError> {
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

/// Writes a model that includes all lines of the journal; its own journal continues after them.
fn fold(
    output: &Path,
    (fit, about): (&Fit, &About),
    live: &LiveModel,
    journal: &Journal,
    (path, console): (&Path, Console),
) -> Result<(), CliError> {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    if canonical(output).is_some_and(|output| Some(output) == canonical(path)) {
        return Err(CliError::SameModel { file: FileName::from(output) });
    }
    let next = Journal::beside(output);
    // Without its model, a journal without records was left by an attempt that was killed.
    if next.exists() && (output.exists() || Journal::has_records(&next)?) {
        return Err(CliError::JournalExists { file: FileName::from(next.as_path()) });
    }
    let lock = ModelLock::to_replace(output).map_err(StoreError::from)?;
    TargetFile::check_path(output)?;
    let failed = |cause| CliError::Fit { file: FileName::from(path), cause };
    let (folded, about) = live.to_fit(fit, about).map_err(failed)?;
    let digest = Digest::of_reader(to_bytes(&folded, &about)?.as_slice())?;
    // The journal comes first: a model without it would apply the same lines again.
    journal.continue_at(&next, digest)?;
    if let Err(error) = save_under(&lock, &folded, &about, output) {
        // A journal without its model would block the next attempt.
        let _ = std::fs::remove_file(&next);
        return Err(error.into());
    }
    console.say(format!("wrote {} rows, with all lines up to {}", folded.table().n_rows(), journal.lines()));
    Ok(())
}
