//! With inducing points at every distinct place both sparse approximations are exact; with fewer, the collapsed one is a
//! lower bound of the evidence.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

mod support;

use catena::data::InputPoints;
use catena_methods::svgp::{Approximation, Svgp, SvgpOptions};
use catena_methods::{DenseMethodError, MemoryLimit, Problem};
use support::{assert_prediction, example, reference, shapes};

const BOTH: [Approximation; 2] = [Approximation::Fitc, Approximation::Collapsed];

/// All places but row 3's, which repeats row 2's.
fn distinct_places(inputs: &InputPoints) -> InputPoints {
    let dim = inputs.dim();
    let mut values = inputs.values().to_vec();
    values.drain(3 * dim..4 * dim);
    InputPoints::new(inputs.n_rows() - 1, dim, values).unwrap()
}

#[test]
fn predictions_and_evidence() {
    for (number, shape) in shapes().into_iter().enumerate() {
        let example = example(shape, 2000 + number as u64);
        let answer = reference(&example);
        let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
        let inducing = distinct_places(example.dataset.inputs());
        for approximation in BOTH {
            let options = SvgpOptions { approximation, ..SvgpOptions::default() };
            let svgp = Svgp::fit(problem, &inducing, options).unwrap();
            assert_prediction(&svgp.predict(&example.at).unwrap(), &answer, 1e-9);
            let error = (svgp.log_evidence() - answer.log_evidence).abs();
            assert!(
                error < 1e-9 * answer.log_evidence.abs().max(1.0),
                "{shape:?} {approximation:?}: {error:e}"
            );
        }
    }
}

#[test]
fn the_collapsed_bound_is_a_bound_and_rises() {
    let example = example(support::Shape { n_rows: 40, ..support::Shape::default() }, 4);
    let evidence = reference(&example).log_evidence;
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let places = example.dataset.inputs();
    let mut before = f64::NEG_INFINITY;
    for count in [2, 5, 10, 20, 39] {
        // Nested sets: the first rows, without the duplicate.
        let nested = distinct_places(places).values()[..2 * count].to_vec();
        let inducing = InputPoints::new(count, 2, nested).unwrap();
        let bound = Svgp::fit(problem, &inducing, SvgpOptions::default()).unwrap().log_evidence();
        assert!(before <= bound && bound <= evidence + 1e-9, "{count}: {before} {bound} {evidence}");
        before = bound;
    }
}

#[test]
fn coinciding_inducing_points_and_memory_are_refused() {
    let example = example(support::Shape::default(), 6);
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let same = InputPoints::new(3, 2, vec![1.0; 6]).unwrap();
    let refused = Svgp::fit(problem, &same, SvgpOptions::default()).err();
    assert!(matches!(refused, Some(DenseMethodError::InducingNotPositiveDefinite { inducing: 1, .. })));
    // The paper's jitter makes it positive definite.
    assert!(Svgp::fit(problem, &same, SvgpOptions::paper()).is_ok());
    let options = SvgpOptions { memory: MemoryLimit::bytes(1000), ..SvgpOptions::default() };
    assert!(matches!(Svgp::fit(problem, &same, options).err(), Some(DenseMethodError::Memory { .. })));
}
