//! What must hold whatever the right answer is: symmetries, reductions, and the rules of probability.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::{OutputIndex, RowIndex};
use catena::inference::{Form, Marginals, Workspace};
use catena::kernel::{Component, Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Tree, sorted_chain};
use catena::units::{LengthScale, Variance};
use catena_studies::brute_force_chain::brute_force_greedy_chain;
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::forms::{accurate_forms, workspace};
use catena_testkit::random::SeededDraws;
use catena_testkit::scenario::{Limits, Scenario, Shape};
use std::num::NonZeroUsize;

/// Both sides are computed by the sweep in different orders: rounding at noise 1e-3 is about 1e-12 of the signal.
const TOLERANCE: f64 = 1e-10;

fn tolerance() -> Tolerance {
    Tolerance::relative(TOLERANCE).with_scale_at_least(1e-3)
}

fn compare(what: &str, actual: &Marginals, expected: &Marginals) {
    let n_outputs = expected.prediction.n_outputs();
    let means = (actual.prediction.means(), expected.prediction.means());
    assert_close(&format!("means, {what}"), n_outputs, means.0, means.1, tolerance());
    let variances = (actual.prediction.variances(), expected.prediction.variances());
    assert_close(&format!("variances, {what}"), n_outputs, variances.0, variances.1, tolerance());
    let evidence = ([actual.log_evidence], [expected.log_evidence]);
    let of_sum = tolerance().with_scale_at_least(100.0);
    assert_close(&format!("evidence, {what}"), 1, &evidence.0, &evidence.1, of_sum);
}

#[test]
fn reversing_a_chain_changes_nothing() {
    for scenario in Scenario::drawn(Shape::Chain, Limits::MODERATE, 1000..1040) {
        let mut order: Vec<RowIndex> = scenario.tree.positions().map(|at| scenario.tree.row_at(at)).collect();
        order.reverse();
        let reversed = Tree::chain(&scenario.inputs, order).unwrap();
        let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
        let backward = FactorGraph::new(&scenario.model, &reversed, &scenario.observations).unwrap();
        for form in accurate_forms(&scenario) {
            let expected = workspace(form).marginals(&graph).unwrap();
            let actual = workspace(form).marginals(&backward).unwrap();
            compare(&format!("form {form:?}, {}", scenario.label), &actual, &expected);
        }
    }
}

#[test]
fn a_tree_of_values_may_be_rooted_anywhere() {
    for scenario in Scenario::drawn(Shape::Tree, Limits::MODERATE, 1000..1040) {
        // Turn around every edge on the way from the new root to the old one.
        let above = |row: RowIndex| {
            let parent = scenario.tree.parent(scenario.tree.position_of(row));
            parent.map(|position| scenario.tree.row_at(position))
        };
        let mut parents: Vec<Option<RowIndex>> = scenario.inputs.rows().map(above).collect();
        let mut row = RowIndex::new(scenario.n_rows() - 1);
        let mut below = None;
        loop {
            let next = parents[row.get()];
            parents[row.get()] = below;
            below = Some(row);
            match next {
                Some(parent) => row = parent,
                None => break,
            }
        }
        let rerooted = Tree::from_parents(&scenario.inputs, &parents).unwrap();
        let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
        let other = FactorGraph::new(&scenario.model, &rerooted, &scenario.observations).unwrap();
        let expected = Workspace::new().marginals(&graph).unwrap();
        compare(&scenario.label, &Workspace::new().marginals(&other).unwrap(), &expected);
    }
}

/// Two latents of one kernel and length-scale with proportional columns are one latent: the intrinsic model.
#[test]
fn equal_latents_with_proportional_columns_are_one() {
    for scenario in Scenario::drawn(Shape::Chain, Limits::MODERATE, 1100..1132) {
        let n_outputs = scenario.model.n_outputs();
        let latent: Latent = scenario.model.latents()[0];
        let mut draws = SeededDraws::new(3);
        let column: Vec<f64> = (0..n_outputs).map(|_| draws.normal()).collect();
        let one =
            MixingMatrix::shared(n_outputs, 1, column.iter().map(|weight| 5.0 * weight).collect()).unwrap();
        let pair = column.iter().flat_map(|weight| [3.0 * weight, -4.0 * weight]).collect();
        let two = MixingMatrix::shared(n_outputs, 2, pair).unwrap();
        let noise = scenario.model.noise().to_vec();
        let one = Lmc::new(vec![latent], one, noise.clone()).unwrap();
        let two = Lmc::new(vec![latent, latent], two, noise).unwrap();
        let one = FactorGraph::new(&one, &scenario.tree, &scenario.observations).unwrap();
        let two = FactorGraph::new(&two, &scenario.tree, &scenario.observations).unwrap();
        for form in [None, Some(Form::SquareRoot)] {
            let expected = workspace(form).marginals(&one).unwrap();
            let actual = workspace(form).marginals(&two).unwrap();
            compare(&format!("form {form:?}, {}", scenario.label), &actual, &expected);
        }
    }
}

