//! Several starts: each is optimized for a few iterations, and the best is optimized to the end.

use super::lbfgs::{Lbfgs, OptimizerSettings, Progress, StopReason};
use super::objective::{Evaluation, Evidence, LogPosterior};
use super::parameters::Parameters;
use super::priors::Priors;
use crate::model::Lmc;
use crate::threads::*;
use std::ops::{ControlFlow, Range};
use thiserror::Error;

/// The iterations of every start, and the stopping rules of the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultiStartSettings {
    /// Iterations of every start before the best is chosen.
    pub trial_iterations: usize,
    /// The stopping rules of every optimization.
    pub optimizer: OptimizerSettings,
}

impl Default for MultiStartSettings {
    fn default() -> Self {
        Self { trial_iterations: 60, optimizer: OptimizerSettings::default() }
    }
}

/// Called after every iteration, from several threads at once; `Break` ends the optimization.
type Monitor<'a> = dyn Fn(Progress) -> ControlFlow<()> + Sync + 'a;

/// The result of learning.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The best model found.
    pub model: Lmc,
    /// Its log evidence.
    pub log_evidence: f64,
    /// Its log evidence plus log prior: the value of the objective.
    pub log_posterior: f64,
    /// The objective at the best start and after each of its iterations.
    pub path: Vec<f64>,
    /// The objective of every start after the trial iterations; not finite for a start without a value.
    pub trial_values: Vec<f64>,
    /// The number of the best start.
    pub start: usize,
    /// Evaluations of log evidence and gradient over all starts.
    pub n_evaluations: usize,
    /// Why the optimization of the best start ended.
    pub stop: StopReason,
}

/// Learning without a result.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MultiStartError<E: std::error::Error + 'static> {
    /// No start was given.
    #[error("no start was given; pass at least one model")]
    NoStart,
    /// The evidence failed at every start.
    #[error("the log evidence cannot be computed at any start: {0}")]
    NoEvidence(#[source] E),
    /// The evidence is not finite at any start.
    #[error("the log evidence is not finite at any start; standardize the outputs")]
    NotFinite,
}

/// Optimizes from every start for a few iterations, then from the best to the end. Starts run in parallel, in groups of as
/// many as the evidence evaluates at once, each group with its own evidence; the result does not depend on the number of threads. Ties go to the earlier start.
///
/// # Errors
/// When no start has a finite log evidence.
pub fn multi_start<E>(
    make_evidence: &(dyn Fn() -> E + Sync),
    parameters: &Parameters,
    priors: &Priors,
    starts: &[Lmc],
    settings: MultiStartSettings,
    monitor: &Monitor<'_>,
) -> Result<Learned, MultiStartError<E::Error>>
where
    E: Evidence + Send,
    E::Error: std::error::Error + Send + 'static,
{
    let at_once = make_evidence().models_at_once().max(1);
    let groups: Vec<Range<usize>> =
        (0..starts.len()).step_by(at_once).map(|first| first..(first + at_once).min(starts.len())).collect();
    let optimize = |group: &Range<usize>| {
        let mut objective = LogPosterior::new(make_evidence(), parameters, priors);
        let mut trials: Vec<Trial<E::Error>> = group
            .clone()
            .map(|start| {
                let point = parameters.vector_of(&starts[start]);
                Trial { start, optimizer: Lbfgs::at(point, settings.optimizer), failure: None }
            })
            .collect();
        let n_iterations = if starts.len() == 1 { usize::MAX } else { settings.trial_iterations };
        optimize_together(&mut trials, &mut objective, n_iterations, monitor);
        (trials, objective)
    };
    let groups: Vec<_> = groups.par_iter().map(optimize).collect();
    let mut trial_values = vec![];
    let mut n_evaluations = 0;
    let mut failures = vec![];
    let mut best: Option<(usize, Lbfgs, LogPosterior<'_, E>)> = None;
    for (trials, objective) in groups {
        let mut best_of_group: Option<(usize, Lbfgs)> = None;
        for Trial { start, optimizer, failure } in trials {
            trial_values.push(optimizer.value());
            n_evaluations += optimizer.n_evaluations();
            failures.extend(failure);
            let values =
                [best.as_ref().map(|best| best.1.value()), best_of_group.as_ref().map(|best| best.1.value())];
            let is_better = values.iter().flatten().all(|&value| optimizer.value() > value);
            if optimizer.stop() != Some(StopReason::NoValue) && is_better {
                best_of_group = Some((start, optimizer));
            }
        }
        if let Some((start, optimizer)) = best_of_group {
            best = Some((start, optimizer, objective));
        }
    }
    let Some((start, mut optimizer, mut objective)) = best else {
        return Err(match failures.into_iter().next() {
            Some(failure) => MultiStartError::NoEvidence(failure),
            None if starts.is_empty() => MultiStartError::NoStart,
            None => MultiStartError::NotFinite,
        });
    };
    n_evaluations -= optimizer.n_evaluations();
    optimizer.run(&mut objective, usize::MAX, &mut |progress| monitor(Progress { start, ..progress }));
    n_evaluations += optimizer.n_evaluations();
    let model = parameters.model_at(optimizer.point()).map_err(|_| MultiStartError::NotFinite)?;
    let log_posterior = optimizer.value();
    Ok(Learned {
        log_evidence: log_posterior - priors.log_density(&model),
        model,
        log_posterior,
        path: optimizer.path().to_vec(),
        trial_values,
        start,
        n_evaluations,
        stop: optimizer.stop().unwrap_or(StopReason::IterationLimit),
    })
}

/// The optimization from one start.
struct Trial<E> {
    start: usize,
    optimizer: Lbfgs,
    /// The error at the start.
    failure: Option<E>,
}

/// Runs every optimization for at most `n_iterations`, evaluating their next points together. One that has ended leaves the group.
fn optimize_together<E: Evidence>(
    trials: &mut [Trial<E::Error>],
    objective: &mut LogPosterior<'_, E>,
    n_iterations: usize,
    monitor: &Monitor<'_>,
) {
    let parameters = objective.parameters();
    loop {
        for Trial { start, optimizer, .. } in &mut *trials {
            // An iteration may need no evaluation.
            while optimizer.trial().is_none()
                && optimizer.n_iterations() < n_iterations
                && optimizer.begin_iteration()
                && optimizer.trial().is_none()
            {
                optimizer.end_iteration(&mut |progress| monitor(Progress { start: *start, ..progress }));
            }
        }
        let mut due: Vec<&mut Trial<E::Error>> =
            trials.iter_mut().filter(|trial| trial.optimizer.trial().is_some()).collect();
        if due.is_empty() {
            return;
        }
        let points: Vec<&[f64]> = due.iter().filter_map(|trial| trial.optimizer.trial()).collect();
        let evaluations = objective.evaluate_together(&points);
        for (Trial { start, optimizer, failure }, evaluation) in due.iter_mut().zip(evaluations) {
            let is_start = optimizer.n_evaluations() == 0;
            let Evaluation { value, gradient, failure: own } = evaluation;
            optimizer.tell(value, &gradient, &|point, scales| parameters.scales_at(point, scales));
            if is_start {
                *failure = own;
            } else if optimizer.trial().is_none() {
                optimizer.end_iteration(&mut |progress| monitor(Progress { start: *start, ..progress }));
            }
        }
    }
}
