//! After any edits a live posterior knows what a full sweep over the edited table knows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations, squared_distance};
use catena::graph::{FactorGraph, GraphError};
use catena::index::{OutputIndex, RowIndex};
use catena::inference::{Form, Workspace};
use catena::kernel::{Kernel, StateKind};
use catena::live::{LiveError, LivePosterior};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::posterior::Posterior;
use catena::structure::{Tree, sorted_chain};
use catena::units::{LengthScale, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::random::SeededDraws;
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};

/// Relative to the largest entry of its kind.
const TOLERANCE: f64 = 1e-10;

/// The edited table, kept in the plainest way.
struct Ledger {
    shape: Shape,
    dim: usize,
    inputs: Vec<f64>,
    parents: Vec<Option<RowIndex>>,
    values: Vec<f64>,
    own_noise: Option<Vec<f64>>,
    model: Lmc,
}

impl Ledger {
    fn new(shape: Shape, scenario: &Scenario) -> Self {
        // Where a chain follows its only input, by chance or not, new points lie between others.
        let along: Vec<f64> =
            scenario.tree.positions().map(|at| scenario.inputs.point(scenario.tree.row_at(at))[0]).collect();
        let is_monotone = along.is_sorted() || along.is_sorted_by(|a, b| a >= b);
        let is_line = scenario.inputs.dim() == 1 && scenario.tree.is_chain() && is_monotone;
        let shape = if is_line { Shape::Line } else { shape };
        let n_outputs = scenario.model.n_outputs();
        let own_noise = scenario.observations.has_cell_noise().then(|| {
            let mut variances = vec![f64::NAN; scenario.n_rows() * n_outputs];
            for (row, cell) in scenario.observations.cells() {
                variances[row.get() * n_outputs + cell.output.get()] = cell.noise_variance.unwrap();
            }
            variances
        });
        let tree = &scenario.tree;
        let above = |row| tree.parent(tree.position_of(row)).map(|parent| tree.row_at(parent));
        Self {
            shape,
            dim: scenario.inputs.dim(),
            inputs: scenario.inputs.values().to_vec(),
            parents: scenario.inputs.rows().map(above).collect(),
            values: scenario.dense_values(),
            own_noise,
            model: scenario.model.clone(),
        }
    }

    fn n_rows(&self) -> usize {
        self.inputs.len() / self.dim
    }

    fn inputs(&self) -> InputPoints {
        InputPoints::new(self.n_rows(), self.dim, self.inputs.clone()).unwrap()
    }

    fn tree(&self) -> Tree {
        match self.shape {
            Shape::Line | Shape::Time | Shape::Phases => sorted_chain(&self.inputs()).unwrap(),
            Shape::Chain | Shape::Tree => Tree::from_parents(&self.inputs(), &self.parents).unwrap(),
        }
    }

    fn observations(&self) -> Observations {
        let plain = Observations::from_dense(self.n_rows(), self.model.n_outputs(), &self.values).unwrap();
        match &self.own_noise {
            Some(variances) => plain.with_cell_noise(variances).unwrap(),
            None => plain,
        }
    }

    fn nearest(&self, point: &[f64]) -> RowIndex {
        let distances = self.inputs.chunks_exact(self.dim).map(|other| squared_distance(point, other));
        let nearest = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        RowIndex::new(nearest.0)
    }

    /// Whether a point may branch off.
    fn can_grow(&self) -> bool {
        let branches = |latent: &catena::model::Latent| latent.state_dim() == 1 && latent.kernel().is_some();
        matches!(self.shape, Shape::Line | Shape::Time | Shape::Phases)
            || self.model.latents().iter().all(branches)
    }
}

