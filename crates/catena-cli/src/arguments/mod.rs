//! What a user may say: the verbs, and the groups of options they share.

mod columns;
mod model;
mod output;
mod words;

pub(crate) use columns::Columns;
pub(crate) use model::ModelOptions;
pub(crate) use output::{PredictionOptions, Speech, TableTarget, check_apart, check_model_target};
pub(crate) use words::{
    Bytes, Horizon, KernelWord, budget, column, count, format, horizon, one_structure, probability,
};

use clap::{Parser, Subcommand};

use crate::verbs::{
    chain, compare, completion, demo, fit, forecast, impute, predict, report, reproduce, score, update, watch,
};

/// Multi-output Gaussian processes on tables with holes: fill them, predict, forecast, compare, report.
///
/// Tables are .csv, .tsv, .txt, .parquet, .arrow or .feather; `-` is standard input or output. Empty cells, NA, N/A,
/// NaN, null, none and a lone - are holes.
#[derive(Debug, Parser)]
#[command(name = "catena", version, max_term_width = 110, after_help = EXAMPLES)]
pub(crate) struct Command {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  catena demo                                        see it work on a year of weather
  catena impute sensors.csv -o filled.csv            fill the holes of a table
  catena fit sensors.csv -o sensors.catena           keep the model
  catena predict sensors.catena --at points.csv -o out.csv
  catena forecast sensors.csv --horizon 48h -o next.csv

Exit codes: 0 fine, 2 bad input or usage, 3 numbers failed, 130 interrupted.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Learn a model from a table and keep it in a file.
    Fit(fit::Arguments),
    /// Predict with a kept model, at its own rows or at new points.
    Predict(predict::Arguments),
    /// Fill the holes of a table; every other cell stays as it was.
    Impute(impute::Arguments),
    /// Predict the rows that come after the last.
    Forecast(forecast::Arguments),
    /// Give a kept model more rows, its parameters as they are or learned again.
    Update(update::Arguments),
    /// Let a kept model take observations line by line, and answer each at once.
    Watch(watch::Arguments),
    /// Compare a kept model with values it has not seen.
    Score(score::Arguments),
    /// Hide cells of a table and see which method finds them best.
    Compare(compare::Arguments),
    /// Show the chain or tree over the rows of a table.
    Chain(chain::Arguments),
    /// Write a kept model as one self-contained web page.
    Report(report::Arguments),
    /// Run the paper's studies again and put every number beside the printed one.
    Reproduce(reproduce::Arguments),
    /// See it work: a year of weather at three airports, with two gaps whose truth is known.
    Demo(demo::Arguments),
    /// Print the completion script of a shell, or write manual pages.
    Completion(completion::Arguments),
}
