//! Converts times and durations to numbers and back.

use catena::data::InputPoints;
use catena::index::GroupIndex;
use catena_io::time::{
    Calendar, CalendarChoice, Grid, Horizon, Instant, MonthDay, Step, Stepping, TimeAxis, TimeStyle,
    UnknownCalendar,
};
use catena_io::units::Duration;
use catena_store::LengthUnit;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::about::zone_of;
use crate::failure::Failure;

/// Origin in Unix seconds, zone, and calendar as JSON (`None` for elapsed time).
pub(crate) type ClockParts = (i64, Option<String>, Option<String>);

/// The axis of a clock.
pub(crate) fn axis((origin_seconds, zone, calendar): ClockParts) -> Result<TimeAxis, Failure> {
    let style = TimeStyle { zone: zone_of(zone.as_deref()), separator: ' ', ..TimeStyle::default() };
    let calendar: Option<Calendar> = match calendar {
        None => None,
        Some(text) => Some(serde_json::from_str(&text).map_err(Failure::input)?),
    };
    Ok(TimeAxis { calendar, ..TimeAxis::elapsed(origin_seconds, style) })
}

/// A calendar as JSON.
pub(crate) fn calendar_text(calendar: Calendar) -> Option<String> {
    serde_json::to_string(&calendar).ok()
}

/// Nanoseconds since 1970 as numbers of a clock.
#[pyfunction]
pub(crate) fn numbers_of<'py>(
    py: Python<'py>,
    nanoseconds: PyReadonlyArray1<'py, i64>,
    clock: ClockParts,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let axis = axis(clock)?;
    let number = |(row, ns): (usize, &i64)| {
        let instant = Instant::from_nanoseconds(i128::from(*ns));
        axis.number_of(instant).ok_or_else(|| {
            Failure::Input(format!(
                "{} at row {row} is at a weekend, which the business calendar does not have; drop that row, or use \
                 calendar=\"elapsed\"",
                axis.style.print(instant)
            ))
        })
    };
    let numbers: Vec<f64> =
        nanoseconds.as_array().iter().enumerate().map(number).collect::<Result<_, _>>()?;
    Ok(numbers.into_pyarray(py))
}

/// Numbers of a clock as nanoseconds since 1970.
#[pyfunction]
pub(crate) fn instants_of<'py>(
    py: Python<'py>,
    numbers: PyReadonlyArray1<'py, f64>,
    clock: ClockParts,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let axis = axis(clock)?;
    let nanoseconds = |number: &f64| {
        let instant = axis.instant_of(*number).and_then(|instant| i64::try_from(instant.nanoseconds()).ok());
        instant.ok_or_else(|| {
            Failure::input(format!(
                "{number} seconds after the first row is outside the supported range of times"
            ))
        })
    };
    let instants: Vec<i64> = numbers.as_array().iter().map(nanoseconds).collect::<Result<_, _>>()?;
    Ok(instants.into_pyarray(py))
}

/// The calendar of times in nanoseconds since 1970, as JSON; `None` for elapsed time.
#[pyfunction]
pub(crate) fn calendar_of(
    nanoseconds: PyReadonlyArray1<'_, i64>,
    zone: Option<&str>,
    choice: &str,
) -> PyResult<Option<String>> {
    let wrong = |error: UnknownCalendar| Failure::Input(format!("calendar={choice:?} is unknown; {error}"));
    let choice: CalendarChoice = choice.parse().map_err(wrong)?;
    let style = TimeStyle { zone: zone_of(zone), ..TimeStyle::default() };
    let instants = nanoseconds.as_array();
    let instants = instants.iter().map(|ns| Instant::from_nanoseconds(i128::from(*ns)));
    let calendar = match choice {
        CalendarChoice::Elapsed => None,
        CalendarChoice::Business => Some(Calendar::Business),
        CalendarChoice::Auto | CalendarChoice::Month => match Grid::of(instants, &style) {
            Some(Grid { step: Step::Months(_), day: Some(day) }) => Some(Calendar::Month(day)),
            _ => (choice == CalendarChoice::Month).then_some(Calendar::Month(MonthDay::FIRST)),
        },
    };
    Ok(calendar.and_then(calendar_text))
}

/// The numbers of the rows after `last` up to a horizon such as `6`, `48h` or `6mo`. `places` are the rows from which a calendar
/// is inferred; without a calendar or a step, `gap` is the step.
#[pyfunction]
pub(crate) fn rows_ahead<'py>(
    py: Python<'py>,
    last: f64,
    places: PyReadonlyArray1<'py, f64>,
    gap: Option<f64>,
    clock: ClockParts,
    reach: (String, Option<String>),
    limit: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (axis, (horizon, step)) = (axis(clock)?, reach);
    let horizon: Horizon = horizon
        .parse()
        .map_err(|error| Failure::Input(format!("horizon={horizon:?} is invalid: {error}")))?;
    let step: Option<Step> = step.as_deref().map(str::parse).transpose().map_err(Failure::input)?;
    let places: Vec<f64> = places.as_array().iter().copied().collect();
    let stepping = Stepping::new(&axis, &places, gap, step).map_err(Failure::input)?;
    let rows = stepping.rows_ahead(last, horizon, limit).map_err(Failure::input)?;
    Ok(rows.numbers.into_pyarray(py))
}

/// The seconds of a duration such as `48h`.
#[pyfunction]
pub(crate) fn duration_seconds(text: &str) -> PyResult<f64> {
    Ok(text.parse::<Duration>().map_err(Failure::input)?.seconds())
}

/// Seconds as a duration such as `2d`.
#[pyfunction]
pub(crate) fn seconds_text(seconds: f64) -> String {
    LengthUnit::Duration.text(seconds)
}

/// The median positive difference of neighboring inputs, within each group if there are groups; `None` if all inputs are equal.
#[pyfunction]
#[pyo3(signature = (places, groups=None))]
pub(crate) fn median_gap(
    places: PyReadonlyArray1<'_, f64>,
    groups: Option<Vec<usize>>,
) -> PyResult<Option<f64>> {
    let places: Vec<f64> = places.as_array().iter().copied().collect();
    let Some(groups) = groups else { return Ok(catena_fit::median_gap(&places)) };
    let groups = groups.into_iter().map(GroupIndex::new).collect();
    let points = InputPoints::from_column(places).and_then(|points| points.with_groups(groups));
    Ok(catena_fit::median_gap_within_groups(&points.map_err(Failure::input)?))
}
