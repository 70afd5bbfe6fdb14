//! Converts numpy arrays. A table is copied once, when it is read; results are not copied.

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::GroupIndex;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::failure::Failure;

/// A table that Python owns.
pub(crate) type Table<'py> = Bound<'py, PyArray2<f64>>;

/// The numbers of an array, row by row.
pub(crate) fn to_rows(array: &PyReadonlyArray2<'_, f64>) -> Vec<f64> {
    match array.as_slice() {
        Ok(numbers) => numbers.to_vec(),
        Err(_) => array.as_array().iter().copied().collect(),
    }
}

/// Inputs, n×M.
pub(crate) fn points(array: &PyReadonlyArray2<'_, f64>) -> Result<InputPoints, Failure> {
    let (n_rows, dim) = (array.shape()[0], array.shape()[1]);
    Ok(InputPoints::new(n_rows, dim, to_rows(array))?)
}

/// Inputs, n×M, with the group of each row, if there are any.
pub(crate) fn points_in(
    array: &PyReadonlyArray2<'_, f64>,
    groups: Option<Vec<usize>>,
) -> Result<InputPoints, Failure> {
    let points = points(array)?;
    match groups {
        None => Ok(points),
        Some(groups) => Ok(points.with_groups(groups.into_iter().map(GroupIndex::new).collect())?),
    }
}

/// A table with the group of each row, if there are any.
pub(crate) fn dataset_in(
    inputs: &PyReadonlyArray2<'_, f64>,
    values: &PyReadonlyArray2<'_, f64>,
    groups: Option<Vec<usize>>,
) -> Result<Dataset, Failure> {
    let plain = dataset(inputs, values)?;
    match groups {
        None => Ok(plain),
        Some(groups) => Ok(Dataset::new(points_in(inputs, Some(groups))?, plain.observations().clone())?),
    }
}

/// A table of n×M inputs and n×D values, NaN where missing.
pub(crate) fn dataset(
    inputs: &PyReadonlyArray2<'_, f64>,
    values: &PyReadonlyArray2<'_, f64>,
) -> Result<Dataset, Failure> {
    let (n_rows, n_outputs) = (values.shape()[0], values.shape()[1]);
    let observations = match values.as_slice() {
        Ok(numbers) => Observations::from_dense(n_rows, n_outputs, numbers)?,
        Err(_) => Observations::from_dense(n_rows, n_outputs, &to_rows(values))?,
    };
    Ok(Dataset::new(points(inputs)?, observations)?)
}

/// Numbers as a table of `columns` columns.
pub(crate) fn table(py: Python<'_>, numbers: Vec<f64>, columns: usize) -> PyResult<Table<'_>> {
    let rows = numbers.len() / columns.max(1);
    numbers.into_pyarray(py).reshape([rows, columns])
}

/// Numbers as a vector.
pub(crate) fn vector(py: Python<'_>, numbers: Vec<f64>) -> Bound<'_, PyArray1<f64>> {
    numbers.into_pyarray(py)
}
