//! `predict`: means, standard deviations and intervals of a saved model.

use std::path::{Path, PathBuf};

use catena::index::GroupIndex;
use catena_fit::{Components, FitError};
use catena_io::FileName;
use catena_io::read::Format;
use catena_io::select::{Frame, Groups, Input};
use catena_io::table::Column;
use catena_io::write::PredictedOutput;
use catena_store::{About, Model, load};
use clap::Args;

use crate::arguments::{PredictionOptions, Printing, TableTarget, format};
use crate::console::{Console, counted};
use crate::error::CliError;
use crate::model_table::{points, read_points, warn_outside};
use crate::predictions::{predicted_outputs, write_predictions};

const EXAMPLES: &str = "\
Examples:
  catena predict sensors.catena -o smooth.csv                at the rows of the model
  catena predict sensors.catena --at points.csv --interval 0.95 -o out.csv
  catena predict sensors.catena --at points.csv --without-noise     the latent function
  catena predict sensors.catena --components -o parts.csv           level, trend, seasons and latents

The table has the inputs, NAME_mean (NAME_median with --point median) and NAME_std for every output, and NAME_lo and NAME_hi with --interval. \
With --components it has NAME_PART_mean and NAME_PART_std for every part of every output: `mean` is the prior mean, and the means of all \
parts add up to the latent function.";

/// Options of `predict`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Model file.
    model: PathBuf,
    /// Table of inputs to predict at [default: the rows of the model].
    #[arg(long, value_name = "POINTS")]
    at: Option<PathBuf>,
    #[command(flatten)]
    target: TableTarget,
    #[command(flatten)]
    prediction: PredictionOptions,
    /// Split every output into its parts: level, trend, seasons and oscillators of a time model, or shared and private latents.
    #[arg(long, conflicts_with_all = ["interval", "quantiles", "point", "without_noise"])]
    components: bool,
    /// Table format if the path has no known suffix, as for a pipe: csv, tsv, txt, parquet, arrow, xlsx or ods.
    #[arg(long, value_parser = format)]
    format: Option<Format>,
    #[command(flatten)]
    printing: Printing,
}

/// Predicts with a saved model.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { model, at, target, prediction, components, format, printing } = arguments;
    let console = printing.console();
    let read: Vec<&Path> = [Some(model), at.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
    let target = target.checked(*format, *printing, &read)?;
    let Model { fit, about } = load(model)?;
    let failed = |cause: FitError| CliError::Fit { file: FileName::from(model.as_path()), cause };
    let (columns, points) = match at {
        None => {
            let dim = about.inputs.len();
            let values = fit.table().inputs().values();
            let column = |(at, input): (usize, &Input)| {
                let along: Vec<f64> = values.iter().skip(at).step_by(dim).copied().collect();
                input.column_of(&along)
            };
            let own = fit.table().inputs().groups().map(numbers);
            let mut columns = group_columns(&about, own.as_deref());
            columns.extend(about.inputs.iter().enumerate().map(column));
            (columns, None)
        }
        Some(path) => {
            let frame = read_points(path, &about, *format, console)?;
            let points = points(&frame)?;
            warn_outside(&fit, &about, &points, console);
            warn_of_new_groups(&frame, &about, console);
            let columns = frame.groups.iter().flat_map(|groups| groups.columns_of(&groups.of_row));
            let columns = columns.chain(frame.to_input_columns()).collect();
            (columns, Some(points))
        }
    };
    if *components {
        let parts = fit.components(points.as_ref(), about.length_writer()).map_err(failed)?;
        write_predictions(columns, component_outputs(&parts, &about.outputs), None, &target)?;
        return printing.summary(&fit);
    }
    let predictive = match &points {
        None => fit.predict_rows(prediction.quantity()),
        Some(points) => fit.predict(points, prediction.quantity()),
    };
    let outputs = predicted_outputs(&about.outputs, &predictive.map_err(failed)?, prediction);
    write_predictions(columns, outputs, about.series_rows().as_ref(), &target)?;
    printing.summary(&fit)
}

/// The parts of every output as outputs of their own.
fn component_outputs(parts: &Components, outputs: &[String]) -> Vec<PredictedOutput> {
    let width = outputs.len() * parts.names.len();
    let column = |numbers: &[f64], at: usize| -> Vec<f64> {
        numbers.iter().skip(at).step_by(width).copied().collect()
    };
    let part = |at: usize| PredictedOutput {
        name: format!(
            "{}_{}",
            outputs[at / parts.names.len()],
            parts.names[at % parts.names.len()].replace(' ', "_")
        ),
        point: column(&parts.means, at),
        point_name: "mean",
        std: column(&parts.deviations, at),
        interval: None,
        quantiles: vec![],
    };
    (0..width).map(part).collect()
}

/// The numbers of groups.
fn numbers(groups: &[GroupIndex]) -> Vec<u32> {
    groups.iter().map(|group| group.get() as u32).collect()
}

/// The columns that name the groups of the model's rows; none for one table.
fn group_columns(about: &About, of_row: Option<&[u32]>) -> Vec<Column> {
    let (Some(known), Some(of_row)) = (&about.groups, of_row) else { return vec![] };
    let groups = Groups { columns: known.columns.clone(), names: known.names.clone(), of_row: vec![] };
    groups.columns_of(of_row)
}

/// Warns of groups that the model does not have.
fn warn_of_new_groups(frame: &Frame, about: &About, console: Console) {
    let (Some(found), Some(known)) = (&frame.groups, &about.groups) else { return };
    let Some(first) = found.names.get(known.names.len()) else { return };
    let new = counted(found.names.len() - known.names.len(), "group");
    console.say(format!(
        "warning: {new} without rows in the model, such as {}; predictions there come from the prior",
        first.join(", ")
    ));
}
