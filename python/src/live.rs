//! A live posterior as a Python object.

use std::sync::{Mutex, MutexGuard, PoisonError};

use catena::index::OutputIndex;
use catena_fit::{LiveFit, LiveFitError};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;

use crate::arrays::{self, Table, table};
use crate::failure::Failure;
use crate::model::{Model, point_of, quantity};
use crate::threads::on_pool;

/// From this many edited rows on, stale messages are recomputed on all threads. Every row makes at most three blocks stale, so fewer
/// rows cannot use the pool.
const MANY_ROWS: usize = 16;

/// A fitted model that takes single observations; the public class is `catena.LiveGP`.
#[pyclass(frozen, module = "catena._catena")]
pub(crate) struct Live {
    /// Locked only while Python's interpreter lock is not held.
    state: Mutex<State>,
    outputs: Vec<String>,
}

#[derive(Clone)]
struct State {
    fit: LiveFit,
    /// Rows edited since the last query.
    n_edited: usize,
    /// Positions and pairs recomputed by the last query.
    sent: (usize, usize),
}

impl State {
    /// Starts a query: recomputes stale messages in parallel if there are many.
    fn settle(&mut self) -> Result<(), Failure> {
        self.sent = (0, 0);
        if self.n_edited >= MANY_ROWS {
            on_pool(|| self.fit.refresh())?;
            self.count();
        }
        self.n_edited = 0;
        Ok(())
    }

    /// Adds the last recomputation to the counts of the query.
    fn count(&mut self) {
        let recomputed = self.fit.recomputed();
        self.sent = (self.sent.0 + recomputed.positions, self.sent.1 + recomputed.pairs);
    }

    fn log_evidence(&mut self) -> Result<f64, Failure> {
        self.settle()?;
        let log_evidence = self.fit.log_evidence()?;
        self.count();
        Ok(log_evidence)
    }
}

