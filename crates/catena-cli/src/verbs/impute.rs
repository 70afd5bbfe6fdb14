//! `impute`: the table that was given, with its holes filled.

use std::path::{Path, PathBuf};

use catena_auto::fit::{Budget, Fit, FitOptions, FitParts};
use catena_auto::preparation::Predictive;
use catena_io::select::{Frame, Layout, LongColumns};
use catena_io::table::{Column, Table};
use catena_io::write::{Completion, FilledColumn, Target, write_completed};
use catena_store::load_parts;
use clap::Args;

use crate::arguments::{Columns, ModelOptions, PredictionOptions, Speech, TableTarget};
use crate::error::CliError;
use crate::in_blocks::InBlocksOf;
use crate::learning::{fit_options, learn, warn};
use crate::model_table::{Empty, read_options, rows_of};
use crate::plan::Plan;
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
    let Arguments { data, target, columns, speech, .. } = arguments;
    let console = speech.console();
    let options = fit_options(&arguments.options)?;
    if let Some(model) = &arguments.model {
        return run_with(model, arguments);
    }
    if arguments.dry_run {
        let source = open(data, columns, Text::Gone, console)?;
        return Plan::new(&source.frame, &options).show("impute", speech.json, console);
    }
    let target = target.checked(columns.format, *speech)?;
    let source = open(data, columns, Text::Kept, console)?;
    check_names(arguments, &source, columns.long.as_ref())?;
    let fit = learn(&source, &options, &arguments.options, console)?;
    warn(&fit, console);
    complete(arguments, &source, &fit, &target, columns.long.as_ref())?;
    if speech.json {
        return print_json(&summary_json(fit.summary()));
    }
    Ok(())
}

/// Fills the holes of a table with a kept model, in blocks if memory is limited.
fn run_with(model: &Path, arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, target, columns, speech, .. } = arguments;
    let console = speech.console();
    let (parts, about) = load_parts(model)?;
    if let Some(limit) = arguments.options.max_memory {
        let kinds = kinds(arguments);
        let asked = InBlocksOf {
            data,
            model,
            format: columns.format,
            limit,
            interval: arguments.prediction.interval,
            quantity: arguments.prediction.quantity(),
            kinds: &kinds,
            speech: *speech,
        };
        if arguments.dry_run {
            return asked.plan(&parts, &about);
        }
        return asked.fill(&parts, &about, &target.checked(columns.format, *speech)?);
    }
    let text = if arguments.dry_run { Text::Gone } else { Text::Kept };
    let table = read_table(data, &read_options(data, &about, columns.format, text), console)?;
    let source = rows_of(table, &about, Empty::Refused)?;
    if arguments.dry_run {
        let n_latents = parts.model.n_latents();
        let options = FitOptions { latents: Some(n_latents), budget: Budget::Quick, ..FitOptions::default() };
        return Plan::new(&source.frame, &options).show("impute", speech.json, console);
    }
    let target = target.checked(columns.format, *speech)?;
    check_names(arguments, &source, about.long.as_ref())?;
    let parts = FitParts { table: source.dataset()?, ..parts };
    let fit = Fit::from_parts(parts).map_err(|error| source.in_user_terms(error))?;
    complete(arguments, &source, &fit, &target, about.long.as_ref())?;
    if speech.json {
        return print_json(&summary_json(fit.summary()));
    }
    Ok(())
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
    let n_holes = source.frame.values.len() - source.frame.n_observed();
    let sentence = format!("filled {n_holes} holes in {} outputs", source.frame.n_outputs());
    arguments.speech.console().say(sentence);
    Ok(())
}

/// What is added for every output.
fn kinds(arguments: &Arguments) -> Vec<&'static str> {
    let mut kinds = vec![];
    if arguments.std {
        kinds.push("std");
    }
    if arguments.prediction.interval.is_some() {
        kinds.extend(["lo", "hi"]);
    }
    kinds
}

/// Names of the columns that are added, by kind and output.
fn added_names(
    arguments: &Arguments,
    frame: &Frame,
    long: Option<&LongColumns>,
) -> Vec<(&'static str, Vec<String>)> {
    let names = match (&frame.layout, long) {
        (Layout::Long { .. }, Some(long)) => vec![long.value.clone()],
        _ => frame.outputs.clone(),
    };
    let named = |kind: &'static str| (kind, names.iter().map(|name| format!("{name}_{kind}")).collect());
    kinds(arguments).into_iter().map(named).collect()
}

fn check_names(arguments: &Arguments, source: &Source, long: Option<&LongColumns>) -> Result<(), CliError> {
    let added = added_names(arguments, &source.frame, long);
    let taken = added.iter().flat_map(|(_, names)| names).find(|name| source.table.position(name).is_some());
    match taken {
        Some(name) => Err(CliError::NameTaken { file: source.table.file().clone(), name: name.clone() }),
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
    let filled = frame.to_table_columns(&predictive.means()).into_iter();
    let filled = filled.map(|(position, values)| FilledColumn { position, values }).collect();
    let mut appended = vec![];
    for (kind, names) in added_names(arguments, frame, long) {
        let cells =
            in_holes(&frame.values, |at| of_kind(kind, &predictive, at, arguments.prediction.interval));
        let columns = frame.to_table_columns(&cells).into_iter();
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

/// A number of one kind for one cell.
pub(crate) fn of_kind(kind: &str, predictive: &Predictive, at: usize, interval: Option<f64>) -> f64 {
    let share = interval.unwrap_or(0.95);
    match kind {
        "std" => predictive.deviation(at),
        "lo" => predictive.quantile(at, 0.5 - 0.5 * share),
        _ => predictive.quantile(at, 0.5 + 0.5 * share),
    }
}
