//! Options that say what comes out and where it goes.

use std::path::{Path, PathBuf};

use catena_fit::method::Quantity;
use catena_io::FileName;
use catena_io::journal::Journal;
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
    /// The target, checked before any work is done: a wrong path must not cost minutes of learning, nor a slip one of the
    /// files that are read.
    pub(crate) fn checked(
        &self,
        format: Option<Format>,
        speech: Speech,
        read: &[&Path],
    ) -> Result<Target, CliError> {
        let is_pipe = self.output.as_os_str() == "-";
        if is_pipe && speech.json {
            return Err(CliError::TwoOutputs);
        }
        check_apart(&[&self.output], read)?;
        let target = Target::new(&self.output, Format::of_path(&self.output).or(format))?;
        if !is_pipe {
            drop(TargetFile::create(target.file())?);
        }
        Ok(target)
    }
}

/// Refuses to write what is read, or two results to one path.
pub(crate) fn check_apart(written: &[&Path], read: &[&Path]) -> Result<(), CliError> {
    // Terminals and devices may be at both ends.
    let is_stream =
        |path: &Path| path.as_os_str() == "-" || std::fs::metadata(path).is_ok_and(|file| !file.is_file());
    for (at, path) in written.iter().copied().enumerate().filter(|(_, path)| !is_stream(path)) {
        let file = || FileName::from(path);
        let is_same = |other: &&Path| !is_stream(other) && place_of(other) == place_of(path);
        if read.iter().any(is_same) {
            return Err(CliError::SamePath { file: file() });
        }
        if written[..at].iter().any(is_same) {
            return Err(CliError::TwoAtOnePath { file: file() });
        }
    }
    Ok(())
}

/// Refuses a path at which no model can be written, or only over one whose journal nobody else can read.
pub(crate) fn check_model_target(path: &Path) -> Result<(), CliError> {
    if path.as_os_str() == "-" {
        return Err(CliError::NeedsFile { what: "a model" });
    }
    let journal = Journal::beside(path);
    if Journal::has_records(&journal)? {
        return Err(CliError::JournalWouldBeLost { file: FileName::from(journal.as_path()) });
    }
    drop(TargetFile::create_path(path)?);
    Ok(())
}

/// Where a file is or will be, links followed; a folder that is not there is another error.
fn place_of(path: &Path) -> PathBuf {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    let in_folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Some(canonical(folder.unwrap_or(Path::new(".")))?.join(path.file_name()?))
    };
    canonical(path).or_else(in_folder).unwrap_or_else(|| path.to_owned())
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
    quantiles: Vec<f64>,
    /// Predict the function itself, without the noise of an observation.
    #[arg(long)]
    pub(crate) latent: bool,
}

impl PredictionOptions {
    /// The probabilities that were asked for; one that was asked for twice is one column.
    pub(crate) fn quantiles(&self) -> Vec<f64> {
        let mut distinct: Vec<f64> = vec![];
        for share in &self.quantiles {
            if !distinct.contains(share) {
                distinct.push(*share);
            }
        }
        distinct
    }

    /// What a prediction is about.
    pub(crate) fn quantity(&self) -> Quantity {
        if self.latent { Quantity::Function } else { Quantity::Observation }
    }
}