#[test]
fn permuting_outputs_permutes_results() {
    for scenario in Scenario::drawn(Shape::Tree, Limits::MODERATE, 1200..1232) {
        if scenario.model.mixing().has_private() || scenario.observations.has_cell_noise() {
            continue;
        }
        let n_outputs = scenario.model.n_outputs();
        let order = SeededDraws::new(8).permutation(n_outputs);
        let row = |&d: &usize| scenario.model.mixing().shared_row(OutputIndex::new(d)).to_vec();
        let weights = order.iter().flat_map(row).collect();
        let mixing = MixingMatrix::shared(n_outputs, scenario.model.n_latents(), weights).unwrap();
        let noise = order.iter().map(|&d| scenario.model.noise()[d]).collect();
        let model = Lmc::new(scenario.model.latents().to_vec(), mixing, noise).unwrap();
        let permuted = |table: &[f64]| -> Vec<f64> {
            table.chunks_exact(n_outputs).flat_map(|cells| order.iter().map(|&d| cells[d])).collect()
        };
        let values = permuted(&scenario.dense_values());
        let observations = Observations::from_dense(scenario.n_rows(), n_outputs, &values).unwrap();
        let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
        let other = FactorGraph::new(&model, &scenario.tree, &observations).unwrap();
        let expected = Workspace::new().marginals(&graph).unwrap();
        let actual = Workspace::new().marginals(&other).unwrap();
        let means = permuted(expected.prediction.means());
        assert_close(&scenario.label, n_outputs, actual.prediction.means(), &means, tolerance());
        let variances = permuted(expected.prediction.variances());
        assert_close(&scenario.label, n_outputs, actual.prediction.variances(), &variances, tolerance());
    }
}

/// `log p(y, y') = log p(y) + log p(y' | y)`, and knowing y' makes nothing less certain.
#[test]
fn one_more_cell_follows_the_rules_of_probability() {
    let mut n_checked = 0;
    for scenario in Scenario::drawn(Shape::Chain, Limits::MODERATE, 1300..1348) {
        let n_outputs = scenario.model.n_outputs();
        let mut values = scenario.dense_values();
        let Some(hole) = values.iter().position(|value| value.is_nan()) else { continue };
        if scenario.observations.has_cell_noise() {
            continue;
        }
        n_checked += 1;
        let (row, output) = (RowIndex::new(hole / n_outputs), OutputIndex::new(hole % n_outputs));
        values[hole] = 0.8;
        let more = Observations::from_dense(scenario.n_rows(), n_outputs, &values).unwrap();
        let before = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
        let after = FactorGraph::new(&scenario.model, &scenario.tree, &more).unwrap();
        for form in accurate_forms(&scenario) {
            let before = workspace(form).marginals(&before).unwrap();
            let after = workspace(form).marginals(&after).unwrap();
            let spread = before.prediction.variance(row, output) + scenario.model.noise()[output.get()].get();
            let surprise = 0.8 - before.prediction.mean(row, output);
            let density = -0.5 * (surprise * surprise / spread + (std::f64::consts::TAU * spread).ln());
            let what = format!("evidence of one more cell with form {form:?}, {}", scenario.label);
            let allowed = tolerance().with_scale_at_least(before.log_evidence.abs().max(100.0));
            assert_close(&what, 1, &[after.log_evidence - before.log_evidence], &[density], allowed);
            let pairs = after.prediction.variances().iter().zip(before.prediction.variances());
            let largest = before.prediction.variances().iter().fold(0.0_f64, |most, &one| most.max(one));
            for (after, before) in pairs {
                assert!(*after <= before + 1e-12 * largest, "a variance rose from {before} to {after}");
            }
        }
    }
    assert!(n_checked >= 20, "only {n_checked} of the drawn cases have a hole to fill");
}

