//! The state-space model that every form of the sweep runs on.

use super::error::InferenceError;
use super::readout::Readout;
use super::steps::StepTable;
use crate::graph::{Cells, FactorGraph, StepLengths};
use crate::index::Position;
use crate::linalg::Layout;
use crate::structure::Tree;
use std::ops::Range;

/// A graph with the steps along its edges and the readout of its outputs, in the layout of the state.
#[derive(Clone, Copy)]
pub(super) struct StateSpace<'a> {
    pub(super) tree: &'a Tree,
    pub(super) cells: &'a Cells,
    pub(super) edges: &'a StepLengths,
    pub(super) steps: &'a StepTable,
    pub(super) readout: &'a Readout,
    pub(super) layout: &'a Layout,
}

impl StateSpace<'_> {
    /// The log evidence of some positions with its constants `−½ Σ log 2πr`, if it is finite.
    pub(super) fn log_evidence(
        &self,
        graph: &FactorGraph<'_>,
        without_constants: f64,
        positions: Range<usize>,
    ) -> Result<f64, InferenceError> {
        let log_evidence = self.readout.log_noise(self.cells, positions) + without_constants;
        if log_evidence.is_finite() {
            Ok(log_evidence)
        } else {
            Err(InferenceError::overflow_at(graph, Position::new(self.tree.len() - 1)))
        }
    }
}

/// The numbers of a state-space model, kept between sweeps.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub(super) layout: Layout,
    steps: StepTable,
    pub(super) readout: Readout,
}

impl Prepared {
    /// Computes layout, steps and readout for a graph; more than `at_once` steps on several threads.
    pub(super) fn set<const DERIVATIVES: bool>(&mut self, graph: &FactorGraph<'_>, at_once: usize) {
        let model = graph.model();
        self.layout = Layout::new(&model.state_dims());
        self.steps.set::<DERIVATIVES>(graph.step_lengths().lengths(), model, &self.layout, at_once);
        self.readout.set(model, &self.layout);
    }

    /// The model of the graph that was prepared last.
    pub(super) fn state_space<'a>(&'a self, graph: &'a FactorGraph<'_>) -> StateSpace<'a> {
        StateSpace {
            tree: graph.tree(),
            cells: graph.cells(),
            edges: graph.step_lengths(),
            steps: &self.steps,
            readout: &self.readout,
            layout: &self.layout,
        }
    }
}
