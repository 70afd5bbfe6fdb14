//! The graph with all its factors, and the two loops that compute its messages.

use crate::edge::{Edge, EdgeMessages};
use crate::error::ExplainError;
use crate::factor::{Mixing, Observation, Prior, Transition};
use crate::matrix::Matrix;
use crate::message::{Canonical, Moment, Upward};
use catena::data::Observations;
use catena::graph::FactorGraph;
use catena::index::{OutputIndex, Position, RowIndex};
use catena::kernel::{Dynamics, KernelError, VisitDynamics};
use catena::model::Lmc;
use catena::structure::Tree;

/// An observed cell: its value and the factor above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservedCell {
    pub(crate) value: f64,
    pub(crate) factor: Observation,
}

/// The factor graph of a small table with every factor and message as a value of its own.
///
/// Building it takes O(C·(D + 1)·(n + D)³).
///
/// ```
/// use catena::data::{InputPoints, Observations};
/// use catena::index::RowIndex;
/// use catena::kernel::{Kernel, StateKind};
/// use catena::model::{Latent, Lmc, MixingMatrix};
/// use catena::structure::sorted_chain;
/// use catena::units::{LengthScale, Variance};
/// use catena_explain::ExplicitGraph;
///
/// let latent = Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(1.0)?)?;
/// let mixing = MixingMatrix::shared(3, 1, vec![1.0, 0.5, -0.5])?;
/// let model = Lmc::new(vec![latent], mixing, vec![Variance::new(0.1)?; 3])?;
/// let tree = sorted_chain(&InputPoints::new(2, 1, vec![0.0, 0.4])?)?;
/// let missing = f64::NAN;
/// let observations = Observations::from_dense(2, 3, &[0.9, 0.4, -0.6, 1.1, missing, missing])?;
///
/// let graph = ExplicitGraph::new(&model, &tree, &observations)?;
/// assert_eq!(graph.n_messages_at(RowIndex::new(0)), 11);
/// assert_eq!(graph.n_messages_at(RowIndex::new(1)), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExplicitGraph {
    tree: Tree,
    children: Vec<Vec<Position>>,
    prior: Prior,
    /// The factor between a position and its parent; `None` at the root.
    transitions: Vec<Option<Transition>>,
    pub(crate) mixing: Mixing,
    /// By position and output.
    cells: Vec<Vec<Option<ObservedCell>>>,
    /// Upward on each position's state edge: the likelihood of its own and its descendants' observations given z_i.
    from_subtree: Vec<Canonical>,
    /// Upward on each position's parent edge: the same after the transition, given z_p; `None` at the root.
    to_parent: Vec<Option<Canonical>>,
    /// Downward on each position's state edge: z_i given all other observations.
    from_above: Vec<Moment>,
}

impl ExplicitGraph {
    /// Builds the graph and passes all messages along the structure, up and then down.
    ///
    /// # Errors
    /// When the parts do not fit together, or a message overflows.
    pub fn new(model: &Lmc, tree: &Tree, observations: &Observations) -> Result<Self, ExplainError> {
        let mut graph = Self::without_messages(model, tree, observations)?;
        graph.pass_upward();
        graph.pass_downward();
        for position in tree.positions() {
            let at = position.get();
            let is_finite = graph.from_subtree[at].is_finite()
                && graph.from_above[at].is_finite()
                && graph.from_above[at].times(&graph.from_subtree[at]).is_finite();
            if !is_finite {
                return Err(ExplainError::MessageNotFinite { row: tree.row_at(position) });
            }
        }
        Ok(graph)
    }

    /// The factors without messages.
    fn without_messages(model: &Lmc, tree: &Tree, observations: &Observations) -> Result<Self, ExplainError> {
        // The same checks as for a sweep.
        FactorGraph::new(model, tree, observations)?;
        let mut children = vec![vec![]; tree.len()];
        let mut transitions = Vec::with_capacity(tree.len());
        let mut cells = Vec::with_capacity(tree.len());
        for position in tree.positions() {
            transitions.push(match tree.parent(position) {
                None => None,
                Some(parent) => {
                    children[parent.get()].push(position);
                    Some(transition(model, tree.step_into(position))?)
                }
            });
            let mut row = vec![None; model.n_outputs()];
            for cell in observations.row(tree.row_at(position)) {
                let output = cell.output.get();
                let noise_variance = cell.noise_variance.unwrap_or(model.noise()[output].get());
                row[output] =
                    Some(ObservedCell { value: cell.value, factor: Observation { noise_variance } });
            }
            cells.push(row);
        }
        let covariance = stacked(model, RootCovariance)?;
        Ok(Self {
            tree: tree.clone(),
            children,
            prior: Prior { covariance },
            transitions,
            mixing: Mixing::new(model),
            cells,
            from_subtree: vec![],
            to_parent: vec![],
            from_above: vec![],
        })
    }

