//! Joint posteriors have the covariances of the process and the variances of the predictions.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

mod support;

use catena::data::{Dataset, InputPoints, Observations};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{DistanceScale, LengthScale, Variance};
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
            let root = joint.root().unwrap();
            for at in 0..dim * dim {
                let (a, b) = (at / dim, at % dim);
                let entry: f64 = root.chunks_exact(dim).map(|column| column[a] * column[b]).sum();
                assert!((entry - joint.covariance[at]).abs() < 1e-9, "{a}, {b}");
            }
        }
    }
}

/// Draws are linear in their normal numbers: with unit vectors they give a root of the covariance.
#[test]
fn draws_have_the_joint_covariance() {
    let latent =
        |kernel, length| Latent::new(kernel, StateKind::Value, LengthScale::new(length).unwrap()).unwrap();
    let latents = vec![
        latent(Kernel::Matern12, 0.8),
        latent(Kernel::Matern12, 0.8),
        latent(Kernel::SquaredExponential, 1.5),
    ];
    let mixing = MixingMatrix::shared(2, 3, vec![1.0, 0.3, -0.5, 0.2, 0.9, 0.7]).unwrap();
    let model = Lmc::new(latents, mixing, vec![Variance::new(0.05).unwrap(); 2]).unwrap();
    let coordinate = |at: usize| (1.7 * at as f64).sin() + 0.1 * at as f64;
    let inputs = InputPoints::new(9, 2, (0..18).map(coordinate).collect()).unwrap();
    let cell = |at: usize| if at % 5 == 3 { f64::NAN } else { (at as f64).cos() };
    let values: Vec<f64> = (0..18).map(cell).collect();
    let table = Dataset::new(inputs.clone(), Observations::from_dense(9, 2, &values).unwrap()).unwrap();
    let problem = Problem::new(&model, &table, DistanceScale::ONE).unwrap();
    let exact = Exact::fit(problem, ExactOptions::default()).unwrap();
    // Two rows of the table, a new point twice, and another one.
    let new = [0.3, -0.4, 0.3, -0.4, 5.0, 1.0];
    let at = InputPoints::new(5, 2, [&inputs.values()[2..6], &new].concat()).unwrap();
    let joint = exact.joint(&at).unwrap();
    let dim = joint.means.len();
    let mut count = 0;
    let mut zero = || {
        count += 1;
        0.0
    };
    let center = exact.draws(&at, 1, &mut zero).unwrap();
    // Drawn from the prior: a root of the joint covariance has at most as many columns as cells.
    assert!(count > dim);
    let mut covariance = vec![0.0; dim * dim];
    for unit in 0..count {
        let mut at_number = 0;
        let mut normal = || {
            at_number += 1;
            f64::from(u8::from(at_number - 1 == unit))
        };
        let draw = exact.draws(&at, 1, &mut normal).unwrap();
        for (at, entry) in covariance.iter_mut().enumerate() {
            let moved = |cell: usize| draw[cell] - center[cell];
            *entry += moved(at / dim) * moved(at % dim);
        }
    }
    for (found, mean) in center.iter().zip(&joint.means) {
        assert!((found - mean).abs() < 1e-12);
    }
    for (found, expected) in covariance.iter().zip(&joint.covariance) {
        assert!((found - expected).abs() < 1e-10, "{found} is not {expected}");
    }
}
