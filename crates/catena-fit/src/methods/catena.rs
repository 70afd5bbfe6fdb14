//! `catena`: message passing on the chosen structure, one tree or an ensemble of chains.

use std::sync::Arc;

use catena::data::InputPoints;
use catena::structure::Tree;
use catena_methods::{MemoryLimit, Problem};

use super::ensemble::EnsembleMethod;
use super::message_passing::{MessagePassing, States};
use super::method::{Differentiable, Fitted, Method};
use super::named::NamedMethod;
use crate::error::FitError;
use crate::options::{MOST_CHAINS, MethodChoice, StructureOption, Ties};

/// The structure on which message passing conditions.
pub(crate) struct Place {
    /// The structure to build.
    pub(crate) structure: StructureOption,
    /// The rule for ties.
    pub(crate) ties: Ties,
    /// The structure over rows and candidates, if it is already built.
    pub(crate) tree: Option<Arc<Tree>>,
    /// Further points of the structure, scaled.
    pub(crate) candidates: Option<InputPoints>,
    /// The seed of an ensemble.
    pub(crate) seed: u64,
}

pub(super) struct Definition;

impl NamedMethod for Definition {
    fn word(&self) -> &'static str {
        "catena"
    }

    fn with_counts(&self, _counts: [usize; 2]) -> MethodChoice {
        MethodChoice::Catena
    }

    fn dense(
        &self,
        _choice: MethodChoice,
        _seed: u64,
        _memory: MemoryLimit,
    ) -> Option<Box<dyn Differentiable>> {
        None
    }
}

/// Conditions by message passing.
pub(super) fn condition(
    problem: Problem<'_>,
    Place { structure, ties, tree, candidates, seed }: Place,
) -> Result<Box<dyn Fitted>, FitError> {
    let StructureOption::Ensemble { n_chains } = structure else {
        let method = MessagePassing { structure, ties, tree, states: States::AsGiven, candidates };
        return Ok(method.fit(problem)?);
    };
    if !(1..=MOST_CHAINS).contains(&n_chains) {
        return Err(FitError::EnsembleSize { most: MOST_CHAINS, found: n_chains });
    }
    if candidates.is_some() {
        return Err(FitError::CandidatesInEnsemble);
    }
    Ok(EnsembleMethod { n_chains, seed, ties }.fit(problem)?)
}
