//! The paper's studies, run again: every figure and table, each number beside the one that is printed, and a verdict.
//!
//! [`run`] computes what is missing in a folder and writes everything that the folder holds: figures as SVG, PNG and CSV,
//! tables as CSV, `README.md` and a self-contained `report.html`. What is computed is kept per study, cell and seed, so that
//! an interrupted run goes on where it was.
//!
//! In reading order: [`settings`] (what may be asked), `job` and `ledger` (what is to be done and what is done), `studies`
//! (one file each: its jobs, and what its numbers say), `reference` and [`verdict`] (the paper's numbers and how ours are
//! judged), `chapter`, `figure` and `output` (how it is shown).

mod chapter;
mod drawings;
mod error;
pub mod ett_file;
mod figure;
mod job;
mod ledger;
mod methods;
mod output;
mod reference;
pub mod settings;
mod statistics;
mod stopwatch;
mod studies;
pub mod verdict;

use std::path::Path;

pub use error::ExperimentError;
pub use job::{Monitor, Progress};

use crate::chapter::Chapter;
use crate::ledger::Ledger;
use crate::output::Runs;
use crate::settings::{Context, Settings, StudyName};
use crate::verdict::{Comparison, Verdict};

/// What a run has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Computations that this run did itself; the others were found done.
    pub n_computed: usize,
    /// Studies that were left out, and why.
    pub left_out: Vec<String>,
    /// Every number of the asked studies beside the paper's, with the study's name.
    pub comparisons: Vec<(&'static str, Comparison)>,
}

impl Outcome {
    /// How many comparisons have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.comparisons.iter().filter(|(_, row)| row.verdict == verdict).count()
    }
}

/// Computes what is missing of the asked studies and writes all results that the folder holds.
///
/// `threads` is what the caller allowed; it is written down, not enforced here.
///
/// # Errors
/// When a study cannot be run, or a file cannot be read or written. What was finished before is kept.
pub fn run(settings: &Settings, threads: usize, monitor: &Monitor<'_>) -> Result<Outcome, ExperimentError> {
    let context = Context::new(settings)?;
    make_folder(&settings.folder)?;
    let ledger = Ledger::new(&settings.folder);
    let runs = Runs::with(settings, threads)?;
    let (mut jobs, mut left_out) = (vec![], vec![]);
    for &study in &settings.studies {
        match studies::jobs(study, &context) {
            Ok(of_study) => jobs.extend(of_study),
            // Whoever asks for everything gets everything there is data for.
            Err(ExperimentError::NoElectricity { .. }) if settings.studies.len() > 1 => {
                left_out.push(format!("{}, which needs --ett", study.word()));
            }
            Err(error) => return Err(error),
        }
        if context.electricity.is_none() && matches!(study, StudyName::Start | StudyName::Beyond) {
            left_out.push(format!("the electricity part of {}, which needs --ett", study.word()));
        }
    }
    let n_computed = job::complete(&jobs, &ledger, monitor)?;
    let chapters = chapters(settings, &ledger)?;
    runs.keep(&settings.folder)?;
    output::write(&settings.folder, &chapters, &runs)?;
    let is_asked = |chapter: &&Chapter| settings.studies.iter().any(|study| study.word() == chapter.study);
    let comparisons = chapters
        .iter()
        .filter(is_asked)
        .flat_map(|chapter| chapter.comparisons.iter().map(|row| (chapter.study, row.clone())))
        .collect();
    Ok(Outcome { n_computed, left_out, comparisons })
}

/// Everything that the folder has numbers for, in the order of the report.
fn chapters(settings: &Settings, ledger: &Ledger) -> Result<Vec<Chapter>, ExperimentError> {
    let mut chapters = vec![];
    for study in StudyName::ALL {
        chapters.extend(studies::chapter(study, ledger, settings.extent)?);
    }
    chapters.push(drawings::chapter()?);
    Ok(chapters)
}

fn make_folder(folder: &Path) -> Result<(), ExperimentError> {
    std::fs::create_dir_all(folder)
        .map_err(|source| ExperimentError::Folder { path: folder.to_owned(), source })
}
