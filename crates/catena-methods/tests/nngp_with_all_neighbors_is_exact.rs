//! With every observed row as a neighbor, the nearest-neighbor method is the exact one.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

mod support;

use catena_methods::nngp::{Nngp, NngpOptions};
use catena_methods::{DenseMethodError, Problem};
use support::{assert_prediction, example, reference, shapes};

fn n_locations(example: &support::Example) -> usize {
    let observations = example.dataset.observations();
    example.dataset.inputs().rows().filter(|&row| observations.row(row).len() > 0).count()
}

#[test]
fn predictions_and_likelihood() {
    for (number, shape) in shapes().into_iter().enumerate() {
        let example = example(shape, 1000 + number as u64);
        let answer = reference(&example);
        let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
        let nngp = Nngp::fit(problem, NngpOptions::new(n_locations(&example))).unwrap();
        assert_prediction(&nngp.predict(&example.at).unwrap(), &answer, 1e-10);
        let error = (nngp.log_evidence().unwrap() - answer.log_evidence).abs();
        assert!(error < 1e-10 * answer.log_evidence.abs().max(1.0), "{shape:?}: {error:e}");
    }
}

#[test]
fn few_neighbors_are_those_nearest() {
    let full = example(support::Shape { missing: 0.0, ..support::Shape::default() }, 1);
    let problem = Problem::new(&full.model, &full.dataset, full.scale).unwrap();
    let found = Nngp::fit(problem, NngpOptions::new(3)).unwrap().predict(&full.at).unwrap();
    // The reference conditioned on the three nearest rows alone.
    for row in full.at.rows() {
        let here = full.at.point(row);
        let mut near: Vec<(f64, usize)> = full
            .dataset
            .inputs()
            .rows()
            .map(|other| {
                (catena::data::squared_distance(here, full.dataset.inputs().point(other)), other.get())
            })
            .collect();
        near.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let values: Vec<f64> = (0..24)
            .flat_map(|other| {
                let is_near = near[..3].iter().any(|&(_, row)| row == other);
                let cells: Vec<f64> = full
                    .dataset
                    .observations()
                    .row(catena::index::RowIndex::new(other))
                    .map(|cell| if is_near { cell.value } else { f64::NAN })
                    .collect();
                cells
            })
            .collect();
        let observations = catena::data::Observations::from_dense(24, 3, &values).unwrap();
        let mut alone = full.clone();
        alone.dataset = catena::data::Dataset::new(full.dataset.inputs().clone(), observations).unwrap();
        alone.at = catena::data::InputPoints::new(1, 2, here.to_vec()).unwrap();
        let answer = reference(&alone);
        let there = row.get() * 3..row.get() * 3 + 3;
        support::assert_all_close(&found.means()[there.clone()], &answer.means, 1e-12, "mean");
        support::assert_all_close(&found.variances()[there], &answer.variances, 1e-12, "variance");
    }
}

#[test]
fn more_neighbors_than_rows_are_refused() {
    let example = example(support::Shape::default(), 3);
    let n_locations = n_locations(&example);
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let n_neighbors = n_locations + 1;
    let refused = Nngp::fit(problem, NngpOptions::new(n_neighbors)).err();
    assert_eq!(refused, Some(DenseMethodError::TooManyNeighbors { n_neighbors, n_locations }));
    assert_eq!(Nngp::fit(problem, NngpOptions::new(0)).err(), Some(DenseMethodError::NoNeighbors));
}
