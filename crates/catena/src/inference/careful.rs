//! Forecasts, and new inputs along a line, by square roots: for noise so small that the covariance form loses their digits.
//!
//! The same as in `ahead.rs` and `along.rs`, in O(C n³): forward the moments of states as elements of segments, backward what
//! later cells say as rows of a square root. Only moments that are asked for are kept.

use super::ahead::LastState;
use super::segment::{Element, InformationRows, SquareRootModel, StepAt};
use crate::graph::FactorGraph;

/// Where a new input lies along a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    /// How many positions lie before it.
    pub(super) n_before: usize,
    /// The distance from the last of them; nothing if there is none.
    pub(super) before: f64,
    /// The distance to the next position; nothing if there is none.
    pub(super) after: f64,
}

/// A chain whose states are carried as square roots.
pub(super) struct Careful<'a> {
    graph: &'a FactorGraph<'a>,
    /// Over the edges of the chain.
    edges: SquareRootModel,
    /// Over steps that are no edges.
    beside: SquareRootModel,
}

impl<'a> Careful<'a> {
    pub(super) fn new(graph: &'a FactorGraph<'a>) -> Self {
        let mut edges = SquareRootModel::new(graph.model());
        let beside = edges.clone();
        edges.set_steps(graph.model(), graph.step_lengths().lengths());
        Self { graph, edges, beside }
    }

    /// Mean and variance of every output at these distances beyond these positions, from what was known there; positions ascend.
    pub(super) fn ahead(&mut self, outlooks: &[(usize, f64)]) -> Vec<Vec<(f64, f64)>> {
        let mut positions: Vec<usize> = outlooks.iter().map(|outlook| outlook.0).collect();
        positions.dedup();
        let filtered = self.filtered(&positions);
        let answer = |&(position, distance): &(usize, f64)| {
            let mut state = filtered[positions.partition_point(|&other| other < position)].clone();
            self.beside.set_steps(self.graph.model(), &[distance]);
            self.beside.extend(&mut state, StepAt::Length(0), InformationRows::default().view());
            self.beside.read_outputs(&state)
        };
        outlooks.iter().map(answer).collect()
    }

    /// The state of the last position, from everything.
    pub(super) fn last_state(&mut self) -> LastState {
        let last = self.filtered(&[self.graph.tree().len() - 1]);
        let parts = last.first().map(Element::parts);
        parts.map_or_else(
            || LastState { mean: vec![], covariance_factor: vec![] },
            |parts| LastState {
                mean: parts.shift.to_vec(),
                covariance_factor: parts.covariance_factor.to_vec(),
            },
        )
    }

    /// The moments of the states at new inputs, from everything, each as if it were the only one; `n_before` descends.
    pub(super) fn along(&mut self, places: &[Between]) -> Vec<Element> {
        if places.is_empty() {
            return vec![];
        }
        let model = self.graph.model();
        let mut wanted: Vec<usize> =
            places.iter().rev().filter_map(|place| place.n_before.checked_sub(1)).collect();
        wanted.dedup();
        let mut filtered = self.filtered(&wanted);
        let mut states = Vec::with_capacity(places.len());
        // What a position and all after it say about its state; of the one after the last, nothing.
        let (mut said, mut heard) = (InformationRows::default(), InformationRows::default());
        let n_positions = self.graph.tree().len();
        for position in (0..n_positions).rev() {
            let is_last = position + 1 == n_positions;
            if wanted.last() == Some(&position) {
                wanted.pop();
                let moments = filtered.pop();
                let here = places[states.len()..].iter().take_while(|place| place.n_before == position + 1);
                for place in here {
                    self.beside.set_steps(model, &[place.before, place.after]);
                    heard.clear();
                    if !is_last {
                        pull(&mut self.beside, StepAt::Length(1), &said, &mut heard);
                    }
                    let mut state = moments.clone().unwrap_or_else(|| Element::nothing(self.beside.size()));
                    self.beside.extend(&mut state, StepAt::Length(0), heard.view());
                    states.push(state);
                }
            }
            heard.clear();
            if !is_last {
                let step = self.step_into(position + 1);
                pull(&mut self.edges, step, &said, &mut heard);
            }
            self.add_cells(position, &mut heard);
            std::mem::swap(&mut said, &mut heard);
        }
        // Before the root: from its own posterior, backward in time.
        let mut root = Element::nothing(self.edges.size());
        self.edges.extend(&mut root, StepAt::Root, said.view());
        for place in &places[states.len()..] {
            let mut state = root.clone();
            self.beside.set_steps(model, &[place.after]);
            self.beside.step_back(&mut state, 0);
            states.push(state);
        }
        states
    }

    /// Mean and variance of every output, from the moments of a state.
    pub(super) fn read_outputs(&self, state: &Element) -> Vec<(f64, f64)> {
        self.beside.read_outputs(state)
    }

    /// The covariance of all outputs, D×D, from the moments of a state.
    pub(super) fn output_covariance(&self, state: &Element) -> Vec<f64> {
        self.beside.output_covariance(state)
    }

    /// The moments of the states at these positions, ascending, from what is known there.
    fn filtered(&mut self, wanted: &[usize]) -> Vec<Element> {
        let mut state = Element::nothing(self.edges.size());
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

    /// Adds what a position's own cells say about its state.
    fn add_cells(&self, position: usize, rows: &mut InformationRows) {
        let cells = self.graph.cells();
        let own_noise = cells.noise_variances(position);
        for (at, (&output, &value)) in cells.outputs(position).iter().zip(cells.values(position)).enumerate()
        {
            self.edges.push_cell(output, value, own_noise.map(|own| own[at]), rows);
        }
    }
}

/// What rows about the state after a step say about the state before it.
fn pull(fold: &mut SquareRootModel, step: StepAt, said: &InformationRows, heard: &mut InformationRows) {
    let mut gap = Element::empty(fold.size());
    fold.extend(&mut gap, step, InformationRows::default().view());
    fold.algebra().pull(&gap, said.view(), heard);
}
