//! `update`: adds rows to a saved model, with its parameters unchanged or learned again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use catena::data::Dataset;
use catena_fit::{Budget, Fit, FitOptions, NewRows};
use catena_io::read::Format;
use catena_store::{About, GroupNames, Model, load, save_under};
use clap::Args;

use crate::arguments::{Printing, check_apart, format, lock_model_target, time_limit};
use crate::console::counted;
use crate::error::CliError;
use crate::learning::{use_threads, watched};
use crate::model_table::read_rows;
use crate::source::Source;

const EXAMPLES: &str = "\
Examples:
  catena update sensors.catena today.csv -o sensors.catena     in place
  catena update sensors.catena today.csv -o newer.catena
  catena update sensors.catena again.csv --append -o sensors.catena       repeated measurements
  catena update sensors.catena today.csv --relearn -o sensors.catena      learn the parameters again

The new table must have the inputs and outputs of the model. Without --relearn the parameters stay fixed and the update is as fast as a \
prediction; a warning reports values outside the range the model was learned on. With --relearn the kernels and latents stay, and \
means, scales and parameters are learned again from their current values on old and new rows together.

Rows are known by their inputs: values that the model already has are skipped, so the same table twice changes nothing. With --append all \
rows are added, as repeated measurements at the same inputs.";

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
    /// Table format if the path has no known suffix, as for a pipe: csv, tsv, txt, parquet, arrow, xlsx or ods.
    #[arg(long, value_parser = format)]
    format: Option<Format>,
    /// Add all rows, even those whose inputs and values the model already has, as repeated measurements.
    #[arg(long)]
    append: bool,
    /// Learn the parameters again, starting from those of the model.
    #[arg(long)]
    relearn: bool,
    /// Computing budget for learning: quick, default or thorough.
    #[arg(long, default_value = "default", requires = "relearn")]
    budget: Budget,
    /// End learning within this time, such as 30s or 5min, with the best model so far.
    #[arg(long, value_name = "TIME", value_parser = time_limit, requires = "relearn")]
    time_limit: Option<Duration>,
    /// Number of threads [default: all cores].
    #[arg(long, requires = "relearn")]
    threads: Option<usize>,
    #[command(flatten)]
    printing: Printing,
}

/// Adds rows to a model.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { model, new, output, format, append, relearn, budget, time_limit, threads, printing } =
        arguments;
    let console = printing.console();
    use_threads(*threads)?;
    check_apart(&[output], &[new])?;
    let lock = lock_model_target(output)?;
    let Model { fit, about } = load(model)?;
    let source = read_rows(new, &about, *format, console)?;
    // Groups that are new are part of the model from now on.
    let about = About { groups: GroupNames::of(&source.frame), ..about };
    let given = source.dataset()?;
    let new_rows = if *append { None } else { Some(unknown_rows(&fit, &given, &source)?) };
    let n_known = new_rows.as_ref().map_or(0, |new| given.n_rows() - new.rows.len());
    let (more, rows) = match new_rows {
        None => (given, None),
        Some(NewRows { table: Some(more), rows, .. }) => (more, Some(rows)),
        Some(NewRows { table: None, .. }) => {
            if !is_same_file(model, output) {
                save_under(&lock, &fit, &about, output)?;
            }
            console
                .say(format!("all {} are in the model already; nothing was added", counted(n_known, "row")));
            return printing.summary(&fit);
        }
    };
    let updated = if *relearn {
        let length_text = about.length_writer();
        let options =
            FitOptions { budget: *budget, time_limit: *time_limit, length_text, ..FitOptions::default() };
        let cells = fit.table().observations().n_observed() + more.observations().n_observed();
        watched(Some(cells), console, |monitor| fit.relearned(&more, &options, monitor))
    } else {
        fit.with_more_rows(&more)
    };
    let updated = updated.map_err(|error| source.in_terms_of_rows(error, rows.as_deref()))?;
    save_under(&lock, &updated, &about, output)?;
    // Without relearning only the new warnings are printed.
    let known = if *relearn { 0 } else { fit.summary().warnings.len() };
    for warning in updated.summary().warnings.iter().skip(known) {
        console.say(format!("warning: {warning}"));
    }
    let (before, after) = (fit.summary().n_rows, updated.summary().n_rows);
    let skipped = match n_known {
        0 => String::new(),
        _ => format!("; {} already in the model", counted(n_known, "row")),
    };
    console.say(format!("added {} rows, {after} in total{skipped}", after - before));
    printing.summary(&updated)
}

/// The rows that the model does not have. A value that differs from the one the model has at the same inputs is refused.
fn unknown_rows(fit: &Fit, given: &Dataset, source: &Source) -> Result<NewRows, CliError> {
    let new = fit.new_rows(given).map_err(|error| source.in_user_terms(error))?;
    let Some((row, output, known)) = new.conflict else { return Ok(new) };
    let cell = given.observations().row(row).find(|cell| cell.output == output);
    Err(CliError::KnownRow {
        file: source.table.file().clone(),
        place: source.place_of(row.get(), Some(output.get())),
        column: source.frame.outputs[output.get()].clone(),
        known,
        value: cell.map_or(f64::NAN, |cell| cell.value),
    })
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| std::fs::canonicalize(path).ok();
    place(one).is_some() && place(one) == place(other)
}
