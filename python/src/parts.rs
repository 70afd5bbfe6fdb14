//! Partitioned tables: computations within a partition, and learning from the summaries of all partitions.
//!
//! Messages between processes are JSON (census, units, parameters) or bytes (segment summaries and messages).

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use catena::index::RowIndex;
use catena::inference::{Future, Gradient, Past, Summary, surroundings as around};
use catena::model::Lmc;
use catena_fit::parts::{Census, Counted, EvidenceFailure, Gathered, Outline as Draft, Part, PlainModel};
use catena_fit::{Event, FitMonitor, PowerTransform, Preparation, Quantity, parts};
use catena_store::About;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::about::TableNotes;
use crate::arrays::{self, Table, table, vector};
use crate::failure::Failure;
use crate::fitting::{concluded, watched};
use crate::model::{Model, point_of};
use crate::options::RequestedOptions;

/// A value as JSON.
pub(crate) fn written(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map_err(|error| Failure::Numerical(format!("a value is not finite: {error}")))
}

/// A value from JSON.
fn read<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Input(format!("this is not {what}: {error}")))
}

fn read_model(text: &str) -> Result<Lmc, Failure> {
    let plain: PlainModel = read(text, "a model")?;
    plain.model().ok_or_else(|| Failure::Input("invalid model parameters".to_owned()))
}

fn read_rows(rows: &PyReadonlyArray1<'_, i64>) -> Result<Vec<RowIndex>, Failure> {
    let row = |&row: &i64| usize::try_from(row).map(RowIndex::new);
    let rows: Result<Vec<RowIndex>, _> = rows.as_array().iter().map(row).collect();
    rows.map_err(|_| Failure::Input("a row index is negative".to_owned()))
}

/// Counts, ranges and moments of some rows, as JSON; `powers` are the transforms of [`Outline::powers`], or `[]`.
#[pyfunction]
pub(crate) fn census(
    py: Python<'_>,
    inputs: PyReadonlyArray2<'_, f64>,
    values: PyReadonlyArray2<'_, f64>,
    powers: &str,
) -> PyResult<String> {
    let rows = arrays::dataset(&inputs, &values)?;
    let powers: Vec<PowerTransform> = read(powers, "the transforms")?;
    Ok(written(&py.detach(|| Census::of_transformed(&rows, &powers)).map_err(Failure::from)?)?)
}

/// The census of all partitions together.
#[pyfunction]
pub(crate) fn merged_census(parts: Vec<String>) -> PyResult<String> {
    let mut whole: Option<Census> = None;
    for part in &parts {
        let part: Census = read(part, "a census")?;
        whole = Some(match whole {
            None => part,
            Some(whole) => whole.merge(&part).map_err(Failure::from)?,
        });
    }
    let whole = whole.ok_or_else(|| Failure::Input("there are no partitions".to_owned()))?;
    Ok(written(&whole)?)
}

/// The order in which a chain from row `first` visits the rows; ascending for a single input.
#[pyfunction]
pub(crate) fn chain_order<'py>(
    py: Python<'py>,
    inputs: PyReadonlyArray2<'_, f64>,
    first: usize,
    preparation: &str,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (points, units) = (arrays::points(&inputs)?, read::<Preparation>(preparation, "a change of units")?);
    let order = py.detach(|| parts::chain_order(&points, RowIndex::new(first), &units));
    let rows: Vec<i64> = order.map_err(Failure::from)?.iter().map(|row| row.get() as i64).collect();
    Ok(numpy::IntoPyArray::into_pyarray(rows, py))
}

/// The log evidence of a chain, and the messages into each segment from both sides, from the summaries of all segments.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "a tuple for Python to unpack")]
pub(crate) fn surroundings<'py>(
    py: Python<'py>,
    summaries: Vec<Vec<u8>>,
) -> PyResult<(f64, Vec<(Option<Bound<'py, PyBytes>>, Option<Bound<'py, PyBytes>>)>)> {
    let found = py.detach(|| {
        let summaries: Result<Vec<Summary>, _> =
            summaries.iter().map(|bytes| Summary::from_bytes(bytes)).collect();
        around(&summaries?)
    });
    let (log_evidence, around) = found.map_err(Failure::input)?;
    let bytes = |bytes: Vec<u8>| PyBytes::new(py, &bytes);
    let of_one = |one: &catena::inference::Surroundings| {
        (
            one.past.as_ref().map(|past| bytes(past.to_bytes())),
            one.future.as_ref().map(|future| bytes(future.to_bytes())),
        )
    };
    Ok((log_evidence, around.iter().map(of_one).collect()))
}

/// A segment of a chain with its rows.
#[pyclass(frozen, module = "catena._catena")]
pub(crate) struct Segment {
    part: Part,
}

type Around = (Option<Vec<u8>>, Option<Vec<u8>>);