impl Live {
    pub(crate) fn new(fit: LiveFit, outputs: Vec<String>) -> Self {
        let state = State { n_edited: fit.n_rows(), fit, sent: (0, 0) };
        Self { state: Mutex::new(state), outputs }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error with names and options as in Python.
    fn refused(&self, error: LiveFitError) -> Failure {
        match error {
            LiveFitError::AtRow { row, cause } => match *cause {
                LiveFitError::Value { output, value, what } => {
                    let name = &self.outputs[output.get()];
                    Failure::Input(format!("output {name:?} at row {row}: the value {value} is {what}"))
                }
                other => in_python_terms(&other, &format!("row {row}: ")),
            },
            other => in_python_terms(&other, ""),
        }
    }
}

fn in_python_terms(error: &LiveFitError, before: &str) -> Failure {
    let text = match error {
        LiveFitError::NotOneStructure { method } => format!(
            "method {method} does not support streaming; fit with method=\"catena\" and structure=\"auto\", \
             \"chain\" or \"tree\", or use update"
        ),
        LiveFitError::CellNoise => {
            "the model has known noise per cell, so it does not support single observations; use update"
                .to_owned()
        }
        other => format!("{before}{other}"),
    };
    if error.is_numerical() { Failure::Numerical(text) } else { Failure::Input(text) }
}

impl From<LiveFitError> for Failure {
    fn from(error: LiveFitError) -> Self {
        in_python_terms(&error, "")
    }
}

#[pymethods]
impl Live {
    /// Sets cells, n×D with NaN for unchanged ones; returns for each row whether it was added.
    fn observe(
        &self,
        py: Python<'_>,
        inputs: PyReadonlyArray2<'_, f64>,
        values: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Vec<bool>> {
        let rows = arrays::dataset(&inputs, &values)?;
        let taken = py.detach(|| {
            let mut state = self.lock();
            state.n_edited += rows.n_rows();
            state.fit.observe_rows(&rows)
        });
        Ok(taken.map_err(|error| self.refused(error))?)
    }

    /// Adds rows, n×D with NaN where missing. After a numerical error the rows are added nevertheless.
    fn add(
        &self,
        py: Python<'_>,
        inputs: PyReadonlyArray2<'_, f64>,
        values: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<()> {
        let rows = arrays::dataset(&inputs, &values)?;
        Ok(py.detach(|| -> Result<(), Failure> {
            let mut state = self.lock();
            state.fit.add_rows(&rows).map_err(|error| self.refused(error))?;
            state.n_edited += rows.n_rows();
            state.log_evidence()?;
            Ok(())
        })?)
    }

    /// Whether there is a row at any of these inputs.
    fn knows(&self, py: Python<'_>, inputs: PyReadonlyArray2<'_, f64>) -> PyResult<bool> {
        let places = arrays::points(&inputs)?;
        Ok(py.detach(|| {
            let state = self.lock();
            places.rows().any(|row| state.fit.has_row_at(places.point(row)))
        }))
    }

    /// Removes cells of an output; returns how many were observed.
    fn remove(&self, py: Python<'_>, inputs: PyReadonlyArray2<'_, f64>, output: usize) -> PyResult<usize> {
        let places = arrays::points(&inputs)?;
        let output = OutputIndex::new(output);
        let removed = py.detach(|| {
            let mut state = self.lock();
            state.n_edited += places.n_rows();
            let mut n_removed = 0;
            for row in places.rows() {
                n_removed += usize::from(state.fit.remove(places.point(row), output)?);
            }
            Ok(n_removed)
        });
        Ok(removed.map_err(|error| self.refused(error))?)
    }

    /// Means or medians, and standard deviations, n×D each.
    fn posterior<'py>(
        &self,
        py: Python<'py>,
        at: PyReadonlyArray2<'_, f64>,
        include_noise: bool,
        point: &str,
    ) -> PyResult<(Table<'py>, Table<'py>)> {
        let (places, point) = (arrays::points(&at)?, point_of(point)?);
        let (points, deviations) = py.detach(|| -> Result<_, Failure> {
            let mut state = self.lock();
            state.settle()?;
            let (mut points, mut deviations) = (vec![], vec![]);
            for row in places.rows() {
                let found = state.fit.marginals_at(places.point(row), quantity(include_noise))?;
                state.count();
                let (own, deviation) = found.into_points_and_deviations(point);
                points.extend(own);
                deviations.extend(deviation);
            }
            Ok((points, deviations))
        })?;
        Ok((table(py, points, self.outputs.len())?, table(py, deviations, self.outputs.len())?))
    }

    /// The deviations of observed values from what all other values say, n×D and NaN where nothing is observed.
    fn deviations<'py>(&self, py: Python<'py>, at: PyReadonlyArray2<'_, f64>) -> PyResult<Table<'py>> {
        let places = arrays::points(&at)?;
        let found = py.detach(|| -> Result<_, Failure> {
            let mut state = self.lock();
            state.settle()?;
            let mut found = vec![];
            for row in places.rows() {
                let own = state.fit.deviations_at(places.point(row))?;
                state.count();
                found.extend(own.into_iter().map(|deviation| deviation.unwrap_or(f64::NAN)));
            }
            Ok(found)
        })?;
        table(py, found, self.outputs.len())
    }

    /// The log density of the observed cells under the model.
    fn log_evidence(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(py.detach(|| self.lock().log_evidence())?)
    }

    /// Positions and pairs recomputed by the last query.
    fn recomputed(&self, py: Python<'_>) -> (usize, usize) {
        py.detach(|| self.lock().sent)
    }

    /// The number of rows and of observed cells.
    fn size(&self, py: Python<'_>) -> (usize, usize) {
        py.detach(|| {
            let state = self.lock();
            (state.fit.n_rows(), state.fit.n_observed())
        })
    }

    /// Whether the structure is the one that a new fit would build.
    fn is_line(&self, py: Python<'_>) -> bool {
        py.detach(|| self.lock().fit.is_line())
    }

    /// The original model with the current table.
    fn to_model(&self, py: Python<'_>, began_with: &Model) -> PyResult<Model> {
        let (fit, about) = began_with.parts();
        let fit = py.detach(|| {
            let live = self.lock();
            on_pool(|| live.fit.to_fit(fit))
        });
        Ok(Model::new(fit?.map_err(Failure::from)?, about.clone()))
    }

    /// An independent copy.
    fn copy(&self, py: Python<'_>) -> Self {
        let state = py.detach(|| self.lock().clone());
        Self { state: Mutex::new(state), outputs: self.outputs.clone() }
    }
}
