//! The full-scale method equals its definition: exact with all neighbors, the nearest-neighbor method without inducing points,
//! and in general the dense process with the same features, order and neighbors.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

mod support;

use std::sync::Arc;

use catena::data::{Dataset, InputPoints, Observations};
use catena_methods::fullscale::{Arrangement, FullScale, FullScaleSize};
use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::svgp::{Approximation, Svgp, SvgpOptions};
use catena_methods::{DenseMethodError, MemoryLimit, Problem};
use support::full_scale_reference::full_scale_reference;
use support::{Answer, Example, Shape, assert_prediction, example, full_scale, reference, shapes};

fn assert_answer(found: &FullScale, example: &Example, answer: &Answer, what: &str) {
    let error = (found.log_evidence() - answer.log_evidence).abs();
    assert!(error < 1e-10 * answer.log_evidence.abs().max(1.0), "{what}: log evidence off by {error:e}");
    assert_prediction(&found.predict(&example.at).unwrap(), answer, 1e-10);
}

#[test]
fn all_neighbors_are_exact() {
    for (number, shape) in shapes().into_iter().enumerate() {
        let shape = Shape { missing: if shape.missing > 0.0 { 0.2 } else { 0.0 }, ..shape };
        let example = example(shape, 5000 + number as u64);
        let answer = reference(&example);
        for n_inducing in [0, 7] {
            // There are fewer places than that.
            let found = full_scale(&example, n_inducing, 1000);
            assert_answer(&found, &example, &answer, &format!("{shape:?}, {n_inducing} inducing points"));
        }
    }
}

/// The example with row 3 moved away from row 2, so that every row is a place.
fn without_duplicates(mut example: Example) -> Example {
    let inputs = example.dataset.inputs();
    let mut values = inputs.values().to_vec();
    values[3 * inputs.dim()] += 0.3;
    let inputs = InputPoints::new(inputs.n_rows(), inputs.dim(), values).unwrap();
    example.dataset = Dataset::new(inputs, example.dataset.observations().clone()).unwrap();
    example
}

#[test]
fn without_inducing_points_it_is_the_nearest_neighbor_method() {
    for (number, shape) in shapes().into_iter().enumerate() {
        let example = without_duplicates(example(shape, 6000 + number as u64));
        let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
        let nngp = Nngp::fit(problem, NngpOptions::new(4)).unwrap();
        let prediction = nngp.predict(&example.at).unwrap();
        let answer = Answer {
            log_evidence: nngp.log_evidence().unwrap(),
            means: prediction.means().to_vec(),
            variances: prediction.variances().to_vec(),
        };
        assert_answer(&full_scale(&example, 0, 4), &example, &answer, &format!("{shape:?}"));
    }
}

#[test]
fn a_single_output_without_neighbors_is_the_sparse_method() {
    // Per location and per cell are the same with one output and no duplicates.
    let shape = Shape { n_outputs: 1, n_shared: 2, ..Shape::default() };
    let example = without_duplicates(example(shape, 77));
    let found = full_scale(&example, 6, 0);
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let inducing = found.arrangement().inducing().unwrap().clone();
    let options = SvgpOptions { approximation: Approximation::Fitc, ..SvgpOptions::default() };
    let svgp = Svgp::fit(problem, &inducing, options).unwrap();
    let prediction = svgp.predict(&example.at).unwrap();
    let answer = Answer {
        log_evidence: svgp.log_evidence(),
        means: prediction.means().to_vec(),
        variances: prediction.variances().to_vec(),
    };
    assert_answer(&found, &example, &answer, "no neighbors");
}

#[test]
fn every_size_is_the_dense_process() {
    for (number, shape) in shapes().into_iter().enumerate() {
        let example = example(shape, 7000 + number as u64);
        for (n_inducing, n_neighbors) in [(6, 0), (6, 3), (0, 3), (9, 8)] {
            let found = full_scale(&example, n_inducing, n_neighbors);
            let answer = full_scale_reference(&example, found.arrangement());
            let what = format!("{shape:?}, {n_inducing} inducing points, {n_neighbors} neighbors");
            assert_answer(&found, &example, &answer, &what);
        }
    }
}

#[test]
fn duplicates_count_as_one_place_and_crowd_nobody_out() {
    // Five copies of one place and two others: with three neighbors all three places are seen, and all is exact.
    let mut example = example(Shape { n_rows: 7, missing: 0.0, ..Shape::default() }, 4);
    let mut places: Vec<f64> = example.dataset.inputs().values().to_vec();
    for copy in 1..5 {
        places.copy_within(0..2, 2 * copy);
    }
    let inputs = InputPoints::new(7, 2, places).unwrap();
    example.dataset = Dataset::new(inputs, example.dataset.observations().clone()).unwrap();
    let found = full_scale(&example, 2, 3);
    assert_eq!(found.arrangement().n_places(), 3);
    assert_answer(&found, &example, &reference(&example), "copies");
}

