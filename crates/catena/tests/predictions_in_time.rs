//! Along a line: answers between the rows, forecasts from any row, and joint paths are those of the process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::{Position, RowIndex};
use catena::inference::{Outlook, Workspace};
use catena::kernel::Piece;
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Attachment, sorted_chain};
use catena::units::{DistanceScale, LengthScale, Quality, Variance};
use catena_baselines::dense::DensePrior;
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::random::SeededDraws;
use catena_testkit::scenario::{Limits, Scenario, Shape};

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
fn check_between(scenario: &Scenario, seed: u64) {
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
    let attachment = Attachment::new(&scenario.inputs, &scenario.tree);
    let at = InputPoints::new(places.len(), 1, places.clone()).unwrap();
    let (prediction, covariances) = Workspace::new().predict_along(&graph, &attachment, &at, true).unwrap();
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
        let (single, _) = Workspace::new().predict_along(&graph, &attachment, &at, false).unwrap();
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
        check_between(&Scenario::draw(Shape::Time, Limits::NOISY, seed), seed);
        check_between(&Scenario::draw(Shape::Phases, Limits::NOISY, seed), seed);
        check_between(&Scenario::draw(Shape::Line, Limits::NOISY, seed), seed);
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
        let answers = Workspace::new().predict_ahead(&graph, &outlooks).unwrap();
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

#[test]
fn paths_are_draws_from_the_joint_forecast() {
    let length = |value: f64| LengthScale::new(value).unwrap();
    let latents = [
        Latent::piece(Piece::Sho { quality: Quality::new(2.0).unwrap() }, length(1.5)),
        Latent::piece(Piece::RandomWalk, length(9.0)),
        Latent::piece(Piece::Cycle { period: length(3.0) }, length(20.0)),
    ];
    let latents = [&latents[..], &[Latent::quarter_turn_of(&latents[2]).unwrap()]].concat();
    let mixing = MixingMatrix::shared(2, 4, vec![1.0, 0.5, 0.7, -0.3, -0.4, 0.8, 0.1, 0.6]).unwrap();
    let model = Lmc::new(latents, mixing, vec![Variance::new(0.1).unwrap(); 2]).unwrap();
    let inputs = InputPoints::new(8, 1, (0..8).map(f64::from).collect()).unwrap();
    let tree = sorted_chain(&inputs).unwrap();
    let values: Vec<f64> =
        (0..16).map(|at| if at % 5 == 3 { f64::NAN } else { (f64::from(at) * 0.7).sin() }).collect();
    let observations = Observations::from_dense(8, 2, &values).unwrap();
    let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
    let distances = [4.0, 0.5, 1.0];
    let count = 100_000;
    let paths = Workspace::new().paths_ahead(&graph, &distances, count, 3).unwrap();
    assert_eq!(paths, Workspace::new().paths_ahead(&graph, &distances, count, 3).unwrap());
    let places =
        [(0..8).map(f64::from).collect::<Vec<_>>(), distances.map(|ahead| 7.0 + ahead).to_vec()].concat();
    let joined = InputPoints::new(11, 1, places).unwrap();
    let padded = [values, vec![f64::NAN; 6]].concat();
    let dense = DensePrior::euclidean(&model, &joined, DistanceScale::ONE);
    let dense = dense.condition(&Observations::from_dense(11, 2, &padded).unwrap()).unwrap();
    let number = count as f64;
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
