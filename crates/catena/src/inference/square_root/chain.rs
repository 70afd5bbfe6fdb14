//! Marginals at new inputs along a chain in square-root form, in the memory of those that are asked for.
//!
//! Forward the filtered states as conditionals without a state before, backward the rows about each state from all later cells; O(C n³).

use super::conditional::Conditional;
use super::model::{SquareRootModel, StepAt};
use super::rows::InformationRows;
use crate::graph::FactorGraph;
use crate::structure::AttachedTo;

/// How many positions of a chain lie before a new input.
pub(in super::super) fn n_before(place: AttachedTo) -> usize {
    match place {
        AttachedTo::BeforeFirst(_) => 0,
        AttachedTo::Between { left: tie, .. } | AttachedTo::AfterLast(tie) | AttachedTo::Leaf(tie) => {
            tie.point.get() + 1
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

    /// The states at new inputs, each as if it were the only one; places are ordered by descending [`n_before`]. After a position
    /// ([`AttachedTo::AfterLast`]) later cells do not count.
    pub(in super::super) fn states_at(&mut self, places: &[AttachedTo]) -> Vec<Conditional> {
        let mut wanted: Vec<usize> =
            places.iter().rev().filter_map(|&place| n_before(place).checked_sub(1)).collect();
        wanted.dedup();
        let mut filtered = self.filtered(&wanted);
        let mut states = Vec::with_capacity(places.len());
        let n_positions = self.graph.tree().len();
        // Rows about the state of a position, from its own cells and all later ones.
        let mut rows = InformationRows::default();
        let is_filtered =
            |place: &AttachedTo| matches!(place, AttachedTo::AfterLast(_) | AttachedTo::Leaf(_));
        let needs_rows = !places.iter().all(is_filtered);
        for position in (0..n_positions).rev() {
            if wanted.last() == Some(&position) {
                wanted.pop();
                let state = filtered.pop().unwrap_or_else(|| Conditional::zero(self.edges.size()));
                let here =
                    places[states.len()..].iter().take_while(|&&place| n_before(place) == position + 1);
                for &place in here {
                    let mut state = state.clone();
                    match place {
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
                    let step = self.step_into(position + 1);
                    rows = self.edges.pull(step, rows.view());
                }
                self.add_cells(position, &mut rows);
            }
        }
        let mut root = Conditional::zero(self.edges.size());
        self.edges.extend(&mut root, StepAt::Root, rows.view());
        for place in &places[states.len()..] {
            let mut state = root.clone();
            if let AttachedTo::BeforeFirst(tie) = *place {
                self.new_steps.insert_before(&mut state, tie.distance);
            }
            states.push(state);
        }
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
        if position == 0 { StepAt::Root } else { StepAt::Length(self.graph.step_lengths().step_of(position)) }
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
