//! `tree`: the minimum spanning tree.

use catena::data::InputPoints;
use catena::structure::{StructureError, Tree, spanning_tree};

use super::{NamedStructure, StructureOption};

pub(super) struct Definition;

impl NamedStructure for Definition {
    fn word(&self) -> &'static str {
        "tree"
    }

    fn with_count(&self, _count: usize) -> StructureOption {
        StructureOption::Tree
    }

    fn build(&self, inputs: &InputPoints) -> Result<Tree, StructureError> {
        spanning_tree(inputs)
    }

    fn built_name(&self, _n_inputs: usize) -> &'static str {
        "spanning tree"
    }
}
