//! What is to be computed, one job per cell and seed, and the loop that computes what is missing.

use crate::error::ExperimentError;
use crate::ledger::{Key, Ledger, Record};

/// One computation to be done, unless it already was.
pub(crate) struct Job<'a> {
    pub(crate) key: Key,
    /// Roughly how many seconds it takes: only the time left that is shown depends on it.
    pub(crate) weight: f64,
    pub(crate) run: Box<dyn Fn() -> Result<Record, ExperimentError> + 'a>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(
        (study, cell, seed): (&'static str, impl Into<String>, u32),
        weight: f64,
        run: impl Fn() -> Result<Record, ExperimentError> + 'a,
    ) -> Self {
        Self { key: Key { study, cell: cell.into(), seed }, weight, run: Box::new(run) }
    }
}

/// How far a run has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What was just finished, or is about to begin.
    pub cell: String,
    /// The share of the work that is done, between 0 and 1.
    pub done: f64,
    /// Computations that this run did itself.
    pub n_computed: usize,
    /// Computations of this run, done or found done.
    pub n_jobs: usize,
}

/// Told of progress.
pub type Monitor<'a> = dyn Fn(&Progress) + 'a;

/// Does what is missing, in order, and keeps each result as it is finished. One after the other: methods are timed, and
/// their threads would take each other's cores.
pub(crate) fn complete(
    jobs: &[Job<'_>],
    ledger: &Ledger,
    monitor: &Monitor<'_>,
) -> Result<usize, ExperimentError> {
    let mut missing = vec![];
    for job in jobs {
        if ledger.find(&job.key)?.is_none() {
            missing.push(job);
        }
    }
    let total: f64 = missing.iter().map(|job| job.weight).sum();
    let (mut done, n_jobs) = (0.0, jobs.len());
    for (n_computed, job) in missing.iter().enumerate() {
        let Key { study, cell, seed } = &job.key;
        let cell = format!("{study} {cell}, seed {seed}");
        monitor(&Progress { cell, done: done / total, n_computed, n_jobs });
        ledger.keep(&job.key, &(job.run)()?)?;
        done += job.weight;
    }
    Ok(missing.len())
}
