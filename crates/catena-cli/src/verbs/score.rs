//! `score`: scores a saved model on held-out values.

use std::path::PathBuf;

use catena_fit::forecast::{Rolling, later_rows, rolling};
use catena_fit::scores::{Scores, score};
use catena_fit::{Fit, FitError, Predictive, Quantity, median_gap};
use catena_io::FileName;
use catena_io::read::Format;
use catena_store::{About, Model, length_text, load};
use clap::Args;
use serde_json::{Value, json};

use crate::arguments::{Horizon, Printing, count, format, horizon, probability};
use crate::error::CliError;
use crate::model_table::{points, read_rows, warn_outside};
use crate::scoreboard::{Line, heading, print_json, print_text};
use crate::source::Source;

const EXAMPLES: &str = "\
Examples:
  catena score sensors.catena held_out.csv
  catena score sensors.catena held_out.csv --json
  catena score sensors.catena later.csv --rolling --horizons 1h,6h,24h --season 24h

RMSE is in the units of each output; the log score is the mean log predictive density in nats per cell (larger is better). The line \
`all outputs` divides each error by the standard deviation of the output in the model's rows. Scores on rows that the \
model was fitted to are too optimistic.";

/// Options of `score`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Model file.
    model: PathBuf,
    /// Table with inputs and true values.
    truth: PathBuf,
    /// Table format if the path has no known suffix, as for a pipe: csv, tsv, txt, parquet, arrow, xlsx or ods.
    #[arg(long, value_parser = format)]
    format: Option<Format>,
    /// Score forecasts from many origins among the rows after the model's last row. Parameters stay fixed; each forecast is conditioned
    /// on all rows up to its origin.
    #[arg(long)]
    rolling: bool,
    /// Forecast horizons: durations, or numbers of steps of the median spacing.
    #[arg(long, value_name = "H,H", value_delimiter = ',', value_parser = horizon, default_value = "1,6,24", requires = "rolling")]
    horizons: Vec<Horizon>,
    /// Rows between origins.
    #[arg(long, value_name = "ROWS", default_value_t = 1, value_parser = count, requires = "rolling")]
    every: usize,
    /// Period of the seasonal naive forecast, which repeats the last season: a duration or a number of steps.
    #[arg(long, value_name = "P", value_parser = horizon, requires = "rolling")]
    season: Option<Horizon>,
    /// Probability of the intervals whose coverage is reported.
    #[arg(long, value_name = "P", value_parser = probability, default_value_t = 0.9, requires = "rolling")]
    interval: f64,
    #[command(flatten)]
    printing: Printing,
}

/// Scores a model.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { model, truth, format, printing, .. } = arguments;
    let console = printing.console();
    let Model { fit, about } = load(model)?;
    let source = read_rows(truth, &about, *format, console)?;
    if arguments.rolling {
        return run_rolling(arguments, &fit, &about, &source);
    }
    let points = points(&source.frame)?;
    warn_outside(&fit, &about, &points, console);
    let failed = |cause: FitError| CliError::Fit { file: FileName::from(model.as_path()), cause };
    let predictive = fit.predict(&points, Quantity::Observation).map_err(failed)?;
    let scales: Vec<f64> = fit.parts().preparation.outputs.iter().map(|output| output.scale).collect();
    let lines = lines_by_output(&predictive, &source.frame.values, &about.outputs, &scales);
    if lines.is_empty() {
        return Err(CliError::NoValues { file: source.frame.file.clone() });
    }
    if printing.json {
        let lines: Vec<Value> = lines.iter().map(Line::to_json).collect();
        return print_json(&json!({"scores": lines}));
    }
    let mut text = vec![heading("output")];
    text.extend(lines.iter().map(Line::to_text));
    print_text(&(text.join("\n") + "\n"))
}

/// Scores forecasts from many origins.
fn run_rolling(arguments: &Arguments, fit: &Fit, about: &About, source: &Source) -> Result<(), CliError> {
    let [input] = about.inputs.as_slice() else {
        let (file, found) = (source.frame.file.clone(), about.inputs.len());
        return Err(CliError::SeveralInputs { file, found });
    };
    let in_user_terms = |error| source.in_user_terms(error);
    let later = later_rows(fit, &source.dataset()?).map_err(in_user_terms)?;
    let Some(later) = later else {
        return Err(CliError::NothingLater { file: source.frame.file.clone() });
    };
    let step = median_gap(fit.table().inputs().values()).unwrap_or(1.0);
    let length = |horizon: &Horizon| horizon.length(step, input, &source.frame.file);
    let options = Rolling {
        first: fit.table().n_rows(),
        every: arguments.every,
        origins: usize::MAX,
        horizons: arguments.horizons.iter().map(length).collect::<Result<_, _>>()?,
        season: arguments.season.as_ref().map(length).transpose()?,
        interval: arguments.interval,
    };
    let scores = rolling(fit, &later, &options).map_err(in_user_terms)?;
    if arguments.printing.json {
        return print_json(&json!({"interval": arguments.interval, "rolling": scores}));
    }
    let share = format!("in {:.0} %", 100.0 * arguments.interval);
    let mut text = vec![format!(
        "{:<14} {:>10} {:>8} {:>10} {:>10} {share:>9}",
        "predictor", "ahead", "cells", "RMSE/sd", "log score"
    )];
    for score in &scores {
        let ahead = length_text(input.time.is_some(), score.horizon);
        text.push(format!(
            "{:<14} {ahead:>10} {:>8} {:>10.4} {:>10.3} {:>8.1}%",
            score.name,
            score.n_cells,
            score.rmse,
            score.log_score,
            100.0 * score.coverage
        ));
    }
    print_text(&(text.join("\n") + "\n"))
}

/// Scores of every output with true values in its own units, and of all outputs in units of `scales`.
fn lines_by_output(predictive: &Predictive, truth: &[f64], names: &[String], scales: &[f64]) -> Vec<Line> {
    let n_outputs = names.len();
    let cells = |output: Option<usize>| {
        let known = truth.iter().copied().enumerate().filter(|(_, value)| !value.is_nan());
        known.filter(move |(at, _)| output.is_none_or(|output| at % n_outputs == output))
    };
    let line = |name: &str, output: Option<usize>, scales: &[f64]| {
        let Scores { n_cells, rmse, log_score, coverage, .. } = score(predictive, cells(output), scales);
        Line { name: name.to_owned(), n_cells, rmse, log_score, coverage }
    };
    let own_units = vec![1.0; n_outputs];
    let lines = names.iter().enumerate().map(|(output, name)| line(name, Some(output), &own_units));
    let mut lines: Vec<Line> = lines.filter(|line| line.n_cells > 0).collect();
    if lines.len() > 1 {
        lines.push(line("all outputs, in sd", None, scales));
    }
    lines
}
