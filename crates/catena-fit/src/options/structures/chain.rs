//! `chain`: sorted along one input, greedy with several.

use catena::data::InputPoints;
use catena::structure::{Start, StructureError, Tree, greedy_chain, sorted_chain};

use super::{NamedStructure, StructureOption};

pub(super) struct Definition;

impl NamedStructure for Definition {
    fn word(&self) -> &'static str {
        "chain"
    }

    fn with_count(&self, _count: usize) -> StructureOption {
        StructureOption::Chain
    }

    fn build(&self, inputs: &InputPoints) -> Result<Tree, StructureError> {
        if inputs.dim() == 1 { sorted_chain(inputs) } else { greedy_chain(inputs, Start::FirstRow) }
    }

    fn built_name(&self, n_inputs: usize) -> &'static str {
        if n_inputs == 1 { "sorted chain" } else { "greedy chain" }
    }
}
