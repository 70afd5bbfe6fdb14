//! With the authors' random streams, each method reproduces their scores on the sensor network for every seed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

use catena::data::InputPoints;
use catena::prediction::Prediction;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::kmeans::{PAPER_ROUNDS, Start, k_means};
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::svgp::{Svgp, SvgpOptions};
use catena_methods::{Jitter, Problem};
use catena_studies::sensor_study::sensor_study;
use catena_studies::study::Study;

/// (M, seed, scores of the exact, the sparse and the nearest-neighbor method), each with RMSE, MNLL without noise and MNLL
/// with noise: from an independent port of the authors' code, fed with their streams.
#[rustfmt::skip]
const AUTHORS: [(usize, u32, [[f64; 3]; 3]); 15] = [
    (2, 0, [[0.06540950728, 1.429552209, -1.090580018], [0.06694964695, -0.5524839954, -1.221276789], [0.06537391605, 1.427621127, -1.091212059]]),
    (2, 1, [[0.05788295749, -1.994018339, -1.966468497], [0.06778231958, -1.602589021, -1.613943663], [0.05790106334, -1.994688667, -1.966881165]]),
    (2, 2, [[0.05658557611, -2.113705802, -2.076604693], [0.06968077388, -1.527614087, -1.624080341], [0.05658620709, -2.113998426, -2.076828853]]),
    (4, 0, [[0.04802508511, -1.57720934, -1.828182137], [0.05340309029, -1.428627192, -1.572417094], [0.04797243343, -1.590008299, -1.824392115]]),
    (4, 1, [[0.03973363232, -1.925911612, -2.112628911], [0.04904036444, -1.384021316, -1.715828667], [0.03992058113, -1.890969381, -2.090359906]]),
    (4, 2, [[0.03428345717, -2.001429526, -1.99550445], [0.04318274087, -1.739972203, -1.76716022], [0.03586554428, -1.943732887, -1.960623287]]),
    (8, 0, [[0.1516759134, -0.4291808718, -0.4939505473], [0.2199656745, 0.1324829747, -0.09826473267], [0.1872936341, 0.0705982425, -0.2391112841]]),
    (8, 1, [[0.2211284461, 2.542136153, 0.429983495], [0.2572789307, 1.193813567, 0.3616449761], [0.2334485856, 2.41308953, 0.4941435956]]),
    (8, 2, [[0.2787209867, 3.172518404, 0.7378397168], [0.2943119642, 1.566395619, 0.5945408864], [0.28544464, 2.654679836, 0.7559953637]]),
    (16, 0, [[0.2583380555, 10.40862826, 0.6038343753], [0.3224858892, 8.333101207, 1.119607032], [0.333637639, 9.949728768, 1.33015835]]),
    (16, 1, [[0.2378785585, 0.5670785826, 0.1081253608], [0.3179356901, 0.6696708798, 0.3780147222], [0.3172708973, 0.8516144044, 0.4242670998]]),
    (16, 2, [[0.3292405915, 5.822982246, 1.136935741], [0.3947556654, 4.520842524, 1.297151428], [0.372623001, 5.709912813, 1.499754153]]),
    (32, 0, [[0.456354929, 2.810456021, 1.206088144], [0.5177394077, 2.603777236, 1.400825666], [0.5449022051, 3.186588582, 1.689858234]]),
    (32, 1, [[0.4698383132, 1.421045312, 0.9622493629], [0.5226501341, 1.272003738, 1.009936355], [0.5258847778, 1.351507622, 1.044233507]]),
    (32, 2, [[0.4858934405, 4.594115617, 1.333498194], [0.5526758799, 2.178933554, 1.118607611], [0.5224331833, 2.726688315, 1.2492686]]),
];

/// A method's name and its prediction of the test rows.
type Method = (&'static str, fn(&Study, &InputPoints) -> Prediction);

fn problem(study: &Study) -> Problem<'_> {
    Problem::new(&study.model, &study.dataset, study.distance_scale).unwrap()
}

fn exact(study: &Study, at: &InputPoints) -> Prediction {
    Exact::fit(problem(study), ExactOptions::paper()).unwrap().predict(at).unwrap()
}

fn sparse(study: &Study, at: &InputPoints) -> Prediction {
    let start = study.initial_centers(64);
    let centers = k_means(&study.pool_inputs().unwrap(), Start::Rows(&start), PAPER_ROUNDS).unwrap();
    let repair = |variance: &f64| Jitter::PAPER_INDUCING.of_correlation(*variance);
    let repairs: Vec<Jitter> = study.latent_variances.iter().map(repair).collect();
    let inducing = centers;
    Svgp::fit_with_jitters(problem(study), &inducing, SvgpOptions::paper(), &repairs)
        .unwrap()
        .predict(at)
        .unwrap()
}

fn nearest_neighbor(study: &Study, at: &InputPoints) -> Prediction {
    Nngp::fit(problem(study), NngpOptions::paper()).unwrap().predict(at).unwrap()
}

/// Six digits, as far as the port printed them.
fn check(dim: usize) {
    let methods: [Method; 3] = [("exact", exact), ("svgp", sparse), ("nngp", nearest_neighbor)];
    for (_, seed, expected) in AUTHORS.iter().filter(|cell| cell.0 == dim) {
        let study = sensor_study(dim, *seed).unwrap();
        let at = study.test_inputs().unwrap();
        for ((name, predict), expected) in methods.iter().zip(expected) {
            let scores = study.score(&predict(&study, &at));
            let found = [scores.rmse, scores.mnll_latent, scores.mnll_with_noise];
            for (found, expected) in found.iter().zip(expected) {
                let error = (found - expected).abs() / expected.abs();
                assert!(
                    error < 1e-6,
                    "M = {dim}, seed {seed}, {name}: {found} is not {expected} ({error:e})"
                );
            }
        }
    }
}

#[test]
fn two_inputs() {
    check(2);
}

#[test]
fn four_inputs() {
    check(4);
}

#[test]
fn eight_inputs() {
    check(8);
}

#[test]
fn sixteen_inputs() {
    check(16);
}

#[test]
fn thirty_two_inputs() {
    check(32);
}
