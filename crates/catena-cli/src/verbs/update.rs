//! `update`: a kept model with more rows, its parameters as they are.

use std::path::PathBuf;

use catena_io::read::Format;
use catena_io::write::TargetFile;
use catena_store::{Model, load, save};
use clap::Args;

use crate::arguments::{Speech, format};
use crate::error::CliError;
use crate::model_table::read_rows;
use crate::scoreboard::{print_json, summary_json};

const EXAMPLES: &str = "\
Examples:
  catena update sensors.catena today.csv -o sensors.catena     in place
  catena update sensors.catena today.csv -o newer.catena

The new table must have the inputs and outputs of the model. Nothing is learned: fit again when the data have changed.";

/// Options of `update`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The model file.
    model: PathBuf,
    /// The table of new rows.
    new: PathBuf,
    /// The model file to write; it may be the old one.
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// The format where no suffix tells it, as on a pipe: csv, tsv, txt, parquet or arrow.
    #[arg(long, value_parser = format)]
    format: Option<Format>,
    #[command(flatten)]
    speech: Speech,
}

/// Gives a model more rows.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { model, new, output, format, speech } = arguments;
    let console = speech.console();
    drop(TargetFile::create_path(output)?);
    let Model { fit, about } = load(model)?;
    let source = read_rows(new, &about, *format, console)?;
    let updated = fit.with_more_rows(&source.dataset()?).map_err(|error| source.in_user_terms(error))?;
    save(&updated, &about, output)?;
    let (before, after) = (fit.summary().n_rows, updated.summary().n_rows);
    console.say(format!("{} new rows, {after} in all", after - before));
    if speech.json {
        return print_json(&summary_json(updated.summary()));
    }
    Ok(())
}
