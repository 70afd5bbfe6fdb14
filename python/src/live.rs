//! A live posterior as a Python object.

use std::sync::{Mutex, MutexGuard, PoisonError};

use catena::index::OutputIndex;
use catena_fit::{LiveFit, LiveFitError};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;

use crate::arrays::{self, Table, table};
use crate::failure::Failure;
use crate::model::{Model, quantity};
use crate::threads::on_pool;

/// From so many edited rows on, what they made stale is found on all threads. Fewer cannot fill the threads of a pool, and handing
/// work over would take longer than doing it; every row makes at most three blocks stale.
const MANY_ROWS: usize = 16;

/// A fitted model that takes observations one by one. `catena.LiveGP` is the way to use it.
#[pyclass(frozen, module = "catena._catena")]
pub(crate) struct Live {
    /// Locked only while no lock of Python's is held.
    state: Mutex<State>,
    outputs: Vec<String>,
}

#[derive(Clone)]
struct State {
    fit: LiveFit,
    /// Rows edited since the last question.
    n_edited: usize,
    /// Positions and pairs whose messages the last question sent anew.
    sent: (usize, usize),
}

impl State {
    /// Begins a question: sends stale messages where they are many.
    fn settle(&mut self) -> Result<(), Failure> {
        self.sent = (0, 0);
        if self.n_edited >= MANY_ROWS {
            on_pool(|| self.fit.refresh())?;
            self.count();
        }
        self.n_edited = 0;
        Ok(())
    }

    /// Adds what was sent just now to what the question has sent.
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

    /// A refusal in the words of Python's users.
    fn refused(&self, error: LiveFitError) -> Failure {
        match error {
            LiveFitError::AtRow { row, cause } => match *cause {
                LiveFitError::Value { output, value, what } => {
                    let name = &self.outputs[output.get()];
                    Failure::Input(format!("output {name:?} at row {row}: the value {value} is {what}"))
                }
                other => with_words(&other, &format!("row {row}: ")),
            },
            other => with_words(&other, ""),
        }
    }
}

fn with_words(error: &LiveFitError, before: &str) -> Failure {
    let text = match error {
        LiveFitError::NotOneStructure { method } => format!(
            "method {method} does not support streaming; fit with method=\"catena\" and structure=\"auto\", \
             \"chain\" or \"tree\", or use update"
        ),
        LiveFitError::CellNoise => {
            "the model has a known noise variance per cell, which a stream does not carry".to_owned()
        }
        other => format!("{before}{other}"),
    };
    if error.is_numerical() { Failure::Numerical(text) } else { Failure::Input(text) }
}

impl From<LiveFitError> for Failure {
    fn from(error: LiveFitError) -> Self {
        with_words(&error, "")
    }
}

#[pymethods]
impl Live {
    /// Sets cells, n×D with NaN for those that stay as they are; says of each row whether it was added.
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

    /// Adds rows, n×D with NaN where nothing was observed. Where numbers fail the rows are in it nevertheless.
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

    /// Makes the cells of an output missing; how many of them were observed.
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

    /// Means and standard deviations, n×D each.
    fn posterior<'py>(
        &self,
        py: Python<'py>,
        at: PyReadonlyArray2<'_, f64>,
        include_noise: bool,
    ) -> PyResult<(Table<'py>, Table<'py>)> {
        let places = arrays::points(&at)?;
        let (means, deviations) = py.detach(|| -> Result<_, Failure> {
            let mut state = self.lock();
            state.settle()?;
            let (mut means, mut deviations) = (vec![], vec![]);
            for row in places.rows() {
                let found = state.fit.marginals_at(places.point(row), quantity(include_noise))?;
                state.count();
                let (mean, deviation) = found.into_means_and_deviations();
                means.extend(mean);
                deviations.extend(deviation);
            }
            Ok((means, deviations))
        })?;
        Ok((table(py, means, self.outputs.len())?, table(py, deviations, self.outputs.len())?))
    }

    /// The log density of the observed cells under the model.
    fn log_evidence(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(py.detach(|| self.lock().log_evidence())?)
    }

    /// Positions and pairs whose messages the last question sent anew.
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

    /// Whether the structure is the one that a fresh fit would build.
    fn is_line(&self, py: Python<'_>) -> bool {
        py.detach(|| self.lock().fit.is_line())
    }

    /// The model it began with, with the table as it is now.
    fn to_model(&self, py: Python<'_>, began_with: &Model) -> PyResult<Model> {
        let (fit, about) = began_with.parts();
        let fit = py.detach(|| {
            let live = self.lock();
            on_pool(|| live.fit.to_fit(fit))
        });
        Ok(Model::new(fit?.map_err(Failure::from)?, about.clone()))
    }

    /// The same, apart.
    fn copy(&self, py: Python<'_>) -> Self {
        let state = py.detach(|| self.lock().clone());
        Self { state: Mutex::new(state), outputs: self.outputs.clone() }
    }
}
