//! The commands that produced the results of a folder.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::machine;
use crate::error::ExperimentError;
use crate::ledger::write_whole;
use crate::settings::{Extent, Settings, StudyName};

/// A command, the version that ran it and the machine it ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) command: String,
    pub(crate) version: String,
    pub(crate) machine: String,
    pub(crate) threads: usize,
}

/// All commands, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Runs {
    pub(crate) runs: Vec<Run>,
}

impl Runs {
    /// The commands of a folder and the present one.
    pub(crate) fn with(settings: &Settings, threads: usize) -> Result<Self, ExperimentError> {
        let path = path(&settings.folder);
        let mut runs: Self = match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| ExperimentError::Damaged { path, cause: error.to_string() })?,
            Err(_) => Self::default(),
        };
        let run =
            Run { command: command(settings), version: version(), machine: machine::description(), threads };
        if !runs.runs.contains(&run) {
            runs.runs.push(run);
        }
        Ok(runs)
    }

    pub(crate) fn keep(&self, folder: &Path) -> Result<(), ExperimentError> {
        let path = path(folder);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| ExperimentError::Damaged { path: path.clone(), cause: error.to_string() })?;
        write_whole(&path, text.as_bytes())
    }
}

/// The version, and the commit if it was given to the build: `CATENA_COMMIT=$(git rev-parse --short HEAD) cargo build …`.
fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    option_env!("CATENA_COMMIT")
        .map_or_else(|| version.to_owned(), |commit| format!("{version}, commit {commit}"))
}

fn path(folder: &Path) -> std::path::PathBuf {
    folder.join("runs.json")
}

/// The command, with placeholders for local paths.
fn command(settings: &Settings) -> String {
    let is_all = settings.studies.len() == StudyName::ALL.len();
    let study = if is_all { "all" } else { settings.studies.first().map_or("all", |study| study.word()) };
    let mut command = format!("catena-reproduce {study} -o DIR");
    if let Some(seeds) = settings.seeds {
        command += &format!(" --seeds {seeds}");
    }
    if let Some(seeds) = settings.exact_seeds {
        command += &format!(" --exact-seeds {seeds}");
    }
    if settings.ett.is_some() {
        command += " --ett ETTh1.csv";
    }
    if settings.extent == Extent::Quick {
        command += " --quick";
    }
    command
}
