//! Options that say what comes out and where it goes.

use std::path::PathBuf;

use catena_auto::method::Quantity;
use catena_io::read::Format;
use catena_io::write::{Target, TargetFile};
use clap::Args;

use super::words;
use crate::console::Console;
use crate::error::CliError;

/// How a command speaks.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Speech {
    /// Print what was found as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Speech {
    /// Where sentences go.
    pub(crate) fn console(self) -> Console {
        Console::new(self.quiet)
    }
}

/// Where a table goes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TableTarget {
    /// The table to write, in the format of its suffix; `-` is standard output.
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub(crate) output: PathBuf,
}

impl TableTarget {
    /// The target, checked before any work is done: a wrong path must not cost minutes of learning.
    pub(crate) fn checked(&self, format: Option<Format>, speech: Speech) -> Result<Target, CliError> {
        let is_pipe = self.output.as_os_str() == "-";
        if is_pipe && speech.json {
            return Err(CliError::TwoOutputs);
        }
        let target = Target::new(&self.output, Format::of_path(&self.output).or(format))?;
        if !is_pipe {
            drop(TargetFile::create(&target)?);
        }
        Ok(target)
    }
}

/// What is predicted.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PredictionOptions {
    /// Add NAME_lo and NAME_hi, the ends of this central interval, such as 0.95.
    #[arg(long, value_name = "P", value_parser = words::probability)]
    pub(crate) interval: Option<f64>,
    /// Add NAME_q0.1 and so on, the values below which an observation lies with these probabilities.
    #[arg(long, value_name = "Q,Q", value_delimiter = ',', value_parser = words::probability)]
    pub(crate) quantiles: Vec<f64>,
    /// Predict the function itself, without the noise of an observation.
    #[arg(long)]
    pub(crate) latent: bool,
}

impl PredictionOptions {
    /// What a prediction is about.
    pub(crate) fn quantity(&self) -> Quantity {
        if self.latent { Quantity::Function } else { Quantity::Observation }
    }
}
