//! Runs the paper's studies and compares every figure, table and number with the printed one.
//!
//! [`run`] computes the missing results of a folder and writes everything in it: figures as SVG, PNG and CSV, tables as CSV,
//! `README.md` and a self-contained `report.html`. Results are stored per study, cell and seed, so that an interrupted run
//! continues where it stopped.
//!
//! In reading order: [`settings`] (options), `job` and `ledger` (computations and their stored results), `studies` (one file
//! each: its computations and its chapter of the report), `reference` and [`verdict`] (the paper's numbers and the rules of
//! comparison), `chapter`, `figure` and `output` (the report). The program `catena-reproduce` is in `main.rs`.

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

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The number of computations of this run; other results were read from the folder.
    pub n_computed: usize,
    /// Studies that were left out, with the reason.
    pub left_out: Vec<String>,
    /// Every number of the requested studies with the paper's, by name of the study.
    pub comparisons: Vec<(&'static str, Comparison)>,
}

impl Outcome {
    /// The number of comparisons with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.comparisons.iter().filter(|(_, row)| row.verdict == verdict).count()
    }
}

/// Computes the missing results of the requested studies and writes the report on all results in the folder.
///
/// `threads` is recorded in the report; the caller sets the number of threads.
///
/// # Errors
/// When a study cannot be run, or a file cannot be read or written. Finished results are stored.
pub fn run(settings: &Settings, threads: usize, monitor: &Monitor<'_>) -> Result<Outcome, ExperimentError> {
    let context = Context::new(settings)?;
    make_folder(&settings.folder)?;
    let ledger = Ledger::new(&settings.folder);
    let runs = Runs::with(settings, threads)?;
    let (mut jobs, mut left_out) = (vec![], vec![]);
    for &study in &settings.studies {
        match studies::jobs(study, &context) {
            Ok(of_study) => jobs.extend(of_study),
            // A request for all studies runs those whose data are given.
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

/// The chapters of all studies with results in the folder, in the order of the report.
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
