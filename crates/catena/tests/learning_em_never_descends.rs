//! A step of expectation maximization never lowers evidence plus weight prior, stands still where slopes vanish, and is
//! what the dense posterior's moments say.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{Observations, OutputScaling};
use catena::graph::{FactorGraph, GraphError};
use catena::index::OutputIndex;
use catena::inference::Workspace;
use catena::kernel::Kernel;
use catena::learning::{
    Ascent, Extent, Family, GraphEvidence, LearningError, LogPosterior, OutputMoments, Parameters, Priors,
    Settings, em_step,
};
use catena::model::Lmc;
use catena::structure::{Tree, automatic_structure};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::learning_tables::recipe;
use catena_testkit::random::SeededDraws;
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};
use std::ops::ControlFlow;

const FLOOR: f64 = 1e-6;

struct Case {
    tree: Tree,
    observations: Observations,
    start: Lmc,
}

/// A simulated table, standardized, and the default start of a family that is too small for it, or too large.
fn case(name: &str, n_rows: usize, n_shared: usize) -> Case {
    let recipe = recipe(name).with_rows(n_rows);
    let data = recipe.draw().table.dataset().unwrap();
    let scaling = OutputScaling::standardizing(data.observations()).unwrap();
    let observations = scaling.apply(data.observations()).unwrap();
    let (tree, choice) = automatic_structure(data.inputs()).unwrap();
    let family = Family {
        n_shared,
        shared_kernel: Kernel::Matern32,
        private_kernel: Some(Kernel::Matern12),
        state: choice.state(),
        tied: false,
    };
    let extent = Extent::of(data.inputs(), &tree);
    let start = family.start(&OutputMoments::of(&observations), extent, 1.0).unwrap();
    Case { tree, observations, start }
}

fn cases() -> Vec<(&'static str, Case)> {
    let mut cases = vec![
        ("short-few", case("short-few", 150, 1)),
        ("short-many", case("short-many", 120, 2)),
        ("coupled", case("coupled", 200, 3)),
        ("apart", case("apart", 200, 1)),
        ("mostly-missing", case("mostly-missing", 300, 2)),
        ("plane", case("plane", 250, 2)),
    ];
    let mut known = case("short-few", 150, 1);
    known.observations = with_known_noise(&known.observations);
    cases.push(("known noise", known));
    cases
}

/// The same cells, each with a noise that is known.
fn with_known_noise(observations: &Observations) -> Observations {
    let mut draws = SeededDraws::new(9);
    let count = observations.n_rows() * observations.n_outputs();
    let known: Vec<f64> = (0..count).map(|_| draws.log_uniform(0.01, 1.0)).collect();
    observations.clone().with_cell_noise(&known).unwrap()
}

/// Log evidence, and with it the log density of the weights: what a step is to raise.
fn value(case: &Case, model: &Lmc, weight_precision: f64) -> f64 {
    let graph = FactorGraph::new(model, &case.tree, &case.observations).unwrap();
    let squares: f64 = model.mixing().to_dense().iter().map(|weight| weight * weight).sum();
    Workspace::new().log_evidence(&graph).unwrap() - 0.5 * weight_precision * squares
}

#[test]
fn thirty_steps_never_descend() {
    for (name, case) in cases() {
        for weight_precision in [0.0, 1.0] {
            let priors = Priors { weight_precision, ..Priors::FLAT };
            let mut model = case.start.clone();
            let first = value(&case, &model, weight_precision);
            let mut before = first;
            for step in 0..30 {
                let graph = FactorGraph::new(&model, &case.tree, &case.observations).unwrap();
                model = em_step(&graph, &case.observations, &priors, FLOOR).unwrap();
                let after = value(&case, &model, weight_precision);
                // Rounding of a sum of one term per cell.
                let rounding = 1e-10 * case.observations.n_observed() as f64;
                assert!(after >= before - rounding, "{name}, step {step}: {before} to {after}");
                before = after;
            }
            assert!(before > first + 1.0, "{name}: thirty steps gained {}", before - first);
        }
    }
}

