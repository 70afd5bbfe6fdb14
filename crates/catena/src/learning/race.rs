//! Several starts, raced for a few iterations; the best one is finished.

use super::ascent::{Ascent, Iteration, Settings, Stop};
use super::objective::{Evidence, LogPosterior};
use super::parameters::Parameters;
use super::priors::Priors;
use crate::model::Lmc;
use rayon::prelude::*;
use std::ops::ControlFlow;
use thiserror::Error;

/// How long starts are raced, and when the winner stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceSettings {
    /// Iterations every start gets before the best is picked.
    pub heat: usize,
    /// The rules of every climb.
    pub ascent: Settings,
}

impl Default for RaceSettings {
    fn default() -> Self {
        Self { heat: 60, ascent: Settings::default() }
    }
}

/// Where a race is, as told to a monitor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Which start this is about.
    pub start: usize,
    /// How its climb stands.
    pub iteration: Iteration,
}

/// What a monitor is: told of every iteration, from several threads at once, it may end the race.
pub type Monitor<'a> = dyn Fn(Progress) -> ControlFlow<()> + Sync + 'a;

/// What was learned.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The best model found.
    pub model: Lmc,
    /// Its log evidence.
    pub log_evidence: f64,
    /// Its log evidence plus log prior: what was climbed.
    pub log_posterior: f64,
    /// The value climbed, at the start and after every iteration of the winning start.
    pub path: Vec<f64>,
    /// What every start had reached when the heat was over; not finite for a start without a value.
    pub heats: Vec<f64>,
    /// Which start won.
    pub start: usize,
    /// Evaluations of evidence and gradient, all starts together.
    pub n_evaluations: usize,
    /// Why the winner stopped.
    pub stop: Stop,
}

/// A race without a result.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RaceError<E: std::error::Error + 'static> {
    /// No start was given.
    #[error("no start was given")]
    NoStart,
    /// There is no evidence at any start.
    #[error("the evidence cannot be computed at any start: {0}")]
    NoEvidence(#[source] E),
    /// The evidence is not a number at any start.
    #[error("the evidence is not finite at any start; standardize the outputs")]
    NotFinite,
}

/// Races `starts` and finishes the best. Starts climb in parallel, each with its own evidence; the result does not depend
/// on the number of threads. Ties go to the earlier start.
///
/// # Errors
/// When no start has a finite evidence.
pub fn race<E>(
    make_evidence: &(dyn Fn() -> E + Sync),
    parameters: &Parameters,
    priors: &Priors,
    starts: &[Lmc],
    settings: RaceSettings,
    monitor: &Monitor<'_>,
) -> Result<Learned, RaceError<E::Error>>
where
    E: Evidence + Send,
    E::Error: std::error::Error + Send + 'static,
{
    let climb = |(start, model): (usize, &Lmc)| {
        let mut objective = LogPosterior::new(make_evidence(), parameters, priors);
        let mut ascent = Ascent::new(&mut objective, parameters.vector_of(model), settings.ascent);
        let failure = objective.take_failure();
        let heat = if starts.len() == 1 { usize::MAX } else { settings.heat };
        ascent.run(&mut objective, heat, &mut |iteration| monitor(Progress { start, iteration }));
        (ascent, failure, objective)
    };
    let climbs: Vec<_> = starts.par_iter().enumerate().map(climb).collect();
    let heats: Vec<f64> = climbs.iter().map(|(ascent, ..)| ascent.value()).collect();
    let mut n_evaluations = climbs.iter().map(|(ascent, ..)| ascent.n_evaluations()).sum();
    let mut failures = vec![];
    let mut best: Option<(usize, Ascent, LogPosterior<'_, E>)> = None;
    for (start, (ascent, failure, objective)) in climbs.into_iter().enumerate() {
        failures.extend(failure);
        let has_value = ascent.stop() != Some(Stop::NoValue);
        if has_value && best.as_ref().is_none_or(|(_, best, _)| ascent.value() > best.value()) {
            best = Some((start, ascent, objective));
        }
    }
    let Some((start, mut ascent, mut objective)) = best else {
        return Err(match failures.into_iter().next() {
            Some(failure) => RaceError::NoEvidence(failure),
            None if starts.is_empty() => RaceError::NoStart,
            None => RaceError::NotFinite,
        });
    };
    n_evaluations -= ascent.n_evaluations();
    ascent.run(&mut objective, usize::MAX, &mut |iteration| monitor(Progress { start, iteration }));
    n_evaluations += ascent.n_evaluations();
    let model = parameters.model_at(ascent.point()).map_err(|_| RaceError::NotFinite)?;
    let log_posterior = ascent.value();
    Ok(Learned {
        log_evidence: log_posterior - priors.log_density(&model),
        model,
        log_posterior,
        path: ascent.path().to_vec(),
        heats,
        start,
        n_evaluations,
        stop: ascent.stop().unwrap_or(Stop::IterationLimit),
    })
}
