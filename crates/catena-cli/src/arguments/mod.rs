//! The command line: verbs and the groups of options they share.

mod columns;
mod model;
mod output;
mod values;

pub(crate) use columns::Columns;
pub(crate) use model::ModelOptions;
pub(crate) use output::{
    PredictionOptions, Printing, TableTarget, check_apart, is_standard_stream, lock_model_target,
};
pub(crate) use values::{
    Bytes, Digits, KernelOption, column, count, digits, format, horizon, one_structure, positive,
    probability, time_limit,
};

use clap::{Parser, Subcommand};

use crate::verbs::{
    check, compare, completion, demo, fit, forecast, impute, predict, report, score, serve, structure,
    update, watch,
};

/// Multi-output Gaussian process regression on tables with missing values: fill, predict, forecast, compare, report.
///
/// Tables are .csv, .tsv, .txt, .parquet, .arrow or .feather, also packed as .gz or .zst, and sheets of .xlsx or .ods; `-` is standard
/// input or output. Missing values are empty cells, NA, N/A, #N/A, NaN, null, none, ?, a single - or a point; --missing adds codes.
#[derive(Debug, Parser)]
#[command(name = "catena", version, max_term_width = 110, after_help = EXAMPLES)]
pub(crate) struct Command {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  catena demo                                        example: one year of weather data
  catena impute sensors.csv -o filled.csv            fill missing values
  catena fit sensors.csv -o sensors.catena           save a model
  catena predict sensors.catena --at points.csv -o out.csv
  catena forecast sensors.csv --horizon 48h -o next.csv

Exit codes: 0 success, 2 bad input or usage, 3 numerical failure, 130 interrupted.";

/// A verb with its options.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Learn a model from a table and save it.
    Fit(fit::Arguments),
    /// Predict with a saved model, at its own rows or at new points.
    Predict(predict::Arguments),
    /// Fill the missing values of a table; observed cells are copied unchanged.
    Impute(impute::Arguments),
    /// Predict the rows after the last row of a table.
    Forecast(forecast::Arguments),
    /// Add rows to a saved model, with its parameters unchanged or learned again.
    Update(update::Arguments),
    /// Stream observations into a saved model, with a prediction for each line.
    Watch(watch::Arguments),
    /// Serve a saved model over HTTP: a page, readings, predictions.
    Serve(serve::Arguments),
    /// Find bad readings: every observed cell against what all other cells say of it.
    Check(check::Arguments),
    /// Score a saved model on held-out values.
    Score(score::Arguments),
    /// Compare methods on held-out cells of a table.
    Compare(compare::Arguments),
    /// Show the chain or tree over the rows of a table.
    Structure(structure::Arguments),
    /// Write a saved model as a self-contained web page.
    Report(report::Arguments),
    /// Run an example: a year of weather at three airports, with two gaps whose true values are known.
    Demo(demo::Arguments),
    /// Print the completion script of a shell, or write manual pages.
    Completion(completion::Arguments),
}
