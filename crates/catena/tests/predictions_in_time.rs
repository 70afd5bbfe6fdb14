//! Along a line: answers between the rows, forecasts from any row, and joint paths are those of the process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::{Position, RowIndex};
use catena::inference::{Form, InferenceError, Outlook, Workspace};
use catena::kernel::{Component, Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::posterior::Posterior;
use catena::structure::sorted_chain;
use catena::units::{DistanceScale, LengthScale, Quality, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::random::SeededDraws;
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};

/// Every answer by square roots, as where noise is tiny.
fn by_square_roots() -> Workspace {
    Workspace::with_form(Form::SquareRoot)
}

/// New places before, between, at and after the rows.
fn new_places(scenario: &Scenario, draws: &mut SeededDraws) -> Vec<f64> {
    let values = scenario.inputs.values();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = (high - low).clamp(1e-3, 20.0);
    let mut places = vec![high + 0.3 * span, high, values[values.len() / 2]];
    // A walk begins at the first row: the dense process says nothing of what was before it.
    if scenario.model.latents().iter().all(Latent::is_stationary) {
        places.extend([low - 0.1 * span, low - span]);
    }
    places.extend((0..6).map(|_| draws.uniform(low, high)));
    places
}

/// The dense process over rows and new places together.
fn check_between(scenario: &Scenario, seed: u64, make: fn() -> Workspace) {
    let mut draws = SeededDraws::new(seed);
    let places = new_places(scenario, &mut draws);
    let n_rows = scenario.n_rows();
    let n_outputs = scenario.model.n_outputs();
    let all = [scenario.inputs.values(), &places].concat();
    let joined = InputPoints::new(all.len(), 1, all).unwrap();
    let mut values = scenario.dense_values();
    values.resize(joined.n_rows() * n_outputs, f64::NAN);
    let observations = Observations::from_dense(joined.n_rows(), n_outputs, &values).unwrap();
    let dense = DensePrior::euclidean(&scenario.model, &joined, DistanceScale::ONE);
    let dense = dense.condition(&observations).unwrap();
    let expected: Vec<f64> = dense.means()[n_rows * n_outputs..].to_vec();
    let expected_variances: Vec<f64> = dense.variances()[n_rows * n_outputs..].to_vec();

    let known = Observations::from_dense(n_rows, n_outputs, &scenario.dense_values()).unwrap();
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &known).unwrap();
    let at = InputPoints::new(places.len(), 1, places.clone()).unwrap();
    let mut workspace = make();
    let (prediction, covariances) = workspace.predict_along(&graph, &scenario.inputs, &at, true).unwrap();
    let named = |what: &str| format!("{what}, {}", scenario.label);
    let tolerance = Tolerance::relative(1e-9);
    assert_close(&named("means"), n_outputs, prediction.means(), &expected, tolerance);
    assert_close(&named("variances"), n_outputs, prediction.variances(), &expected_variances, tolerance);
    let expected: Vec<f64> =
        (n_rows..joined.n_rows()).flat_map(|row| dense.output_covariance(RowIndex::new(row))).collect();
    assert_close(&named("covariances"), n_outputs * n_outputs, &covariances, &expected, tolerance);
    // Each answer is the same, to the bit, when it is the only one.
    for (alone, &place) in places.iter().enumerate() {
        let at = InputPoints::new(1, 1, vec![place]).unwrap();
        let (single, _) = make().predict_along(&graph, &scenario.inputs, &at, false).unwrap();
        assert_eq!(
            single.means(),
            &prediction.means()[alone * n_outputs..][..n_outputs],
            "{}",
            scenario.label
        );
        assert_eq!(single.variances(), &prediction.variances()[alone * n_outputs..][..n_outputs]);
    }
}

#[test]
fn new_inputs_along_a_line_equal_the_dense_process() {
    for seed in 1200..1230 {
        for shape in [Shape::Time, Shape::Phases, Shape::Line] {
            let scenario = Scenario::draw(shape, Limits::NOISY, seed);
            check_between(&scenario, seed, Workspace::new);
            check_between(&scenario, seed, by_square_roots);
        }
    }
}

