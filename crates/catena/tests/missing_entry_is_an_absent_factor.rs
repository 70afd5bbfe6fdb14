//! A missing cell adds nothing: not to the posterior, not to the evidence, not to the gradient.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::OutputIndex;
use catena::inference::Marginals;
use catena::model::{Lmc, MixingMatrix};
use catena::structure::sorted_chain;
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::forms::{accurate_forms, workspace};
use catena_testkit::scenario::{Limits, Scenario, Shape};

/// Two runs of one form over equivalent graphs differ by rounding: at noise 1e-3 about 1e-13 of the signal.
const TOLERANCE: f64 = 1e-11;

fn compare(what: &str, n_outputs: usize, actual: &Marginals, expected: &Marginals) {
    let tolerance = Tolerance::relative(TOLERANCE).with_scale_at_least(1e-3);
    let (actual_means, expected_means) = (actual.prediction.means(), expected.prediction.means());
    assert_close(&format!("means, {what}"), n_outputs, actual_means, expected_means, tolerance);
    let (actual_variances, expected_variances) =
        (actual.prediction.variances(), expected.prediction.variances());
    assert_close(&format!("variances, {what}"), n_outputs, actual_variances, expected_variances, tolerance);
    let (actual, expected) = ([actual.log_evidence], [expected.log_evidence]);
    assert_close(&format!("evidence, {what}"), 1, &actual, &expected, tolerance.with_scale_at_least(100.0));
}

#[test]
fn a_row_without_cells_can_be_left_out() {
    for scenario in Scenario::drawn(Shape::Line, Limits::MODERATE, 700..764) {
        let n_outputs = scenario.model.n_outputs();
        let kept: Vec<_> =
            scenario.inputs.rows().filter(|&row| scenario.observations.row(row).len() > 0).collect();
        if kept.is_empty() || scenario.observations.has_cell_noise() {
            continue;
        }
        let places = kept.iter().map(|&row| scenario.inputs.point(row)[0]).collect();
        let inputs = InputPoints::from_column(places).unwrap();
        let all = scenario.dense_values();
        let values: Vec<f64> =
            kept.iter().flat_map(|row| all[row.get() * n_outputs..][..n_outputs].to_vec()).collect();
        let observations = Observations::from_dense(kept.len(), n_outputs, &values).unwrap();
        let tree = sorted_chain(&inputs).unwrap();
        let short = FactorGraph::new(&scenario.model, &tree, &observations).unwrap();
        let full = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
        for form in accurate_forms(&scenario) {
            let short = workspace(form).marginals(&short).unwrap();
            let full = workspace(form).marginals(&full).unwrap();
            let pick = |table: &[f64]| -> Vec<f64> {
                kept.iter().flat_map(|row| table[row.get() * n_outputs..][..n_outputs].to_vec()).collect()
            };
            let prediction = catena::prediction::Prediction::new(
                kept.len(),
                n_outputs,
                pick(full.prediction.means()),
                pick(full.prediction.variances()),
            )
            .unwrap();
            let full = Marginals { prediction, ..full };
            compare(&format!("form {form:?}, {}", scenario.label), n_outputs, &short, &full);
        }
    }
}

/// The model and table of the first outputs only.
fn first_outputs(scenario: &Scenario, n_kept: usize) -> (Lmc, Observations) {
    let (model, n_outputs) = (&scenario.model, scenario.model.n_outputs());
    let rows = (0..n_kept).flat_map(|d| model.mixing().shared_row(OutputIndex::new(d)).to_vec()).collect();
    let mixing = MixingMatrix::shared(n_kept, model.n_latents(), rows).unwrap();
    let model = Lmc::new(model.latents().to_vec(), mixing, model.noise()[..n_kept].to_vec()).unwrap();
    let values: Vec<f64> =
        scenario.dense_values().chunks_exact(n_outputs).flat_map(|row| row[..n_kept].to_vec()).collect();
    (model, Observations::from_dense(scenario.n_rows(), n_kept, &values).unwrap())
}

#[test]
fn an_output_never_seen_changes_nothing_for_the_others() {
    let mut n_checked = 0;
    for scenario in Scenario::drawn(Shape::Chain, Limits::MODERATE, 800..880) {
        let n_outputs = scenario.model.n_outputs();
        if n_outputs < 2 || scenario.model.mixing().has_private() || scenario.observations.has_cell_noise() {
            continue;
        }
        n_checked += 1;
        let (small_model, small_table) = first_outputs(&scenario, n_outputs - 1);
        let mut values = scenario.dense_values();
        values.iter_mut().skip(n_outputs - 1).step_by(n_outputs).for_each(|cell| *cell = f64::NAN);
        let unseen = Observations::from_dense(scenario.n_rows(), n_outputs, &values).unwrap();
        let small = FactorGraph::new(&small_model, &scenario.tree, &small_table).unwrap();
        let large = FactorGraph::new(&scenario.model, &scenario.tree, &unseen).unwrap();
        for form in accurate_forms(&scenario) {
            let small = workspace(form).marginals(&small).unwrap();
            let large_gradient = workspace(form).gradient(&large).unwrap();
            let large = workspace(form).marginals(&large).unwrap();
            let pick = |table: &[f64]| -> Vec<f64> {
                table.chunks_exact(n_outputs).flat_map(|row| row[..n_outputs - 1].to_vec()).collect()
            };
            let (means, variances) = (pick(large.prediction.means()), pick(large.prediction.variances()));
            let prediction =
                catena::prediction::Prediction::new(scenario.n_rows(), n_outputs - 1, means, variances)
                    .unwrap();
            let large = Marginals { prediction, ..large };
            compare(&format!("form {form:?}, {}", scenario.label), n_outputs - 1, &large, &small);
            let n_latents = scenario.model.n_latents();
            let slopes = &large_gradient.mixing[(n_outputs - 1) * n_latents..];
            assert!(slopes.iter().all(|&slope| slope == 0.0), "slopes of an unseen output: {slopes:?}");
            assert!(large_gradient.noise[n_outputs - 1] == 0.0, "slope of an unseen output's noise");
        }
    }
    assert!(n_checked >= 20, "only {n_checked} of the drawn cases have what this test needs");
}

#[test]
fn a_table_without_cells_gives_the_prior() {
    for scenario in Scenario::drawn(Shape::Tree, Limits::MODERATE, 900..916) {
        let n_outputs = scenario.model.n_outputs();
        let nothing = vec![f64::NAN; scenario.n_rows() * n_outputs];
        let observations = Observations::from_dense(scenario.n_rows(), n_outputs, &nothing).unwrap();
        let graph = FactorGraph::new(&scenario.model, &scenario.tree, &observations).unwrap();
        let signal = |output: usize| -> f64 {
            let row = scenario.model.mixing().row_entries(OutputIndex::new(output));
            row.map(|(_, weight)| weight * weight).sum()
        };
        let expected: Vec<f64> = (0..scenario.n_rows()).flat_map(|_| (0..n_outputs).map(signal)).collect();
        for form in accurate_forms(&scenario) {
            let marginals = workspace(form).marginals(&graph).unwrap();
            assert!(marginals.log_evidence == 0.0, "evidence of nothing is {}", marginals.log_evidence);
            assert!(marginals.prediction.means().iter().all(|&mean| mean == 0.0), "{}", scenario.label);
            let what = format!("prior variances with form {form:?}, {}", scenario.label);
            let tolerance = Tolerance::relative(1e-13);
            assert_close(&what, n_outputs, marginals.prediction.variances(), &expected, tolerance);
        }
    }
}
