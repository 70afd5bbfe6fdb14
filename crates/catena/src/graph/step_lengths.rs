//! Edge lengths in the structure's order; consecutive equal lengths are stored once.

use crate::structure::Tree;

/// The step into each position; on a regular grid one step serves the whole chain. Step 0 belongs to all roots and has length 0.
#[derive(Debug)]
pub(crate) struct StepLengths {
    step_of: Vec<u32>,
    lengths: Vec<f64>,
}

impl StepLengths {
    /// The steps of a structure.
    pub(super) fn new(tree: &Tree) -> Self {
        let mut edges = Self { step_of: Vec::with_capacity(tree.len()), lengths: vec![] };
        for position in tree.positions() {
            let length = tree.step_into(position);
            if tree.parent(position).is_none() {
                // Every root takes the same step: its state has its prior.
                if edges.lengths.is_empty() {
                    edges.lengths.push(length);
                }
                edges.step_of.push(0);
                continue;
            }
            if edges.lengths.len() < 2 || edges.lengths.last() != Some(&length) {
                edges.lengths.push(length);
            }
            edges.step_of.push(edges.lengths.len() as u32 - 1);
        }
        edges
    }

    /// The step into a position.
    #[inline(always)]
    pub(crate) fn step_of(&self, position: usize) -> usize {
        self.step_of[position] as usize
    }

    /// The steps into all positions.
    #[inline(always)]
    pub(crate) fn steps(&self) -> &[u32] {
        &self.step_of
    }

    /// The length of each step.
    pub(crate) fn lengths(&self) -> &[f64] {
        &self.lengths
    }
}
