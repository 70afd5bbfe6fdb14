//! Joint posteriors have the covariances of the process and the variances of the predictions.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

mod support;

use catena::data::InputPoints;
use catena_methods::Problem;
use catena_methods::exact::{Exact, ExactOptions};
use support::{example, full_scale, reference_joint, shapes};

#[test]
fn joint_answers_with_all_neighbors_are_exact() {
    for (number, shape) in shapes().into_iter().enumerate() {
        let mut example = example(shape, 8000 + number as u64);
        // Four points, one of them twice.
        let places = example.at.values()[..4 * shape.dim].to_vec();
        let again = places[..shape.dim].to_vec();
        example.at = InputPoints::new(5, shape.dim, [places, again].concat()).unwrap();
        let (_, expected) = reference_joint(&example);
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
            // The root reproduces the covariance.
            let root = joint.root();
            for at in 0..dim * dim {
                let (a, b) = (at / dim, at % dim);
                let entry: f64 = root.chunks_exact(dim).map(|column| column[a] * column[b]).sum();
                assert!((entry - joint.covariance[at]).abs() < 1e-9, "{a}, {b}");
            }
        }
    }
}