/// What was known at a row: the table cut off after it.
#[test]
fn outlooks_know_nothing_of_what_comes_after() {
    for seed in 1300..1330 {
        let shape = if seed < 1320 { Shape::Time } else { Shape::Phases };
        let scenario = Scenario::draw(shape, Limits::NOISY, seed);
        let n_outputs = scenario.model.n_outputs();
        let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
        let last = scenario.tree.len() - 1;
        let mut outlooks = vec![];
        for position in [last, 0, last / 2, last / 3] {
            let origin = scenario.tree.row_at(Position::new(position));
            outlooks.extend([2.5, 0.0, 0.4].map(|distance| Outlook { origin, distance }));
        }
        let mut workspace = if seed % 2 == 0 { Workspace::new() } else { by_square_roots() };
        let answers = workspace.predict_ahead(&graph, &outlooks).unwrap();
        for (at, outlook) in outlooks.iter().enumerate() {
            let position = scenario.tree.position_of(outlook.origin).get();
            let rows: Vec<RowIndex> =
                (0..=position).map(|at| scenario.tree.row_at(Position::new(at))).collect();
            let values = scenario.dense_values();
            let mut kept: Vec<f64> =
                rows.iter().flat_map(|row| values[row.get() * n_outputs..][..n_outputs].to_vec()).collect();
            kept.resize(kept.len() + n_outputs, f64::NAN);
            let mut places: Vec<f64> = rows.iter().map(|&row| scenario.inputs.point(row)[0]).collect();
            places.push(places[position] + outlook.distance);
            let inputs = InputPoints::new(places.len(), 1, places).unwrap();
            let mut observations = Observations::from_dense(inputs.n_rows(), n_outputs, &kept).unwrap();
            if scenario.observations.has_cell_noise() {
                let mut noise = vec![f64::NAN; kept.len()];
                for (row, cell) in scenario.observations.cells() {
                    if let Some(place) = rows.iter().position(|&kept| kept == row) {
                        noise[place * n_outputs + cell.output.get()] = cell.noise_variance.unwrap();
                    }
                }
                observations = observations.with_cell_noise(&noise).unwrap();
            }
            let dense = DensePrior::euclidean(&scenario.model, &inputs, DistanceScale::ONE);
            let dense = dense.condition(&observations).unwrap();
            let new = RowIndex::new(inputs.n_rows() - 1);
            let named = |what: &str| format!("{what} of {outlook:?}, {}", scenario.label);
            let tolerance = Tolerance::relative(1e-9).with_scale_at_least(1.0);
            let means = &answers.means()[at * n_outputs..][..n_outputs];
            assert_close(&named("means"), n_outputs, means, &dense.output_mean(new), tolerance);
            let variances: Vec<f64> =
                dense.output_covariance(new).into_iter().step_by(n_outputs + 1).collect();
            let actual = &answers.variances()[at * n_outputs..][..n_outputs];
            assert_close(&named("variances"), n_outputs, actual, &variances, tolerance);
        }
    }
}

const N_PATHS: usize = 100_000;

#[test]
fn paths_are_draws_from_the_joint_forecast() {
    let length = |value: f64| LengthScale::new(value).unwrap();
    let latents = [
        Latent::component(Component::Sho { quality: Quality::new(2.0).unwrap() }, length(1.5)),
        Latent::component(Component::RandomWalk, length(9.0)),
        Latent::component(Component::Cycle { period: length(3.0) }, length(20.0)),
    ];
    let latents = [&latents[..], &[Latent::quadrature_of(&latents[2]).unwrap()]].concat();
    let mixing = MixingMatrix::shared(2, 4, vec![1.0, 0.5, 0.7, -0.3, -0.4, 0.8, 0.1, 0.6]).unwrap();
    let model = Lmc::new(latents, mixing, vec![Variance::new(0.1).unwrap(); 2]).unwrap();
    let inputs = InputPoints::new(8, 1, (0..8).map(f64::from).collect()).unwrap();
    let tree = sorted_chain(&inputs).unwrap();
    let values: Vec<f64> =
        (0..16).map(|at| if at % 5 == 3 { f64::NAN } else { (f64::from(at) * 0.7).sin() }).collect();
    let observations = Observations::from_dense(8, 2, &values).unwrap();
    let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
    let distances = [4.0, 0.5, 1.0];
    let paths = Workspace::new().paths_ahead(&graph, &distances, N_PATHS, 3).unwrap();
    assert_eq!(paths, Workspace::new().paths_ahead(&graph, &distances, N_PATHS, 3).unwrap());
    check_paths(&model, &values, distances, &paths);
    check_paths(
        &model,
        &values,
        distances,
        &by_square_roots().paths_ahead(&graph, &distances, N_PATHS, 3).unwrap(),
    );
}

