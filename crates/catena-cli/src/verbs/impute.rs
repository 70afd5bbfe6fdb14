//! `impute`: fills the missing values of a table.

use std::path::{Path, PathBuf};

use catena::index::{OutputIndex, RowIndex};
use catena_fit::{Fit, FitParts};
use catena_io::select::{Frame, Layout, LongColumns};
use catena_io::table::{Column, ColumnData, Table};
use catena_io::write::{Completion, FilledColumn, Target, write_completed};
use catena_store::load_parts;
use clap::Args;

use crate::arguments::{Columns, ModelOptions, PredictionOptions, Printing, TableTarget};
use crate::console::counted;
use crate::error::CliError;
use crate::in_blocks::BlockFilling;
use crate::learning::{FitRequest, fit_watched, warn};
use crate::model_table::{Empty, read_options, rows_of};
use crate::plan::Plan;
use crate::predictions::Added;
use crate::source::{Source, Text, open, read_table};

const EXAMPLES: &str = "\
Examples:
  catena impute sensors.csv -o filled.csv
  catena impute sensors.csv --std -o filled.parquet          with standard deviations
  catena impute log.csv --long time,sensor,value -o filled.csv
  cat sensors.csv | catena impute - | head
  catena impute big.csv --no-learn --parameters p.json -o filled.csv
  catena impute new.csv --model sensors.catena -o filled.csv         use a saved model
  catena impute huge.csv --model sensors.catena --max-memory 200MB -o filled.csv     larger than memory";

/// Options of `impute`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Table with missing values.
    data: PathBuf,
    #[command(flatten)]
    target: TableTarget,
    /// Do not learn; use the columns, units and parameters of a saved model. With --max-memory, a sorted CSV file of any size is filled in
    /// blocks of rows.
    #[arg(
        long,
        value_name = "MODEL",
        conflicts_with_all = [
            "latents", "kernel", "periods", "private", "ard", "combine", "structure", "method", "state", "budget", "no_learn",
            "parameters", "inputs", "outputs", "long", "noise_columns",
        ]
    )]
    model: Option<PathBuf>,
    /// Add columns NAME_std with the standard deviation of each filled cell, empty where observed.
    #[arg(long)]
    std: bool,
    #[command(flatten)]
    prediction: PredictionOptions,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    options: ModelOptions,
    #[command(flatten)]
    printing: Printing,
}

/// Fills the missing values of a table.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, columns, printing, .. } = arguments;
    let console = printing.console();
    let request = FitRequest::new(&arguments.options)?;
    if let Some(model) = &arguments.model {
        return run_with(model, arguments);
    }
    let target = checked_target(arguments)?;
    let text = if arguments.options.dry_run { Text::Gone } else { Text::Kept };
    let mut source = open(data, columns, (text, &arguments.options), console)?;
    check_columns(arguments, &source, columns.long.as_ref())?;
    let Some(options) = request.for_table(&source.frame, "impute", *printing)? else { return Ok(()) };
    let n_missing = n_missing(&source);
    let dataset = source.take_dataset(&target)?;
    let fit = fit_watched(&dataset, &options, console).map_err(|error| source.in_user_terms(error))?;
    warn(&fit, console);
    complete(arguments, &source, n_missing, &fit, &target, columns.long.as_ref())?;
    printing.summary(&fit)
}

/// Fills a table with a saved model, in blocks if memory is limited.
fn run_with(model: &Path, arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, columns, printing, .. } = arguments;
    let console = printing.console();
    let target = checked_target(arguments)?;
    let (parts, about) = load_parts(model)?;
    if let Some(limit) = arguments.options.max_memory {
        let added = Added::requested(arguments.std, &arguments.prediction);
        let filling = BlockFilling {
            data,
            model,
            format: columns.format,
            limit,
            quantity: arguments.prediction.quantity(),
            added: &added,
            printing: *printing,
        };
        if parts.combination.is_some() {
            console.say("the model is a pool of several members; a table filled in blocks uses its best single model only");
        }
        if arguments.options.dry_run {
            return filling.plan(&parts, &about);
        }
        return filling.fill(&parts, &about, &target);
    }
    let text = if arguments.options.dry_run { Text::Gone } else { Text::Kept };
    let table = read_table(data, &read_options(data, &about, columns.format, text), console)?;
    let mut source = rows_of(table, &about, Empty::Refused, console)?;
    check_columns(arguments, &source, about.long.as_ref())?;
    if arguments.options.dry_run {
        return Plan::with_model(&source.frame, &parts).show("impute", printing.json, console);
    }
    let n_missing = n_missing(&source);
    let parts = FitParts { table: source.take_dataset(&target)?, ..parts };
    let fit = Fit::from_parts(parts).map_err(|error| source.in_user_terms(error))?;
    complete(arguments, &source, n_missing, &fit, &target, about.long.as_ref())?;
    printing.summary(&fit)
}

/// The checked target; it may be the table itself, but no other input. In a dry run only JSON goes to standard output.
fn checked_target(arguments: &Arguments) -> Result<Target, CliError> {
    let Arguments { target, columns, printing, model, options, .. } = arguments;
    let read = [model.as_deref(), options.parameters.as_deref()];
    let printing = Printing { json: printing.json && !options.dry_run, ..*printing };
    target.checked(columns.format, printing, &read.into_iter().flatten().collect::<Vec<&Path>>())
}

fn complete(
    arguments: &Arguments,
    source: &Source,
    n_missing: usize,
    fit: &Fit,
    target: &Target,
    long: Option<&LongColumns>,
) -> Result<(), CliError> {
    let completion = completion(arguments, source, fit, long)?;
    write_completed(&source.table, &completion, target)?;
    let (missing, outputs) =
        (counted(n_missing, "missing value"), counted(source.frame.n_outputs(), "output"));
    arguments.printing.console().say(format!("filled {missing} in {outputs}"));
    Ok(())
}

/// The number of missing values; of a long table, those that have a row.
fn n_missing(source: &Source) -> usize {
    let Source { table, frame } = source;
    let is_missing = |position: usize, row: usize| table.columns()[position].data().is_missing(row);
    let count = |position: usize| (0..table.n_rows()).filter(|row| is_missing(position, *row)).count();
    match &frame.layout {
        Layout::Wide { output_columns } => output_columns.iter().map(|position| count(*position)).sum(),
        Layout::Long { value_column, output_of, .. } => {
            let rows = output_of.iter().enumerate().filter(|(_, output)| output.is_some());
            rows.filter(|(row, _)| is_missing(*value_column, *row)).count()
        }
    }
}

/// The added columns with their names.
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
    Added::requested(arguments.std, &arguments.prediction).into_iter().map(named).collect()
}

/// Checks, before learning, that the outputs can be filled and that added columns have free names.
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
    let (observations, n_outputs) = (fit.table().observations(), frame.n_outputs());
    let is_observed =
        |at: usize| observations.is_observed(RowIndex::new(at / n_outputs), OutputIndex::new(at % n_outputs));
    let mut appended = vec![];
    for (added, names) in added_columns(arguments, frame, long) {
        let number = |at| if is_observed(at) { f64::NAN } else { added.number(&predictive, at) };
        let columns = frame.to_table_columns(number).into_iter();
        appended.extend(columns.zip(names).map(|((_, values), name)| added_column(table, name, values)));
    }
    Ok(Completion { filled, appended })
}

fn added_column(table: &Table, name: String, mut values: Vec<f64>) -> Column {
    values.resize(table.n_rows(), f64::NAN);
    Column::numbers(name, values)
}
