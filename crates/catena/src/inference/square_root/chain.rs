//! Marginals at new inputs along a chain in square-root form, in the memory of those that are asked for.
//!
//! Forward the filtered states as conditionals without a state before, backward the rows about each state from all later cells; O(C n³).

use super::conditional::Conditional;
use super::model::{SquareRootModel, StepAt};
use super::rows::InformationRows;
use crate::graph::FactorGraph;
use crate::structure::AttachedTo;

/// When a pass meets a new input: numbers descend as the smoother goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Meets {
    /// Never: no row is of its group.
    Never,
    /// After this many positions.
    After(usize),
}

impl Meets {
    /// At the root at this position, after its own cells.
    pub(in super::super) fn at_root(position: usize) -> Self {
        Self::After(2 * position + 1)
    }

    /// Between this position and the one before it, or after the last one.
    pub(in super::super) fn before(position: usize) -> Self {
        Self::After(2 * position)
    }

    /// When a pass meets this place; `None` is a place in a group without rows.
    pub(in super::super) fn of(place: Option<AttachedTo>) -> Self {
        match place {
            None => Self::Never,
            Some(AttachedTo::BeforeFirst(tie)) => Self::at_root(tie.point.get()),
            Some(
                AttachedTo::Between { left: tie, .. } | AttachedTo::AfterLast(tie) | AttachedTo::Leaf(tie),
            ) => Self::before(tie.point.get() + 1),
        }
    }
}

/// A chain in square-root form.
pub(in super::super) struct SquareRootChain<'a> {
    graph: &'a FactorGraph<'a>,
    /// With the steps of the chain's edges.
    edges: SquareRootModel,
    /// With steps to new inputs.
    new_steps: SquareRootModel,
}

impl<'a> SquareRootChain<'a> {
    pub(in super::super) fn new(graph: &'a FactorGraph<'a>) -> Self {
        let mut edges = SquareRootModel::new(graph.model());
        let new_steps = edges.clone();
        edges.set_steps(graph.step_lengths().lengths());
        Self { graph, edges, new_steps }
    }

    /// The readout of its states.
    pub(in super::super) fn model(&self) -> &SquareRootModel {
        &self.new_steps
    }

    /// The state of the last position given all cells.
    pub(in super::super) fn last_state(&mut self) -> Conditional {
        let last = self.filtered(&[self.graph.tree().len() - 1]).pop();
        last.unwrap_or_else(|| Conditional::zero(self.edges.size()))
    }

    /// The states at new inputs, each as if it were the only one; places are ordered by descending [`Meets`]. After a position
    /// ([`AttachedTo::AfterLast`]) later cells do not count.
    pub(in super::super) fn states_at(&mut self, places: &[Option<AttachedTo>]) -> Vec<Conditional> {
        let left_of = |place: &Option<AttachedTo>| match *place {
            None | Some(AttachedTo::BeforeFirst(_)) => None,
            Some(
                AttachedTo::Between { left: tie, .. } | AttachedTo::AfterLast(tie) | AttachedTo::Leaf(tie),
            ) => Some(tie.point.get()),
        };
        let mut wanted: Vec<usize> = places.iter().rev().filter_map(left_of).collect();
        wanted.dedup();
        let mut filtered = self.filtered(&wanted);
        let mut states = Vec::with_capacity(places.len());
        let n_positions = self.graph.tree().len();
        // Rows about the state of a position, from its own cells and all later ones.
        let mut rows = InformationRows::default();
        let is_filtered =
            |place: &AttachedTo| matches!(place, AttachedTo::AfterLast(_) | AttachedTo::Leaf(_));
        let needs_rows = !places.iter().flatten().all(is_filtered);
        for position in (0..n_positions).rev() {
            if wanted.last() == Some(&position) {
                wanted.pop();
                let state = filtered.pop().unwrap_or_else(|| Conditional::zero(self.edges.size()));
                let here = places[states.len()..]
                    .iter()
                    .take_while(|&&place| Meets::of(place) == Meets::before(position + 1));
                for place in here.flatten() {
                    let mut state = state.clone();
                    match *place {
                        AttachedTo::Between { left, right } => {
                            self.new_steps.insert(
                                &mut state,
                                left.distance,
                                Some((rows.view(), right.distance)),
                            );
                        }
                        AttachedTo::BeforeFirst(tie) | AttachedTo::AfterLast(tie) | AttachedTo::Leaf(tie) => {
                            self.new_steps.insert(&mut state, tie.distance, None);
                        }
                    }
                    states.push(state);
                }
            }
            if needs_rows {
                if position + 1 < n_positions {
                    rows = match self.step_into(position + 1) {
                        StepAt::Root => InformationRows::default(),
                        step => self.edges.pull(step, rows.view()),
                    };
                }
                self.add_cells(position, &mut rows);
                let first = states.len();
                for &place in &places[first..] {
                    let Some(AttachedTo::BeforeFirst(tie)) = place else { break };
                    if tie.point.get() != position {
                        break;
                    }
                    let mut state = Conditional::zero(self.edges.size());
                    self.edges.extend(&mut state, StepAt::Root, rows.view());
                    self.new_steps.insert_before(&mut state, tie.distance);
                    states.push(state);
                }
            }
        }
        // Places in groups without rows have their prior.
        let mut prior = Conditional::zero(self.edges.size());
        self.edges.extend(&mut prior, StepAt::Root, InformationRows::default().view());
        states.resize(places.len(), prior);
        states
    }

    /// The filtered states at these positions, ascending.
    fn filtered(&mut self, wanted: &[usize]) -> Vec<Conditional> {
        let mut state = Conditional::zero(self.edges.size());
        let mut rows = InformationRows::default();
        let mut found = Vec::with_capacity(wanted.len());
        for position in 0..wanted.last().map_or(0, |last| last + 1) {
            rows.clear();
            self.add_cells(position, &mut rows);
            let step = self.step_into(position);
            self.edges.extend(&mut state, step, rows.view());
            if wanted.get(found.len()) == Some(&position) {
                found.push(state.clone());
            }
        }
        found
    }

    fn step_into(&self, position: usize) -> StepAt {
        StepAt::into_position(self.graph.step_lengths(), position)
    }

    fn add_cells(&self, position: usize, rows: &mut InformationRows) {
        let cells = self.graph.cells();
        let own_noise = cells.noise_variances(position);
        for (at, (&output, &value)) in cells.outputs(position).iter().zip(cells.values(position)).enumerate()
        {
            self.edges.push_cell(output, value, own_noise.map(|own| own[at]), rows);
        }
    }
}
