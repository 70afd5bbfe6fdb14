//! Covariances between points are those of the process, and their variances those of the predictions.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

mod support;

use catena::data::InputPoints;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::{Joint, Problem};
use support::dense_process::{DenseJudge, Matrix, inner, solve};
use support::{Example, example, full_scale, observed_cells, shapes};

/// Joint means and covariances by the textbook: several points as the rows of one.
fn textbook_joint(example: &Example) -> Joint {
    let n_outputs = example.model.n_outputs();
    let cells = observed_cells(example);
    let judge = DenseJudge { example, inducing: None };
    let n = cells.len();
    let prior = |a: (&[f64], usize), b: (&[f64], usize)| judge.residual(a, b);
    let among: Matrix = (0..n)
        .map(|a| {
            let entry = |b: usize| {
                let noise = if a == b { cells[a].3 } else { 0.0 };
                prior((&cells[a].0, cells[a].1), (&cells[b].0, cells[b].1)) + noise
            };
            (0..n).map(entry).collect()
        })
        .collect();
    let values: Vec<f64> = cells.iter().map(|cell| cell.2).collect();
    let asked: Vec<(&[f64], usize)> = example
        .at
        .rows()
        .flat_map(|row| (0..n_outputs).map(move |output| (row, output)))
        .map(|(row, output)| (example.at.point(row), output))
        .collect();
    let with: Matrix =
        asked.iter().map(|one| cells.iter().map(|cell| prior(*one, (&cell.0, cell.1))).collect()).collect();
    let solved: Matrix = with.iter().map(|with| solve(&among, with)).collect();
    let means = solved.iter().map(|solved| inner(solved, &values)).collect();
    let mut covariance = vec![];
    for (a, one) in asked.iter().enumerate() {
        for (b, other) in asked.iter().enumerate() {
            covariance.push(prior(*one, *other) - inner(&with[b], &solved[a]));
        }
    }
    Joint { means, covariance }
}

#[test]
fn joint_answers_with_all_neighbors_are_exact() {
    for (number, shape) in shapes().into_iter().enumerate() {
        let mut example = example(shape, 8000 + number as u64);
        // Four points, one of them twice.
        let places = example.at.values()[..4 * shape.dim].to_vec();
        let again = places[..shape.dim].to_vec();
        example.at = InputPoints::new(5, shape.dim, [places, again].concat()).unwrap();
        let expected = textbook_joint(&example);
        let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
        let exact = Exact::fit(problem, ExactOptions::default()).unwrap().joint(&example.at).unwrap();
        for (found, what) in
            [(exact, "exact"), (full_scale(&example, 7, 1000).joint(&example.at).unwrap(), "all")]
        {
            support::assert_all_close(&found.means, &expected.means, 1e-10, what);
            support::assert_all_close(&found.covariance, &expected.covariance, 1e-10, what);
        }
    }
}

#[test]
fn joint_answers_have_the_variances_of_predictions() {
    for (number, shape) in shapes().into_iter().enumerate() {
        let example = example(shape, 9000 + number as u64);
        for (n_inducing, n_neighbors) in [(6, 3), (0, 3), (6, 0)] {
            let found = full_scale(&example, n_inducing, n_neighbors);
            let (joint, prediction) =
                (found.joint(&example.at).unwrap(), found.predict(&example.at).unwrap());
            let dim = joint.means.len();
            let variances: Vec<f64> = joint.covariance.iter().step_by(dim + 1).copied().collect();
            support::assert_all_close(&joint.means, prediction.means(), 1e-11, "mean");
            support::assert_all_close(&variances, prediction.variances(), 1e-11, "variance");
            // A covariance: its root gives it back.
            let root = joint.root();
            for at in 0..dim * dim {
                let (a, b) = (at / dim, at % dim);
                let entry: f64 = root.chunks_exact(dim).map(|column| column[a] * column[b]).sum();
                assert!((entry - joint.covariance[at]).abs() < 1e-9, "{a}, {b}");
            }
        }
    }
}
