//! Scores of forecasts from many origins, with horizons as steps along the calendar of a table.

use catena::data::Dataset;
use catena_fit::forecast::{self, Rolling, Shifts, Targets, rolling_with};
use catena_fit::later_rows;
use catena_fit::{Fit, FitError, median_gap_within_groups};
use catena_io::select::Input;
use catena_io::time::{AheadError, Horizon, Step, Stepping};
use thiserror::Error;

use crate::LengthUnit;

/// What is scored.
#[derive(Debug, Clone, PartialEq)]
pub struct RollingOptions {
    /// The distances ahead.
    pub horizons: Vec<Horizon>,
    /// The number of rows between origins.
    pub every: usize,
    /// The period of the seasonal rule; `None` to leave it out.
    pub season: Option<Horizon>,
    /// The probability of the intervals.
    pub interval: f64,
}

/// Scores of forecasts from many origins.
#[derive(Debug, Clone)]
pub struct RollingScores {
    /// The scores by horizon: the model first, then the rules.
    pub scores: Vec<forecast::Horizon>,
    /// The targets of each horizon.
    pub targets: Vec<Targets>,
    /// The mean length of each horizon along the input.
    pub lengths: Vec<f64>,
    /// The unit in which horizons are written.
    pub unit: LengthUnit,
}

/// Forecasts that cannot be scored.
#[derive(Debug, Error)]
pub enum RollingError {
    /// The table has no row after the last row of the fit.
    #[error("no row is after the last row of the model, so there is no forecast to score")]
    NothingLater,
    /// A horizon that is a duration along an input of numbers.
    #[error("a horizon is a duration, but the input holds numbers; give numbers of steps")]
    NeedsTime,
    /// The rows have no step.
    #[error(transparent)]
    Ahead(#[from] AheadError),
    /// The fit cannot forecast.
    #[error(transparent)]
    Fit(#[from] FitError),
}

/// Scores forecasts of a table whose rows after the last row of the fit are the origins and targets; `input` is the only input of
/// the fit. Parameters stay fixed, and each forecast is conditioned on all rows up to its origin.
///
/// # Errors
/// See [`RollingError`].
pub fn rolling_scores(
    fit: &Fit,
    input: &Input,
    table: &Dataset,
    options: &RollingOptions,
) -> Result<RollingScores, RollingError> {
    let later = later_rows(fit, table)?.ok_or(RollingError::NothingLater)?;
    let steps = RowSteps::new(input, fit)?;
    let season = options.season;
    let lengths: Vec<f64> =
        options.horizons.iter().map(|horizon| steps.length(*horizon)).collect::<Result<_, _>>()?;
    let rolling = Rolling {
        first: fit.table().n_rows(),
        every: options.every,
        origins: usize::MAX,
        horizons: lengths.clone(),
        season: season.map(|season| steps.length(season)).transpose()?,
        interval: options.interval,
    };
    let shifts = Shifts {
        target: &|origin, at| steps.after(origin, options.horizons[at], 1),
        before: &|target, seasons| steps.after(target, season?, -seasons),
    };
    let (scores, targets) = rolling_with(fit, &later, &rolling, &shifts)?;
    Ok(RollingScores { scores, targets, lengths, unit: steps.unit })
}

/// Steps of the rows of a model: along its calendar, or lengths along its input.
struct RowSteps<'a> {
    stepping: Option<Stepping<'a>>,
    /// The step along numbers.
    step: f64,
    unit: LengthUnit,
}

impl<'a> RowSteps<'a> {
    fn new(input: &'a Input, fit: &Fit) -> Result<Self, RollingError> {
        let values = fit.table().inputs().values();
        let median = median_gap_within_groups(fit.table().inputs());
        let stepping = input.time.as_ref().map(|axis| Stepping::new(axis, values, median, None));
        let stepping = stepping.transpose()?;
        // Steps of a calendar are counted in its units, also along elapsed time.
        let unit = match stepping.as_ref().map(|stepping| stepping.step) {
            Some(Step::Months(_)) => LengthUnit::Months,
            Some(Step::BusinessDays(_)) => LengthUnit::BusinessDays,
            _ => LengthUnit::of(input),
        };
        Ok(Self { stepping, step: median.unwrap_or(1.0), unit })
    }

    /// The mean length of a horizon.
    fn length(&self, horizon: Horizon) -> Result<f64, RollingError> {
        match (horizon, &self.stepping) {
            (Horizon::Steps(steps), Some(stepping)) => Ok(steps as f64 * stepping.step.seconds()),
            (Horizon::Steps(steps), None) => Ok(steps as f64 * self.step),
            (Horizon::Along(step), Some(_)) => Ok(step.seconds()),
            (Horizon::Along(_), None) => Err(RollingError::NeedsTime),
        }
    }

    /// The time a number of horizons after another.
    fn after(&self, time: f64, horizon: Horizon, times: i64) -> Option<f64> {
        match (horizon, &self.stepping) {
            (Horizon::Steps(steps), Some(stepping)) => {
                stepping.after(time, stepping.step, times * i64::try_from(steps).ok()?)
            }
            (Horizon::Along(step), Some(stepping)) => stepping.after(time, step, times),
            (Horizon::Steps(steps), None) => Some(time + times as f64 * steps as f64 * self.step),
            (Horizon::Along(_), None) => None,
        }
    }
}
