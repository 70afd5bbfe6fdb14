//! Several random greedy chains as one method: each is swept on its own, and their beliefs are mixed.

use std::sync::Arc;

use catena::data::InputPoints;
use catena::posterior::{Combination, combine};
use catena::prediction::Prediction;
use catena::structure::chain_ensemble;
use catena_baselines::Problem;
use rayon::prelude::*;

use crate::message_passing::{CatenaMethod, States, Structure};
use crate::method::{Evidence, Fitted, Method, MethodError, Quantity};

/// Message passing on random greedy chains, combined as a mixture: its mean is the mean of theirs, and their
/// disagreement widens its bands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EnsembleMethod {
    /// How many chains.
    pub n_chains: usize,
    /// The seed of the chains.
    pub seed: u64,
}

struct FittedEnsemble {
    members: Vec<Box<dyn Fitted>>,
}

impl Method for EnsembleMethod {
    fn name(&self) -> &'static str {
        "ensemble"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        let chains = chain_ensemble(problem.dataset().inputs(), self.n_chains, self.seed)?;
        let members: Result<Vec<Box<dyn Fitted>>, MethodError> = chains
            .into_par_iter()
            .map(|chain| {
                let structure = Structure::Given(Arc::new(chain));
                CatenaMethod { structure, states: States::AsGiven, candidates: None }.fit(problem)
            })
            .collect();
        Ok(Box::new(FittedEnsemble { members: members? }))
    }
}

impl FittedEnsemble {
    fn combined(
        &self,
        of: impl Fn(&dyn Fitted) -> Result<Prediction, MethodError> + Sync,
    ) -> Result<Prediction, MethodError> {
        let all: Result<Vec<Prediction>, MethodError> =
            self.members.par_iter().map(|member| of(member.as_ref())).collect();
        Ok(combine(&all?, Combination::Mixture)?)
    }
}

impl Fitted for FittedEnsemble {
    /// The mean of the members' log evidences: what one chain, drawn at random, says on average.
    fn evidence(&self) -> Result<Option<Evidence>, MethodError> {
        let mut sum = 0.0;
        for member in &self.members {
            sum += member.evidence()?.map_or(f64::NAN, Evidence::get);
        }
        Ok(Some(Evidence::Approximate(sum / self.members.len() as f64)))
    }

    fn predict(&self, at: &InputPoints, quantity: Quantity) -> Result<Prediction, MethodError> {
        self.combined(|member| member.predict(at, quantity))
    }

    fn predict_rows(&self, quantity: Quantity) -> Result<Prediction, MethodError> {
        self.combined(|member| member.predict_rows(quantity))
    }
}