fn check_paths(model: &Lmc, values: &[f64], distances: [f64; 3], paths: &[Vec<f64>]) {
    let places =
        [(0..8).map(f64::from).collect::<Vec<_>>(), distances.map(|ahead| 7.0 + ahead).to_vec()].concat();
    let joined = InputPoints::new(11, 1, places).unwrap();
    let padded = [values, &[f64::NAN; 6]].concat();
    let dense = DensePrior::euclidean(model, &joined, DistanceScale::ONE);
    let dense = dense.condition(&Observations::from_dense(11, 2, &padded).unwrap()).unwrap();
    let number = paths.len() as f64;
    let mean = |a: usize| paths.iter().map(|path| path[a]).sum::<f64>() / number;
    let moment = |a: usize, b: usize| {
        let (m, n) = (mean(a), mean(b));
        paths.iter().map(|path| (path[a] - m) * (path[b] - n)).sum::<f64>() / number
    };
    for a in 0..6 {
        let row = RowIndex::new(8 + a / 2);
        let deviation = dense.output_covariance(row)[a % 2 * 3].sqrt();
        assert!(
            (mean(a) - dense.output_mean(row)[a % 2]).abs() < 4.5 * deviation / number.sqrt(),
            "mean {a}"
        );
        for b in 0..6 {
            let other = RowIndex::new(8 + b / 2);
            let expected = dense.output_cross_covariance(row, other)[a % 2 * 2 + b % 2];
            let spread = deviation * dense.output_covariance(other)[b % 2 * 3].sqrt();
            let error = (moment(a, b) - expected).abs();
            assert!(error < 4.5 * 1.5 * spread / number.sqrt(), "covariance {a} {b}: {error}");
        }
    }
}

/// Rows that were never written down say as much as rows without a cell.
#[test]
fn dropped_rows_change_nothing() {
    for seed in 1400..1412 {
        let mut draws = SeededDraws::new(seed);
        let scenario = Scenario::draw(Shape::Time, Limits::MODERATE, seed);
        let model = &scenario.model;
        let (n_rows, n_outputs) = (120, model.n_outputs());
        let times: Vec<f64> = (0..n_rows).map(|row| 0.25 * row as f64).collect();
        let kept: Vec<usize> = (0..n_rows).filter(|_| draws.chance(0.5)).collect();
        let mut values = vec![f64::NAN; n_rows * n_outputs];
        for &row in &kept {
            for output in 0..n_outputs {
                values[row * n_outputs + output] = draws.normal();
            }
        }
        let marginals = |rows: &[usize]| {
            let inputs =
                InputPoints::new(rows.len(), 1, rows.iter().map(|&row| times[row]).collect()).unwrap();
            let cells: Vec<f64> =
                rows.iter().flat_map(|&row| values[row * n_outputs..][..n_outputs].to_vec()).collect();
            let tree = sorted_chain(&inputs).unwrap();
            let observations = Observations::from_dense(rows.len(), n_outputs, &cells).unwrap();
            Workspace::new().marginals(&FactorGraph::new(model, &tree, &observations).unwrap()).unwrap()
        };
        // Both begin where the walks do.
        let all: Vec<usize> = (kept[0]..n_rows).collect();
        let (regular, irregular) = (marginals(&all), marginals(&kept));
        let named = |what: &str| format!("{what}, {}", scenario.label);
        let tolerance = Tolerance::relative(1e-10);
        let of_kept = |cells: &[f64]| -> Vec<f64> {
            kept.iter().flat_map(|row| cells[(row - kept[0]) * n_outputs..][..n_outputs].to_vec()).collect()
        };
        let expected = of_kept(regular.prediction.means());
        assert_close(&named("means"), n_outputs, irregular.prediction.means(), &expected, tolerance);
        let expected = of_kept(regular.prediction.variances());
        assert_close(&named("variances"), n_outputs, irregular.prediction.variances(), &expected, tolerance);
        let evidence = [irregular.log_evidence];
        let tolerance = tolerance.with_scale_at_least(kept.len() as f64);
        assert_close(&named("evidence"), 1, &evidence, &[regular.log_evidence], tolerance);
    }
}

