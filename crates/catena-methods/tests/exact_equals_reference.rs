//! The exact method gives the evidence, means and variances of the dense reference.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

mod support;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::model::Lmc;
use catena::units::Variance;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::{DenseMethodError, Jitter, MemoryLimit, Problem};
use catena_testkit::random::SeededDraws;
use support::{assert_prediction, example, reference, shapes};

#[test]
fn every_kind_of_problem() {
    for (number, shape) in shapes().into_iter().enumerate() {
        for seed in 0..3 {
            let example = example(shape, 100 * number as u64 + seed);
            let answer = reference(&example);
            let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
            let exact = Exact::fit(problem, ExactOptions::default()).unwrap();
            let error = (exact.log_evidence() - answer.log_evidence).abs();
            assert!(error < 1e-10 * answer.log_evidence.abs().max(1.0), "{shape:?}: {error:e}");
            assert_prediction(&exact.predict(&example.at).unwrap(), &answer, 1e-10);
        }
    }
}

#[test]
fn chunks_of_predictions_do_not_show() {
    let example = example(support::Shape::default(), 5);
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let exact = Exact::fit(problem, ExactOptions::default()).unwrap();
    let many = support::points(&mut SeededDraws::new(9), 500, 2);
    let together = exact.predict(&many).unwrap();
    for row in many.rows().step_by(61) {
        let alone = InputPoints::new(1, 2, many.point(row).to_vec()).unwrap();
        let alone = exact.predict(&alone).unwrap();
        let there = row.get() * 3..row.get() * 3 + 3;
        support::assert_all_close(alone.means(), &together.means()[there.clone()], 1e-13, "mean");
        support::assert_all_close(alone.variances(), &together.variances()[there], 1e-13, "variance");
    }
}

#[test]
fn without_observations_the_prior_remains() {
    let mut example = example(support::Shape::default(), 6);
    let nothing = Observations::from_dense(24, 3, &[f64::NAN; 72]).unwrap();
    example.dataset = Dataset::new(example.dataset.inputs().clone(), nothing).unwrap();
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let exact = Exact::fit(problem, ExactOptions::default()).unwrap();
    assert_eq!(exact.log_evidence(), 0.0);
    assert_prediction(&exact.predict(&example.at).unwrap(), &reference(&example), 1e-15);
    assert_eq!(exact.gradient().unwrap().noise, [0.0; 3]);
}

#[test]
fn jitter_is_noise_of_every_cell() {
    let mut example = example(support::Shape::default(), 7);
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let repaired = Exact::fit(problem, ExactOptions::paper()).unwrap();
    let d_l = 6 + 2;
    for output in 0..3 {
        example.model = support::moved(&example.model, d_l + output, Jitter::PAPER_EXACT.get());
    }
    let error = (repaired.log_evidence() - reference(&example).log_evidence).abs();
    assert!(error < 1e-10, "{error:e}");
}

#[test]
fn memory_is_refused_before_it_is_taken() {
    let rows = 300_000;
    let inputs = InputPoints::from_column((0..rows).map(|row| row as f64).collect()).unwrap();
    let observations = Observations::from_dense(rows, 3, &vec![0.5; 3 * rows]).unwrap();
    let dataset = Dataset::new(inputs, observations).unwrap();
    let model = example(support::Shape::default(), 8).model;
    let problem = Problem::new(&model, &dataset, catena::units::DistanceScale::ONE).unwrap();
    let refused = Exact::fit(problem, ExactOptions::default()).unwrap_err();
    // 3 outputs, 2 latents: 600 000 channels, 8·(6e5)² bytes.
    assert!(
        matches!(refused, DenseMethodError::Memory { needed, n_observed: 900_000, .. } if needed.get() == 2_880_000_000_000)
    );
    let message = refused.to_string();
    assert!(message.contains("2.9 TB") && message.contains("nngp"), "{message}");
}

#[test]
fn one_correlation_function_decouples_complete_rows() {
    let shape =
        support::Shape { missing: 0.0, n_outputs: 4, one_correlation: true, ..support::Shape::default() };
    let example = example(shape, 11);
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let fit = |bytes| {
        let options = ExactOptions { memory: MemoryLimit::bytes(bytes), ..ExactOptions::default() };
        Exact::fit(problem, options)
    };
    // Four outputs, two latents: two independent factors of 24 rows each.
    assert!(fit(2 * 24 * 24 * 8).is_ok());
    assert!(matches!(fit(2 * 24 * 24 * 8 - 1).err(), Some(DenseMethodError::Memory { .. })));
}

#[test]
fn the_gradient_asks_for_its_own_memory() {
    let example = example(support::Shape { missing: 0.0, ..support::Shape::default() }, 9);
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    // 24 complete rows of 2 latents: a factor of 48² numbers, and twice that for the inverse.
    let memory = MemoryLimit::bytes(8 * 48 * 48);
    let exact = Exact::fit(problem, ExactOptions { memory, ..ExactOptions::default() }).unwrap();
    assert!(matches!(exact.gradient(), Err(DenseMethodError::Memory { .. })));
}

#[test]
fn an_impossible_covariance_names_a_row() {
    let example = example(support::Shape::default(), 10);
    let noise = vec![Variance::new(1e-20).unwrap(); 3];
    let model = Lmc::new(example.model.latents().to_vec(), example.model.mixing().clone(), noise).unwrap();
    let same = InputPoints::new(24, 2, vec![1.0; 48]).unwrap();
    let dataset = Dataset::new(same, example.dataset.observations().clone()).unwrap();
    let problem = Problem::new(&model, &dataset, example.scale).unwrap();
    match Exact::fit(problem, ExactOptions::default()) {
        Err(DenseMethodError::NotPositiveDefinite { row }) => {
            assert!(row > RowIndex::new(0) && row < RowIndex::new(24))
        }
        other => panic!("{:?}", other.map(|exact| exact.log_evidence())),
    }
}
