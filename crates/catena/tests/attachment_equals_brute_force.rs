//! A new point joins where looking at every point says it should.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod clouds;

use catena::data::{InputPoints, squared_distance};
use catena::index::{Position, RowIndex};
use catena::structure::{AttachedTo, Attachment, Start, Tie, Tree, greedy_chain, sorted_chain};
use catena::units::DistanceScale;
use clouds::{KINDS, Kind, Numbers, any_cloud, cloud};
use proptest::prelude::*;

fn nearest_row(inputs: &InputPoints, point: &[f64]) -> RowIndex {
    let mut nearest = (f64::INFINITY, RowIndex::new(0));
    for row in inputs.rows() {
        let squared = squared_distance(point, inputs.point(row));
        if squared < nearest.0 {
            nearest = (squared, row);
        }
    }
    nearest.1
}

fn new_points(inputs: &InputPoints, seed: u64) -> Vec<Vec<f64>> {
    let mut numbers = Numbers(seed);
    let mut points = vec![];
    for _ in 0..30 {
        let row = RowIndex::new(numbers.below(inputs.n_rows()));
        let near = |value: &f64| value + 0.2 * (numbers.unit() - 0.5);
        points.push(inputs.point(row).iter().map(near).collect());
        points.push(inputs.point(row).to_vec());
    }
    points
}

fn check_leaf(inputs: &InputPoints, tree: &Tree, seed: u64) {
    let attachment = Attachment::new(inputs, tree);
    for point in new_points(inputs, seed) {
        let row = nearest_row(inputs, &point);
        let AttachedTo::Leaf(Tie { point: position, distance }) = attachment.attach(&point) else {
            panic!("a leaf was expected");
        };
        assert_eq!(tree.row_at(position), row);
        let expected = squared_distance(&point, inputs.point(row)).sqrt() / tree.distance_scale().get();
        assert!((distance - expected).abs() <= 1e-15 * expected, "{distance} and {expected}");
    }
}

proptest! {
    #[test]
    fn in_space_it_hangs_on_its_nearest_point(inputs in any_cloud(200), seed in any::<u64>()) {
        // Squares of extreme magnitudes vanish or overflow, and the oracle's plain root with them.
        let is_plain = inputs.values().iter().all(|value| *value == 0.0 || (1e-100..1e100).contains(&value.abs()));
        prop_assume!(inputs.dim() > 1 && is_plain);
        let tree = greedy_chain(&inputs, Start::FirstRow).unwrap();
        check_leaf(&inputs, &tree, seed);
        check_leaf(&inputs, &tree.with_distance_scale(DistanceScale::new(0.37).unwrap()).unwrap(), seed);
    }

    #[test]
    fn on_a_line_it_lies_between_its_neighbors(n_rows in 1..80_usize, seed in any::<u64>(), down in any::<bool>()) {
        let inputs = cloud(KINDS[(seed % 5) as usize], n_rows, 1, seed);
        let scale = DistanceScale::new(2.5).unwrap();
        let sorted = sorted_chain(&inputs).unwrap();
        let mut order: Vec<RowIndex> = sorted.positions().map(|position| sorted.row_at(position)).collect();
        if down {
            order.reverse();
        }
        let chain = Tree::chain(&inputs, order).unwrap().with_distance_scale(scale).unwrap();
        let attachment = Attachment::new(&inputs, &chain);
        for point in new_points(&inputs, seed) {
            check_line(&inputs, &chain, &point, attachment.attach(&point));
        }
    }
}

/// Walks the chain from its first point and stops at the first that lies strictly beyond the new one.
fn check_line(inputs: &InputPoints, chain: &Tree, point: &[f64], attached: AttachedTo) {
    let place = |position: Position| inputs.point(chain.row_at(position))[0];
    let first = place(Position::new(0));
    let last = place(Position::new(chain.len() - 1));
    let is_beyond = |position: &Position| {
        if first <= last { place(*position) > point[0] } else { place(*position) < point[0] }
    };
    let tie =
        |position: Position| Tie { point: position, distance: (place(position) - point[0]).abs() / 2.5 };
    let expected = match chain.positions().find(is_beyond).map(Position::get) {
        Some(0) => AttachedTo::BeforeFirst(tie(Position::new(0))),
        Some(at) => AttachedTo::Between { left: tie(Position::new(at - 1)), right: tie(Position::new(at)) },
        None => AttachedTo::AfterLast(tie(Position::new(chain.len() - 1))),
    };
    assert_eq!(attached, expected);
}

#[test]
fn a_chain_that_turns_on_the_line_has_no_between() {
    let inputs = InputPoints::from_column(vec![0.0, 1.0, -3.0]).unwrap();
    let chain = greedy_chain(&inputs, Start::FirstRow).unwrap();
    check_leaf(&inputs, &chain, 1);
}

#[test]
fn beside_a_million_equal_points_it_takes_the_lowest_row() {
    let inputs = cloud(Kind::AllEqual, 1_000_000, 2, 0);
    let order = (0..inputs.n_rows()).rev().map(RowIndex::new).collect();
    let chain = Tree::chain(&inputs, order).unwrap();
    let attachment = Attachment::new(&inputs, &chain);
    for _ in 0..10_000 {
        let AttachedTo::Leaf(tie) = attachment.attach(&[0.0, 0.0]) else { panic!("a leaf was expected") };
        assert_eq!(chain.row_at(tie.point), RowIndex::new(0));
    }
}
