//! `forecast`: the rows that come after the last.

use std::path::PathBuf;

use catena::data::InputPoints;
use catena_auto::fit::FitError;
use catena_auto::preparation::median_gap;
use catena_io::select::{Frame, Input};
use catena_io::units::Duration;
use catena_store::{About, length_text};
use clap::Args;

use crate::arguments::{Columns, Horizon, ModelOptions, PredictionOptions, Speech, TableTarget, horizon};
use crate::error::CliError;
use crate::learning::{fit_options, learn, warn};
use crate::model_table::warn_outside;
use crate::plan::Plan;
use crate::predictions::{predicted_outputs, write_predictions};
use crate::scoreboard::{print_json, summary_json};
use crate::source::{Text, open};

const EXAMPLES: &str = "\
Examples:
  catena forecast sensors.csv --horizon 48h -o next.csv
  catena forecast sensors.csv --horizon 24 --interval 0.9 -o next.csv      24 steps of the median gap
  catena forecast sensors.csv --horizon 7d --step 1h -o next.csv

The first row is one step after the last of the table. The latents are Mat\u{e9}rn processes: far ahead they return to the
mean, and they know no seasons.";

/// Options of `forecast`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The table to go on from.
    data: PathBuf,
    /// How far: a duration such as 48h, or a number of steps.
    #[arg(long, value_parser = horizon, value_name = "H")]
    horizon: Horizon,
    /// The distance of two rows: a duration, or a number along an input of numbers; without it, the median gap.
    #[arg(long, value_name = "S")]
    step: Option<String>,
    #[command(flatten)]
    target: TableTarget,
    #[command(flatten)]
    prediction: PredictionOptions,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    speech: Speech,
    /// Print what would be done, its size, memory and time, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

/// More rows than this are a mistake in the horizon or the step.
const MOST_STEPS: usize = 10_000_000;

/// Predicts the rows after the last.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, target, prediction, columns, speech, .. } = arguments;
    let console = speech.console();
    let options = fit_options(&arguments.model)?;
    if arguments.dry_run {
        let source = open(data, columns, Text::Gone, console)?;
        times_ahead(arguments, &source.frame)?;
        return Plan::new(&source.frame, &options).show("forecast", speech.json, console);
    }
    let target = target.checked(columns.format, *speech)?;
    let source = open(data, columns, Text::Gone, console)?;
    let times = times_ahead(arguments, &source.frame)?;
    let fit = learn(&source, &options, &arguments.model, console)?;
    warn(&fit, console);
    let points = InputPoints::from_column(times.clone());
    let points = points.map_err(|error| source.in_user_terms(FitError::Data(error)))?;
    let about = About::new(&source.frame, columns.long.as_ref(), &[]);
    warn_outside(&fit, &about, &points, console);
    let predictive =
        fit.predict(&points, prediction.quantity()).map_err(|error| source.in_user_terms(error))?;
    let outputs = predicted_outputs(&source.frame.outputs, &predictive, prediction.interval);
    let column = source.frame.inputs[0].column_of(&times);
    write_predictions(vec![column], outputs, columns.long.as_ref(), &target)?;
    if speech.json {
        return print_json(&summary_json(fit.summary()));
    }
    Ok(())
}

/// The inputs of the rows to come.
fn times_ahead(arguments: &Arguments, frame: &Frame) -> Result<Vec<f64>, CliError> {
    let [input] = frame.inputs.as_slice() else {
        return Err(CliError::SeveralInputs { file: frame.file.clone(), found: frame.inputs.len() });
    };
    let step = step_of(arguments, frame, input)?;
    let is_time = input.time.is_some();
    let n_steps = match arguments.horizon {
        Horizon::Steps(steps) => steps as f64,
        Horizon::Along(duration) if is_time => (duration.seconds() / step * (1.0 + 1e-12)).floor(),
        Horizon::Along(_) => {
            return Err(CliError::HorizonNeedsTime { file: frame.file.clone(), column: input.name.clone() });
        }
    };
    let (horizon, step_text) = (arguments.horizon.to_string(), length_text(is_time, step));
    if n_steps < 1.0 {
        return Err(CliError::ShortHorizon { horizon, step: step_text });
    }
    if n_steps > MOST_STEPS as f64 {
        return Err(CliError::LongHorizon { horizon, step: step_text, n_steps, limit: MOST_STEPS });
    }
    let last = input.values.iter().fold(f64::NEG_INFINITY, |last, x| last.max(*x));
    Ok((1..=n_steps as usize).map(|ahead| last + ahead as f64 * step).collect())
}

fn step_of(arguments: &Arguments, frame: &Frame, input: &Input) -> Result<f64, CliError> {
    let Some(text) = &arguments.step else {
        return median_gap(&input.values)
            .ok_or_else(|| CliError::NoStep { file: frame.file.clone(), column: input.name.clone() });
    };
    if input.time.is_some() {
        return Ok(text.parse::<Duration>()?.seconds());
    }
    let number = text.trim().parse().ok().filter(|step: &f64| *step > 0.0 && step.is_finite());
    number.ok_or_else(|| CliError::StepNeedsTime {
        file: frame.file.clone(),
        column: input.name.clone(),
        step: text.clone(),
    })
}
