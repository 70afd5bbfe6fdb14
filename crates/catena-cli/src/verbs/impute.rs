//! `impute`: the table that was given, with its holes filled.

use std::path::{Path, PathBuf};

use catena_fit::fit::{Fit, FitParts};
use catena_io::select::{Frame, Layout, LongColumns};
use catena_io::table::{Column, ColumnData, Table};
use catena_io::write::{Completion, FilledColumn, Target, write_completed};
use catena_store::load_parts;
use clap::Args;

use crate::arguments::{Columns, ModelOptions, PredictionOptions, Speech, TableTarget};
use crate::console::counted;
use crate::error::CliError;
use crate::in_blocks::InBlocksOf;
use crate::learning::{Asked, learn, warn};
use crate::model_table::{Empty, read_options, rows_of};
use crate::plan::Plan;
use crate::predictions::Added;
use crate::scoreboard::{print_json, summary_json};
use crate::source::{Source, Text, open, read_table};

const EXAMPLES: &str = "\
Examples:
  catena impute sensors.csv -o filled.csv
  catena impute sensors.csv --std -o filled.parquet          also how sure it is
  catena impute log.csv --long time,sensor,value -o filled.csv
  cat sensors.csv | catena impute - | head
  catena impute big.csv --no-learn --parameters p.json -o filled.csv
  catena impute new.csv --model sensors.catena -o filled.csv         learn nothing, take a kept model
  catena impute huge.csv --model sensors.catena --max-memory 200MB -o filled.csv     larger than memory";

/// Options of `impute`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The table with holes.
    data: PathBuf,
    #[command(flatten)]
    target: TableTarget,
    /// Learn nothing; take a kept model, for its columns, units and parameters. With --max-memory a sorted CSV file is filled in blocks
    /// of rows, whatever its size.
    #[arg(
        long,
        value_name = "MODEL",
        conflicts_with_all = [
            "latents", "kernel", "period", "private", "ard", "structure", "method", "state", "budget", "no_learn",
            "parameters", "inputs", "outputs", "long", "noise_columns",
        ]
    )]
    model: Option<PathBuf>,
    /// Add NAME_std for every output: the standard deviation of a filled cell, empty where observed.
    #[arg(long)]
    std: bool,
    #[command(flatten)]
    prediction: PredictionOptions,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    options: ModelOptions,
    #[command(flatten)]
    speech: Speech,
    /// Print what would be done, its size, memory and time, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Fills the holes of a table.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, columns, speech, .. } = arguments;
    let console = speech.console();
    let asked = Asked::new(&arguments.options)?;
    if let Some(model) = &arguments.model {
        return run_with(model, arguments);
    }
    let target = checked_target(arguments)?;
    let text = if arguments.dry_run { Text::Gone } else { Text::Kept };
    let source = open(data, columns, text, console)?;
    check_columns(arguments, &source, columns.long.as_ref())?;
    if arguments.dry_run {
        let options = asked.prepared(&source.frame, &arguments.options)?;
        return Plan::new(&source.frame, &options).show("impute", speech.json, console);
    }
    let fit = learn(&source, &asked, &arguments.options, console)?;
    warn(&fit, console);
    complete(arguments, &source, &fit, &target, columns.long.as_ref())?;
    if speech.json {
        return print_json(&summary_json(fit.summary()));
    }
    Ok(())
}

/// Fills the holes of a table with a kept model, in blocks if memory is limited.
fn run_with(model: &Path, arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, columns, speech, .. } = arguments;
    let console = speech.console();
    let target = checked_target(arguments)?;
    let (parts, about) = load_parts(model)?;
    if let Some(limit) = arguments.options.max_memory {
        let added = Added::asked(arguments.std, &arguments.prediction);
        let asked = InBlocksOf {
            data,
            model,
            format: columns.format,
            limit,
            quantity: arguments.prediction.quantity(),
            added: &added,
            speech: *speech,
        };
        if arguments.dry_run {
            return asked.plan(&parts, &about);
        }
        return asked.fill(&parts, &about, &target);
    }
    let text = if arguments.dry_run { Text::Gone } else { Text::Kept };
    let table = read_table(data, &read_options(data, &about, columns.format, text), console)?;
    let source = rows_of(table, &about, Empty::Refused, console)?;
    check_columns(arguments, &source, about.long.as_ref())?;
    if arguments.dry_run {
        return Plan::with_model(&source.frame, &parts).show("impute", speech.json, console);
    }
    let parts = FitParts { table: source.dataset()?, ..parts };
    let fit = Fit::from_parts(parts).map_err(|error| source.in_user_terms(error))?;
    complete(arguments, &source, &fit, &target, about.long.as_ref())?;
    if speech.json {
        return print_json(&summary_json(fit.summary()));
    }
    Ok(())
}

