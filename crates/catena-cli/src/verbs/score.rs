//! `score`: a kept model against values it has not seen.

use std::path::PathBuf;

use catena_auto::fit::FitError;
use catena_auto::method::Quantity;
use catena_auto::preparation::Predictive;
use catena_auto::scores::score;
use catena_io::FileName;
use catena_io::read::Format;
use catena_store::{Model, load};
use clap::Args;
use serde_json::{Value, json};

use crate::arguments::{Speech, format};
use crate::error::CliError;
use crate::model_table::{points, read_rows, warn_outside};
use crate::scoreboard::{Line, heading, print_json, print_text};

const EXAMPLES: &str = "\
Examples:
  catena score sensors.catena held_out.csv
  catena score sensors.catena held_out.csv --json

Errors are in the units of each output; MNLL is the mean negative log density of an observation, in nats. `all outputs`
counts each in standard deviations of the rows the model was made from. Rows the model was made from score too well.";

/// Options of `score`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The model file.
    model: PathBuf,
    /// A table with inputs and true values.
    truth: PathBuf,
    /// The format where no suffix tells it, as on a pipe: csv, tsv, txt, parquet or arrow.
    #[arg(long, value_parser = format)]
    format: Option<Format>,
    #[command(flatten)]
    speech: Speech,
}

/// Scores a model.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { model, truth, format, speech } = arguments;
    let console = speech.console();
    let Model { fit, about } = load(model)?;
    let source = read_rows(truth, &about, *format, console)?;
    let points = points(&source.frame)?;
    warn_outside(&fit, &about, &points, console);
    let failed = |cause: FitError| CliError::Fit { file: FileName::from(model.as_path()), cause };
    let predictive = fit.predict(&points, Quantity::Observation).map_err(failed)?;
    let scales: Vec<f64> = fit.parts().preparation.outputs.iter().map(|output| output.scale).collect();
    let lines = lines_by_output(&predictive, &source.frame.values, &about.outputs, &scales);
    if lines.is_empty() {
        return Err(CliError::NoValues { file: source.frame.file.clone() });
    }
    if speech.json {
        let lines: Vec<Value> = lines.iter().map(Line::to_json).collect();
        return print_json(&json!({"scores": lines}));
    }
    let mut text = vec![heading("output")];
    text.extend(lines.iter().map(Line::to_text));
    print_text(&(text.join("\n") + "\n"))
}

/// Scores of every output with a truth, in its own units, and of all together in units of `scales`.
pub(crate) fn lines_by_output(
    predictive: &Predictive,
    truth: &[f64],
    names: &[String],
    scales: &[f64],
) -> Vec<Line> {
    let n_outputs = names.len();
    let cells = |output: Option<usize>| {
        let known = truth.iter().copied().enumerate().filter(|(_, value)| !value.is_nan());
        known.filter(move |(at, _)| output.is_none_or(|output| at % n_outputs == output))
    };
    let line = |name: &str, output: Option<usize>, scales: &[f64]| {
        let scores = score(predictive, cells(output), scales);
        let (n_cells, rmse, mnll) = (scores.n_cells, scores.rmse, scores.mnll);
        Line { name: name.to_owned(), n_cells, rmse, mnll, coverage: scores.coverage }
    };
    let own_units = vec![1.0; n_outputs];
    let lines = names.iter().enumerate().map(|(output, name)| line(name, Some(output), &own_units));
    let mut lines: Vec<Line> = lines.filter(|line| line.n_cells > 0).collect();
    if lines.len() > 1 {
        lines.push(line("all outputs, per sd", None, scales));
    }
    lines
}
