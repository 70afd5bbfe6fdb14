//! One sweep with given parameters: posterior, log evidence and its gradient, as numpy arrays.

use catena::kernel::StateKind;
use catena::model::{Latent, Lmc, MixingMatrix, ModelError};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_fit::methods::{Differentiable, Evidence, MessagePassing, Method};
use catena_fit::{FitError, KernelPair, MethodError, Quantity, Ties};
use catena_methods::{Gradient, Problem};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, table, vector};
use crate::failure::Failure;
use crate::structure::Structure;
use crate::threads::computed;

/// Posterior means and variances of the latent function, log evidence and its gradient.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a model, a table and a structure, as Python has them")]
pub(crate) fn sweep<'py>(
    py: Python<'py>,
    inputs: PyReadonlyArray2<'_, f64>,
    values: PyReadonlyArray2<'_, f64>,
    mixing: PyReadonlyArray2<'_, f64>,
    length_scales: Vec<f64>,
    noise: Vec<f64>,
    kernel: &str,
    structure: Option<Bound<'_, Structure>>,
    with_gradient: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let dataset = arrays::dataset(&inputs, &values)?;
    let (n_outputs, n_latents) = (mixing.shape()[0], mixing.shape()[1]);
    let kernel: KernelPair = kernel.parse().map_err(Failure::input)?;
    let model = model(n_outputs, arrays::to_rows(&mixing), &length_scales, &noise, kernel)?;
    let tree = structure.map(|given| given.get().tree());
    // As `catena.structures` builds it.
    let method = MessagePassing { tree, ties: Ties::ByRow, ..MessagePassing::default() };
    let (prediction, log_evidence, gradient) = computed(py, || -> Result<_, MethodError> {
        let problem = Problem::new(&model, &dataset, DistanceScale::ONE)?;
        let fitted = method.fit(problem)?;
        // The sweep for the rows has the log evidence too.
        let prediction = fitted.predict_rows(Quantity::Function)?;
        let evidence = fitted.evidence()?.map_or(f64::NAN, Evidence::get);
        let gradient = with_gradient.then(|| method.gradient(problem)).transpose()?;
        Ok((prediction, evidence, gradient))
    })?;
    let result = PyDict::new(py);
    result.set_item("log_evidence", log_evidence)?;
    result.set_item("mean", table(py, prediction.means().to_vec(), n_outputs)?)?;
    result.set_item("variance", table(py, prediction.variances().to_vec(), n_outputs)?)?;
    if let Some(Gradient { mixing, length_scales, noise, .. }) = gradient {
        result.set_item("mixing", table(py, mixing, n_latents)?)?;
        result.set_item("length_scales", vector(py, length_scales))?;
        result.set_item("noise", vector(py, noise))?;
    }
    Ok(result)
}

fn model(
    n_outputs: usize,
    mixing: Vec<f64>,
    length_scales: &[f64],
    noise: &[f64],
    kernel: KernelPair,
) -> Result<Lmc, Failure> {
    // The method replaces the state kind by the one that suits the structure.
    let latent = |length: &f64| -> Result<Latent, ModelError> {
        Ok(Latent::new(kernel.shared, StateKind::Value, LengthScale::new(*length)?)?)
    };
    let built = || -> Result<Lmc, ModelError> {
        let latents = length_scales.iter().map(latent).collect::<Result<Vec<_>, _>>()?;
        let mixing = MixingMatrix::shared(n_outputs, length_scales.len(), mixing)?;
        let noise = noise.iter().map(|variance| Variance::new(*variance)).collect::<Result<Vec<_>, _>>()?;
        Lmc::new(latents, mixing, noise)
    };
    built().map_err(|error| FitError::from(error).into())
}
