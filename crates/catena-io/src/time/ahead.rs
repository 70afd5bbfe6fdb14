//! The times of the rows after the last row of a table.

use thiserror::Error;

use super::{Grid, Horizon, Instant, MonthDay, Step, TimeAxis};
use crate::units::Duration;

/// The rows of a forecast.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsAhead {
    /// Numbers on the axis.
    pub numbers: Vec<f64>,
    /// The step between rows.
    pub step: Step,
    /// The calendar from which the step was inferred; `None` if the step was given or is a median gap.
    pub inferred: Option<Grid>,
}

/// A forecast without rows.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name every field")]
pub enum AheadError {
    #[error("all rows have the same time, so the step cannot be inferred; give a step")]
    NoStep,
    #[error(
        "the horizon {horizon} is shorter than one step of {step}; give a longer horizon or a smaller step"
    )]
    Short { horizon: Horizon, step: Step },
    #[error(
        "the horizon {horizon} has more than {limit} steps of {step}; give a shorter horizon or a larger step"
    )]
    Long { horizon: Horizon, step: Step, limit: usize },
    #[error(
        "steps of {step} reach weekends, which the business calendar does not have; give a step such as 1B"
    )]
    Weekend { step: Step },
    #[error("the horizon {horizon} ends beyond the year 9999; give a shorter horizon")]
    TooFar { horizon: Horizon },
}

/// Steps along an axis, from its rows.
#[derive(Debug, Clone)]
pub struct Stepping<'a> {
    axis: &'a TimeAxis,
    /// The step.
    pub step: Step,
    /// The calendar from which the step was inferred.
    pub inferred: Option<Grid>,
    day: Option<MonthDay>,
}

impl<'a> Stepping<'a> {
    /// The step between rows at `values` of an axis: the given one, else that of their calendar, else `median_gap`.
    ///
    /// # Errors
    /// If there is no step.
    pub fn new(
        axis: &'a TimeAxis,
        values: &[f64],
        median_gap: Option<f64>,
        given: Option<Step>,
    ) -> Result<Self, AheadError> {
        let instants = values.iter().filter_map(|value| axis.instant_of(*value));
        let grid = Grid::of(instants, &axis.style);
        let usual = || median_gap.and_then(Duration::from_seconds).map(Step::Elapsed);
        let step = given.or(grid.map(|grid| grid.step)).or_else(usual).ok_or(AheadError::NoStep)?;
        let inferred = grid.filter(|_| given.is_none());
        Ok(Self { axis, step, inferred, day: grid.and_then(|grid| grid.day) })
    }

    /// The number `times` steps of `step` after a number; `None` if the axis does not have it.
    pub fn after(&self, number: f64, step: Step, times: i64) -> Option<f64> {
        match (step, self.axis.calendar) {
            (Step::Elapsed(step), None) => Some(number + times as f64 * step.seconds()),
            (step, _) => self.axis.number_of(self.instant_after(number, step, times)?),
        }
    }

    fn instant_after(&self, number: f64, step: Step, times: i64) -> Option<Instant> {
        step.after(self.axis.instant_of(number)?, times, &self.axis.style.zone, self.day)
    }

    /// The rows after `last` up to a horizon.
    ///
    /// # Errors
    /// If the horizon is shorter than a step, has more than `limit` steps, or goes beyond the calendar.
    pub fn rows_ahead(&self, last: f64, horizon: Horizon, limit: usize) -> Result<RowsAhead, AheadError> {
        let step = self.step;
        let long = AheadError::Long { horizon, step, limit };
        let too_far = AheadError::TooFar { horizon };
        let n_steps = match (horizon, step, self.axis.calendar) {
            (Horizon::Steps(steps), _, _) => steps,
            // Rounding must not lose the last step.
            (Horizon::Along(Step::Elapsed(length)), Step::Elapsed(step), None) => {
                let count = (length.seconds() / step.seconds() * (1.0 + 1e-12)).floor();
                if count > limit as f64 { limit + 1 } else { count as usize }
            }
            (Horizon::Along(length), _, _) => {
                let end = self.instant_after(last, length, 1).ok_or(too_far.clone())?;
                let is_within = |times: &usize| {
                    self.instant_after(last, step, *times as i64).is_some_and(|instant| instant <= end)
                };
                (1..=limit + 1).take_while(is_within).count()
            }
        };
        if n_steps == 0 {
            return Err(AheadError::Short { horizon, step });
        }
        if n_steps > limit {
            return Err(long);
        }
        let number = |times: usize| {
            let missing = || match self.instant_after(last, step, times as i64) {
                Some(_) => AheadError::Weekend { step },
                None => too_far.clone(),
            };
            self.after(last, step, times as i64).ok_or_else(missing)
        };
        let numbers = (1..=n_steps).map(number).collect::<Result<_, _>>()?;
        Ok(RowsAhead { numbers, step, inferred: self.inferred })
    }
}
