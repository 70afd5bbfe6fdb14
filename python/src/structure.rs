//! Chains and trees over points.

use std::sync::Arc;

use catena::data::InputPoints;
use catena::index::RowIndex;
use catena::structure::{Start, StructureError, Tree, chain_ensemble};
use catena_fit::{Fit, StructureOption};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays;
use crate::failure::Failure;
use crate::threads::computed;

/// A rooted tree over the rows of a table; a chain is a tree without branches.
#[pyclass(frozen, module = "catena.structures")]
pub(crate) struct Structure {
    tree: Arc<Tree>,
    kind: &'static str,
}

impl Structure {
    pub(crate) fn tree(&self) -> Arc<Tree> {
        Arc::clone(&self.tree)
    }

    /// The structure of a fit over its rows and candidates, rebuilt.
    pub(crate) fn of_fit(fit: &Fit) -> Result<Option<Self>, Failure> {
        let parts = fit.parts();
        if !parts.method.is_message_passing() {
            return Ok(None);
        }
        let rows = parts.preparation.inputs(parts.table.inputs())?;
        let inputs = match &parts.candidates {
            None => rows,
            Some(candidates) => {
                let candidates = parts.preparation.inputs(candidates)?;
                let values = [rows.values(), candidates.values()].concat();
                InputPoints::new(rows.n_rows() + candidates.n_rows(), rows.dim(), values)?
            }
        };
        let structure = parts.structure;
        if matches!(structure, StructureOption::Ensemble { .. }) {
            return Ok(None);
        }
        Self::new(structure.build_by(parts.ties, &inputs), structure.name(inputs.dim())).map(Some)
    }

    fn new(tree: Result<Tree, StructureError>, kind: &'static str) -> Result<Self, Failure> {
        Ok(Self { tree: Arc::new(tree?), kind })
    }

    /// A value for every row.
    fn by_row<T: Clone>(&self, of_position: impl Fn(catena::index::Position) -> T) -> Vec<T> {
        (0..self.tree.len()).map(|row| of_position(self.tree.position_of(RowIndex::new(row)))).collect()
    }
}

#[pymethods]
impl Structure {
    /// The kind, such as ``"greedy chain"``.
    #[getter]
    fn kind(&self) -> &'static str {
        self.kind
    }

    /// Rows in visiting order, the root first.
    #[getter]
    fn order<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let rows: Vec<i64> = self.tree.positions().map(|at| self.tree.row_at(at).get() as i64).collect();
        rows.into_pyarray(py)
    }

    /// The parent of each row; -1 for the root.
    #[getter]
    fn parents<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let parent =
            |position| self.tree.parent(position).map_or(-1, |above| self.tree.row_at(above).get() as i64);
        self.by_row(parent).into_pyarray(py)
    }

    /// The distance from each row to its parent; 0 for the root.
    #[getter]
    fn edge_lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.by_row(|position| self.tree.step_into(position)).into_pyarray(py)
    }

    /// Whether the tree has no branches.
    #[getter]
    fn is_chain(&self) -> bool {
        self.tree.is_chain()
    }

    /// The sum of all edge lengths.
    #[getter]
    fn total_length(&self) -> f64 {
        self.tree.total_length()
    }

    fn __len__(&self) -> usize {
        self.tree.len()
    }

    fn __repr__(&self) -> String {
        format!("<{} over {} rows, total length {:.6}>", self.kind, self.tree.len(), self.tree.total_length())
    }
}

fn built(
    py: Python<'_>,
    inputs: PyReadonlyArray2<'_, f64>,
    kind: &'static str,
    build: impl Fn(&InputPoints) -> Result<Tree, StructureError> + Send + Sync,
) -> PyResult<Structure> {
    let inputs = arrays::points(&inputs)?;
    let tree = computed(py, || build(&inputs))?;
    Ok(Structure { tree: Arc::new(tree), kind })
}

/// The chain of a single input column in ascending order.
#[pyfunction]
pub(crate) fn sorted_chain(py: Python<'_>, inputs: PyReadonlyArray2<'_, f64>) -> PyResult<Structure> {
    built(py, inputs, "sorted chain", catena::structure::sorted_chain)
}

/// The chain that visits the rows in this order.
#[pyfunction]
pub(crate) fn chain(
    py: Python<'_>,
    inputs: PyReadonlyArray2<'_, f64>,
    order: Vec<usize>,
) -> PyResult<Structure> {
    let order: Vec<RowIndex> = order.into_iter().map(RowIndex::new).collect();
    built(py, inputs, "chain", |inputs| Tree::chain(inputs, order.clone()))
}

/// The chain that always moves to the nearest unvisited row, from row `start`.
#[pyfunction]
pub(crate) fn greedy_chain(
    py: Python<'_>,
    inputs: PyReadonlyArray2<'_, f64>,
    start: usize,
) -> PyResult<Structure> {
    let start = Start::Row(RowIndex::new(start));
    built(py, inputs, "greedy chain", |inputs| catena::structure::greedy_chain(inputs, start))
}

/// The minimum spanning tree.
#[pyfunction]
pub(crate) fn spanning_tree(py: Python<'_>, inputs: PyReadonlyArray2<'_, f64>) -> PyResult<Structure> {
    built(py, inputs, "spanning tree", catena::structure::spanning_tree)
}

/// Greedy chains with random starts and random choices.
#[pyfunction]
pub(crate) fn random_chains(
    py: Python<'_>,
    inputs: PyReadonlyArray2<'_, f64>,
    n_chains: usize,
    seed: u64,
) -> PyResult<Vec<Structure>> {
    let inputs = arrays::points(&inputs)?;
    let chains = computed(py, || chain_ensemble(&inputs, n_chains, seed))?;
    Ok(chains
        .into_iter()
        .map(|tree| Structure { tree: Arc::new(tree), kind: "random greedy chain" })
        .collect())
}
