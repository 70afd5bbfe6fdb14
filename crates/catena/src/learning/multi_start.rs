//! Several starts: each is optimized for a few iterations, and the best is optimized to the end.

use super::lbfgs::{Lbfgs, OptimizerSettings, Progress, StopReason};
use super::objective::{Evidence, LogPosterior};
use super::parameters::Parameters;
use super::priors::Priors;
use crate::model::Lmc;
use crate::threads::*;
use std::ops::ControlFlow;
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

/// Optimizes from every start for a few iterations, then from the best to the end. Starts run in parallel, each with its own
/// evidence; the result does not depend on the number of threads. Ties go to the earlier start.
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
    let optimize = |(start, model): (usize, &Lmc)| {
        let mut objective = LogPosterior::new(make_evidence(), parameters, priors);
        let mut optimizer = Lbfgs::new(&mut objective, parameters.vector_of(model), settings.optimizer);
        let failure = objective.take_failure();
        let n_iterations = if starts.len() == 1 { usize::MAX } else { settings.trial_iterations };
        optimizer.run(&mut objective, n_iterations, &mut |progress| monitor(Progress { start, ..progress }));
        (optimizer, failure, objective)
    };
    let trials: Vec<_> = starts.par_iter().enumerate().map(optimize).collect();
    let trial_values: Vec<f64> = trials.iter().map(|(optimizer, ..)| optimizer.value()).collect();
    let mut n_evaluations = trials.iter().map(|(optimizer, ..)| optimizer.n_evaluations()).sum();
    let mut failures = vec![];
    let mut best: Option<(usize, Lbfgs, LogPosterior<'_, E>)> = None;
    for (start, (optimizer, failure, objective)) in trials.into_iter().enumerate() {
        failures.extend(failure);
        let has_value = optimizer.stop() != Some(StopReason::NoValue);
        if has_value && best.as_ref().is_none_or(|(_, best, _)| optimizer.value() > best.value()) {
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