fn edit(ledger: &mut Ledger, live: &mut LivePosterior, draws: &mut SeededDraws) {
    let n_outputs = ledger.model.n_outputs();
    let (row, output) = (draws.below(ledger.n_rows()), draws.below(n_outputs));
    let (at, row, output) = (row * n_outputs + output, RowIndex::new(row), OutputIndex::new(output));
    match draws.below(10) {
        0..4 => {
            let value = draws.normal();
            ledger.values[at] = value;
            match &mut ledger.own_noise {
                Some(variances) => {
                    variances[at] = draws.log_uniform(0.01, 1.0);
                    let noise = Variance::new(variances[at]).unwrap();
                    live.set_with_noise(row, output, value, noise).unwrap();
                }
                None => live.set(row, output, value).unwrap(),
            }
        }
        4..7 => {
            let before = live.remove(row, output).unwrap();
            assert_eq!(
                before.map(f64::to_bits),
                (!ledger.values[at].is_nan()).then(|| ledger.values[at].to_bits())
            );
            ledger.values[at] = f64::NAN;
        }
        7 if ledger.own_noise.is_none() => {
            let mut noise = ledger.model.noise().to_vec();
            noise[output.get()] = Variance::new(draws.log_uniform(0.01, 1.0)).unwrap();
            live.set_noise(output, noise[output.get()]).unwrap();
            let (latents, mixing) = (ledger.model.latents().to_vec(), ledger.model.mixing().clone());
            ledger.model = Lmc::new(latents, mixing, noise).unwrap();
        }
        _ if ledger.can_grow() => {
            // Near a point, exactly on one, or beyond them all.
            let near = draws.below(ledger.n_rows()) * ledger.dim;
            let spread = draws.pick(&[0.0, 0.3, 0.3, 3.0]);
            let point: Vec<f64> =
                (0..ledger.dim).map(|axis| ledger.inputs[near + axis] + spread * draws.normal()).collect();
            ledger.parents.push(Some(ledger.nearest(&point)));
            ledger.inputs.extend_from_slice(&point);
            ledger.values.resize(ledger.values.len() + n_outputs, f64::NAN);
            if let Some(variances) = &mut ledger.own_noise {
                variances.resize(ledger.values.len(), f64::NAN);
            }
            assert_eq!(live.insert(&point).unwrap().get() + 1, ledger.n_rows());
        }
        _ => {}
    }
}

/// Compares marginals at some rows, which leaves stale whatever they do not need.
fn check_rows(ledger: &Ledger, live: &mut LivePosterior, rows: &[RowIndex], label: &str) {
    let (tree, observations) = (ledger.tree(), ledger.observations());
    let graph = FactorGraph::new(&ledger.model, &tree, &observations).unwrap();
    let expected = Posterior::new(&graph).unwrap();
    let n_outputs = ledger.model.n_outputs();
    let [mut means, mut variances, mut covariances] = [vec![], vec![], vec![]];
    let [mut expected_means, mut expected_variances, mut expected_covariances] = [vec![], vec![], vec![]];
    for &row in rows {
        let marginals = live.marginals(row).unwrap();
        means.extend(marginals.means);
        variances.extend(marginals.variances);
        covariances.extend(live.output_covariance(row).unwrap());
        let cells = row.get() * n_outputs..(row.get() + 1) * n_outputs;
        expected_means.extend_from_slice(&expected.prediction().means()[cells.clone()]);
        expected_variances.extend_from_slice(&expected.prediction().variances()[cells]);
        expected_covariances.extend(expected.output_covariance(row));
    }
    // Errors are relative to the largest entry of the whole table.
    let largest = |entries: &[f64]| entries.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let tolerance = |all: &[f64]| Tolerance::relative(TOLERANCE).with_scale_at_least(largest(all));
    let (all_means, all_variances) = (expected.prediction().means(), expected.prediction().variances());
    assert_close(&format!("means, {label}"), n_outputs, &means, &expected_means, tolerance(all_means));
    let named = format!("variances, {label}");
    assert_close(&named, n_outputs, &variances, &expected_variances, tolerance(all_variances));
    let named = format!("covariances, {label}");
    assert_close(
        &named,
        n_outputs * n_outputs,
        &covariances,
        &expected_covariances,
        tolerance(all_variances),
    );
}

