//! `predict`: means, spreads and intervals from a kept model.

use std::path::{Path, PathBuf};

use catena_fit::FitError;
use catena_io::FileName;
use catena_io::read::Format;
use catena_io::select::Input;
use catena_store::{Model, load};
use clap::Args;

use crate::arguments::{PredictionOptions, Speech, TableTarget, format};
use crate::error::CliError;
use crate::model_table::{points, read_points, warn_outside};
use crate::predictions::{predicted_outputs, write_predictions};
use crate::scoreboard::{print_json, summary_json};

const EXAMPLES: &str = "\
Examples:
  catena predict sensors.catena -o smooth.csv                at the rows of the model
  catena predict sensors.catena --at points.csv --interval 0.95 -o out.csv
  catena predict sensors.catena --at points.csv --latent     the function, without noise

The table has the inputs, then NAME_mean and NAME_std for every output, and NAME_lo and NAME_hi with --interval.";

/// Options of `predict`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The model file.
    model: PathBuf,
    /// A table with the inputs to predict at; without it, the rows of the model.
    #[arg(long, value_name = "POINTS")]
    at: Option<PathBuf>,
    #[command(flatten)]
    target: TableTarget,
    #[command(flatten)]
    prediction: PredictionOptions,
    /// The format where no suffix tells it, as on a pipe: csv, tsv, txt, parquet or arrow.
    #[arg(long, value_parser = format)]
    format: Option<Format>,
    #[command(flatten)]
    speech: Speech,
}

/// Predicts with a kept model.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { model, at, target, prediction, format, speech } = arguments;
    let console = speech.console();
    let read: Vec<&Path> = [Some(model), at.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
    let target = target.checked(*format, *speech, &read)?;
    let Model { fit, about } = load(model)?;
    let failed = |cause: FitError| CliError::Fit { file: FileName::from(model.as_path()), cause };
    let (columns, predictive) = match at {
        None => {
            let dim = about.inputs.len();
            let values = fit.table().inputs().values();
            let column = |(at, input): (usize, &Input)| {
                let along: Vec<f64> = values.iter().skip(at).step_by(dim).copied().collect();
                input.column_of(&along)
            };
            let columns = about.inputs.iter().enumerate().map(column).collect();
            (columns, fit.predict_rows(prediction.quantity()).map_err(failed)?)
        }
        Some(path) => {
            let frame = read_points(path, &about, *format, console)?;
            let points = points(&frame)?;
            warn_outside(&fit, &about, &points, console);
            (frame.to_input_columns(), fit.predict(&points, prediction.quantity()).map_err(failed)?)
        }
    };
    let outputs = predicted_outputs(&about.outputs, &predictive, prediction);
    write_predictions(columns, outputs, about.long.as_ref(), &target)?;
    if speech.json {
        return print_json(&summary_json(fit.summary()));
    }
    Ok(())
}
