//! Options for results and where they are written.

use std::path::{Path, PathBuf};

use catena_fit::{Fit, Point, Quantity};
use catena_io::FileName;
use catena_io::journal::Journal;
use catena_io::model_file::ModelLock;
use catena_io::read::Format;
use catena_io::write::{Target, TargetFile};
use catena_store::StoreError;
use clap::Args;

use super::values;
use crate::console::Console;
use crate::error::CliError;
use crate::scoreboard::{print_json, summary_json};

/// What is printed.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Printing {
    /// Print the result as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Printing {
    /// The console for messages.
    pub(crate) fn console(self) -> Console {
        Console::new(self.quiet)
    }

    /// Prints the summary of a fit if JSON is requested.
    pub(crate) fn summary(self, fit: &Fit) -> Result<(), CliError> {
        if self.json { print_json(&summary_json(fit.summary())) } else { Ok(()) }
    }
}

/// Where a table is written.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TableTarget {
    /// Table to write, in the format of its suffix; `-` is standard output.
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub(crate) output: PathBuf,
    /// In text, put an apostrophe before column names that a spreadsheet would run as a formula (`=`, `+`, `-`, `@`).
    #[arg(long)]
    pub(crate) safe_headers: bool,
}

impl TableTarget {
    /// The target. It is checked before any work, so that a wrong path costs no learning and overwrites no input.
    pub(crate) fn checked(
        &self,
        format: Option<Format>,
        printing: Printing,
        read: &[&Path],
    ) -> Result<Target, CliError> {
        let is_pipe = is_standard_stream(&self.output);
        if is_pipe && printing.json {
            return Err(CliError::TwoOutputs);
        }
        check_apart(&[&self.output], read)?;
        let target = Target::new(&self.output, Format::of_path(&self.output).or(format))?;
        if !is_pipe {
            TargetFile::check_path(&self.output)?;
        }
        Ok(target.with_safe_headers(self.safe_headers))
    }
}

/// Whether a path is `-`, standard input or output.
pub(crate) fn is_standard_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses to write to a path that is read, or two results to one path.
pub(crate) fn check_apart(written: &[&Path], read: &[&Path]) -> Result<(), CliError> {
    // Terminals and devices may be both read and written.
    let is_stream =
        |path: &Path| is_standard_stream(path) || std::fs::metadata(path).is_ok_and(|file| !file.is_file());
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

/// Locks the path of a model until it is written. Refuses a path where a model cannot be written, or where it would replace a
/// model that has a journal or that another process uses.
pub(crate) fn lock_model_target(path: &Path) -> Result<ModelLock, CliError> {
    if is_standard_stream(path) {
        return Err(CliError::NeedsFile { what: "a model" });
    }
    let lock = ModelLock::to_replace(path).map_err(StoreError::from)?;
    let journal = Journal::beside(path);
    if Journal::has_records(&journal)? {
        return Err(CliError::JournalWouldBeLost { file: FileName::from(journal.as_path()) });
    }
    TargetFile::check_path(path)?;
    Ok(lock)
}

/// The canonical path of a file that may not exist yet.
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
    /// Add columns NAME_lo and NAME_hi with the central interval of this probability, for example 0.95.
    #[arg(long, value_name = "P", value_parser = values::probability)]
    pub(crate) interval: Option<f64>,
    /// Add a column per quantile, such as NAME_q0.1 for 0.1.
    #[arg(long, value_name = "Q,Q", value_delimiter = ',', value_parser = values::probability)]
    quantiles: Vec<f64>,
    /// Value that stands for a predictive distribution: mean or median. They differ for outputs with a transform.
    #[arg(long, default_value = "mean", value_name = "mean|median")]
    pub(crate) point: Point,
    /// Predict the latent function, without observation noise.
    #[arg(long)]
    pub(crate) without_noise: bool,
}

impl PredictionOptions {
    /// The distinct quantiles.
    pub(crate) fn quantiles(&self) -> Vec<f64> {
        let mut distinct: Vec<f64> = vec![];
        for share in &self.quantiles {
            if !distinct.contains(share) {
                distinct.push(*share);
            }
        }
        distinct
    }

    /// Columns per output: mean or median, standard deviation, the ends of the interval, the quantiles.
    pub(crate) fn n_columns(&self) -> usize {
        2 + 2 * usize::from(self.interval.is_some()) + self.quantiles().len()
    }

    /// Whether predictions include noise.
    pub(crate) fn quantity(&self) -> Quantity {
        if self.without_noise { Quantity::Function } else { Quantity::Observation }
    }
}
