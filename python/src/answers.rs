//! Questions to a fit beside its predictions: quantiles, components, the noise of its cells, and which rows it has.

use catena_store::LengthUnit;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;

use crate::arrays::{self, Table, table};
use crate::model::Model;
use crate::threads::computed;

/// Quantiles of the predictive distributions, n×(D·Q), output by output; `groups` are those of the points.
#[pyfunction]
#[pyo3(signature = (model, at, shares, include_noise, groups=None))]
pub(crate) fn quantiles<'py>(
    py: Python<'py>,
    model: &Model,
    at: Option<PyReadonlyArray2<'_, f64>>,
    shares: Vec<f64>,
    include_noise: bool,
    groups: Option<Vec<usize>>,
) -> PyResult<Table<'py>> {
    let predictive = model.predictive(py, (at, groups), include_noise)?;
    let n_cells = predictive.n_rows() * predictive.n_outputs();
    let found = py.detach(|| {
        let of_cell = |at: usize| shares.iter().map(move |share| (at, *share)).collect::<Vec<_>>();
        (0..n_cells).flat_map(of_cell).map(|(at, share)| predictive.quantile(at, share)).collect()
    });
    table(py, found, model.n_outputs() * shares.len())
}

/// Names of the components of the outputs, and their means and standard deviations at points or at the rows of the table, n×(D·C)
/// each, output by output; `groups` are those of the points.
#[pyfunction]
#[pyo3(signature = (model, at, groups=None))]
pub(crate) fn components<'py>(
    py: Python<'py>,
    model: &Model,
    at: Option<PyReadonlyArray2<'_, f64>>,
    groups: Option<Vec<usize>>,
) -> PyResult<(Vec<String>, Table<'py>, Table<'py>)> {
    let (fit, about) = model.parts();
    let at = at.as_ref().map(|at| arrays::points_in(at, groups)).transpose()?;
    let length = LengthUnit::of_inputs(&about.inputs).writer();
    let found = computed(py, || fit.components(at.as_ref(), length))?;
    let width = found.n_outputs * found.names.len();
    Ok((found.names, table(py, found.means, width)?, table(py, found.deviations, width)?))
}

/// The known noise variances of the cells of a model's table, n×D and NaN where missing; `None` without any.
#[pyfunction]
pub(crate) fn cell_noise<'py>(py: Python<'py>, model: &Model) -> PyResult<Option<Table<'py>>> {
    let observations = model.parts().0.table().observations();
    if !observations.has_cell_noise() {
        return Ok(None);
    }
    let n_outputs = observations.n_outputs();
    let mut variances = vec![f64::NAN; observations.n_rows() * n_outputs];
    for (row, cell) in observations.cells() {
        variances[row.get() * n_outputs + cell.output.get()] = cell.noise_variance.unwrap_or(f64::NAN);
    }
    Ok(Some(table(py, variances, n_outputs)?))
}

/// A cell whose value differs from the one that a model has: its row, its output, and the value of the model.
type Conflict = (usize, usize, f64);

/// The rows of a table that a model does not have, with their cells that it does not have, k×D; and the first cell for which it has
/// another value. `groups` are those of the rows.
#[pyfunction]
#[pyo3(signature = (model, inputs, values, groups=None))]
pub(crate) fn new_rows<'py>(
    py: Python<'py>,
    model: &Model,
    inputs: PyReadonlyArray2<'_, f64>,
    values: PyReadonlyArray2<'_, f64>,
    groups: Option<Vec<usize>>,
) -> PyResult<(Vec<usize>, Table<'py>, Option<Conflict>)> {
    let given = arrays::dataset_in(&inputs, &values, groups)?;
    let (fit, _) = model.parts();
    let found = computed(py, || fit.new_rows(&given))?;
    let cells = found.table.map_or_else(Vec::new, |table| table.observations().to_dense());
    let conflict = found.conflict.map(|(row, output, value)| (row.get(), output.get(), value));
    let rows = found.rows.iter().map(|row| row.get()).collect();
    Ok((rows, table(py, cells, model.n_outputs())?, conflict))
}
