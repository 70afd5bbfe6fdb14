//! `fit`: learns a model from a table and saves it.

use std::path::{Path, PathBuf};

use catena_io::model_file::ModelLock;
use catena_io::write::TargetFile;
use catena_store::{About, save_under};
use clap::Args;

use crate::arguments::{Columns, ModelOptions, Printing, check_apart, is_standard_stream, lock_model_target};
use crate::error::CliError;
use crate::learning::FitRequest;
use crate::parameters;
use crate::scoreboard::{print_json, print_text, summary_json};
use crate::source::{Text, open};

const EXAMPLES: &str = "\
Examples:
  catena fit sensors.csv -o sensors.catena
  catena fit sensors.csv --inputs x,y --outputs temp,salt -o sea.catena
  catena fit weather.csv --space lat,lon --time when -o weather.catena    fields over places and time
  catena fit sensors.csv --budget thorough --parameters-out p.json -o sensors.catena
  catena fit sensors.csv --latents 2 --kernel matern32/matern12 -o sensors.catena
  catena fit sensors.csv.gz --missing -999,-9999 -o sensors.catena       codes for missing values
  catena fit book.xlsx --sheet 2013 --dates day-first -o book.catena
  catena fit german.csv --decimal comma --inputs row -o german.catena    row numbers as the input
  catena fit sensors.csv --dry-run -o sensors.catena";

/// Options of `fit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Table to learn from.
    data: PathBuf,
    /// Model file to write.
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Also write the learned parameters as JSON, to be read with --no-learn --parameters; `-` is standard output.
    #[arg(long, value_name = "FILE.json")]
    parameters_out: Option<PathBuf>,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    printing: Printing,
}

/// Learns a model and saves it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, output, parameters_out, columns, printing, .. } = arguments;
    let console = printing.console();
    let request = FitRequest::new(&arguments.model, columns)?;
    let lock = check_targets(arguments)?;
    let source = open(data, &columns.with_stations(), (Text::Gone, &arguments.model), console)?;
    let Some(fit) = request.learn(&source, "fit", *printing)? else { return Ok(()) };
    let about = About::new(&source.frame, columns.long_columns(), &columns.noise_columns);
    let about = about.with_cells(&columns.cells());
    save_under(&lock, &fit, &about, output)?;
    if let Some(path) = parameters_out {
        parameters::write(&fit, about.is_time(), path)?;
    }
    if printing.json {
        return print_json(&summary_json(fit.summary()));
    }
    let summary = fit.summary().to_text(&about.length_unit().writer());
    if is_pipe(parameters_out.as_deref()) {
        console.say(summary.trim_end());
    } else if !printing.quiet {
        print_text(&summary)?;
    }
    Ok(())
}

/// Checks the paths before learning starts, and locks that of the model.
fn check_targets(arguments: &Arguments) -> Result<ModelLock, CliError> {
    let Arguments { data, output, parameters_out, model, printing, .. } = arguments;
    if is_pipe(parameters_out.as_deref()) && printing.json && !model.dry_run {
        return Err(CliError::TwoOutputs);
    }
    check_apart(&both(output, parameters_out.as_deref()), &both(data, model.parameters.as_deref()))?;
    let lock = lock_model_target(output)?;
    if let Some(path) = parameters_out.as_deref().filter(|path| !is_pipe(Some(path))) {
        TargetFile::check_path(path)?;
    }
    Ok(lock)
}

fn both<'a>(one: &'a Path, other: Option<&'a Path>) -> Vec<&'a Path> {
    std::iter::once(one).chain(other).collect()
}

fn is_pipe(path: Option<&Path>) -> bool {
    path.is_some_and(is_standard_stream)
}
