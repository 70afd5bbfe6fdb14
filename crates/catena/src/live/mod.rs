//! An exact posterior that accepts edits: an edit and a query cost O(log C) on a chain and O(log² C) on a tree.
//!
//! The structure is cut into paths and each path into blocks, and over the blocks of a path there is a balanced tree of segments. Each
//! segment is the conditional of its last state given the state before it. An edit makes the segments above one block stale; the
//! next query recomputes only those it needs. A query joins the segments before its point with those after it. Everything is in
//! square-root form, so that no noise is too small.

mod elements;
mod error;
mod influence;
mod input_index;
mod paths;
mod query;
mod sides;

pub use elements::Recomputed;
pub use error::LiveError;

use crate::data::{Cell, InputPoints, Observations};
use crate::graph::FactorGraph;
use crate::index::{OutputIndex, RowIndex};
use crate::inference::{Conditional, InferenceError, SquareRootModel};
use crate::model::{Latent, Lmc};
use crate::structure::{AttachedTo, Tree};
use crate::units::{DistanceScale, Variance};
use elements::Elements;
use input_index::InputIndex;
use paths::{LiveCell, Paths};
use query::Query;

/// Means and variances of all outputs at one point, without noise.
#[derive(Clone, Debug, PartialEq)]
pub struct PointMarginals {
    /// By output.
    pub means: Vec<f64>,
    /// By output.
    pub variances: Vec<f64>,
}

/// A table and its structure.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveTable {
    /// The inputs, by row.
    pub inputs: InputPoints,
    /// The structure.
    pub tree: Tree,
    /// The observed cells.
    pub observations: Observations,
}

/// A posterior that accepts edits. See the module.
///
/// Memory per point: (3N² + 2N)/8 doubles for elements, with N the state size padded to whole vector lanes, and 32 bytes per
/// observed cell: 0.2 GB of elements for 10⁶ points with n = 6 (N = 8).
#[derive(Clone, Debug)]
pub struct LivePosterior {
    model: SquareRootModel,
    paths: Paths,
    elements: Elements,
    inputs: InputIndex,
    has_own_noise: bool,
    recomputed: Recomputed,
}

impl LivePosterior {
    /// The posterior of these observations, on the structure and under the model of a graph.
    ///
    /// # Errors
    /// When rows have groups, the inputs or the observations have another number of rows than the structure, or the observations another number of
    /// outputs than the model.
    pub fn new(
        graph: &FactorGraph<'_>,
        inputs: &InputPoints,
        observations: &Observations,
    ) -> Result<Self, LiveError> {
        let tree = graph.tree();
        if inputs.n_rows() != tree.len() {
            return Err(LiveError::RowCountMismatch { structure: tree.len(), inputs: inputs.n_rows() });
        }
        if tree.n_roots() > 1 || inputs.groups().is_some() {
            return Err(LiveError::Groups);
        }
        graph.check_table(observations)?;
        let mut paths = Paths::new(tree);
        for (row, cell) in observations.cells() {
            let cell = LiveCell { output: cell.output, value: cell.value, own_noise: cell.noise_variance };
            paths.point_mut(row).cells.push(cell);
        }
        let elements = Elements::default();
        let model = SquareRootModel::new(graph.model());
        let (inputs, has_own_noise) = (InputIndex::new(inputs, tree), observations.has_cell_noise());
        Ok(Self { model, paths, elements, inputs, has_own_noise, recomputed: Recomputed::default() })
    }

    /// The model.
    pub fn model(&self) -> &Lmc {
        self.model.model()
    }

    /// The number of points, including those that were inserted.
    pub fn n_rows(&self) -> usize {
        self.paths.len()
    }

    /// Sets the observed value of a cell.
    ///
    /// # Errors
    /// When there is no such row or output, the value is not finite, or cells carry noise variances of their own.
    pub fn set(&mut self, row: RowIndex, output: OutputIndex, value: f64) -> Result<(), LiveError> {
        if self.has_own_noise {
            return Err(LiveError::OwnNoise);
        }
        self.put(row, LiveCell { output, value, own_noise: None })
    }

    /// Sets the observed value of a cell and its noise variance.
    ///
    /// # Errors
    /// When there is no such row or output, the value is not finite, or cells do not carry noise variances of their own.
    pub fn set_with_noise(
        &mut self,
        row: RowIndex,
        output: OutputIndex,
        value: f64,
        noise: Variance,
    ) -> Result<(), LiveError> {
        if !self.has_own_noise {
            return Err(LiveError::OwnNoise);
        }
        self.put(row, LiveCell { output, value, own_noise: Some(noise.get()) })
    }

    fn put(&mut self, row: RowIndex, cell: LiveCell) -> Result<(), LiveError> {
        self.check(row, cell.output)?;
        if !cell.value.is_finite() {
            return Err(LiveError::ValueNotFinite { row, output: cell.output, value: cell.value });
        }
        let cells = &mut self.paths.point_mut(row).cells;
        match cells.binary_search_by_key(&cell.output, |other| other.output) {
            Ok(at) => cells[at] = cell,
            Err(at) => cells.insert(at, cell),
        }
        self.paths.mark(row);
        Ok(())
    }