/// Compares everything: rows from the last to the first, and then the evidence, which finds all that is stale.
fn check(ledger: &Ledger, live: &mut LivePosterior, label: &str) {
    let rows: Vec<RowIndex> = (0..ledger.n_rows()).rev().map(RowIndex::new).collect();
    check_rows(ledger, live, &rows, label);
    let (tree, observations) = (ledger.tree(), ledger.observations());
    let graph = FactorGraph::new(&ledger.model, &tree, &observations).unwrap();
    let expected = Posterior::new(&graph).unwrap().log_evidence();
    let tolerance = Tolerance::relative(TOLERANCE).with_scale_at_least(observations.n_observed() as f64);
    let found = [live.log_evidence().unwrap()];
    assert_close(&format!("evidence, {label}"), 1, &found, &[expected], tolerance);
}

/// The table that a live posterior gives back has the gradient of the edited one.
fn check_gradient(ledger: &Ledger, live: &LivePosterior, label: &str) {
    let (tree, observations) = (ledger.tree(), ledger.observations());
    let graph = FactorGraph::new(&ledger.model, &tree, &observations).unwrap();
    let expected = Workspace::new().gradient(&graph).unwrap();
    let now = live.table().unwrap();
    let graph = FactorGraph::new(live.model(), &now.tree, &now.observations).unwrap();
    let found = Workspace::new().gradient(&graph).unwrap();
    let tolerance = Tolerance::relative(TOLERANCE).with_scale_at_least(observations.n_observed() as f64);
    for (what, found, expected) in [
        ("weights", &found.mixing, &expected.mixing),
        ("length-scales", &found.length_scales, &expected.length_scales),
        ("shapes", &found.shapes, &expected.shapes),
        ("noise", &found.noise, &expected.noise),
    ] {
        assert_close(&format!("slopes in {what}, {label}"), 1, found, expected, tolerance);
    }
}

/// What no sweep of the library has touched.
fn check_against_dense(ledger: &Ledger, live: &mut LivePosterior, label: &str) {
    let (tree, observations) = (ledger.tree(), ledger.observations());
    let dense = DensePrior::on_structure(&ledger.model, &tree).condition(&observations).unwrap();
    let rows = (0..ledger.n_rows()).map(RowIndex::new);
    let (mut means, mut variances) = (vec![], vec![]);
    for row in rows {
        let marginals = live.marginals(row).unwrap();
        means.extend(marginals.means);
        variances.extend(marginals.variances);
    }
    let (n_outputs, tolerance) = (ledger.model.n_outputs(), Tolerance::relative(TOLERANCE));
    assert_close(&format!("means, {label}"), n_outputs, &means, &dense.means(), tolerance);
    assert_close(&format!("variances, {label}"), n_outputs, &variances, &dense.variances(), tolerance);
}

fn run(shape: Shape, limits: Limits, seeds: std::ops::Range<u64>, n_edits: usize) {
    for seed in seeds {
        run_on(shape, &Scenario::draw(shape, limits, seed), seed, n_edits);
    }
}

/// The same table with all points farther apart.
fn stretched(scenario: Scenario, factor: f64) -> Scenario {
    let Scenario { label, inputs, tree, .. } = &scenario;
    let parents: Vec<Option<RowIndex>> = inputs
        .rows()
        .map(|row| tree.parent(tree.position_of(row)).map(|parent| tree.row_at(parent)))
        .collect();
    let values = inputs.values().iter().map(|input| input * factor).collect();
    let inputs = InputPoints::new(inputs.n_rows(), inputs.dim(), values).unwrap();
    let tree = Tree::from_parents(&inputs, &parents).unwrap();
    Scenario { label: format!("stretched by {factor}, {label}"), inputs, tree, ..scenario }
}