/// Where points crowd and noise is tiny the covariance form loses the digits of a variance; what is answered has nearly all.
#[test]
fn answers_keep_their_digits_where_noise_is_tiny() {
    /// Nine of the digits that square roots keep.
    const DEMANDED: f64 = 1e-9;
    let length = |value: f64| LengthScale::new(value).unwrap();
    let smooth = |value: f64| Latent::new(Kernel::Matern32, StateKind::Derivative, length(value)).unwrap();
    let walk = Latent::component(Component::RandomWalk, length(1.0));
    for latents in [vec![smooth(1.0), smooth(0.3)], vec![smooth(1.0), walk]] {
        let mixing = MixingMatrix::shared(2, 2, vec![1.0, 0.5, -0.4, 0.8]).unwrap();
        let model = Lmc::new(latents, mixing, vec![Variance::new(1e-14).unwrap(); 2]).unwrap();
        let n_rows = 40;
        let places: Vec<f64> = (0..n_rows).map(|row| 1e-9 * f64::from(row * row % 97 + 90 * row)).collect();
        let values: Vec<f64> = (0..2 * n_rows).map(|at| 0.3 + 1e-4 * f64::from(at).sin()).collect();
        let inputs = InputPoints::from_column(places.clone()).unwrap();
        let tree = sorted_chain(&inputs).unwrap();
        let observations = Observations::from_dense(inputs.n_rows(), 2, &values).unwrap();
        let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
        let last = tree.row_at(Position::new(inputs.n_rows() - 1));
        let end = inputs.point(last)[0];
        let at = InputPoints::from_column(vec![places[3] + 4e-10, end + 1e-9, places[20], -1e-9]).unwrap();
        let exact = Posterior::with_form(&graph, Form::SquareRoot).unwrap().with_inputs(&inputs).unwrap();
        let (expected, blocks) = (exact.predict_at(&at).unwrap(), exact.covariances_at(&at).unwrap());
        let worst = |found: &[f64], expected: &[f64]| {
            let errors = found.iter().zip(expected).map(|(found, expected)| (found / expected - 1.0).abs());
            errors.fold(0.0, f64::max)
        };
        let (found, covariances) = Workspace::new().predict_along(&graph, &inputs, &at, true).unwrap();
        let error = worst(found.variances(), expected.variances());
        assert!(error < DEMANDED, "along: {error}");
        assert!(worst(found.means(), expected.means()) < DEMANDED);
        let error = covariances.iter().zip(&blocks).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < DEMANDED * blocks.iter().copied().fold(0.0, f64::max), "covariances: {error}");
        let mut plain = Workspace::with_form(Form::Covariance);
        let lost = plain.predict_along(&graph, &inputs, &at, false).unwrap().0;
        let error = worst(lost.variances(), expected.variances());
        assert!(error > 1000.0 * DEMANDED, "the case is not hard: {error}");
        // From the last row everything is known.
        let after = InputPoints::from_column(vec![end + 1e-9]).unwrap();
        let expected = exact.predict_at(&after).unwrap();
        let distance = after.values()[0] - end;
        let ahead = Workspace::new().predict_ahead(&graph, &[Outlook { origin: last, distance }]).unwrap();
        let error = worst(ahead.variances(), expected.variances());
        assert!(error < DEMANDED, "ahead: {error}");
        let paths = Workspace::new().paths_ahead(&graph, &[distance], 20_000, 5).unwrap();
        for output in 0..2 {
            let mean = expected.means()[output];
            let spread = paths.iter().map(|path| (path[output] - mean).powi(2)).sum::<f64>() / 20_000.0;
            // The variance of a draw's square is twice its own: five deviations.
            let ratio = spread / expected.variances()[output];
            assert!((ratio - 1.0).abs() < 5.0 * (2.0_f64 / 20_000.0).sqrt(), "paths: {ratio}");
        }
    }
}

#[test]
fn distances_of_either_zero_are_answered_and_those_behind_are_refused() {
    let scenario = Scenario::draw(Shape::Time, Limits::NOISY, 1300);
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    let ask = |distances: &[f64]| {
        let origin = scenario.tree.row_at(Position::new(0));
        let outlooks: Vec<Outlook> = distances.iter().map(|&distance| Outlook { origin, distance }).collect();
        Workspace::new().predict_ahead(&graph, &outlooks)
    };
    let n_outputs = scenario.model.n_outputs();
    let (plain, signed) = (ask(&[0.0, 2.5]).unwrap(), ask(&[-0.0, 0.0, 2.5]).unwrap());
    assert_eq!(signed.variances()[n_outputs..], *plain.variances());
    assert_eq!(signed.variances()[..n_outputs], plain.variances()[..n_outputs]);
    assert_eq!(ask(&[-0.0, 0.0]).unwrap().means(), [&plain.means()[..n_outputs]; 2].concat());
    for bad in [-1.0, f64::NAN] {
        assert_eq!(ask(&[1.0, bad]), Err(InferenceError::NotAhead { at: 1 }));
        let paths = Workspace::new().paths_ahead(&graph, &[bad, 1.0], 2, 1);
        assert_eq!(paths, Err(InferenceError::NotAhead { at: 0 }));
    }
}

/// Rows are the table's, not the structure's.
#[test]
fn an_overflow_ahead_names_the_last_row_of_the_line() {
    let latent = Latent::component(Component::RandomWalk, LengthScale::new(1.0).unwrap());
    let mixing = MixingMatrix::shared(1, 2, vec![1.7e308; 2]).unwrap();
    let model = Lmc::new(vec![latent; 2], mixing, vec![Variance::new(1.0).unwrap()]).unwrap();
    let inputs = InputPoints::from_column(vec![2.0, 1.0, 0.0]).unwrap();
    let tree = sorted_chain(&inputs).unwrap();
    let observations = Observations::from_dense(3, 1, &[f64::NAN; 3]).unwrap();
    let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
    let paths = Workspace::new().paths_ahead(&graph, &[1.0], 64, 3);
    assert_eq!(paths, Err(InferenceError::Overflow { row: RowIndex::new(0) }));
}
