//! New inputs: exact on a line, one more leaf elsewhere, and each as if it were the only one.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::RowIndex;
use catena::inference::{Form, InferenceError};
use catena::kernel::{Component, Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::posterior::Posterior;
use catena::structure::{Tree, sorted_chain};
use catena::units::{LengthScale, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::forms::{accurate_forms, posterior};
use catena_testkit::random::SeededDraws;
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};

/// Points near, between, far from, and exactly at the scenario's own.
fn new_points(scenario: &Scenario, draws: &mut SeededDraws) -> InputPoints {
    let mut values = vec![];
    for _ in 0..6 {
        let at = scenario.inputs.point(RowIndex::new(draws.below(scenario.n_rows())));
        let other = scenario.inputs.point(RowIndex::new(draws.below(scenario.n_rows())));
        let share = draws.pick(&[0.0, 0.5, draws.clone().uniform(0.0, 1.0)]);
        let reach = draws.pick(&[0.0, 1e-9, 0.3, 1e6]);
        for (x, y) in at.iter().zip(other) {
            values.push(x + share * (y - x) + reach * draws.normal());
        }
    }
    InputPoints::new(6, scenario.inputs.dim(), values).unwrap()
}

/// The scenario's table with one more, unobserved row.
fn extended_table(scenario: &Scenario, point: &[f64]) -> (InputPoints, Observations) {
    let values = [scenario.inputs.values(), point].concat();
    let inputs = InputPoints::new(scenario.n_rows() + 1, scenario.inputs.dim(), values).unwrap();
    let n_outputs = scenario.model.n_outputs();
    let mut table = scenario.dense_values();
    table.resize(table.len() + n_outputs, f64::NAN);
    let mut observations = Observations::from_dense(inputs.n_rows(), n_outputs, &table).unwrap();
    if scenario.observations.has_cell_noise() {
        let mut noise = vec![1.0; table.len()];
        for (row, cell) in scenario.observations.cells() {
            noise[row.get() * n_outputs + cell.output.get()] = cell.noise_variance.unwrap();
        }
        observations = observations.with_cell_noise(&noise).unwrap();
    }
    (inputs, observations)
}

/// The scenario's structure with one more leaf on the nearest row, ties by the lowest.
fn extended_tree(scenario: &Scenario, inputs: &InputPoints) -> Tree {
    let new = RowIndex::new(scenario.n_rows());
    let nearest = scenario.inputs.rows().reduce(|best, row| {
        if inputs.squared_distance(row, new) < inputs.squared_distance(best, new) { row } else { best }
    });
    let mut parents: Vec<Option<RowIndex>> = vec![];
    for row in scenario.inputs.rows() {
        let above = scenario.tree.parent(scenario.tree.position_of(row));
        parents.push(above.map(|position| scenario.tree.row_at(position)));
    }
    parents.push(nearest);
    Tree::from_parents(inputs, &parents).unwrap()
}

fn check(shape: Shape, seed: u64) {
    let scenario = Scenario::draw(shape, Limits::MODERATE, seed);
    if shape != Shape::Line && scenario.inputs.dim() == 1 && scenario.tree.is_chain() {
        return; // Such a chain may happen to follow its input, and would then be a line.
    }
    let points = new_points(&scenario, &mut SeededDraws::new(seed));
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    let n_outputs = scenario.model.n_outputs();
    let (mut means, mut variances) = (vec![], vec![]);
    for row in points.rows() {
        let (inputs, observations) = extended_table(&scenario, points.point(row));
        let tree;
        let prior = match shape {
            Shape::Line => DensePrior::euclidean(&scenario.model, &inputs, scenario.tree.distance_scale()),
            _ => {
                tree = extended_tree(&scenario, &inputs);
                DensePrior::on_structure(&scenario.model, &tree)
            }
        };
        let dense = prior.condition(&observations).unwrap();
        let new = RowIndex::new(scenario.n_rows());
        means.extend(dense.output_mean(new));
        variances.extend(dense.output_covariance(new).into_iter().step_by(n_outputs + 1));
    }
    for form in accurate_forms(&scenario) {
        let joint = posterior(&graph, form).with_inputs(&scenario.inputs).unwrap();
        let prediction = joint.predict_at(&points).unwrap();
        // Of the same kind are the means and variances at the table's own rows: far away, new means vanish.
        let known = joint.prediction();
        let largest = |list: &[f64]| list.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
        let named = |what: &str| format!("{what} at new inputs with form {form:?}, {}", scenario.label);
        let tolerance = |list: &[f64]| Tolerance::relative(1e-10).with_scale_at_least(largest(list));
        assert_close(&named("means"), n_outputs, prediction.means(), &means, tolerance(known.means()));
        let allowed = tolerance(known.variances());
        assert_close(&named("variances"), n_outputs, prediction.variances(), &variances, allowed);
    }
}

#[test]
fn on_a_line_they_are_those_of_the_euclidean_process() {
    (500..532).for_each(|seed| check(Shape::Line, seed));
}

#[test]
fn elsewhere_they_are_those_of_one_more_leaf() {
    (500..532).for_each(|seed| check(Shape::Tree, seed));
    (500..532).for_each(|seed| check(Shape::Chain, seed));
}

#[test]
fn they_do_not_depend_on_what_else_is_asked() {
    for shape in [Shape::Line, Shape::Tree, Shape::Chain] {
        for scenario in Scenario::drawn(shape, Limits::MODERATE, 600..616) {
            let points = new_points(&scenario, &mut SeededDraws::new(9));
            let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
            let posterior = Posterior::new(&graph).unwrap().with_inputs(&scenario.inputs).unwrap();
            let together = posterior.predict_at(&points).unwrap();
            for row in points.rows() {
                let alone = InputPoints::new(1, points.dim(), points.point(row).to_vec()).unwrap();
                let alone = posterior.predict_at(&alone).unwrap();
                let n_outputs = scenario.model.n_outputs();
                let at = row.get() * n_outputs;
                assert_eq!(alone.means(), &together.means()[at..at + n_outputs], "{}", scenario.label);
                assert_eq!(
                    alone.variances(),
                    &together.variances()[at..at + n_outputs],
                    "{}",
                    scenario.label
                );
            }
        }
    }
}

/// So far away that a step overflows, a stationary process is what it was before anything was known, and of one that wanders nothing
/// can be said: neither is certain.
#[test]
fn steps_beyond_the_range_of_numbers_are_no_certainty() {
    let length = LengthScale::new(1e-3).unwrap();
    let smooth = Latent::new(Kernel::Matern52, StateKind::Derivative, length).unwrap();
    let walk = Latent::component(Component::RandomWalk, length);
    let inputs = InputPoints::from_column(vec![0.0, 1.0]).unwrap();
    let tree = sorted_chain(&inputs).unwrap();
    let table = Observations::from_dense(2, 1, &[1.0, 0.5]).unwrap();
    let far = InputPoints::from_column(vec![1.7e308, -1.7e308]).unwrap();
    for form in [Form::Information, Form::SquareRoot] {
        for latent in [smooth, walk] {
            let mixing = MixingMatrix::shared(1, 1, vec![1.0]).unwrap();
            let model = Lmc::new(vec![latent], mixing, vec![Variance::new(0.1).unwrap()]).unwrap();
            let graph = FactorGraph::new(&model, &tree, &table).unwrap();
            let posterior = Posterior::with_form(&graph, form).unwrap().with_inputs(&inputs).unwrap();
            let found = posterior.predict_at(&far);
            let blocks = posterior.covariances_at(&far);
            if latent.is_stationary() {
                let found = found.unwrap();
                assert_eq!(found.means(), [0.0; 2], "{form:?}");
                assert!(found.variances().iter().all(|variance| (variance - 1.0).abs() < 1e-14), "{form:?}");
            } else {
                let overflow = InferenceError::Overflow { row: RowIndex::new(0) };
                assert_eq!((found, blocks), (Err(overflow), Err(overflow)), "{form:?}");
            }
        }
    }
}

/// A posterior that does not know its inputs, inputs of another table and points of another dimension are errors, never panics.
#[test]
fn inputs_that_do_not_fit_are_errors() {
    let scenario = Scenario::draw(Shape::Line, Limits::MODERATE, 7);
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    let posterior = Posterior::new(&graph).unwrap();
    let at = InputPoints::from_column(vec![0.5]).unwrap();
    assert_eq!(posterior.predict_at(&at), Err(InferenceError::NoInputs));
    let other = InputPoints::from_column(vec![0.0; scenario.n_rows() + 1]).unwrap();
    let (structure, inputs) = (scenario.n_rows(), other.n_rows());
    assert_eq!(
        posterior.with_inputs(&other).map(|_| ()),
        Err(InferenceError::OtherInputs { structure, inputs })
    );
    let posterior = Posterior::new(&graph).unwrap().with_inputs(&scenario.inputs).unwrap();
    let plane = InputPoints::new(1, 2, vec![0.5, 0.5]).unwrap();
    let refused = InferenceError::InputDimension { expected: 1, found: 2 };
    assert_eq!(posterior.predict_at(&plane), Err(refused));
    assert_eq!(posterior.covariances_at(&plane), Err(refused));
}
