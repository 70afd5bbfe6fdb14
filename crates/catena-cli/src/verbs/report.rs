//! `report`: a kept model as one web page.

use std::path::PathBuf;

use catena_io::write::TargetFile;
use catena_store::{Model, load, page};
use clap::Args;

use crate::arguments::{Speech, check_apart};
use crate::error::CliError;
use crate::parameters::write_text;
use crate::scoreboard::{print_json, summary_json};

const EXAMPLES: &str = "\
Examples:
  catena report sensors.catena -o report.html
  catena report sensors.catena -o report.html --title \"Sensors, winter\"

The page needs no network: data, predictions with their bands, the model, its warnings and how it was chosen.";

/// Options of `report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The model file.
    model: PathBuf,
    /// The page to write; `-` is standard output.
    #[arg(short, long, value_name = "FILE.html")]
    output: PathBuf,
    /// The headline; without it, the name of the data.
    #[arg(long)]
    title: Option<String>,
    #[command(flatten)]
    speech: Speech,
}

/// Writes a page about a model.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { model, output, title, speech } = arguments;
    let is_pipe = output.as_os_str() == "-";
    if is_pipe && speech.json {
        return Err(CliError::TwoOutputs);
    }
    check_apart(&[output], &[model])?;
    if !is_pipe {
        drop(TargetFile::create_path(output)?);
    }
    let Model { fit, about } = load(model)?;
    let title = title.clone().unwrap_or_else(|| about.data.clone());
    write_text(output, &page(&title, &fit, &about, &[])?)?;
    if !is_pipe {
        speech.console().say(format!("wrote {}", output.display()));
    }
    if speech.json {
        return print_json(&summary_json(fit.summary()));
    }
    Ok(())
}
