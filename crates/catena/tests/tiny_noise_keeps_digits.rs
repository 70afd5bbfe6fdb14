//! Evidence and gradient of chains keep their digits down to noise variances of a millionth, in the form that is chosen.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::graph::FactorGraph;
use catena::inference::{Gradient, Workspace};
use catena::learning::{Evidence, GraphEvidence};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::reference::{DenseGradient, DensePrior};
use catena_testkit::scenario::{Limits, Scenario, Shape};

const TINY_NOISE: Limits = Limits { rows: 40, outputs: 5, shared_latents: 5, noise: (1e-6, 1e-4) };

/// Evidence and slopes in logarithms are sums over cells of numbers near 1, and slopes in weights of larger ones: a unit per
/// cell is their natural size, also where they nearly cancel.
fn check(scenario: &Scenario) {
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    let mut workspace = Workspace::new();
    let gradient = workspace.gradient(&graph).unwrap();
    let dense = DensePrior::on_structure(&scenario.model, &scenario.tree);
    let dense = dense.condition(&scenario.observations).unwrap();
    let expected = dense.gradient();
    let n_observed = scenario.observations.n_observed() as f64;
    let named = |what: &str| format!("{what}, {}", scenario.label);
    let tolerance = Tolerance::relative(1e-9).with_scale_at_least(n_observed);
    let evidence = [dense.log_evidence()];
    assert_close(&named("evidence"), 1, &[gradient.log_evidence], &evidence, tolerance);
    assert_close(
        &named("evidence alone"),
        1,
        &[workspace.log_evidence(&graph).unwrap()],
        &evidence,
        tolerance,
    );
    // Eight digits are estimated before a gradient is returned; an estimate may be wrong by one.
    check_slopes(scenario, &gradient, &expected, 1e-7);
    // A climb names the covariance form: its evidence keeps its digits, of its slopes four are left in the worst case.
    let climbed = GraphEvidence::new(graph.clone()).gradient(&scenario.model).unwrap();
    assert_close(&named("evidence of a climb"), 1, &[climbed.log_evidence], &evidence, tolerance);
    check_slopes(scenario, &climbed, &expected, 1e-4);
}

fn check_slopes(scenario: &Scenario, gradient: &Gradient, expected: &DenseGradient, digits: f64) {
    let named = |what: &str| format!("{what}, {}", scenario.label);
    let tolerance =
        Tolerance::relative(digits).with_scale_at_least(scenario.observations.n_observed() as f64);
    let scales: Vec<f64> =
        scenario.model.latents().iter().map(|latent| latent.length_scale().get()).collect();
    let noise: Vec<f64> = scenario.model.noise().iter().map(|noise| noise.get()).collect();
    let by_log =
        |slopes: &[f64], at: &[f64]| -> Vec<f64> { slopes.iter().zip(at).map(|(s, x)| s * x).collect() };
    // One latent's mean is found among all others: the largest slope is the size of them all.
    assert_close(&named("slopes in W"), 1, &gradient.mixing, &expected.mixing, tolerance);
    let (actual, slopes) =
        (by_log(&gradient.length_scales, &scales), by_log(&expected.length_scales, &scales));
    assert_close(&named("slopes in log length-scales"), 1, &actual, &slopes, tolerance);
    let (actual, slopes) = (by_log(&gradient.noise, &noise), by_log(&expected.noise, &noise));
    assert_close(&named("slopes in log noise"), 1, &actual, &slopes, tolerance);
}

#[test]
fn on_chains_in_the_form_that_is_chosen() {
    for shape in [Shape::Chain, Shape::Line] {
        Scenario::drawn(shape, TINY_NOISE, 700..780).for_each(|scenario| check(&scenario));
    }
}