#[test]
fn where_slopes_vanish_a_step_stands_still() {
    for (name, case) in cases() {
        let parameters = Parameters::all(case.start.clone(), FLOOR).with_fixed_length_scales();
        let graph = FactorGraph::new(&case.start, &case.tree, &case.observations).unwrap();
        // Weak but not flat on weights: a model may have more latents than the table can tell apart.
        let priors = Priors { weight_precision: 0.5, ..Priors::FLAT };
        let mut objective = LogPosterior::new(GraphEvidence::new(graph), &parameters, &priors);
        let settings = Settings { max_iterations: 3000, tolerance: 0.0, ..Settings::default() };
        let mut ascent = Ascent::new(&mut objective, parameters.vector_of(&case.start), settings);
        ascent.run(&mut objective, usize::MAX, &mut |_| ControlFlow::Continue(()));
        let top = parameters.model_at(ascent.point()).unwrap();
        let after = |model: &Lmc| {
            let graph = FactorGraph::new(model, &case.tree, &case.observations).unwrap();
            em_step(&graph, &case.observations, &priors, FLOOR).unwrap()
        };
        let distance = |a: &Lmc, b: &Lmc| -> f64 {
            let weights = a.mixing().to_dense().into_iter().zip(b.mixing().to_dense());
            let noise = a.noise().iter().zip(b.noise()).map(|(a, b)| (a.get(), b.get()));
            weights.chain(noise).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let slope = ascent.gradient().iter().fold(0.0_f64, |largest, slope| largest.max(slope.abs()));
        let (at_top, at_start) = (distance(&after(&top), &top), distance(&after(&case.start), &case.start));
        assert!(slope < 1e-3, "{name}: the climb ended with a slope of {slope}, {:?}", ascent.stop());
        // A step moves by slope over curvature, and every cell adds curvature of order 1 or more.
        assert!(at_top < 1e-4, "{name}: moved by {at_top} at the top");
        assert!(at_start > 1e-2, "{name}: moved by {at_start} at the start");
    }
}

/// Solves by elimination with pivots; the matrix is row-major.
fn solve(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|&a, &b| matrix[a * n + column].abs().total_cmp(&matrix[b * n + column].abs()))
            .unwrap();
        (0..n).for_each(|at| matrix.swap(column * n + at, pivot * n + at));
        right.swap(column, pivot);
        for row in column + 1..n {
            let factor = matrix[row * n + column] / matrix[column * n + column];
            (0..n).for_each(|at| matrix[row * n + at] -= factor * matrix[column * n + at]);
            right[row] -= factor * right[column];
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|at| matrix[row * n + at] * right[at]).sum();
        right[row] = (right[row] - known) / matrix[row * n + row];
    }
    right
}

