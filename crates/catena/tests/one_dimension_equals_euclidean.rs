//! On a line the sweep is the exact Gaussian process: nothing is lost to the structure.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::graph::FactorGraph;
use catena::units::DistanceScale;
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::forms::{accurate_forms, posterior, workspace};
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};

fn check(scenario: &Scenario, scale: DistanceScale) {
    let tree = scenario.tree.clone().with_distance_scale(scale).unwrap();
    let dense = DensePrior::euclidean(&scenario.model, &scenario.inputs, scale);
    let dense = dense.condition(&scenario.observations).unwrap();
    let slopes = dense.gradient();
    let graph = FactorGraph::new(&scenario.model, &tree, &scenario.observations).unwrap();
    let n_outputs = scenario.model.n_outputs();
    let n_observed = scenario.observations.n_observed() as f64;
    for form in accurate_forms(scenario) {
        let named = |what: &str| format!("{what} with form {form:?}, scale {scale:?}, {}", scenario.label);
        let tolerance = Tolerance::relative(1e-10);
        let mut sweeps = workspace(form);
        let marginals = sweeps.marginals(&graph).unwrap();
        assert_close(&named("means"), n_outputs, marginals.prediction.means(), &dense.means(), tolerance);
        let variances = marginals.prediction.variances();
        assert_close(&named("variances"), n_outputs, variances, &dense.variances(), tolerance);
        let evidence = [marginals.log_evidence];
        let tolerance_of_sum = tolerance.with_scale_at_least(n_observed);
        assert_close(&named("evidence"), 1, &evidence, &[dense.log_evidence()], tolerance_of_sum);
        let joint = posterior(&graph, form);
        let (mut actual, mut expected) = (vec![], vec![]);
        for row in scenario.inputs.rows() {
            actual.extend(joint.output_covariance(row));
            expected.extend(dense.output_covariance(row));
        }
        assert_close(&named("output covariances"), n_outputs.pow(2), &actual, &expected, tolerance);
        let gradient = sweeps.gradient(&graph).unwrap();
        let tolerance = Tolerance::relative(1e-9).with_scale_at_least(1e-3 * n_observed);
        let n_latents = scenario.model.n_latents();
        assert_close(&named("slopes in W"), n_latents, &gradient.mixing, &slopes.mixing, tolerance);
        let (actual, expected) = (&gradient.length_scales, &slopes.length_scales);
        assert_close(&named("slopes in length-scales"), 1, actual, expected, tolerance);
        assert_close(&named("slopes in shapes"), 1, &gradient.shapes, &slopes.shapes, tolerance);
        assert_close(&named("slopes in noise"), 1, &gradient.noise, &slopes.noise, tolerance);
    }
}

#[test]
fn posterior_evidence_and_gradient_are_those_of_the_euclidean_process() {
    for scenario in Scenario::drawn(Shape::Line, Limits::MODERATE, 100..148) {
        check(&scenario, DistanceScale::ONE);
    }
    for scenario in Scenario::drawn(Shape::Line, Limits::NOISY, 148..180) {
        check(&scenario, DistanceScale::ONE);
    }
}

#[test]
fn pieces_for_time_are_processes_with_their_own_covariance_functions() {
    for scenario in Scenario::drawn(Shape::Time, Limits::MODERATE, 900..940) {
        check(&scenario, DistanceScale::ONE);
    }
    for scenario in Scenario::drawn(Shape::Time, Limits::NOISY, 940..960) {
        check(&scenario, DistanceScale::new(0.37).unwrap());
    }
    check(&Scenario::draw(Shape::Time, Limits::LONG, 2), DistanceScale::ONE);
    for scenario in Scenario::drawn(Shape::Phases, Limits::MODERATE, 960..980) {
        check(&scenario, DistanceScale::ONE);
    }
}

#[test]
fn distances_are_counted_in_the_unit_of_the_structure() {
    for scenario in Scenario::drawn(Shape::Line, Limits::MODERATE, 200..208) {
        check(&scenario, DistanceScale::new(0.37).unwrap());
    }
}

#[test]
fn long_tables() {
    check(&Scenario::draw(Shape::Line, Limits::LONG, 2), DistanceScale::ONE);
}
