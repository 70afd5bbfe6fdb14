//! Computations, one job per cell and seed, and the loop that runs the missing ones.

use crate::error::ExperimentError;
use crate::ledger::{Key, Ledger, Record};

/// A computation, skipped if its result is stored.
pub(crate) struct Job<'a> {
    pub(crate) key: Key,
    /// Its approximate time in seconds, for the progress bar only.
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

/// The progress of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The computation that begins.
    pub cell: String,
    /// The finished share of the work, between 0 and 1.
    pub done: f64,
    /// Finished computations of this run.
    pub n_computed: usize,
    /// All jobs of this run, including those whose results were stored before.
    pub n_jobs: usize,
}

/// Called with the progress.
pub type Monitor<'a> = dyn Fn(&Progress) + 'a;

/// Runs the jobs without a stored result, in order, and stores each result when it is finished. Jobs run one at a time, because
/// methods are timed and use all cores.
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
