//! Learning the chosen family in the time that is left: on the whole table, on some of its rows, or not at all.

use catena::learning::{Learned, StopReason};
use catena::model::Lmc;

use crate::error::FitError;
use crate::folds::representative_rows;
use crate::learn::{LearningMonitor, LearningTask};
use crate::monitor::{Pace, Reporter};
use crate::options::FitOptions;
use crate::prepare::PreparedTable;

/// Evaluations that improve a model which was learned from a part of the table; with fewer, more iterations on some rows are better.
const WORTHWHILE: f64 = 12.0;
/// Evaluations for each start, if there are several.
const OF_EACH_START: f64 = 20.0;
/// The fewest rows from which anything is learned.
const FEWEST_ROWS: f64 = 200.0;
/// Rows of the shortest part of a chain that a thread sweeps alone.
const ROWS_OF_THREAD: usize = 16_384;

/// A model of the family for the table that was learned before, and from how many rows.
pub(crate) struct Known {
    pub(crate) model: Lmc,
    pub(crate) n_rows: usize,
}

/// What is to be learned and how it is watched.
pub(crate) struct InTime<'a> {
    pub(crate) task: &'a LearningTask,
    pub(crate) table: &'a PreparedTable,
    /// Kept if there is no time to learn; without it, the model is learned from as few rows as necessary.
    pub(crate) known: Option<Known>,
    pub(crate) options: &'a FitOptions,
    pub(crate) reporter: &'a Reporter<'a>,
}

impl InTime<'_> {
    /// Learns until the time of the current stage is used; also what was cut short, if anything was. Without a limit or a request
    /// to stop this is [`LearningTask::learn`].
    pub(crate) fn learn(self, monitor: &LearningMonitor<'_>) -> Result<(Learned, Option<String>), FitError> {
        let Self { task, table, known, options, reporter } = self;
        let left = reporter.seconds_left();
        let n_rows = table.dataset.n_rows();
        let work = task.work_of_evaluation(table);
        let n_evaluations = match left.is_finite() {
            true => left / seconds_of_evaluation(reporter, work, n_rows),
            false => f64::INFINITY,
        };
        let n_starts = task.n_starts().max(1) as f64;
        let from_known = |known: &Known| task.clone().with_starts(vec![known.model.clone()], &[]);
        if n_evaluations >= WORTHWHILE {
            let task = match &known {
                Some(known) if n_starts > 1.0 && n_evaluations < OF_EACH_START * n_starts => {
                    &from_known(known)
                }
                _ => task,
            };
            let learned = watched(task, table, reporter, monitor)?;
            let cut = cut_of(&learned, None);
            return Ok((learned, cut));
        }
        let affordable = (n_rows as f64 * n_evaluations / WORTHWHILE).max(FEWEST_ROWS) as usize;
        let task = match known {
            None if affordable >= n_rows => {
                let learned = watched(task, table, reporter, monitor)?;
                let cut = cut_of(&learned, None);
                return Ok((learned, cut));
            }
            None => task.clone(),
            // A part of the table that is not much larger than that of the comparison would tell nothing new.
            Some(known) if affordable < 2 * known.n_rows || left <= 0.0 => {
                let cut = match known.n_rows < n_rows {
                    true => format!("parameters are those learned from {} of {n_rows} rows", known.n_rows),
                    false => "parameters are those of the comparison, without learning from the whole table"
                        .to_owned(),
                };
                return Ok((unchanged(known.model), Some(cut)));
            }
            Some(known) => from_known(&known),
        };
        let rows = representative_rows(&table.dataset, affordable.min(n_rows), options.seed);
        let n_learning = rows.len();
        let part = PreparedTable::new(table.dataset.select_rows(&rows)?, options.structure)?;
        let learned = watched(&task, &part, reporter, monitor)?;
        let cut = cut_of(&learned, Some((n_learning, n_rows)));
        Ok((learned, cut))
    }
}

/// Seconds of an evaluation at the speed of this fit; chains of many rows are swept on all threads.
fn seconds_of_evaluation(reporter: &Reporter<'_>, work: f64, n_rows: usize) -> f64 {
    let n_threads = rayon::current_num_threads().min(n_rows / ROWS_OF_THREAD).max(1);
    reporter.watch.seconds_for(work) / n_threads as f64
}

fn watched(
    task: &LearningTask,
    table: &PreparedTable,
    reporter: &Reporter<'_>,
    monitor: &LearningMonitor<'_>,
) -> Result<Learned, FitError> {
    let pace = Pace::new(reporter, task.work_of_evaluation(table));
    task.learn(table, &|progress| {
        monitor(progress)?;
        pace.step(progress)
    })
}

/// What an optimization was cut to; `None` if it had the whole table and ended by itself.
fn cut_of(learned: &Learned, part: Option<(usize, usize)>) -> Option<String> {
    let rows = part.map(|(n_learning, n_rows)| format!("learned from {n_learning} of {n_rows} rows"));
    let iterations = learned.path.len().saturating_sub(1);
    let stopped = (learned.stop == StopReason::Interrupted)
        .then(|| format!("learning stopped after {iterations} iterations"));
    let both: Vec<String> = rows.into_iter().chain(stopped).collect();
    (!both.is_empty()).then(|| both.join(", "))
}

/// A model that was not learned again.
fn unchanged(model: Lmc) -> Learned {
    Learned {
        model,
        log_evidence: f64::NAN,
        log_posterior: f64::NAN,
        path: vec![],
        trial_values: vec![],
        start: 0,
        n_evaluations: 0,
        stop: StopReason::Interrupted,
    }
}
