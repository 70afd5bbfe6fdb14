//! `update`: a kept model with more rows, its parameters as they are or learned again.

use std::path::PathBuf;

use catena_fit::{Budget, FitOptions};
use catena_io::read::Format;
use catena_store::{Model, length_text, load, save};
use clap::Args;

use crate::arguments::{Speech, budget, check_apart, check_model_target, format};
use crate::error::CliError;
use crate::learning::{use_threads, watched};
use crate::model_table::read_rows;
use crate::scoreboard::{print_json, summary_json};

const EXAMPLES: &str = "\
Examples:
  catena update sensors.catena today.csv -o sensors.catena     in place
  catena update sensors.catena today.csv -o newer.catena

  catena update sensors.catena today.csv --relearn -o sensors.catena      parameters learned again

The new table must have the inputs and outputs of the model. Without --relearn nothing is learned, which takes no longer than a \
prediction; a warning tells when new values are out of proportion. With it the kind of model stays, and its means, scales and \
parameters are learned again from where they stand, on old and new rows together.";

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
    /// Learn the parameters again, beginning with those of the model.
    #[arg(long)]
    relearn: bool,
    /// Time for learning: quick, default or thorough.
    #[arg(long, default_value = "default", value_parser = budget, requires = "relearn")]
    budget: Budget,
    /// Threads to use; without it, all cores.
    #[arg(long, requires = "relearn")]
    threads: Option<usize>,
    #[command(flatten)]
    speech: Speech,
}

/// Gives a model more rows.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { model, new, output, format, relearn, budget, threads, speech } = arguments;
    let console = speech.console();
    use_threads(*threads)?;
    check_apart(&[output], &[new])?;
    check_model_target(output)?;
    let Model { fit, about } = load(model)?;
    let source = read_rows(new, &about, *format, console)?;
    let more = source.dataset()?;
    let updated = if *relearn {
        let is_time = about.is_time();
        let plain = FitOptions::default().length_text;
        let length_text = if is_time { |length| length_text(true, length) } else { plain };
        let options = FitOptions { budget: *budget, length_text, ..FitOptions::default() };
        let cells = fit.table().observations().n_observed() + more.observations().n_observed();
        watched(Some(cells), console, |monitor| fit.relearned(&more, &options, monitor))
    } else {
        fit.with_more_rows(&more)
    };
    let updated = updated.map_err(|error| source.in_user_terms(error))?;
    save(&updated, &about, output)?;
    // What was known of the model before is no news, unless all of it is new.
    let known = if *relearn { 0 } else { fit.summary().warnings.len() };
    for warning in updated.summary().warnings.iter().skip(known) {
        console.say(format!("warning: {warning}"));
    }
    let (before, after) = (fit.summary().n_rows, updated.summary().n_rows);
    console.say(format!("{} new rows, {after} in all", after - before));
    if speech.json {
        return print_json(&summary_json(updated.summary()));
    }
    Ok(())
}
