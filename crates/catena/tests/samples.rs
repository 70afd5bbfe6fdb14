//! Joint draws have the posterior's moments, within Monte Carlo error.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::graph::FactorGraph;
use catena::index::RowIndex;
use catena::posterior::Posterior;
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};

const N_DRAWS: usize = 100_000;
/// Six standard errors: one comparison in 5e8 fails by chance, and a few thousand are made.
const STANDARD_ERRORS: f64 = 6.0;

fn check(scenario: &Scenario, seed: u64) {
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    let posterior = Posterior::new(&graph).unwrap();
    let dense = DensePrior::on_structure(&scenario.model, &scenario.tree);
    let dense = dense.condition(&scenario.observations).unwrap();
    let n_outputs = scenario.model.n_outputs();
    let n_cells = scenario.n_rows() * n_outputs;
    let expected_means = dense.means();
    let mut sums = vec![0.0; n_cells];
    let mut products = vec![0.0; n_cells * n_cells];
    for draw in posterior.draws(seed).take(N_DRAWS) {
        let centered: Vec<f64> = draw.iter().zip(&expected_means).map(|(value, mean)| value - mean).collect();
        for i in 0..n_cells {
            sums[i] += centered[i];
            for j in 0..n_cells {
                products[i * n_cells + j] += centered[i] * centered[j];
            }
        }
    }
    let count = N_DRAWS as f64;
    let covariance = |i: usize, j: usize| {
        let (row, other) = (RowIndex::new(i / n_outputs), RowIndex::new(j / n_outputs));
        dense.output_cross_covariance(row, other)[i % n_outputs * n_outputs + j % n_outputs]
    };
    let variances: Vec<f64> = (0..n_cells).map(|i| covariance(i, i)).collect();
    for i in 0..n_cells {
        let allowed = STANDARD_ERRORS * (variances[i] / count).sqrt() + 1e-12;
        let error = (sums[i] / count).abs();
        assert!(
            error <= allowed,
            "mean of cell {i} off by {error:e}, allowed {allowed:e}: {}",
            scenario.label
        );
        for j in 0..n_cells {
            let expected = covariance(i, j);
            let spread = ((variances[i] * variances[j] + expected * expected) / count).sqrt();
            let allowed = STANDARD_ERRORS * spread + 1e-12;
            let error = (products[i * n_cells + j] / count - expected).abs();
            assert!(
                error <= allowed,
                "covariance of cells {i} and {j} off by {error:e}, allowed {allowed:e}: {}",
                scenario.label
            );
        }
    }
}

#[test]
fn moments_of_a_hundred_thousand_draws_are_the_posteriors() {
    for (shape, seeds) in [(Shape::Tree, 0..6), (Shape::Chain, 0..6), (Shape::Line, 2..4)] {
        for seed in seeds {
            check(&Scenario::draw(shape, Limits::SMALL, seed), 77 + seed);
        }
    }
}

#[test]
fn equal_seeds_give_equal_draws() {
    let scenario = Scenario::draw(Shape::Chain, Limits::SMALL, 2);
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    let posterior = Posterior::new(&graph).unwrap();
    let drawn = |seed: u64| -> Vec<Vec<f64>> { posterior.draws(seed).take(3).collect() };
    assert_eq!(drawn(5), drawn(5));
    assert_ne!(drawn(5), drawn(6));
    let draws = drawn(5);
    assert_ne!(draws[0], draws[1], "draws of one stream differ");
}
