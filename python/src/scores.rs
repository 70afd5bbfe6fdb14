//! Scores of single cells; Python averages them.

use catena_fit::normal::{log_density, quantile};
use catena_fit::scores::normal_crps;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::failure::Failure;

type Scores<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<bool>>);

/// For each cell under a normal distribution: log density, continuous ranked probability score, and whether it is inside
/// the central interval of probability `level`.
#[pyfunction]
pub(crate) fn cell_scores<'py>(
    py: Python<'py>,
    truth: PyReadonlyArray1<'_, f64>,
    mean: PyReadonlyArray1<'_, f64>,
    deviation: PyReadonlyArray1<'_, f64>,
    level: f64,
) -> PyResult<Scores<'py>> {
    let (truth, mean, deviation) = (truth.as_array(), mean.as_array(), deviation.as_array());
    if truth.len() != mean.len() || truth.len() != deviation.len() {
        return Err(
            Failure::Input("truth, mean and std must have the same number of cells".to_owned()).into()
        );
    }
    let reach = quantile(0.5 + 0.5 * level);
    let (mut log_densities, mut crps, mut inside) = (vec![], vec![], vec![]);
    for ((truth, mean), deviation) in truth.iter().zip(mean).zip(deviation) {
        log_densities.push(log_density(*truth, *mean, *deviation));
        crps.push(normal_crps(*truth, *mean, *deviation));
        inside.push((truth - mean).abs() <= reach * deviation);
    }
    Ok((log_densities.into_pyarray(py), crps.into_pyarray(py), inside.into_pyarray(py)))
}
