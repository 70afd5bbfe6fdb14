//! The first cells of the study on chain starts have the scores that an independent port of the authors' code finds.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use catena::graph::FactorGraph;
use catena::inference;
use catena_studies::chain_starts::even_starts;
use catena_studies::protocol::Protocol;
use catena_studies::sensor_study::{sensor_study, sensor_study_by};
use catena_studies::study::Study;

/// (M, RMSE of seed 0 from the first row).
const FIRST_CELLS: [(usize, f64); 5] = [
    (2, 0.158_155_251_629_79),
    (4, 0.137_322_432_553_34),
    (8, 0.106_103_286_824_22),
    (16, 0.326_154_718_231_48),
    (32, 0.481_158_133_654_92),
];

fn rmse(study: &Study) -> f64 {
    let chain = study.scaled_chain().unwrap();
    let graph = FactorGraph::new(&study.model, &chain, study.dataset.observations()).unwrap();
    let prediction = inference::marginals(&graph).unwrap().prediction;
    study.score(&study.at_test_rows(&prediction).unwrap()).rmse
}

#[test]
fn sensor_network_from_the_first_row() {
    for (dim, expected) in FIRST_CELLS {
        let study = sensor_study_by(Protocol::CHAIN_STARTS, dim, 2000, 0).unwrap();
        let found = rmse(&study.starting_at(even_starts(2000, 20)[0]).unwrap());
        assert!((found / expected - 1.0).abs() < 1e-12, "M = {dim}: {found}");
        // The paper's other studies have other streams and other splits.
        assert!((rmse(&sensor_study(dim, 0).unwrap()) / expected - 1.0).abs() > 1e-3, "M = {dim}");
    }
}

#[test]
fn another_start_keeps_the_data_and_takes_its_own_median_gap() {
    let study = sensor_study_by(Protocol::CHAIN_STARTS, 2, 2000, 0).unwrap();
    let starts = even_starts(2000, 20);
    let moved = study.starting_at(starts[19]).unwrap();
    assert_eq!((&moved.dataset, &moved.test_rows), (&study.dataset, &study.test_rows));
    assert_eq!(moved.distance_scale.get(), moved.chain.median_step().unwrap().get());
    assert_ne!(moved.distance_scale.get(), study.distance_scale.get());
}
