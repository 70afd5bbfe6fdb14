//! `fit`: learn a model from a table and keep it.

use std::path::PathBuf;

use catena_io::write::TargetFile;
use catena_store::{About, length_text, save};
use clap::Args;

use crate::arguments::{Columns, ModelOptions, Speech};
use crate::error::CliError;
use crate::learning::{fit_options, learn};
use crate::parameters;
use crate::plan::Plan;
use crate::scoreboard::{print_json, print_text, summary_json};
use crate::source::{Text, open};

const EXAMPLES: &str = "\
Examples:
  catena fit sensors.csv -o sensors.catena
  catena fit sensors.csv --inputs x,y --outputs temp,salt -o sea.catena
  catena fit sensors.csv --budget thorough --parameters-out p.json -o sensors.catena
  catena fit sensors.csv --latents 2 --kernel matern32/matern12 -o sensors.catena
  catena fit sensors.csv --dry-run -o sensors.catena";

/// Options of `fit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The table to learn from.
    data: PathBuf,
    /// The model file to write.
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Also write the learned parameters as JSON, for --no-learn --parameters.
    #[arg(long, value_name = "FILE.json")]
    parameters_out: Option<PathBuf>,
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

/// Learns a model and keeps it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, output, parameters_out, columns, speech, .. } = arguments;
    let console = speech.console();
    let options = fit_options(&arguments.model)?;
    if arguments.dry_run {
        let source = open(data, columns, Text::Gone, console)?;
        return Plan::new(&source.frame, &options).show("fit", speech.json, console);
    }
    // A path that cannot be written must not cost minutes of learning.
    for path in [Some(output), parameters_out.as_ref()].into_iter().flatten() {
        drop(TargetFile::create_path(path)?);
    }
    let source = open(data, columns, Text::Gone, console)?;
    let fit = learn(&source, &options, &arguments.model, console)?;
    let about = About::new(&source.frame, columns.long.as_ref(), &columns.noise_columns);
    save(&fit, &about, output)?;
    if let Some(path) = parameters_out {
        parameters::write(&fit, about.is_time(), path)?;
    }
    if speech.json {
        return print_json(&summary_json(fit.summary()));
    }
    if !speech.quiet {
        print_text(&fit.summary().to_text(&|length| length_text(about.is_time(), length)))?;
    }
    Ok(())
}
