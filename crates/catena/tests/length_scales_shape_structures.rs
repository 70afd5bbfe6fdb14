//! With a length-scale per input, structures and posteriors are those of inputs divided by hand.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod clouds;

use catena::data::{InputPoints, InputScaling};
use catena::structure::{Start, chain_ensemble, greedy_chain, spanning_tree};
use catena::units::LengthScale;
use clouds::{KINDS, Kind, cloud};

const LENGTH_SCALES: [f64; 3] = [0.3, 7.0, 1e3];

fn scaling() -> InputScaling {
    InputScaling::by_length_scales(&LENGTH_SCALES.map(|value| LengthScale::new(value).unwrap()))
}

fn divided_by_hand(inputs: &InputPoints) -> InputPoints {
    let mut values = vec![];
    for row in inputs.rows() {
        let point = inputs.point(row);
        values.extend([point[0] / 0.3, point[1] / 7.0, point[2] / 1e3]);
    }
    InputPoints::new(inputs.n_rows(), 3, values).unwrap()
}

#[test]
fn structures_are_those_of_inputs_divided_by_hand() {
    for kind in KINDS {
        let inputs = cloud(kind, 300, 3, 5);
        let (scaled, by_hand) = (scaling().apply(&inputs).unwrap(), divided_by_hand(&inputs));
        let chain = |inputs| greedy_chain(inputs, Start::FirstRow).unwrap();
        assert_eq!(chain(&scaled), chain(&by_hand));
        assert_eq!(spanning_tree(&scaled).unwrap(), spanning_tree(&by_hand).unwrap());
        assert_eq!(chain_ensemble(&scaled, 2, 1).unwrap(), chain_ensemble(&by_hand, 2, 1).unwrap());
    }
}

/// An input with a length-scale far above its range is as good as absent: the chain sorts by the other one.
#[test]
fn an_irrelevant_input_does_not_choose_neighbors() {
    let inputs = cloud(Kind::Random, 200, 2, 3);
    let length_scales = [1.0, 1e9].map(|value| LengthScale::new(value).unwrap());
    let scaled = InputScaling::by_length_scales(&length_scales).apply(&inputs).unwrap();
    let first_column = inputs.values().iter().step_by(2).copied().collect();
    let alone = InputPoints::from_column(first_column).unwrap();
    let order = |inputs| {
        let chain = greedy_chain(inputs, Start::FirstRow).unwrap();
        chain.positions().map(|position| chain.row_at(position)).collect::<Vec<_>>()
    };
    assert_eq!(order(&scaled), order(&alone));
    assert_ne!(order(&inputs), order(&alone));
}

#[test]
fn columns_must_match() {
    assert!(scaling().apply(&cloud(Kind::Random, 10, 2, 1)).is_err());
}