#[test]
fn shuffled_rows_with_the_same_start_give_the_same_chain_and_predictions() {
    let mut draws = SeededDraws::new(4);
    for seed in 1400..1416 {
        let scenario = Scenario::draw(Shape::Chain, Limits::MODERATE, seed);
        if scenario.observations.has_cell_noise() {
            continue;
        }
        // Points in general position, so that no tie is broken by the row.
        let (n_rows, n_outputs) = (scenario.n_rows(), scenario.model.n_outputs());
        let places: Vec<f64> = (0..2 * n_rows).map(|_| draws.normal()).collect();
        let shuffle = draws.permutation(n_rows);
        let pick = |table: &[f64], width: usize| -> Vec<f64> {
            shuffle.iter().flat_map(|&row| table[row * width..][..width].to_vec()).collect()
        };
        let inputs = InputPoints::new(n_rows, 2, places.clone()).unwrap();
        let shuffled = InputPoints::new(n_rows, 2, pick(&places, 2)).unwrap();
        let start = shuffle.iter().position(|&row| row == 0).unwrap();
        let chain = brute_force_greedy_chain(&inputs, RowIndex::new(0)).unwrap();
        let other = brute_force_greedy_chain(&shuffled, RowIndex::new(start)).unwrap();
        for position in chain.positions() {
            assert_eq!(shuffle[other.row_at(position).get()], chain.row_at(position).get());
        }
        let values = scenario.dense_values();
        let observations = Observations::from_dense(n_rows, n_outputs, &values).unwrap();
        let moved = Observations::from_dense(n_rows, n_outputs, &pick(&values, n_outputs)).unwrap();
        let graph = FactorGraph::new(&scenario.model, &chain, &observations).unwrap();
        let expected = Workspace::new().marginals(&graph).unwrap();
        let graph = FactorGraph::new(&scenario.model, &other, &moved).unwrap();
        let actual = Workspace::new().marginals(&graph).unwrap();
        // The same numbers in the same order: the same bits.
        assert_eq!(actual.prediction.means(), pick(expected.prediction.means(), n_outputs));
        assert_eq!(actual.prediction.variances(), pick(expected.prediction.variances(), n_outputs));
    }
}

/// Three latents stand in the room of four: what the fourth of a model before them has left there is not read again.
#[test]
fn a_workspace_forgets_the_latents_of_the_model_before() {
    let length = |value: f64| LengthScale::new(value).unwrap();
    let walk = |value: f64| Latent::component(Component::RandomWalk, length(value));
    let rough = |value: f64| Latent::new(Kernel::Matern12, StateKind::Derivative, length(value)).unwrap();
    let model = |latents: Vec<Latent>| {
        let weights = (0..2 * latents.len()).map(|at| 0.3 + (at as f64).sin()).collect();
        let mixing = MixingMatrix::shared(2, latents.len(), weights).unwrap();
        Lmc::new(latents, mixing, vec![Variance::new(0.1).unwrap(); 2]).unwrap()
    };
    let walks = model(vec![walk(1e-9); 4]);
    let others = model(vec![walk(0.7), rough(1.1), rough(1.5)]);
    let n_rows = 400;
    let table = |spread: f64| {
        let inputs = InputPoints::from_column((0..n_rows).map(|row| spread * (row * row) as f64).collect());
        let values: Vec<f64> = (0..2 * n_rows).map(|at| (at as f64 * 0.37).sin()).collect();
        (sorted_chain(&inputs.unwrap()).unwrap(), Observations::from_dense(n_rows, 2, &values).unwrap())
    };
    // Steps whose noise is beyond the range of numbers, and ordinary ones.
    for spread in [1e301, 0.01] {
        let make = || Workspace::new().in_segments_of(NonZeroUsize::new(50).unwrap());
        let (mut used, (far, cells)) = (make(), table(spread));
        // Whatever comes of it.
        let _ = used.gradient(&FactorGraph::new(&walks, &far, &cells).unwrap());
        let (near, cells) = table(0.01);
        let graph = FactorGraph::new(&others, &near, &cells).unwrap();
        assert_eq!(used.marginals(&graph), make().marginals(&graph), "spread {spread}");
        assert_eq!(used.gradient(&graph), make().gradient(&graph), "spread {spread}");
    }
}

#[test]
fn a_workspace_used_before_gives_the_same_bits_as_a_fresh_one() {
    for shape in [Shape::Tree, Shape::Chain] {
        let scenarios: Vec<Scenario> = Scenario::drawn(shape, Limits::MODERATE, 1500..1524).collect();
        for form in [None, Some(Form::Information), Some(Form::SquareRoot), Some(Form::Covariance)] {
            let mut used = workspace(form);
            for scenario in &scenarios {
                let graph =
                    FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
                if form == Some(Form::Covariance) && !scenario.tree.is_chain() {
                    continue;
                }
                assert_eq!(used.marginals(&graph), workspace(form).marginals(&graph));
                assert_eq!(used.gradient(&graph), workspace(form).gradient(&graph));
                assert_eq!(used.log_evidence(&graph), workspace(form).log_evidence(&graph));
            }
        }
    }
}
