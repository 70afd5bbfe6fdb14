//! A fit as a Python object.

use std::path::PathBuf;

use catena_fit::parts::PlainModel;
use catena_fit::{
    Fit, FitParts, LiveFit, Point, Predictive, Quantity, StructureOption, Summary, UnknownWord,
};
use catena_store::{About, Parameters};
use numpy::{PyArray1, PyArray3, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::about::{GroupedRows, clocks, with_groups};
use crate::arrays::{self, Table, table, vector};
use crate::failure::Failure;
use crate::live::Live;
use crate::parts::written;
use crate::structure::Structure;
use crate::threads::computed;
use crate::times::ClockParts;

/// A fitted model with the names of its table; the public class is `catena.MultiOutputGP`.
#[pyclass(frozen, module = "catena._catena")]
pub(crate) struct Model {
    fit: Fit,
    about: About,
}

type Cube<'py> = Bound<'py, PyArray3<f64>>;

impl Model {
    pub(crate) fn new(fit: Fit, about: About) -> Self {
        Self { fit, about }
    }

    pub(crate) fn parts(&self) -> (&Fit, &About) {
        (&self.fit, &self.about)
    }

    pub(crate) fn n_outputs(&self) -> usize {
        self.about.outputs.len()
    }

    /// Predictive distributions at given points, or at the rows of the table.
    pub(crate) fn predictive(
        &self,
        py: Python<'_>,
        (at, groups): (Option<PyReadonlyArray2<'_, f64>>, Option<Vec<usize>>),
        include_noise: bool,
    ) -> Result<Predictive, Failure> {
        let quantity = quantity(include_noise);
        let at = at.as_ref().map(|at| arrays::points_in(at, groups)).transpose()?;
        computed(py, || match &at {
            Some(at) => self.fit.predict(at, quantity),
            None => self.fit.predict_rows(quantity),
        })
    }
}

/// The predicted quantity.
pub(crate) fn quantity(include_noise: bool) -> Quantity {
    if include_noise { Quantity::Observation } else { Quantity::Function }
}

/// The value that stands for a predictive distribution.
pub(crate) fn point_of(text: &str) -> Result<Point, Failure> {
    text.parse().map_err(|error: UnknownWord| Failure::Input(format!("point={text:?} is unknown; {error}")))
}

#[pymethods]
impl Model {
    /// Means or medians, and standard deviations, n×D each; `groups` are those of the points.
    #[pyo3(signature = (at, include_noise, point, groups=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        at: Option<PyReadonlyArray2<'_, f64>>,
        include_noise: bool,
        point: &str,
        groups: Option<Vec<usize>>,
    ) -> PyResult<(Table<'py>, Table<'py>)> {
        let point = point_of(point)?;
        let predictive = self.predictive(py, (at, groups), include_noise)?;
        let (points, deviations) = py.detach(|| predictive.into_points_and_deviations(point));
        Ok((table(py, points, self.n_outputs())?, table(py, deviations, self.n_outputs())?))
    }

    /// Sentences about filled values beyond limits that no observed value crosses.
    fn beyond_limits(&self, py: Python<'_>, point: &str) -> PyResult<Vec<String>> {
        let point = point_of(point)?;
        let predictive = self.predictive(py, (None, None), true)?;
        Ok(py.detach(|| self.fit.beyond_limits(&predictive, point)))
    }

    /// Means, and lower and upper ends of the central interval of probability `level`, n×D each; `groups` are those of the points.
    #[pyo3(signature = (at, level, include_noise, groups=None))]
    fn interval<'py>(
        &self,
        py: Python<'py>,
        at: Option<PyReadonlyArray2<'_, f64>>,
        level: f64,
        include_noise: bool,
        groups: Option<Vec<usize>>,
    ) -> PyResult<(Table<'py>, Table<'py>, Table<'py>)> {
        let predictive = self.predictive(py, (at, groups), include_noise)?;
        let n_cells = predictive.n_rows() * predictive.n_outputs();
        let ends = |share: f64| (0..n_cells).map(|at| predictive.quantile(at, share)).collect::<Vec<f64>>();
        let (lower, upper) = py.detach(|| (ends(0.5 - 0.5 * level), ends(0.5 + 0.5 * level)));
        let rows = |values| table(py, values, self.n_outputs());
        Ok((rows(predictive.means())?, rows(lower)?, rows(upper)?))
    }

    /// Covariances of the outputs at each point, n×D×D; `groups` are those of the points.
    #[pyo3(signature = (at, include_noise, groups=None))]
    fn covariances<'py>(
        &self,
        py: Python<'py>,
        at: PyReadonlyArray2<'_, f64>,
        include_noise: bool,
        groups: Option<Vec<usize>>,
    ) -> PyResult<Cube<'py>> {
        let at = arrays::points_in(&at, groups)?;
        let numbers = computed(py, || self.fit.covariances(&at, quantity(include_noise)))?;
        let n_outputs = self.n_outputs();
        vector(py, numbers).reshape([at.n_rows(), n_outputs, n_outputs])
    }

    /// Joint samples, n_draws×n×D; `groups` are those of the points.
    #[pyo3(signature = (at, n_draws, seed, include_noise, groups=None))]
    fn draws<'py>(
        &self,
        py: Python<'py>,
        at: PyReadonlyArray2<'_, f64>,
        n_draws: usize,
        seed: u64,
        include_noise: bool,
        groups: Option<Vec<usize>>,
    ) -> PyResult<Cube<'py>> {
        let at = arrays::points_in(&at, groups)?;
        let numbers = computed(py, || self.fit.draws(&at, quantity(include_noise), n_draws, seed))?;
        vector(py, numbers).reshape([n_draws, at.n_rows(), self.n_outputs()])
    }

    /// The log evidence; some methods compute it only here.
    fn log_evidence(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(computed(py, || self.fit.log_evidence())?)
    }

    /// The same parameters with more rows; `groups` are those of the new rows, with the names of all.
    #[pyo3(signature = (inputs, values, groups=None))]
    fn with_more_rows(
        &self,
        py: Python<'_>,
        inputs: PyReadonlyArray2<'_, f64>,
        values: PyReadonlyArray2<'_, f64>,
        groups: Option<GroupedRows>,
    ) -> PyResult<Self> {
        let more =
            arrays::dataset_in(&inputs, &values, groups.as_ref().map(|(_, _, of_row)| of_row.clone()))?;
        let fit = computed(py, || self.fit.with_more_rows(&more))?;
        Ok(Self { fit, about: with_groups(&self.about, groups) })
    }

    /// The same parameters on other rows; `groups` are as for `with_more_rows`.
    #[pyo3(signature = (inputs, values, groups=None))]
    fn on_rows(
        &self,
        py: Python<'_>,
        inputs: PyReadonlyArray2<'_, f64>,
        values: PyReadonlyArray2<'_, f64>,
        groups: Option<GroupedRows>,
    ) -> PyResult<Self> {
        let of_row = groups.as_ref().map(|(_, _, of_row)| of_row.clone());
        let table = arrays::dataset_in(&inputs, &values, of_row)?;
        let parts = FitParts { table, ..self.fit.parts().clone() };
        let fit = computed(py, || Fit::from_parts(parts))?;
        Ok(Self { fit, about: with_groups(&self.about, groups) })
    }

    /// A live posterior of this model.
    fn live(&self, py: Python<'_>) -> PyResult<Live> {
        let fit = computed(py, || LiveFit::new(&self.fit))?;
        Ok(Live::new(fit, self.about.outputs.clone()))
    }

    /// The inputs of the table, n×M.
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Table<'py>> {
        let inputs = self.fit.table().inputs();
        table(py, inputs.values().to_vec(), inputs.dim())
    }

    /// The columns of groups, the names of each group, and the group of each row; `None` for one table.
    fn groups(&self) -> Option<GroupedRows> {
        let known = self.about.groups.as_ref()?;
        let of_row = self.fit.table().inputs().groups()?.iter().map(|group| group.get()).collect();
        Some((known.columns.clone(), known.names.clone(), of_row))
    }

    /// The values of the table, n×D, NaN where missing.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Table<'py>> {
        let observations = self.fit.table().observations();
        table(py, observations.to_dense(), observations.n_outputs())
    }

    /// Mixing, length-scales (L, or L×M for several inputs), noise and kernels in the user's units.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Summary { latents, outputs, mixing, .. } = self.fit.summary();
        let length_scales: Vec<f64> =
            latents.iter().flat_map(|latent| latent.length_scales.iter().copied()).collect();
        let dim = self.about.inputs.len();
        let noise = outputs.iter().map(|output| output.noise_deviation.powi(2)).collect();
        let kernel = match self.fit.kernels() {
            Some(kernel) => format!("{}/{}", kernel.shared.name(), kernel.private.name()),
            // The components of each latent, in the order of the columns.
            None => latents.iter().map(|latent| latent.kernel.as_str()).collect::<Vec<_>>().join(","),
        };
        let parameters = PyDict::new(py);
        parameters.set_item("mixing", table(py, mixing.clone(), latents.len())?)?;
        if dim == 1 {
            parameters.set_item("length_scales", vector(py, length_scales))?;
        } else {
            parameters.set_item("length_scales", table(py, length_scales, dim)?)?;
        }
        parameters.set_item("noise", vector(py, noise))?;
        parameters.set_item("kernel", kernel)?;
        parameters.set_item("has_private", self.fit.parts().model.mixing().has_private())?;
        Ok(parameters)
    }

    /// All parameters in the user's units as JSON, to be given to a fit.
    fn written_parameters(&self) -> PyResult<String> {
        let parameters = Parameters::of(&self.fit).ok_or_else(|| {
            Failure::Input(
                "the parameters of this model cannot be written as JSON; save the model instead".to_owned(),
            )
        })?;
        Ok(parameters.to_text(self.about.is_time()))
    }

    /// The scale of each output, in which errors of several outputs are compared.
    fn output_scales<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.fit.parts().preparation.outputs.iter().map(|output| output.scale).collect())
    }

    /// The summary of the fit as JSON.
    fn summary_json(&self) -> String {
        serde_json::to_string(self.fit.summary()).unwrap_or_default()
    }

    /// The summary of the fit as text.
    fn summary_text(&self) -> String {
        self.fit.summary().to_text(&self.about.length_unit().writer())
    }

    /// The structure of the fit; `None` for methods without one.
    fn structure(&self, py: Python<'_>) -> PyResult<Option<Structure>> {
        Ok(computed(py, || Structure::of_fit(&self.fit))?)
    }

    /// The report page; `held_out` are true values of held-out cells, n×D.
    fn page(
        &self,
        py: Python<'_>,
        title: &str,
        held_out: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<String> {
        let held_out = held_out.as_ref().map(arrays::to_rows).unwrap_or_default();
        Ok(computed(py, || catena_store::page(title, &self.fit, &self.about, &held_out))?)
    }

    /// Names of inputs and outputs, clocks of the inputs, and the notes of the Python package as JSON.
    fn notes(&self) -> (Vec<String>, Vec<Option<ClockParts>>, Vec<String>, Option<String>) {
        let About { inputs, outputs, caller, .. } = &self.about;
        let names = inputs.iter().map(|input| input.name.clone()).collect();
        (names, clocks(&self.about), outputs.clone(), caller.as_ref().map(ToString::to_string))
    }

    /// The method, structure and seed of the fit.
    fn made_with(&self) -> (String, String, u64) {
        let parts = self.fit.parts();
        (parts.method.to_string(), parts.structure.to_string(), parts.seed)
    }

    /// The parameters and the change of units, each as JSON, for partitions of a table.
    fn plain(&self) -> PyResult<(String, String)> {
        let parts = self.fit.parts();
        Ok((written(&PlainModel::of(&parts.model))?, written(&parts.preparation)?))
    }

    /// Whether the model uses message passing on a chain.
    fn is_chain(&self) -> bool {
        let parts = self.fit.parts();
        let is_own = parts.method.is_message_passing();
        let is_line = parts.table.inputs().dim() == 1;
        let is_chain = match parts.structure {
            StructureOption::Auto => is_line,
            StructureOption::Chain => true,
            _ => false,
        };
        is_own && is_chain && parts.candidates.is_none()
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = computed(py, || catena_store::to_bytes(&self.fit, &self.about))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The model from the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let opened = computed(py, || catena_store::from_bytes(bytes))?;
        Ok(Self { fit: opened.fit, about: opened.about })
    }

    /// Writes a model file atomically.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(computed(py, || catena_store::save(&self.fit, &self.about, &path))?)
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = computed(py, || catena_store::load(&path))?;
        Ok(Self { fit: opened.fit, about: opened.about })
    }
}
