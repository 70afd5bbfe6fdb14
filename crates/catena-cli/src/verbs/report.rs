//! `report`: writes a saved model as a web page.

use std::path::PathBuf;

use catena_io::write::TargetFile;
use catena_store::{Model, load, page};
use clap::Args;

use crate::arguments::{Printing, check_apart, is_standard_stream};
use crate::error::CliError;
use crate::parameters::write_text;

const EXAMPLES: &str = "\
Examples:
  catena report sensors.catena -o report.html
  catena report sensors.catena -o report.html --title \"Sensors, winter\"

The page shows the data, predictions with intervals, the model, its warnings and how it was selected. It needs no network.";

/// Options of `report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Model file.
    model: PathBuf,
    /// Page to write; `-` is standard output.
    #[arg(short, long, value_name = "FILE.html")]
    output: PathBuf,
    /// Title of the page [default: the name of the data].
    #[arg(long)]
    title: Option<String>,
    #[command(flatten)]
    printing: Printing,
}

/// Writes a page about a model.
pub(crate) fn run(arguments: &Arguments) -> Result<(), CliError> {
    let Arguments { model, output, title, printing } = arguments;
    let is_pipe = is_standard_stream(output);
    if is_pipe && printing.json {
        return Err(CliError::TwoOutputs);
    }
    check_apart(&[output], &[model])?;
    if !is_pipe {
        TargetFile::check_path(output)?;
    }
    let Model { fit, about } = load(model)?;
    let title = title.clone().unwrap_or_else(|| about.data.clone());
    write_text(output, &page(&title, &fit, &about, &[])?)?;
    if !is_pipe {
        printing.console().say(format!("wrote {}", output.display()));
    }
    printing.summary(&fit)
}