fn read_around((past, future): &Around) -> Result<(Option<Past>, Option<Future>), Failure> {
    let past = past.as_ref().map(|bytes| Past::from_bytes(bytes)).transpose().map_err(Failure::input)?;
    let future =
        future.as_ref().map(|bytes| Future::from_bytes(bytes)).transpose().map_err(Failure::input)?;
    Ok((past, future))
}

fn counted(distinct: bool) -> Counted {
    if distinct { Counted::Distinct } else { Counted::All }
}

#[pymethods]
impl Segment {
    /// Builds a segment over rows in this order; `before` is the point to which it is joined.
    #[new]
    #[pyo3(signature = (inputs, values, order, before, preparation))]
    fn new(
        py: Python<'_>,
        inputs: PyReadonlyArray2<'_, f64>,
        values: PyReadonlyArray2<'_, f64>,
        order: PyReadonlyArray1<'_, i64>,
        before: Option<Vec<f64>>,
        preparation: &str,
    ) -> PyResult<Self> {
        let (rows, order) = (arrays::dataset(&inputs, &values)?, read_rows(&order)?);
        let units: Preparation = read(preparation, "a change of units")?;
        let part = py.detach(|| Part::new(&rows, order, before.as_deref(), &units));
        Ok(Self { part: part.map_err(Failure::from)? })
    }

    /// The length of the edge into each position, in model units.
    fn steps<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.part.steps().to_vec())
    }

    /// The term that converts the log evidence to the caller's units.
    fn log_volume(&self) -> f64 {
        self.part.log_volume()
    }

    /// Sums and counts of products of outputs, D×D each.
    fn sums<'py>(&self, py: Python<'py>) -> PyResult<(Table<'py>, Table<'py>)> {
        let (sums, counts) = self.part.sums();
        let n_outputs = self.part.n_outputs();
        Ok((table(py, sums.to_vec(), n_outputs)?, table(py, counts.to_vec(), n_outputs)?))
    }

    /// The summary of the segment under a model; `distinct` ignores exact copies of cells.
    fn summary<'py>(&self, py: Python<'py>, model: &str, distinct: bool) -> PyResult<Bound<'py, PyBytes>> {
        let model = read_model(model)?;
        let bytes = py.detach(|| Ok(self.part.summary(&model, counted(distinct))?.to_bytes()));
        Ok(PyBytes::new(py, &bytes.map_err(|error: catena_fit::FitError| Failure::from(error))?))
    }

    /// The segment's contribution to the log evidence and its gradient: log evidence, mixing, length-scales, shapes, noise.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        model: &str,
        around: Around,
        distinct: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (model, (past, future)) = (read_model(model)?, read_around(&around)?);
        let share = py
            .detach(|| self.part.gradient(&model, counted(distinct), past.as_ref(), future.as_ref()))
            .map_err(Failure::from)?;
        let Gradient { log_evidence, mixing, length_scales, shapes, noise } = share;
        Ok(vector(py, [vec![log_evidence], mixing, length_scales, shapes, noise].concat()))
    }

    /// Means or medians, and standard deviations at the rows, n×D each, in the caller's units.
    fn posterior<'py>(
        &self,
        py: Python<'py>,
        model: &str,
        around: Around,
        include_noise: bool,
        point: &str,
    ) -> PyResult<(Table<'py>, Table<'py>)> {
        let point = point_of(point)?;
        let (model, (past, future)) = (read_model(model)?, read_around(&around)?);
        let quantity = if include_noise { Quantity::Observation } else { Quantity::Function };
        let (points, deviations) = py
            .detach(|| {
                let found = self.part.posterior(&model, past.as_ref(), future.as_ref(), quantity)?;
                Ok(found.into_points_and_deviations(point))
            })
            .map_err(|error: catena_fit::FitError| Failure::from(error))?;
        let n_outputs = self.part.n_outputs();
        Ok((table(py, points, n_outputs)?, table(py, deviations, n_outputs)?))
    }

    fn __len__(&self) -> usize {
        self.part.n_rows()
    }
}

/// The model family for a partitioned table.
#[pyclass(frozen, module = "catena._catena")]
pub(crate) struct Outline {
    draft: Draft,
    about: About,
}

/// The number of rows on which candidates are compared.
#[pyfunction]
pub(crate) fn rows_to_compare(
    n_rows: usize,
    n_inputs: usize,
    n_outputs: usize,
    options: RequestedOptions<'_>,
) -> PyResult<usize> {
    Ok(parts::rows_to_compare(n_rows, n_inputs, n_outputs, &options.into_options(&[], &[])?))
}

#[pymethods]
impl Outline {
    /// Selects the options that are not given, on a sample of the table; returns `True` if Ctrl-C interrupted it.
    #[staticmethod]
    fn chosen(
        py: Python<'_>,
        inputs: PyReadonlyArray2<'_, f64>,
        values: PyReadonlyArray2<'_, f64>,
        census: &str,
        options: RequestedOptions<'_>,
        notes: TableNotes,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Self, bool)> {
        let (sample, census) = (arrays::dataset(&inputs, &values)?, read::<Census>(census, "a census")?);
        let about = notes.into_about()?;
        let names: Vec<String> = about.inputs.iter().map(|input| input.name.clone()).collect();
        let options = options.into_options(&names, &about.outputs)?;
        let options = about.completed(options);
        let job = |monitor: &FitMonitor<'_>| Draft::new(&sample, &census, &options, monitor);
        let (draft, interrupted) = concluded(py, watched(py, job, progress.as_ref()))?;
        Ok((Self { draft, about }, interrupted))
    }