    /// Leaves to root: the product of a position's own observations and the messages of its children, then the transition.
    fn pass_upward(&mut self) {
        self.from_subtree = vec![Canonical::flat(self.prior.covariance.n_rows()); self.tree.len()];
        self.to_parent = vec![None; self.tree.len()];
        for position in self.tree.positions().rev() {
            let at = position.get();
            let mut product = Canonical::flat(self.prior.covariance.n_rows());
            if let Some(information) = self.information(position) {
                product = product.times(&information);
            }
            for child in self.children_up(position, None) {
                product = product.times(child);
            }
            self.to_parent[at] = self.transitions[at].as_ref().map(|step| step.toward_previous(&product));
            self.from_subtree[at] = product;
        }
    }

    /// Root to leaves: the product of the parent's other messages, then the transition.
    fn pass_downward(&mut self) {
        self.from_above = vec![self.prior.toward_state()];
        for position in self.tree.positions().skip(1) {
            if let (Some(step), Some(state)) = (&self.transitions[position.get()], self.parent_down(position))
            {
                self.from_above.push(step.toward_next(&state));
            }
        }
    }

    /// Upward messages into a position's = from its children, all but one.
    fn children_up(
        &self,
        position: Position,
        except: Option<Position>,
    ) -> impl Iterator<Item = &Canonical> + '_ {
        let others = self.children[position.get()].iter().filter(move |&&child| Some(child) != except);
        others.filter_map(|child| self.to_parent[child.get()].as_ref())
    }

    /// Downward from the parent's = toward this position's ×: the parent's prediction, observations and other children.
    fn parent_down(&self, position: Position) -> Option<Moment> {
        let parent = self.tree.parent(position)?;
        let mut product = self.from_above[parent.get()].clone();
        if let Some(information) = self.information(parent) {
            product = product.times(&information);
        }
        Some(self.children_up(parent, Some(position)).fold(product, |product, child| product.times(child)))
    }

    /// Downward from a position's = toward its outputs: the prediction without the position's own observations.
    pub(crate) fn readout_down(&self, position: Position) -> Moment {
        let from_above = self.from_above[position.get()].clone();
        self.children_up(position, None).fold(from_above, |product, child| product.times(child))
    }

    /// The cell of an output at a position, if it was observed.
    pub(crate) fn cell(&self, position: Position, output: usize) -> Option<ObservedCell> {
        self.cells[position.get()][output]
    }

    /// The two messages on an edge; `None` when the graph has no such edge.
    ///
    /// # Panics
    /// When the row or output is of another graph and out of range.
    pub fn messages_on(&self, edge: Edge) -> Option<EdgeMessages> {
        let (up, away_from_root) = match edge {
            Edge::Parent(row) => {
                let position = self.tree.position_of(row);
                (self.to_parent[position.get()].clone(), self.parent_down(position)?)
            }
            Edge::Drift(row) => {
                let position = self.tree.position_of(row);
                let step = self.transitions[position.get()].as_ref()?;
                let up = step.toward_drift_from_next(&self.from_subtree[position.get()]);
                (Some(up), step.toward_drift_from_previous(&self.parent_down(position)?))
            }
            Edge::State(row) => {
                let at = self.tree.position_of(row).get();
                (Some(self.from_subtree[at].clone()), self.from_above[at].clone())
            }
            _ => return self.branch_messages(edge),
        };
        Some(EdgeMessages { toward_root: up.map(Upward::Canonical), away_from_root })
    }

    /// The marginal on an edge: the product of its two messages; `None` when the graph has no such edge.
    ///
    /// # Panics
    /// When the row or output is of another graph and out of range.
    pub fn marginal_on(&self, edge: Edge) -> Option<Moment> {
        self.messages_on(edge).map(|messages| messages.marginal())
    }

    /// The posterior of a row's state, latent after latent: `[g_1, g_1'/λ.., g_2, ..]`.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn marginal(&self, row: RowIndex) -> Moment {
        let at = self.tree.position_of(row).get();
        self.from_above[at].times(&self.from_subtree[at])
    }

    /// The posterior of one output at a row, observed or not: of the function itself, without noise.
    ///
    /// # Panics
    /// When `row` or `output` is of another table and out of range.
    pub fn output_marginal(&self, row: RowIndex, output: OutputIndex) -> Moment {
        self.output_messages(self.tree.position_of(row), output.get()).marginal()
    }

    /// The logarithm of the density of all observed cells.
    pub fn log_evidence(&self) -> f64 {
        self.prior.log_evidence(&self.from_subtree[0])
    }

    /// The rows, in visiting order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = RowIndex> + '_ {
        self.tree.positions().map(|position| self.tree.row_at(position))
    }

    /// The outputs.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = OutputIndex> + use<> {
        (0..self.mixing.readout.n_rows()).map(OutputIndex::new)
    }

    /// Whether a cell has an observation factor.
    ///
    /// # Panics
    /// When `row` or `output` is of another table and out of range.
    pub fn is_observed(&self, row: RowIndex, output: OutputIndex) -> bool {
        self.cell(self.tree.position_of(row), output.get()).is_some()
    }

    /// The row of the parent; `None` at the root.
    ///
    /// # Panics
    /// When `row` is of another table and out of range.
    pub fn parent_row(&self, row: RowIndex) -> Option<RowIndex> {
        self.tree.parent(self.tree.position_of(row)).map(|parent| self.tree.row_at(parent))
    }

    /// Where a row stands in the structure.
    pub(crate) fn position_of(&self, row: RowIndex) -> Position {
        self.tree.position_of(row)
    }

    /// The rows of the children, in visiting order.
    pub(crate) fn child_rows(&self, row: RowIndex) -> impl Iterator<Item = RowIndex> + '_ {
        let children = &self.children[self.tree.position_of(row).get()];
        children.iter().map(|&child| self.tree.row_at(child))
    }
}

