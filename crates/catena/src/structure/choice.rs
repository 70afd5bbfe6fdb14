//! The default structure for a number of inputs.

use super::{Start, StructureError, Tree, greedy_chain, sorted_chain, spanning_tree};
use crate::data::InputPoints;
use crate::kernel::StateKind;
use std::fmt;

/// Up to this many inputs a spanning tree was more accurate than a greedy chain, at the same cost.
const MOST_INPUTS_OF_A_TREE: usize = 4;

#[derive(Clone, Copy)]
enum Kind {
    SortedChain,
    SpanningTree,
    GreedyChain,
}

/// The default structure for points with a number of inputs: a sorted chain for one, a spanning tree for up to four, a
/// greedy chain above. Its text gives the reason.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StructureChoice {
    dim: usize,
}

impl StructureChoice {
    /// The choice for points with this many inputs, M.
    pub fn for_dim(dim: usize) -> Self {
        Self { dim }
    }

    fn kind(self) -> Kind {
        match self.dim {
            1 => Kind::SortedChain,
            dim if dim <= MOST_INPUTS_OF_A_TREE => Kind::SpanningTree,
            _ => Kind::GreedyChain,
        }
    }

    /// The name of the structure, such as `spanning tree`.
    pub fn name(self) -> &'static str {
        match self.kind() {
            Kind::SortedChain => "sorted chain",
            Kind::SpanningTree => "spanning tree",
            Kind::GreedyChain => "greedy chain",
        }
    }

    /// The state of the latents along it.
    pub fn state(self) -> StateKind {
        if self.dim == 1 { StateKind::Derivative } else { StateKind::Value }
    }

    /// Builds the structure.
    ///
    /// # Errors
    /// When a distance overflows, or the choice was made for a single input and there are more.
    pub fn build(self, inputs: &InputPoints) -> Result<Tree, StructureError> {
        match self.kind() {
            Kind::SortedChain => sorted_chain(inputs),
            Kind::SpanningTree => spanning_tree(inputs),
            Kind::GreedyChain => greedy_chain(inputs, Start::FirstRow),
        }
    }
}

impl fmt::Display for StructureChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dim = self.dim;
        match self.kind() {
            Kind::SortedChain => {
                write!(formatter, "sorted chain with derivative states: along a single input it is exact")
            }
            Kind::SpanningTree => write!(
                formatter,
                "spanning tree with value states: with {dim} inputs it joins more neighboring points than a chain, \
                 at the same cost"
            ),
            Kind::GreedyChain => write!(
                formatter,
                "greedy chain with value states: with {dim} inputs, more than {MOST_INPUTS_OF_A_TREE}, chains predict \
                 better than trees"
            ),
        }
    }
}
