//! A combined posterior is the formula of its combination, applied to the dense posterior of every chain.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::inference::{Marginals, Workspace};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::posterior::{Combination, combine};
use catena::prediction::Prediction;
use catena::structure::{Tree, chain_ensemble};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::random::SeededDraws;
use catena_testkit::reference::DensePrior;

struct Case {
    model: Lmc,
    chains: Vec<Tree>,
    observations: Observations,
}

/// Up to 40 random points of two to five inputs, some twice, with cells and whole rows missing; value states.
fn case(seed: u64) -> Case {
    let mut draws = SeededDraws::new(seed);
    let (n_rows, dim, n_outputs) = (20 + draws.below(20), 2 + draws.below(4), 1 + draws.below(3));
    let mut places: Vec<f64> = (0..n_rows * dim).map(|_| draws.normal()).collect();
    places.copy_within(0..dim, 3 * dim);
    let inputs = InputPoints::new(n_rows, dim, places).unwrap();
    let mut values: Vec<f64> = (0..n_rows * n_outputs)
        .map(|_| if draws.chance(0.3) { f64::NAN } else { 2.0 * draws.normal() })
        .collect();
    values[..5 * n_outputs].fill(f64::NAN);
    let latents =
        [(Kernel::Matern32, 1.3), (Kernel::SquaredExponential, 0.7)].map(|(kernel, length_scale)| {
            Latent::new(kernel, StateKind::Value, LengthScale::new(length_scale).unwrap()).unwrap()
        });
    let weights = (0..2 * n_outputs).map(|_| draws.normal()).collect();
    let noise = (0..n_outputs).map(|_| Variance::new(draws.log_uniform(0.01, 1.0)).unwrap()).collect();
    let mixing = MixingMatrix::shared(n_outputs, 2, weights).unwrap();
    let scale = DistanceScale::new(0.8).unwrap();
    let chains = chain_ensemble(&inputs, 1 + draws.below(5), seed).unwrap();
    Case {
        model: Lmc::new(latents.to_vec(), mixing, noise).unwrap(),
        chains: chains.into_iter().map(|chain| chain.with_distance_scale(scale).unwrap()).collect(),
        observations: Observations::from_dense(n_rows, n_outputs, &values).unwrap(),
    }
}

/// (mean, variance) of the combination, as the textbooks write it.
fn by_formula(combination: Combination, beliefs: &[(f64, f64)]) -> (f64, f64) {
    let share = 1.0 / beliefs.len() as f64;
    match combination {
        Combination::Mixture => {
            let mean: f64 = beliefs.iter().map(|(m, _)| share * m).sum();
            let second_moment: f64 = beliefs.iter().map(|(m, v)| share * (v + m * m)).sum();
            (mean, second_moment - mean * mean)
        }
        Combination::ProductOfExperts => {
            let precision: f64 = beliefs.iter().map(|(_, v)| share / v).sum();
            let weighted: f64 = beliefs.iter().map(|(m, v)| share * m / v).sum();
            (weighted / precision, 1.0 / precision)
        }
    }
}

#[test]
fn every_cell_is_the_formula_on_dense_posteriors() {
    for seed in 0..12 {
        let Case { model, chains, observations } = case(seed);
        let dense: Vec<_> = chains
            .iter()
            .map(|chain| DensePrior::on_structure(&model, chain).condition(&observations).unwrap())
            .collect();
        let sweep = |chain: &Tree| -> Marginals {
            let graph = FactorGraph::new(&model, chain, &observations).unwrap();
            Workspace::new().marginals(&graph).unwrap()
        };
        let members: Vec<Marginals> = chains.iter().map(sweep).collect();
        let log_evidences: Vec<f64> = members.iter().map(|member| member.log_evidence).collect();
        let predictions: Vec<Prediction> = members.into_iter().map(|member| member.prediction).collect();
        let moments: Vec<_> = dense.iter().map(|member| (member.means(), member.variances())).collect();
        for combination in [Combination::Mixture, Combination::ProductOfExperts] {
            let ensemble = combine(&predictions, combination).unwrap();
            let cells = 0..moments[0].0.len();
            let (means, variances): (Vec<f64>, Vec<f64>) = cells
                .map(|at| {
                    let beliefs: Vec<_> = moments.iter().map(|(m, v)| (m[at], v[at])).collect();
                    by_formula(combination, &beliefs)
                })
                .unzip();
            let what = format!("{combination:?} of {} chains, seed {seed}", chains.len());
            let (n_outputs, tolerance) = (model.n_outputs(), Tolerance::relative(1e-10));
            assert_close(&what, n_outputs, ensemble.means(), &means, tolerance);
            assert_close(&what, n_outputs, ensemble.variances(), &variances, tolerance);
            let evidences: Vec<f64> = dense.iter().map(|member| member.log_evidence()).collect();
            let tolerance = tolerance.with_scale_at_least(observations.n_observed() as f64);
            assert_close(&what, 1, &log_evidences, &evidences, tolerance);
        }
    }
}
