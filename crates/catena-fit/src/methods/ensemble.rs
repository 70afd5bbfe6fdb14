//! An ensemble of random greedy chains as one method: the mixture of their posteriors.

use std::sync::Arc;

use catena::data::InputPoints;
use catena::posterior::{Combination, combine};
use catena::prediction::Prediction;
use catena::structure::chain_ensemble;
use catena_methods::Problem;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use super::message_passing::{MessagePassing, States};
use super::method::{Evidence, Fitted, Method, Quantity};
use crate::error::MethodError;
use crate::folds::below;
use crate::options::Ties;

/// Message passing on random greedy chains, combined as a mixture; disagreement of the members adds to the variance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EnsembleMethod {
    /// The number of chains.
    pub n_chains: usize,
    /// The seed of the chains.
    pub seed: u64,
    /// What decides between rows at equal distances, and numbers the rows from which a start is drawn.
    pub ties: Ties,
}

struct FittedEnsemble {
    members: Vec<Box<dyn Fitted>>,
}

impl Method for EnsembleMethod {
    fn name(&self) -> &'static str {
        "ensemble"
    }

    fn fit(&self, problem: Problem<'_>) -> Result<Box<dyn Fitted>, MethodError> {
        let inputs = problem.dataset().inputs();
        let chains = self.ties.build(inputs, |inputs| chain_ensemble(inputs, self.n_chains, self.seed))?;
        let members: Result<Vec<Box<dyn Fitted>>, MethodError> = chains
            .into_par_iter()
            .map(|chain| {
                let tree = Some(Arc::new(chain));
                MessagePassing { tree, states: States::AsGiven, ..MessagePassing::default() }.fit(problem)
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
    /// The mean of the members' log evidences.
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

    /// The mean of the members' covariances plus the covariance of their means.
    fn covariances(&self, at: &InputPoints) -> Result<Vec<f64>, MethodError> {
        let together = self.predict(at, Quantity::Function)?;
        let (n_outputs, share) = (together.n_outputs(), 1.0 / self.members.len() as f64);
        let mut covariances = vec![0.0; together.means().len() * n_outputs];
        for member in &self.members {
            let own = member.predict(at, Quantity::Function)?;
            let within = member.covariances(at)?;
            let deviation = |cell: usize| own.means()[cell] - together.means()[cell];
            for (place, (covariance, within)) in covariances.iter_mut().zip(within).enumerate() {
                let (cell, other) = (place / n_outputs, place % n_outputs);
                let beside = cell / n_outputs * n_outputs + other;
                *covariance += share * (within + deviation(cell) * deviation(beside));
            }
        }
        Ok(covariances)
    }

    /// Each draw is from a randomly drawn member.
    fn draws(&self, at: &InputPoints, n_draws: usize, seed: u64) -> Result<Vec<f64>, MethodError> {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let drawn: Vec<usize> = (0..n_draws).map(|_| below(&mut generator, self.members.len())).collect();
        let numbered = self.members.par_iter().enumerate();
        let by_member: Vec<Result<Vec<f64>, MethodError>> = numbered
            .map(|(number, member)| {
                let count = drawn.iter().filter(|&&other| other == number).count();
                member.draws(at, count, seed.wrapping_add(1 + number as u64))
            })
            .collect();
        let by_member: Vec<Vec<f64>> = by_member.into_iter().collect::<Result<_, _>>()?;
        let size = by_member.iter().map(Vec::len).sum::<usize>() / n_draws.max(1);
        let mut taken = vec![0; self.members.len()];
        let mut draws = Vec::with_capacity(n_draws * size);
        for number in drawn {
            draws.extend_from_slice(&by_member[number][taken[number]..][..size]);
            taken[number] += size;
        }
        Ok(draws)
    }

    fn n_sweeps(&self) -> usize {
        self.members.iter().map(|member| member.n_sweeps()).sum()
    }
}