/// Where the table goes: over the one that was read if the user likes, but not over anything else. A dry run leaves standard
/// output to JSON.
fn checked_target(arguments: &Arguments) -> Result<Target, CliError> {
    let Arguments { target, columns, speech, dry_run, model, options, .. } = arguments;
    let read = [model.as_deref(), options.parameters.as_deref()];
    let speech = Speech { json: speech.json && !dry_run, ..*speech };
    target.checked(columns.format, speech, &read.into_iter().flatten().collect::<Vec<&Path>>())
}

fn complete(
    arguments: &Arguments,
    source: &Source,
    fit: &Fit,
    target: &Target,
    long: Option<&LongColumns>,
) -> Result<(), CliError> {
    let completion = completion(arguments, source, fit, long)?;
    write_completed(&source.table, &completion, target)?;
    // Of a long table the holes are those that have a line.
    let table = &source.table;
    let holes_of = |column: &FilledColumn| {
        let data = table.columns()[column.position].data();
        column
            .values
            .iter()
            .enumerate()
            .filter(|(row, value)| value.is_finite() && data.is_missing(*row))
            .count()
    };
    let n_holes = completion.filled.iter().map(holes_of).sum();
    let (holes, outputs) = (counted(n_holes, "hole"), counted(source.frame.n_outputs(), "output"));
    let sentence = format!("filled {holes} in {outputs}");
    arguments.speech.console().say(sentence);
    Ok(())
}

/// What is added, with the names of its columns.
fn added_columns(
    arguments: &Arguments,
    frame: &Frame,
    long: Option<&LongColumns>,
) -> Vec<(Added, Vec<String>)> {
    let names = match (&frame.layout, long) {
        (Layout::Long { .. }, Some(long)) => vec![long.value.clone()],
        _ => frame.outputs.clone(),
    };
    let named = |added: Added| (added, names.iter().map(|name| added.name(name)).collect());
    Added::asked(arguments.std, &arguments.prediction).into_iter().map(named).collect()
}

/// Whether the table can be filled and has room for what is added, before anything is learned.
fn check_columns(arguments: &Arguments, source: &Source, long: Option<&LongColumns>) -> Result<(), CliError> {
    let Source { table, frame } = source;
    let file = || table.file().clone();
    let added = added_columns(arguments, frame, long);
    let taken = added.iter().flat_map(|(_, names)| names).find(|name| table.position(name).is_some());
    if let Some(name) = taken {
        return Err(CliError::NameTaken { file: file(), name: name.clone() });
    }
    let Layout::Wide { output_columns } = &frame.layout else { return Ok(()) };
    let truths = output_columns.iter().map(|position| &table.columns()[*position]);
    match truths.into_iter().find(|column| matches!(column.data(), ColumnData::Bool(_))) {
        Some(column) => Err(CliError::NotFillable { file: file(), column: column.name().to_owned() }),
        None => Ok(()),
    }
}

fn completion(
    arguments: &Arguments,
    source: &Source,
    fit: &Fit,
    long: Option<&LongColumns>,
) -> Result<Completion, CliError> {
    let predictive =
        fit.predict_rows(arguments.prediction.quantity()).map_err(|error| source.in_user_terms(error))?;
    let Source { table, frame } = source;
    let filled = frame.to_table_columns(|at| predictive.mean(at)).into_iter();
    let filled = filled.map(|(position, values)| FilledColumn { position, values }).collect();
    let mut appended = vec![];
    for (added, names) in added_columns(arguments, frame, long) {
        let cells = in_holes(&frame.values, |at| added.number(&predictive, at));
        let columns = frame.to_table_columns(|at| cells[at]).into_iter();
        appended.extend(columns.zip(names).map(|((_, values), name)| added_column(table, name, values)));
    }
    Ok(Completion { filled, appended })
}

fn added_column(table: &Table, name: String, mut values: Vec<f64>) -> Column {
    values.resize(table.n_rows(), f64::NAN);
    Column::numbers(name, values)
}

/// A number for every hole, nothing where a value was observed.
fn in_holes(values: &[f64], number: impl Fn(usize) -> f64) -> Vec<f64> {
    let cell = |(at, value): (usize, &f64)| if value.is_nan() { number(at) } else { f64::NAN };
    values.iter().enumerate().map(cell).collect()
}
