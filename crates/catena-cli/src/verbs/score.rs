//! `score`: scores a saved model on held-out values.

use std::path::PathBuf;

use catena_fit::forecast::Targets;
use catena_fit::scores::{Scores, score};
use catena_fit::{Fit, FitError, Predictive, Quantity};
use catena_io::FileName;
use catena_io::read::Format;
use catena_io::time::Horizon;
use catena_store::{About, Model, RollingError, RollingOptions, RollingScores, load, rolling_scores};
use clap::Args;
use serde_json::{Value, json};

use crate::arguments::{Printing, count, format, horizon, probability};
use crate::console::{Console, counted};
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
    /// Score forecasts from many origins among the rows after the model's last row, or the last row of each group. Parameters stay fixed; each forecast is conditioned
    /// on all rows up to its origin.
    #[arg(long)]
    rolling: bool,
    /// Forecast horizons: numbers of steps, or durations such as 24h, 5B or 6mo.
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
        return run_rolling(arguments, &fit, &about, &source, console);
    }
    let points = points(&source.frame)?;
    warn_outside(&fit, &about, &points, console);
    let failed = |cause: FitError| CliError::Fit { file: FileName::from(model.as_path()), cause };
    let predictive = fit.predict(&points, Quantity::Observation).map_err(failed)?;
    let scales = fit.output_deviations().map_err(failed)?;
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
fn run_rolling(
    arguments: &Arguments,
    fit: &Fit,
    about: &About,
    source: &Source,
    console: Console,
) -> Result<(), CliError> {
    let [input] = about.inputs.as_slice() else {
        let (file, found) = (source.frame.file.clone(), about.inputs.len());
        return Err(CliError::SeveralInputs { file, found });
    };
    let file = || source.frame.file.clone();
    let options = RollingOptions {
        horizons: arguments.horizons.clone(),
        every: arguments.every,
        season: arguments.season,
        interval: arguments.interval,
    };
    let found = rolling_scores(fit, input, &source.dataset()?, &options).map_err(|error| match error {
        RollingError::NothingLater => CliError::NothingLater { file: file() },
        RollingError::NeedsTime => CliError::HorizonNeedsTime { file: file(), column: input.name.clone() },
        RollingError::Ahead(error) => error.into(),
        RollingError::Fit(error) => source.in_user_terms(error),
    })?;
    let RollingScores { scores, targets, unit, .. } = found;
    for (horizon, targets) in arguments.horizons.iter().zip(&targets) {
        tell_of_targets(*horizon, targets, console);
    }
    if arguments.printing.json {
        return print_json(&json!({"interval": arguments.interval, "rolling": scores, "targets": targets}));
    }
    let share = format!("in {:.0} %", 100.0 * arguments.interval);
    let mut text = vec![format!(
        "{:<14} {:>10} {:>8} {:>10} {:>10} {share:>9}",
        "predictor", "ahead", "cells", "RMSE/sd", "log score"
    )];
    for score in &scores {
        let ahead = unit.text(score.horizon);
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

/// Prints how many targets of a horizon are not scored, unless all are or they lie beyond the last row.
fn tell_of_targets(horizon: Horizon, targets: &Targets, console: Console) {
    let Targets { n_origins, n_beyond, n_without_row, n_missing } = *targets;
    if n_beyond == n_origins {
        console
            .say(format!("warning: no row of the table lies {horizon} after an origin; nothing is scored"));
    } else if n_without_row > 0 {
        console.say(format!(
            "{n_without_row} of {n_origins} origins have no row {horizon} later, between the rows of the table, and are not scored"
        ));
    }
    if n_missing > 0 {
        console.say(format!(
            "{} at {horizon} ahead {} missing and not scored",
            counted(n_missing, "cell"),
            if n_missing == 1 { "is" } else { "are" }
        ));
    }
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
