//! The structure that suits the number of inputs, and why.

use super::{Start, StructureError, Tree, greedy_chain, sorted_chain, spanning_tree};
use crate::data::InputPoints;
use crate::kernel::StateKind;
use std::fmt;

/// Up to this many inputs a spanning tree was more accurate than a greedy chain, at the same cost.
const MOST_INPUTS_OF_A_TREE: usize = 4;

/// A kind of structure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StructureKind {
    /// The rows in the order of their only input.
    SortedChain,
    /// The minimum spanning tree.
    SpanningTree,
    /// The paper's greedy nearest-neighbor chain.
    GreedyChain,
}

impl StructureKind {
    /// The name used in reports, such as `spanning tree`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SortedChain => "sorted chain",
            Self::SpanningTree => "spanning tree",
            Self::GreedyChain => "greedy chain",
        }
    }
}

/// What was chosen for a number of inputs. Its text says why.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StructureChoice {
    dim: usize,
}

impl StructureChoice {
    /// The choice for points with this many inputs, M.
    pub fn for_dim(dim: usize) -> Self {
        Self { dim }
    }

    /// The structure.
    pub fn kind(self) -> StructureKind {
        match self.dim {
            1 => StructureKind::SortedChain,
            dim if dim <= MOST_INPUTS_OF_A_TREE => StructureKind::SpanningTree,
            _ => StructureKind::GreedyChain,
        }
    }

    /// The state that latents should carry along it.
    pub fn state(self) -> StateKind {
        if self.dim == 1 { StateKind::Derivative } else { StateKind::Value }
    }

    /// Builds the structure.
    ///
    /// # Errors
    /// When a distance overflows, or the choice was made for a single input and there are more.
    pub fn build(self, inputs: &InputPoints) -> Result<Tree, StructureError> {
        match self.kind() {
            StructureKind::SortedChain => sorted_chain(inputs),
            StructureKind::SpanningTree => spanning_tree(inputs),
            StructureKind::GreedyChain => greedy_chain(inputs, Start::FirstRow),
        }
    }
}

impl fmt::Display for StructureChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dim = self.dim;
        match self.kind() {
            StructureKind::SortedChain => {
                write!(formatter, "sorted chain with derivative states: along a single input it is exact")
            }
            StructureKind::SpanningTree => write!(
                formatter,
                "spanning tree with value states: with {dim} inputs it keeps more near points together than a chain, \
                 at the same cost"
            ),
            StructureKind::GreedyChain => write!(
                formatter,
                "greedy chain with value states: with {dim} inputs, more than {MOST_INPUTS_OF_A_TREE}, chains predict \
                 better than trees"
            ),
        }
    }
}

/// The structure that suits these inputs, and what was chosen.
///
/// # Errors
/// When a distance overflows.
pub fn automatic_structure(inputs: &InputPoints) -> Result<(Tree, StructureChoice), StructureError> {
    let choice = StructureChoice::for_dim(inputs.dim());
    Ok((choice.build(inputs)?, choice))
}
