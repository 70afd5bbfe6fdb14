//! For every mask of up to four outputs, the product of the two messages on a state's edge is the sweep's marginal.

// A helper that cannot build what it promises must stop the test, loudly.
#![allow(clippy::unwrap_used)]

use catena::data::Observations;
use catena::graph::FactorGraph;
use catena::inference::Form;
use catena::posterior::Posterior;
use catena_explain::ExplicitGraph;
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::scenario::{Limits, Scenario, Shape};

/// The scenario's table with the first row observed as `mask` says and all else as drawn; every output gets some noise.
fn with_first_row(scenario: &Scenario, mask: usize) -> Observations {
    let n_outputs = scenario.model.n_outputs();
    let mut values = scenario.dense_values();
    for (output, value) in values[..n_outputs].iter_mut().enumerate() {
        *value = if mask >> output & 1 == 1 { 0.3 * output as f64 - 0.4 } else { f64::NAN };
    }
    Observations::from_dense(scenario.n_rows(), n_outputs, &values).unwrap()
}

#[test]
fn on_every_state_edge_for_every_mask() {
    let limits = Limits { rows: 6, outputs: 4, shared_latents: 5, noise: (0.3, 3.0) };
    let mut n_masks = 0;
    for shape in [Shape::Line, Shape::Phases, Shape::Chain, Shape::Tree] {
        for scenario in Scenario::drawn(shape, limits, 3000..3012) {
            for mask in 0..1 << scenario.model.n_outputs() {
                let observations = with_first_row(&scenario, mask);
                compare(&scenario, &observations, mask);
                n_masks += 1;
            }
        }
    }
    assert!(n_masks > 100, "too few masks were drawn: {n_masks}");
}

fn compare(scenario: &Scenario, observations: &Observations, mask: usize) {
    let explicit = ExplicitGraph::new(&scenario.model, &scenario.tree, observations).unwrap();
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, observations).unwrap();
    let n = scenario.model.state_dim();
    // States have unit prior variance, so that is the size of what is compared.
    let tolerance = Tolerance::relative(1e-10).with_scale_at_least(1.0);
    for form in [Form::Information, Form::SquareRoot] {
        let posterior = Posterior::with_form(&graph, form).unwrap();
        let named = |what: &str| format!("{what}, mask {mask:b}, {form:?}, {}", scenario.label);
        for row in scenario.inputs.rows() {
            let marginal = explicit.marginal(row);
            assert_close(&named("mean"), n, &marginal.mean, &posterior.state_mean(row), tolerance);
            let covariance = posterior.state_covariance(row);
            assert_close(&named("covariance"), n, marginal.covariance.as_slice(), &covariance, tolerance);
        }
        assert_close(
            &named("evidence"),
            1,
            &[explicit.log_evidence()],
            &[posterior.log_evidence()],
            tolerance,
        );
    }
}
