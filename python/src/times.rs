//! Converts times and durations to numbers and back.

use catena_io::time::{Instant, TimeAxis, TimeStyle};
use catena_io::units::Duration;
use catena_store::length_text;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::failure::Failure;

fn axis(origin_seconds: i64) -> TimeAxis {
    TimeAxis { origin_seconds, style: TimeStyle::default() }
}

/// Nanoseconds since 1970 as seconds after `origin` (by default their earliest whole second), and the origin.
#[pyfunction]
#[pyo3(signature = (nanoseconds, origin=None))]
pub(crate) fn numbers_of<'py>(
    py: Python<'py>,
    nanoseconds: PyReadonlyArray1<'py, i64>,
    origin: Option<i64>,
) -> (Bound<'py, PyArray1<f64>>, i64) {
    let instants = nanoseconds.as_array();
    let earliest = || instants.iter().min().map_or(0, |earliest| earliest.div_euclid(1_000_000_000));
    let axis = axis(origin.unwrap_or_else(earliest));
    let number = |ns: &i64| axis.number_of(Instant::from_nanoseconds(i128::from(*ns)));
    let numbers: Vec<f64> = instants.iter().map(number).collect();
    (numbers.into_pyarray(py), axis.origin_seconds)
}

/// Seconds after `origin` as nanoseconds since 1970.
#[pyfunction]
pub(crate) fn instants_of<'py>(
    py: Python<'py>,
    numbers: PyReadonlyArray1<'py, f64>,
    origin: i64,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let axis = axis(origin);
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

/// The seconds of a duration such as `48h`.
#[pyfunction]
pub(crate) fn duration_seconds(text: &str) -> PyResult<f64> {
    Ok(text.parse::<Duration>().map_err(Failure::input)?.seconds())
}

/// Seconds as a duration such as `2d`.
#[pyfunction]
pub(crate) fn seconds_text(seconds: f64) -> String {
    length_text(true, seconds)
}

/// The median positive difference of neighboring inputs; `None` if all inputs are equal.
#[pyfunction]
pub(crate) fn median_gap(places: PyReadonlyArray1<'_, f64>) -> Option<f64> {
    let places: Vec<f64> = places.as_array().iter().copied().collect();
    catena_fit::preparation::median_gap(&places)
}
