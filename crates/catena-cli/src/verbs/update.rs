//! `update`: adds rows to a saved model, with its parameters unchanged or learned again.

use std::path::PathBuf;

use catena_fit::{Budget, FitOptions};
use catena_io::read::Format;
use catena_store::{Model, length_text, load, save_under};
use clap::Args;

use crate::arguments::{Printing, check_apart, format, lock_model_target};
use crate::error::CliError;
use crate::learning::{use_threads, watched};
use crate::model_table::read_rows;

const EXAMPLES: &str = "\
Examples:
  catena update sensors.catena today.csv -o sensors.catena     in place
  catena update sensors.catena today.csv -o newer.catena
  catena update sensors.catena today.csv --relearn -o sensors.catena      learn the parameters again

The new table must have the inputs and outputs of the model. Without --relearn the parameters stay fixed and the update is as fast as a \
prediction; a warning reports values outside the range the model was learned on. With --relearn the kernels and latents stay, and \
means, scales and parameters are learned again from their current values on old and new rows together.";

/// Options of `update`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Model file.
    model: PathBuf,
    /// Table of new rows.
    new: PathBuf,
    /// Model file to write; may be the same file.
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Table format if the path has no known suffix, as for a pipe: csv, tsv, txt, parquet or arrow.
    #[arg(long, value_parser = format)]
    format: Option<Format>,
    /// Learn the parameters again, starting from those of the model.
    #[arg(long)]
    relearn: bool,
    /// Computing budget for learning: quick, default or thorough.
    #[arg(long, default_value = "default", requires = "relearn")]
    budget: Budget,
    /// Number of threads [default: all cores].
    #[arg(long, requires = "relearn")]
    threads: Option<usize>,
    #[command(flatten)]
    printing: Printing,
}

/// Adds rows to a model.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { model, new, output, format, relearn, budget, threads, printing } = arguments;
    let console = printing.console();
    use_threads(*threads)?;
    check_apart(&[output], &[new])?;
    let lock = lock_model_target(output)?;
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
    save_under(&lock, &updated, &about, output)?;
    // Without relearning only the new warnings are printed.
    let known = if *relearn { 0 } else { fit.summary().warnings.len() };
    for warning in updated.summary().warnings.iter().skip(known) {
        console.say(format!("warning: {warning}"));
    }
    let (before, after) = (fit.summary().n_rows, updated.summary().n_rows);
    console.say(format!("added {} rows, {after} in total", after - before));
    printing.summary(&updated)
}
