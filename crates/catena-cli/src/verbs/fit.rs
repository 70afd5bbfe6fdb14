//! `fit`: learn a model from a table and keep it.

use std::path::{Path, PathBuf};

use catena_io::write::TargetFile;
use catena_store::{About, length_text, save};
use clap::Args;

use crate::arguments::{Columns, ModelOptions, Speech, check_apart, check_model_target};
use crate::error::CliError;
use crate::learning::{Asked, learn};
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
    /// Also write the learned parameters as JSON, for --no-learn --parameters; `-` is standard output.
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
    let asked = Asked::new(&arguments.model)?;
    check_targets(arguments)?;
    let source = open(data, columns, Text::Gone, console)?;
    if arguments.dry_run {
        let options = asked.prepared(&source.frame, &arguments.model)?;
        return Plan::new(&source.frame, &options).show("fit", speech.json, console);
    }
    let fit = learn(&source, &asked, &arguments.model, console)?;
    let about = About::new(&source.frame, columns.long.as_ref(), &columns.noise_columns);
    save(&fit, &about, output)?;
    if let Some(path) = parameters_out {
        parameters::write(&fit, about.is_time(), path)?;
    }
    if speech.json {
        return print_json(&summary_json(fit.summary()));
    }
    let summary = fit.summary().to_text(&|length| length_text(about.is_time(), length));
    if is_pipe(parameters_out.as_deref()) {
        console.say(summary.trim_end());
    } else if !speech.quiet {
        print_text(&summary)?;
    }
    Ok(())
}

/// A path that cannot be written must not cost minutes of learning, nor a slip one of the files that are read.
fn check_targets(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { data, output, parameters_out, model, speech, dry_run, .. } = arguments;
    if is_pipe(parameters_out.as_deref()) && speech.json && !dry_run {
        return Err(CliError::TwoOutputs);
    }
    check_apart(&both(output, parameters_out.as_deref()), &both(data, model.parameters.as_deref()))?;
    check_model_target(output)?;
    if let Some(path) = parameters_out.as_deref().filter(|path| !is_pipe(Some(path))) {
        drop(TargetFile::create_path(path)?);
    }
    Ok(())
}

fn both<'a>(one: &'a Path, other: Option<&'a Path>) -> Vec<&'a Path> {
    std::iter::once(one).chain(other).collect()
}

fn is_pipe(path: Option<&Path>) -> bool {
    path.is_some_and(|path| path.as_os_str() == "-")
}