    /// Makes a cell missing; returns the value it had.
    ///
    /// # Errors
    /// When there is no such row or output.
    pub fn remove(&mut self, row: RowIndex, output: OutputIndex) -> Result<Option<f64>, LiveError> {
        self.check(row, output)?;
        let cells = &mut self.paths.point_mut(row).cells;
        let Ok(at) = cells.binary_search_by_key(&output, |other| other.output) else { return Ok(None) };
        let value = cells.remove(at).value;
        self.paths.mark(row);
        Ok(Some(value))
    }

    /// The observed value of a cell; `None` if it is missing.
    ///
    /// # Errors
    /// When there is no such row or output.
    pub fn observed(&self, row: RowIndex, output: OutputIndex) -> Result<Option<f64>, LiveError> {
        self.check(row, output)?;
        let mut cells = self.paths.point(row).cells.iter();
        Ok(cells.find(|cell| cell.output == output).map(|cell| cell.value))
    }

    /// Sets the noise of an output, which affects every point where the output is observed.
    ///
    /// # Errors
    /// When there is no such output, or cells carry noise variances of their own.
    pub fn set_noise(&mut self, output: OutputIndex, noise: Variance) -> Result<(), LiveError> {
        if self.has_own_noise {
            return Err(LiveError::OwnNoise);
        }
        let n_outputs = self.model().n_outputs();
        if output.get() >= n_outputs {
            return Err(LiveError::UnknownOutput { output, n_outputs });
        }
        let mut all = self.model().noise().to_vec();
        all[output.get()] = noise;
        let model = Lmc::new(self.model().latents().to_vec(), self.model().mixing().clone(), all)?;
        self.model = SquareRootModel::new(&model);
        for row in (0..self.paths.len()).map(RowIndex::new) {
            if self.paths.point(row).cells.iter().any(|cell| cell.output == output) {
                self.paths.mark(row);
            }
        }
        Ok(())
    }

    /// Inserts a point without cells; returns its row, the next number. On a line it goes between its neighbors, or beyond the
    /// ends; elsewhere it becomes a leaf on its nearest point.
    ///
    /// # Errors
    /// When the inputs are not M finite numbers, their distance to the structure is not finite, or the point would branch off a
    /// chain with derivative states.
    pub fn insert(&mut self, point: &[f64]) -> Result<RowIndex, LiveError> {
        let place = self.place_of(point)?;
        let is_leaf = matches!(place, AttachedTo::Leaf(_));
        if is_leaf && self.model().latents().iter().any(Latent::needs_a_line) {
            return Err(LiveError::DerivativeOffTheLine);
        }
        self.inputs.push(point)?;
        let row = match place {
            AttachedTo::AfterLast(tie) => self.paths.insert(tie.point, true, tie.distance),
            AttachedTo::Leaf(tie) => self.paths.attach_leaf(tie.point, tie.distance),
            AttachedTo::Between { left, right } => {
                let row = self.paths.insert(left.point, true, left.distance);
                self.paths.point_mut(right.point).step = right.distance;
                self.paths.mark(right.point);
                row
            }
            AttachedTo::BeforeFirst(tie) => {
                let row = self.paths.insert(tie.point, false, 0.0);
                self.paths.point_mut(tie.point).step = tie.distance;
                self.paths.mark(tie.point);
                row
            }
        };
        self.paths.mark(row);
        Ok(row)
    }

    /// Recomputes everything that edits have made stale. Not required before a query: each recomputes what it needs, the log evidence
    /// everything.
    pub fn refresh(&mut self) {
        let Self { model, paths, elements, .. } = self;
        self.recomputed = Recomputed::default();
        elements.refresh(paths, model, paths.top(), &mut self.recomputed);
    }

    /// How many messages the last query recomputed.
    pub fn recomputed(&self) -> Recomputed {
        self.recomputed
    }

    /// The log evidence of all observed cells.
    ///
    /// # Errors
    /// When numbers overflow.
    pub fn log_evidence(&mut self) -> Result<f64, LiveError> {
        self.refresh();
        let whole = self.elements.of(self.paths.top());
        let mut state = Conditional::zero(self.model.size());
        self.model.algebra().extend(&mut state, whole);
        let log_evidence = state.log_normalizer();
        if log_evidence.is_finite() {
            Ok(log_evidence)
        } else {
            Err(InferenceError::Overflow { row: self.paths.root() }.into())
        }
    }

    /// Mean and variance of every output at a point.
    ///
    /// # Errors
    /// When there is no such row, or numbers overflow.
    pub fn marginals(&mut self, row: RowIndex) -> Result<PointMarginals, LiveError> {
        self.check_row(row)?;
        let state = self.query_at(&[row]).state(row, None);
        self.read(&state, row)
    }

    /// The covariance of all outputs at a point, D×D, without noise.
    ///
    /// # Errors
    /// When there is no such row, or numbers overflow.
    pub fn output_covariance(&mut self, row: RowIndex) -> Result<Vec<f64>, LiveError> {
        self.check_row(row)?;
        let state = self.query_at(&[row]).state(row, None);
        self.read(&state, row)?;
        Ok(self.model.output_covariance(state.gaussian()))
    }