#[test]
fn more_inducing_points_than_places_are_all_of_them() {
    let example = example(Shape::default(), 9);
    let found = full_scale(&example, 10_000, 0);
    assert_answer_loosely(&found, &example);
    let grid = on_a_grid();
    assert_answer_loosely(&full_scale(&grid, 10_000, 3), &grid);
}

/// If all places are inducing points, the low-rank part is exact, for any neighbors.
fn assert_answer_loosely(found: &FullScale, example: &Example) {
    let answer = reference(example);
    let error = (found.log_evidence() - answer.log_evidence).abs() / answer.log_evidence.abs();
    assert!(error < 1e-7, "log evidence off by {error:e}");
    assert_prediction(&found.predict(&example.at).unwrap(), &answer, 1e-6);
}

/// A table on a grid, with many ties and one output missing in half of it.
fn on_a_grid() -> Example {
    let mut example = example(Shape { n_rows: 36, missing: 0.0, ..Shape::default() }, 10);
    let places = (0..36).flat_map(|row| [f64::from(row % 6), f64::from(row / 6)]).collect();
    let inputs = InputPoints::new(36, 2, places).unwrap();
    let mut values: Vec<f64> = example.dataset.observations().cells().map(|(_, cell)| cell.value).collect();
    values.iter_mut().step_by(3).take(18).for_each(|value| *value = f64::NAN);
    example.dataset = Dataset::new(inputs, Observations::from_dense(36, 3, &values).unwrap()).unwrap();
    example
}

#[test]
fn grids_and_regions_without_an_output() {
    let example = on_a_grid();
    for (n_inducing, n_neighbors) in [(0, 5), (8, 5), (8, 0)] {
        let found = full_scale(&example, n_inducing, n_neighbors);
        assert_answer(&found, &example, &full_scale_reference(&example, found.arrangement()), "grid");
        assert!(found.gradient().unwrap().noise.iter().all(|derivative| derivative.is_finite()));
    }
}

#[test]
fn a_smooth_process_of_long_range_needs_no_repair() {
    // 36 inducing points of a process that hardly varies: all but a few are skipped, and the posterior stays exact.
    use catena::kernel::Kernel;
    let mut example = on_a_grid();
    let latents = vec![
        support::latent(Kernel::SquaredExponential, 60.0),
        support::latent(Kernel::SquaredExponential, 40.0),
    ];
    let model = &example.model;
    example.model = catena::model::Lmc::new(latents, model.mixing().clone(), model.noise().to_vec()).unwrap();
    let found = full_scale(&example, 36, 36);
    let answer = reference(&example);
    assert!((found.log_evidence() - answer.log_evidence).abs() < 1e-8 * answer.log_evidence.abs());
    assert_prediction(&found.predict(&example.at).unwrap(), &answer, 1e-8);
}

#[test]
fn without_observations_the_prior_remains() {
    let mut example = example(Shape::default(), 6);
    let nothing = Observations::from_dense(24, 3, &[f64::NAN; 72]).unwrap();
    example.dataset = Dataset::new(example.dataset.inputs().clone(), nothing).unwrap();
    let found = full_scale(&example, 5, 5);
    assert_eq!(found.log_evidence(), 0.0);
    assert_prediction(&found.predict(&example.at).unwrap(), &reference(&example), 1e-15);
    assert_eq!(found.gradient().unwrap().noise, [0.0; 3]);
}

#[test]
fn an_arrangement_of_another_table_is_refused() {
    let (first, second) = (example(Shape::default(), 1), example(Shape::default(), 2));
    let arrangement = Arrangement::new(&first.dataset, FullScaleSize::default(), 0).unwrap();
    let problem = Problem::new(&second.model, &second.dataset, second.scale).unwrap();
    let refused = FullScale::fit(problem, Arc::new(arrangement), MemoryLimit::default()).err();
    assert_eq!(refused, Some(DenseMethodError::OtherArrangement));
}

#[test]
fn too_little_memory_is_said_before_any_is_used() {
    let example = example(Shape::default(), 1);
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let arrangement = Arrangement::new(&example.dataset, FullScaleSize::new(8, 4), 0).unwrap();
    let refused = FullScale::fit(problem, Arc::new(arrangement), MemoryLimit::bytes(1000)).err();
    assert!(matches!(refused, Some(DenseMethodError::Memory { .. })));
}
