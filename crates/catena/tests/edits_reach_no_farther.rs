//! The region that a live posterior says an edit reaches is the one the dense process knows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::graph::FactorGraph;
use catena::index::{LatentIndex, OutputIndex, RowIndex};
use catena::live::{LiveError, LivePosterior};
use catena_testkit::reference::{DensePosterior, DensePrior};
use catena_testkit::scenario::{Limits, Scenario, Shape};

/// What the state at `other` explains of the variance of the outputs at `row`, at most; and the largest correlation of two
/// outputs.
fn ties(scenario: &Scenario, dense: &DensePosterior<'_>, row: RowIndex, other: RowIndex) -> (f64, f64) {
    let n = scenario.model.state_dim();
    let (own, its) = (dense.state_covariance(row), dense.state_covariance(other));
    let cross = dense.state_cross_covariance(row, other);
    let (mut largest_share, mut largest_correlation) = (0.0_f64, 0.0_f64);
    let readouts: Vec<Vec<f64>> =
        (0..scenario.model.n_outputs()).map(|output| readout(scenario, output)).collect();
    let times = |matrix: &[f64], vector: &[f64]| -> Vec<f64> {
        matrix.chunks_exact(n).map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum()).collect()
    };
    let inner = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let transposed: Vec<f64> = (0..n * n).map(|at| cross[at % n * n + at / n]).collect();
    for reading in &readouts {
        let variance = inner(reading, &times(&own, reading));
        let with_other = times(&transposed, reading);
        if variance > 0.0 {
            largest_share = largest_share.max(inner(&with_other, &solve(n, &its, &with_other)) / variance);
        }
        for read_there in &readouts {
            let its_variance = inner(read_there, &times(&its, read_there));
            let size = (variance * its_variance).sqrt();
            if size > 0.0 {
                largest_correlation = largest_correlation.max((inner(&with_other, read_there) / size).abs());
            }
        }
    }
    (largest_share, largest_correlation)
}

/// The weights of an output over the state, latent by latent.
fn readout(scenario: &Scenario, output: usize) -> Vec<f64> {
    let mut weights = vec![];
    for (latent, process) in scenario.model.latents().iter().enumerate() {
        weights.push(scenario.model.mixing().weight(OutputIndex::new(output), LatentIndex::new(latent)));
        weights.resize(weights.len() + process.state_dim() - 1, 0.0);
    }
    weights
}

/// Gaussian elimination with pivots.
fn solve(n: usize, matrix: &[f64], right: &[f64]) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> =
        (0..n).map(|i| [&matrix[i * n..][..n], &right[i..i + 1]].concat()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs())).unwrap();
        rows.swap(k, pivot);
        for i in 0..n {
            if i != k {
                let factor = rows[i][k] / rows[k][k];
                (k..=n).for_each(|j| rows[i][j] -= factor * rows[k][j]);
            }
        }
    }
    (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
}

#[test]
fn along_lines() {
    let mut n_ends_inside = 0;
    for scenario in Scenario::drawn(Shape::Line, Limits::NOISY, 0..40) {
        let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
        let dense = DensePrior::on_structure(&scenario.model, &scenario.tree);
        let dense = dense.condition(&scenario.observations).unwrap();
        let mut live = LivePosterior::new(&graph, &scenario.inputs, &scenario.observations).unwrap();
        let order: Vec<RowIndex> = scenario.tree.positions().map(|at| scenario.tree.row_at(at)).collect();
        for (at, &row) in order.iter().enumerate().step_by(3) {
            let correlation = 0.3;
            let region = live.affected(row, correlation).unwrap();
            let first = order.iter().position(|&other| other == region[0]).unwrap();
            let last = first + region.len() - 1;
            assert_eq!(&order[first..=last], &region[..], "a stretch of the chain, {}", scenario.label);
            assert!((first..=last).contains(&at), "the row itself, {}", scenario.label);
            for (place, &other) in order.iter().enumerate() {
                if (first..=last).contains(&place) {
                    continue;
                }
                let (_, largest) = ties(&scenario, &dense, row, other);
                assert!(largest <= correlation + 1e-9, "{row} with {other}: {largest}, {}", scenario.label);
            }
            // The last point within is tied, the first one beyond is not.
            let share = correlation * correlation;
            for (within, beyond) in [(first, first.checked_sub(1)), (last, Some(last + 1))] {
                if within != at {
                    let (explained, _) = ties(&scenario, &dense, row, order[within]);
                    assert!(explained >= share - 1e-6, "{explained} at {within}, {}", scenario.label);
                }
                if let Some(&other) = beyond.and_then(|beyond| order.get(beyond)) {
                    let (explained, _) = ties(&scenario, &dense, row, other);
                    assert!(explained <= share + 1e-6, "{explained} beyond {within}, {}", scenario.label);
                    n_ends_inside += 1;
                }
            }
        }
    }
    assert!(n_ends_inside > 100, "only {n_ends_inside} ends lie inside a chain");
}

#[test]
fn a_tree_is_refused() {
    let branches = |scenario: &Scenario| !scenario.tree.is_chain();
    let scenario = Scenario::drawn(Shape::Tree, Limits::NOISY, 0..40).find(branches).unwrap();
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    let mut live = LivePosterior::new(&graph, &scenario.inputs, &scenario.observations).unwrap();
    assert_eq!(live.affected(RowIndex::new(0), 0.1), Err(LiveError::NotAChain));
}
