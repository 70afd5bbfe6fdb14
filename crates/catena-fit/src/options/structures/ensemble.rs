//! `ensemble:K`: K random greedy chains, whose predictions `crate::methods` combines. Parameters are learned on the chain.

use catena::data::InputPoints;
use catena::structure::{StructureError, Tree};

use super::{MOST_CHAINS, NamedStructure, StructureOption, chain};

pub(super) struct Definition;

impl NamedStructure for Definition {
    fn word(&self) -> &'static str {
        "ensemble"
    }

    fn usage(&self) -> &'static str {
        "ensemble:K with K from 1 to 1000"
    }

    fn has_count(&self) -> bool {
        true
    }

    fn most(&self) -> usize {
        MOST_CHAINS
    }

    fn with_count(&self, count: usize) -> StructureOption {
        StructureOption::Ensemble { n_chains: count }
    }

    fn count(&self, option: StructureOption) -> usize {
        if let StructureOption::Ensemble { n_chains } = option { n_chains } else { 0 }
    }

    fn build(&self, inputs: &InputPoints) -> Result<Tree, StructureError> {
        chain::Definition.build(inputs)
    }

    fn built_name(&self, n_inputs: usize) -> &'static str {
        chain::Definition.built_name(n_inputs)
    }
}