/// The step as a regression of cells on latents, with moments from the dense posterior.
fn check_against_dense(scenario: &Scenario, observations: &Observations) {
    let (model, precision) = (&scenario.model, 0.7);
    let dense = DensePrior::on_structure(model, &scenario.tree).condition(observations).unwrap();
    let graph = FactorGraph::new(model, &scenario.tree, observations).unwrap();
    let priors = Priors { weight_precision: precision, ..Priors::FLAT };
    let stepped = em_step(&graph, observations, &priors, 0.0).unwrap();
    let n = model.state_dim();
    let mut starts = vec![0];
    model.latents().iter().for_each(|latent| starts.push(starts[starts.len() - 1] + latent.state_dim()));
    for output in (0..model.n_outputs()).map(OutputIndex::new) {
        let places: Vec<usize> =
            model.mixing().row_entries(output).map(|(latent, _)| starts[latent.get()]).collect();
        let k = places.len();
        let cells: Vec<_> = observations.cells().filter(|(_, cell)| cell.output == output).collect();
        if cells.is_empty() {
            assert_eq!(stepped.mixing().shared_row(output), model.mixing().shared_row(output));
            assert_eq!(stepped.noise()[output.get()], model.noise()[output.get()]);
            continue;
        }
        let (mut matrix, mut right) = (vec![0.0; k * k], vec![0.0; k]);
        (0..k).for_each(|at| matrix[at * (k + 1)] = precision);
        for (row, cell) in &cells {
            let (mean, covariance) = (dense.state_mean(*row), dense.state_covariance(*row));
            let noise = cell.noise_variance.unwrap_or(model.noise()[output.get()].get());
            for i in 0..k {
                right[i] += cell.value * mean[places[i]] / noise;
                for j in 0..k {
                    let (a, b) = (places[i], places[j]);
                    matrix[i * k + j] += (mean[a] * mean[b] + covariance[a * n + b]) / noise;
                }
            }
        }
        let weights = solve(matrix, right);
        // Expected squared residual over the cells whose noise is not known.
        let own: Vec<f64> = cells
            .iter()
            .filter(|(_, cell)| cell.noise_variance.is_none())
            .map(|(row, cell)| {
                let (mean, covariance) = (dense.state_mean(*row), dense.state_covariance(*row));
                let fitted: f64 = (0..k).map(|i| weights[i] * mean[places[i]]).sum();
                let spread: f64 = (0..k * k)
                    .map(|at| {
                        weights[at / k] * weights[at % k] * covariance[places[at / k] * n + places[at % k]]
                    })
                    .sum();
                (cell.value - fitted).powi(2) + spread
            })
            .collect();
        let noise = if own.is_empty() {
            model.noise()[output.get()].get()
        } else {
            own.iter().sum::<f64>() / own.len() as f64
        };
        let actual: Vec<f64> = stepped.mixing().row_entries(output).map(|(_, weight)| weight).collect();
        let label = format!("output {output}, {}", scenario.label);
        let tolerance = Tolerance::relative(1e-7).with_scale_at_least(1.0);
        assert_close(&format!("weights, {label}"), k, &actual, &weights, tolerance);
        let actual = stepped.noise()[output.get()].get();
        assert_close(&format!("noise, {label}"), 1, &[actual], &[noise], tolerance);
    }
}

#[test]
fn a_step_is_the_regression_on_the_dense_posterior() {
    let limits = Limits { rows: 16, noise: (1e-2, 1.0), ..Limits::MODERATE };
    for shape in [Shape::Line, Shape::Chain, Shape::Tree] {
        for scenario in Scenario::drawn(shape, limits, 800..816) {
            check_against_dense(&scenario, &scenario.observations);
            if !scenario.observations.has_cell_noise() {
                check_against_dense(&scenario, &with_known_noise(&scenario.observations));
            }
        }
    }
}

#[test]
fn known_noises_stay_and_teach_the_output_nothing() {
    let mut case = case("short-few", 150, 1);
    case.observations = with_known_noise(&case.observations);
    let graph = FactorGraph::new(&case.start, &case.tree, &case.observations).unwrap();
    let stepped = em_step(&graph, &case.observations, &Priors::FLAT, FLOOR).unwrap();
    assert_eq!(stepped.noise(), case.start.noise());
    assert_ne!(stepped.mixing(), case.start.mixing());
}

#[test]
fn a_table_with_other_outputs_or_rows_is_refused() {
    let case = case("short-few", 20, 1);
    let graph = FactorGraph::new(&case.start, &case.tree, &case.observations).unwrap();
    let model = case.start.n_outputs();
    let other = |n_rows: usize, n_outputs: usize| {
        Observations::from_dense(n_rows, n_outputs, &vec![0.5; n_rows * n_outputs]).unwrap()
    };
    let wider = em_step(&graph, &other(20, model + 1), &Priors::for_points(1.0, 10.0), FLOOR).unwrap_err();
    let mismatch = GraphError::OutputCountMismatch { model, observations: model + 1 };
    assert_eq!(wider, LearningError::Graph(mismatch));
    let longer = em_step(&graph, &other(21, model), &Priors::for_points(1.0, 10.0), FLOOR).unwrap_err();
    let mismatch = GraphError::RowCountMismatch { structure: 20, observations: 21 };
    assert_eq!(longer, LearningError::Graph(mismatch));
}