fn run_on(shape: Shape, scenario: &Scenario, seed: u64, n_edits: usize) {
    let mut ledger = Ledger::new(shape, scenario);
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    let mut live = LivePosterior::new(&graph, &scenario.inputs, &scenario.observations).unwrap();
    let mut draws = SeededDraws::new(seed + 1_000_000);
    let label = &scenario.label;
    check(&ledger, &mut live, &format!("before any edit, {label}"));
    let mut done = 0;
    while done < n_edits {
        // Batches of one edit, and of many.
        let batch = if draws.chance(0.7) { 1 } else { 1 + draws.below(12) };
        (0..batch).for_each(|_| edit(&mut ledger, &mut live, &mut draws));
        done += batch;
        // Mostly a few questions, so that what is stale elsewhere stays so over many edits.
        if draws.chance(0.7) {
            let rows: Vec<RowIndex> = (0..3).map(|_| RowIndex::new(draws.below(ledger.n_rows()))).collect();
            check_rows(&ledger, &mut live, &rows, &format!("after {done} edits, {label}"));
        } else {
            check(&ledger, &mut live, &format!("after {done} edits, {label}"));
        }
    }
    check(&ledger, &mut live, &format!("after {done} edits, {label}"));
    check_gradient(&ledger, &live, &format!("after {done} edits, {label}"));
    check_against_dense(&ledger, &mut live, &format!("after {done} edits, {label}"));
}

#[test]
fn on_lines() {
    run(Shape::Line, Limits::MODERATE, 0..24, 40);
}

#[test]
fn on_lines_of_time() {
    run(Shape::Time, Limits::MODERATE, 100..112, 30);
    run(Shape::Phases, Limits::MODERATE, 120..126, 20);
}

#[test]
fn on_chains_in_space() {
    run(Shape::Chain, Limits::MODERATE, 200..220, 40);
}

#[test]
fn on_trees() {
    run(Shape::Tree, Limits::MODERATE, 300..330, 40);
}

/// Long enough for blocks to split and for trees to lose their balance.
#[test]
fn over_two_hundred_edits() {
    run(Shape::Line, Limits::LONG, 402..403, 200);
    run(Shape::Tree, Limits::LONG, 410..411, 200);
}

/// Points so far apart that stretches forget what lies before them, some at once and some after a few blocks.
#[test]
fn where_stretches_forget() {
    for factor in [5.0, 60.0] {
        for (shape, seed) in [(Shape::Line, 402), (Shape::Chain, 403), (Shape::Tree, 410), (Shape::Time, 418)]
        {
            run_on(shape, &stretched(Scenario::draw(shape, Limits::LONG, seed), factor), seed, 20);
        }
    }
}

#[test]
fn with_tiny_noise() {
    let tiny = Limits { noise: (1e-6, 1e-4), ..Limits::MODERATE };
    run(Shape::Line, tiny, 500..508, 20);
    run(Shape::Tree, tiny, 510..518, 20);
}

/// What a question about new inputs is answered does not depend on who is asked, also before the first row of a process that
/// wanders, and also at the edges of the range of numbers.
#[test]
fn new_inputs_are_answered_as_by_a_posterior_that_takes_no_edits() {
    for seed in 900..930 {
        let shape = [Shape::Time, Shape::Line, Shape::Tree][seed as usize % 3];
        let scenario = Scenario::draw(shape, Limits::MODERATE, seed);
        let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
        let mut live = LivePosterior::new(&graph, &scenario.inputs, &scenario.observations).unwrap();
        let mut draws = SeededDraws::new(seed);
        let dim = scenario.inputs.dim();
        let lowest = scenario.inputs.values().iter().copied().fold(f64::INFINITY, f64::min);
        let mut points = vec![lowest - 0.7; dim];
        points.extend((0..4 * dim).map(|_| lowest + draws.uniform(-1.0, 3.0)));
        let at = InputPoints::new(5, dim, points).unwrap();
        let posterior = Posterior::with_form(&graph, Form::SquareRoot).unwrap();
        let expected = posterior.with_inputs(&scenario.inputs).unwrap().predict_at(&at).unwrap();
        let n_outputs = scenario.model.n_outputs();
        let found: Vec<_> = at.rows().map(|row| live.marginals_at(at.point(row)).unwrap()).collect();
        let means: Vec<f64> = found.iter().flat_map(|found| found.means.clone()).collect();
        let variances: Vec<f64> = found.iter().flat_map(|found| found.variances.clone()).collect();
        let (label, tolerance) = (&scenario.label, Tolerance::relative(TOLERANCE));
        assert_close(&format!("means, {label}"), n_outputs, &means, expected.means(), tolerance);
        assert_close(&format!("variances, {label}"), n_outputs, &variances, expected.variances(), tolerance);
    }
}

