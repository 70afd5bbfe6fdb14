//! Every form of the sweep gives what the dense process under the structure's own covariance gives.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::graph::FactorGraph;
use catena::inference::Form;
use catena::posterior::Posterior;
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::forms::{accurate_forms, posterior, workspace};
use catena_testkit::reference::{DensePosterior, DensePrior};
use catena_testkit::scenario::{Limits, Scenario, Shape};

/// Relative to the largest entry of its kind.
const TOLERANCE: f64 = 1e-10;

/// The evidence is a sum of one term of order 1 per cell, and may itself come out near 0.
fn evidence_tolerance(scenario: &Scenario) -> Tolerance {
    Tolerance::relative(TOLERANCE).with_scale_at_least(scenario.observations.n_observed() as f64)
}

fn check(scenario: &Scenario) {
    let dense = DensePrior::on_structure(&scenario.model, &scenario.tree);
    let dense = dense.condition(&scenario.observations).unwrap();
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    let (means, variances) = (dense.means(), dense.variances());
    let n_outputs = scenario.model.n_outputs();
    for form in accurate_forms(scenario) {
        let named = |what: &str| format!("{what} with form {form:?}, {}", scenario.label);
        let tolerance = Tolerance::relative(TOLERANCE);
        let mut sweeps = workspace(form);
        let marginals = sweeps.marginals(&graph).unwrap();
        assert_close(&named("means"), n_outputs, marginals.prediction.means(), &means, tolerance);
        assert_close(&named("variances"), n_outputs, marginals.prediction.variances(), &variances, tolerance);
        let expected = [dense.log_evidence()];
        let evidence = [marginals.log_evidence];
        assert_close(&named("evidence"), 1, &evidence, &expected, evidence_tolerance(scenario));
        let evidence = [sweeps.log_evidence(&graph).unwrap()];
        assert_close(&named("evidence alone"), 1, &evidence, &expected, evidence_tolerance(scenario));
        let joint = posterior(&graph, form);
        let evidence = [joint.log_evidence()];
        assert_close(
            &named("evidence of the posterior"),
            1,
            &evidence,
            &expected,
            evidence_tolerance(scenario),
        );
        check_posterior(scenario, &joint, &dense, &named);
    }
}

fn check_posterior(
    scenario: &Scenario,
    posterior: &Posterior<'_>,
    dense: &DensePosterior<'_>,
    named: &dyn Fn(&str) -> String,
) {
    let tolerance = Tolerance::relative(TOLERANCE);
    let n = scenario.model.state_dim();
    let n_outputs = scenario.model.n_outputs();
    let mut kinds: [(&str, usize, Vec<f64>, Vec<f64>); 3] = [
        ("state means", n, vec![], vec![]),
        ("state covariances", n * n, vec![], vec![]),
        ("output covariances", n_outputs * n_outputs, vec![], vec![]),
    ];
    for row in scenario.inputs.rows() {
        kinds[0].2.extend(posterior.state_mean(row));
        kinds[0].3.extend(dense.state_mean(row));
        kinds[1].2.extend(posterior.state_covariance(row));
        kinds[1].3.extend(dense.state_covariance(row));
        kinds[2].2.extend(posterior.output_covariance(row));
        kinds[2].3.extend(dense.output_covariance(row));
    }
    for (what, n_columns, actual, expected) in &kinds {
        // The judge's exponentials end at 1e-283; what is smaller than that is nothing to it.
        let tolerance = tolerance.with_scale_at_least(1e-270);
        assert_close(&named(what), *n_columns, actual, expected, tolerance);
    }
    let prediction = posterior.prediction();
    let what = named("means of the posterior");
    assert_close(&what, n_outputs, prediction.means(), &dense.means(), tolerance);
    let what = named("variances of the posterior");
    assert_close(&what, n_outputs, prediction.variances(), &dense.variances(), tolerance);
}

#[test]
fn on_trees_with_value_states() {
    Scenario::drawn(Shape::Tree, Limits::MODERATE, 0..64).for_each(|scenario| check(&scenario));
}

#[test]
fn on_chains_with_derivative_and_value_states() {
    Scenario::drawn(Shape::Chain, Limits::MODERATE, 0..64).for_each(|scenario| check(&scenario));
}

#[test]
fn on_the_line() {
    Scenario::drawn(Shape::Line, Limits::MODERATE, 0..32).for_each(|scenario| check(&scenario));
}

#[test]
fn with_a_phase_per_output() {
    Scenario::drawn(Shape::Phases, Limits::MODERATE, 0..48).for_each(|scenario| check(&scenario));
    Scenario::drawn(Shape::Phases, Limits::NOISY, 48..96).for_each(|scenario| check(&scenario));
    // Many outputs of few values, whose observations are rotated, and states of several lanes.
    let many = Limits { rows: 10, outputs: 12, shared_latents: 3, noise: (0.3, 3.0) };
    Scenario::drawn(Shape::Phases, many, 96..128).for_each(|scenario| check(&scenario));
    let large = Limits { shared_latents: 14, outputs: 3, ..many };
    Scenario::drawn(Shape::Phases, large, 128..144).for_each(|scenario| check(&scenario));
}

#[test]
fn on_long_structures() {
    for seed in [2, 10] {
        check(&Scenario::draw(Shape::Tree, Limits::LONG, seed));
        check(&Scenario::draw(Shape::Chain, Limits::LONG, seed));
    }
    // Many cells about almost the same state: together they leave far less variance than each one's noise suggests.
    check(&Scenario::draw(Shape::Chain, Limits { rows: 150, ..Limits::LONG }, 167));
}

#[test]
fn in_every_form_where_there_is_enough_noise() {
    let mut n_judged = [0; 2];
    for shape in [Shape::Tree, Shape::Chain, Shape::Line] {
        for scenario in Scenario::drawn(shape, Limits::NOISY, 2000..2048) {
            let forms = accurate_forms(&scenario);
            n_judged[0] += usize::from(forms.contains(&Some(Form::Information)));
            n_judged[1] += usize::from(forms.contains(&Some(Form::Covariance)));
            check(&scenario);
        }
    }
    assert!(n_judged[0] >= 50 && n_judged[1] >= 30, "too few cases judge a form: {n_judged:?}");
}