    /// Mean and variance of every output at inputs outside the structure, which does not change: as
    /// [`Posterior::predict_at`](crate::posterior::Posterior::predict_at). Before the first point of a line they follow from
    /// that point's posterior, backward in time; a nonstationary process does not restart there, as it does after [`LivePosterior::insert`].
    ///
    /// # Errors
    /// When the inputs are not M finite numbers, their distance to the structure is not finite, or numbers overflow.
    pub fn marginals_at(&mut self, point: &[f64]) -> Result<PointMarginals, LiveError> {
        let place = self.place_of(point)?;
        let (first, second) = place.ties();
        let row = first.point;
        let rows: Vec<RowIndex> = std::iter::once(first).chain(second).map(|tie| tie.point).collect();
        let state = self.query_at(&rows).state_at(place);
        self.read(&state, row)
    }

    /// The points that an edit at a row can reach along a chain, in order: all whose state explains at least `correlation`² of the
    /// variance of some output there. No output elsewhere has a larger posterior correlation with any output of the row, so an edit
    /// that moves a mean by one standard deviation there moves none elsewhere by more than `correlation` standard deviations.
    ///
    /// # Errors
    /// When there is no such row, or the structure is not a chain.
    pub fn affected(&mut self, row: RowIndex, correlation: f64) -> Result<Vec<RowIndex>, LiveError> {
        self.check_row(row)?;
        if self.paths.all().len() > 1 {
            return Err(LiveError::NotAChain);
        }
        self.refresh();
        let (first, last) = self.query().reach(row, correlation * correlation);
        let mut rows = vec![first];
        let mut at = first;
        while at != last {
            let Some(next) = self.paths.next_on_path(at) else { break };
            rows.push(next);
            at = next;
        }
        Ok(rows)
    }

    /// The current table with its structure: for a full sweep, a gradient, or to learn again.
    ///
    /// # Errors
    /// When a distance overflows.
    pub fn table(&self) -> Result<LiveTable, LiveError> {
        let (n_rows, n_outputs) = (self.paths.len(), self.model().n_outputs());
        let (inputs, scale) = self.inputs.inputs(n_rows)?;
        let parents: Vec<_> = inputs.rows().map(|row| self.paths.parent_of(row)).collect();
        let tree = Tree::from_parents(&inputs, &parents)?.with_distance_scale(DistanceScale::new(scale)?)?;
        let cells = |row: RowIndex| {
            let cells = self.paths.point(row).cells.iter();
            cells.map(|cell| Cell { output: cell.output, value: cell.value, noise_variance: cell.own_noise })
        };
        let observations = Observations::from_rows(n_outputs, inputs.rows().map(cells))?;
        Ok(LiveTable { inputs, tree, observations })
    }

    /// A query at these points.
    fn query_at(&mut self, rows: &[RowIndex]) -> Query<'_> {
        let Self { model, paths, elements, .. } = self;
        self.recomputed = Recomputed::default();
        for &row in rows {
            elements.refresh_around(paths, model, (row, None), &mut self.recomputed);
        }
        self.query()
    }

    fn query(&mut self) -> Query<'_> {
        let Self { model, paths, elements, .. } = self;
        Query { paths, elements, model }
    }

    fn read(&self, state: &Conditional, row: RowIndex) -> Result<PointMarginals, LiveError> {
        if !state.is_finite() {
            return Err(InferenceError::Overflow { row }.into());
        }
        let (means, variances): (Vec<f64>, Vec<f64>) =
            self.model.output_marginals(state.gaussian()).into_iter().unzip();
        // Large weights can make an output overflow although its state is finite.
        if means.iter().chain(&variances).any(|number| !number.is_finite()) {
            return Err(InferenceError::Overflow { row }.into());
        }
        Ok(PointMarginals { means, variances })
    }

    fn place_of(&self, point: &[f64]) -> Result<AttachedTo<RowIndex>, LiveError> {
        let dim = self.inputs.dim();
        if point.len() != dim || point.iter().any(|input| !input.is_finite()) {
            return Err(LiveError::Input { dim, found: point.to_vec() });
        }
        let place = self.inputs.find(&self.paths, point);
        let (first, second) = place.ties();
        match std::iter::once(first).chain(second).find(|tie| !tie.distance.is_finite()) {
            Some(tie) => Err(LiveError::DistanceNotFinite { row: tie.point, point: point.to_vec() }),
            None => Ok(place),
        }
    }

    fn check_row(&self, row: RowIndex) -> Result<(), LiveError> {
        let n_rows = self.paths.len();
        if row.get() < n_rows { Ok(()) } else { Err(LiveError::UnknownRow { row, n_rows }) }
    }

    fn check(&self, row: RowIndex, output: OutputIndex) -> Result<(), LiveError> {
        self.check_row(row)?;
        let n_outputs = self.model().n_outputs();
        if output.get() < n_outputs { Ok(()) } else { Err(LiveError::UnknownOutput { output, n_outputs }) }
    }
}