/// A and Q of all latents over an edge of this length (Eq. `block_diag`).
fn transition(model: &Lmc, distance: f64) -> Result<Transition, KernelError> {
    let (matrix, noise) =
        (stacked(model, TransitionMatrix { distance })?, stacked(model, ProcessNoise { distance })?);
    Ok(Transition { matrix, noise })
}

/// One block per latent, stacked along the diagonal.
fn stacked(model: &Lmc, block: impl VisitDynamics<Output = Matrix> + Copy) -> Result<Matrix, KernelError> {
    let blocks: Result<Vec<Matrix>, KernelError> =
        model.latents().iter().map(|latent| latent.visit_dynamics(block)).collect();
    Ok(Matrix::block_diagonal(&blocks?))
}

fn to_matrix<const K: usize>(block: [[f64; K]; K]) -> Matrix {
    Matrix::from_fn(K, K, |i, j| block[i][j])
}

#[derive(Clone, Copy)]
struct TransitionMatrix {
    distance: f64,
}

impl VisitDynamics for TransitionMatrix {
    type Output = Matrix;
    fn visit<const K: usize>(self, dynamics: impl Dynamics<K>) -> Matrix {
        to_matrix(dynamics.step(self.distance).transition)
    }
}

#[derive(Clone, Copy)]
struct ProcessNoise {
    distance: f64,
}

impl VisitDynamics for ProcessNoise {
    type Output = Matrix;
    fn visit<const K: usize>(self, dynamics: impl Dynamics<K>) -> Matrix {
        to_matrix(dynamics.step(self.distance).noise)
    }
}

#[derive(Clone, Copy)]
struct RootCovariance;

impl VisitDynamics for RootCovariance {
    type Output = Matrix;
    fn visit<const K: usize>(self, dynamics: impl Dynamics<K>) -> Matrix {
        to_matrix(dynamics.root_covariance())
    }
}