    /// The transforms with learned exponents as JSON, for a second census; `[]` if the first is enough.
    fn powers(&self) -> PyResult<String> {
        Ok(written(&self.draft.powers())?)
    }

    /// The units of the whole table as JSON; `gap` is the median spacing of a single input.
    fn preparation(&self, census: &str, gap: Option<f64>) -> PyResult<String> {
        let census: Census = read(census, "a census")?;
        Ok(written(&self.draft.preparation(&census, gap).map_err(Failure::from)?)?)
    }

    /// Learns the parameters with `evidence(model)`, which returns the numbers of `Segment.gradient` for the whole table, or uses
    /// given parameters. The fitted model keeps the sample. `gathered` has census, units, spacing, sums, counts, log volume and
    /// remarks.
    fn learn(
        &self,
        py: Python<'_>,
        inputs: PyReadonlyArray2<'_, f64>,
        values: PyReadonlyArray2<'_, f64>,
        gathered: GatheredNotes<'_>,
        evidence: Py<PyAny>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Model, bool)> {
        let sample = arrays::dataset(&inputs, &values)?;
        let gathered = gathered.read()?;
        let trouble: Mutex<Option<PyErr>> = Mutex::new(None);
        let is_lost = || trouble.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let ask = |model: &Lmc| {
            if is_lost() {
                return Err(EvidenceFailure("an earlier evaluation failed".to_owned()));
            }
            evaluated(&evidence, model).map_err(|error| {
                if is_numerical(&error) {
                    return EvidenceFailure(error.to_string());
                }
                trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                EvidenceFailure("an evaluation failed".to_owned())
            })
        };
        let job = |monitor: &FitMonitor<'_>| {
            let monitor = |event: Event| if is_lost() { ControlFlow::Break(()) } else { monitor(event) };
            self.draft.clone().learn(gathered, &sample, &ask, &monitor)
        };
        let ended = watched(py, job, progress.as_ref());
        if let Some(error) = trouble.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let (fit, interrupted) = concluded(py, ended)?;
        Ok((Model::new(fit, self.about.clone()), interrupted))
    }
}

/// Statistics of all partitions.
#[derive(FromPyObject)]
struct GatheredNotes<'py> {
    #[pyo3(item)]
    census: String,
    #[pyo3(item)]
    preparation: String,
    #[pyo3(item)]
    spacing: Option<f64>,
    #[pyo3(item)]
    sums: PyReadonlyArray2<'py, f64>,
    #[pyo3(item)]
    counts: PyReadonlyArray2<'py, f64>,
    #[pyo3(item)]
    log_volume: f64,
    #[pyo3(item)]
    remarks: Vec<String>,
}

impl GatheredNotes<'_> {
    fn read(self) -> Result<Gathered, Failure> {
        Ok(Gathered {
            census: read(&self.census, "a census")?,
            preparation: read(&self.preparation, "a change of units")?,
            spacing: self.spacing,
            sums: (arrays::to_rows(&self.sums), arrays::to_rows(&self.counts)),
            log_volume: self.log_volume,
            remarks: self.remarks,
        })
    }
}

/// Calls Python for the log evidence of a model and its gradient.
fn evaluated(evidence: &Py<PyAny>, model: &Lmc) -> PyResult<Gradient> {
    let text = written(&PlainModel::of(model))?;
    let mut numbers: Vec<f64> = Python::attach(|py| evidence.call1(py, (text,))?.extract(py))?;
    let (n_outputs, n_latents) = (model.n_outputs(), model.n_latents());
    let sizes = [1, n_outputs * n_latents, n_latents, n_latents, n_outputs];
    if numbers.len() != sizes.iter().sum::<usize>() {
        return Err(
            Failure::Input(format!("the evidence callback returned {} numbers", numbers.len())).into()
        );
    }
    let mut lists = sizes.map(|size| {
        let rest = numbers.split_off(size);
        std::mem::replace(&mut numbers, rest)
    });
    let mut next = |at: usize| std::mem::take(&mut lists[at]);
    let log_evidence = next(0)[0];
    Ok(Gradient { log_evidence, mixing: next(1), length_scales: next(2), shapes: next(3), noise: next(4) })
}

/// Whether this is a numerical failure, which ends a line search step but not the fit.
fn is_numerical(error: &PyErr) -> bool {
    Python::attach(|py| {
        let class = py.import("catena.errors").and_then(|module| module.getattr("NumericalError"));
        class.is_ok_and(|class| {
            class.cast::<PyType>().is_ok_and(|class| error.matches(py, class).unwrap_or(false))
        })
    })
}