/// One latent of this length-scale over points in a plane, joined in their order.
fn far_apart(points: &[f64], length_scale: f64) -> (Lmc, InputPoints, Tree, Observations) {
    let n_rows = points.len() / 2;
    let latent = Latent::new(Kernel::Matern12, StateKind::Value, LengthScale::new(length_scale).unwrap());
    let mixing = MixingMatrix::shared(1, 1, vec![1.0]).unwrap();
    let model = Lmc::new(vec![latent.unwrap()], mixing, vec![Variance::new(0.1).unwrap()]).unwrap();
    let inputs = InputPoints::new(n_rows, 2, points.to_vec()).unwrap();
    let tree = Tree::chain(&inputs, inputs.rows().collect()).unwrap();
    let observations = Observations::from_dense(n_rows, 1, &vec![1.0; n_rows]).unwrap();
    (model, inputs, tree, observations)
}

#[test]
fn distances_whose_squares_overflow_or_vanish_are_those_of_the_structure() {
    for unit in [1e160, 1e-170] {
        let (model, inputs, tree, observations) = far_apart(&[0.0, 0.0, 3.0 * unit, 4.0 * unit], unit);
        let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
        let mut live = LivePosterior::new(&graph, &inputs, &observations).unwrap();
        let point = [0.0, 2.0 * unit];
        let at = InputPoints::new(1, 2, point.to_vec()).unwrap();
        let posterior = Posterior::new(&graph).unwrap().with_inputs(&inputs).unwrap();
        let expected = posterior.predict_at(&at).unwrap();
        let found = live.marginals_at(&point).unwrap();
        assert!((found.means[0] - expected.means()[0]).abs() < 1e-12, "unit {unit}");
        assert!((found.variances[0] - expected.variances()[0]).abs() < 1e-12, "unit {unit}");
        let row = live.insert(&point).unwrap();
        let inserted = live.marginals(row).unwrap();
        assert!((inserted.variances[0] - expected.variances()[0]).abs() < 1e-12, "unit {unit}");
        let table = live.table().unwrap();
        let step = table.tree.step_into(table.tree.position_of(row));
        assert!((step / unit - 2.0).abs() < 1e-12, "unit {unit}: {step:e}");
    }
}

#[test]
fn a_point_at_no_finite_distance_is_refused_and_changes_nothing() {
    let (model, inputs, tree, observations) = far_apart(&[-1e308, 0.0, -1e308, 1.0], 1.0);
    let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
    let mut live = LivePosterior::new(&graph, &inputs, &observations).unwrap();
    let before = live.marginals(RowIndex::new(0)).unwrap();
    let point = vec![1e308, 0.0];
    let refused = LiveError::DistanceNotFinite { row: RowIndex::new(0), point: point.clone() };
    assert_eq!(live.insert(&point), Err(refused.clone()));
    assert_eq!(live.marginals_at(&point), Err(refused));
    assert_eq!((live.n_rows(), live.marginals(RowIndex::new(0)).unwrap()), (2, before));
    assert!(live.table().is_ok());
}

#[test]
fn observations_of_another_table_are_refused() {
    let (model, inputs, tree, observations) = far_apart(&[0.0, 0.0, 1.0, 0.0], 1.0);
    let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
    let wider = Observations::from_dense(2, 2, &[1.0; 4]).unwrap();
    let mismatch = GraphError::OutputCountMismatch { model: 1, observations: 2 };
    assert_eq!(LivePosterior::new(&graph, &inputs, &wider).unwrap_err(), LiveError::Graph(mismatch));
    let longer = Observations::from_dense(3, 1, &[1.0; 3]).unwrap();
    let mismatch = GraphError::RowCountMismatch { structure: 2, observations: 3 };
    assert_eq!(LivePosterior::new(&graph, &inputs, &longer).unwrap_err(), LiveError::Graph(mismatch));
}
