//! Every answer of the kd-tree is the one that sorting all points by (squared distance, row) gives.

mod clouds;

use catena::data::{InputPoints, squared_distance};
use catena::index::RowIndex;
use catena::structure::{KdTree, Neighbor};
use clouds::{KINDS, Numbers, any_cloud, cloud};
use proptest::prelude::*;

fn sorted(inputs: &InputPoints, point: &[f64], counts: impl Fn(usize) -> bool) -> Vec<Neighbor> {
    let mut all: Vec<Neighbor> = inputs
        .rows()
        .filter(|row| counts(row.get()))
        .map(|row| Neighbor { row, squared_distance: squared_distance(point, inputs.point(row)) })
        .collect();
    all.sort_by(|a, b| a.squared_distance.total_cmp(&b.squared_distance).then(a.row.cmp(&b.row)));
    all
}

fn check(inputs: &InputPoints, seed: u64, k: usize) {
    let mut numbers = Numbers(seed);
    let mut neighbors = vec![];
    let row = RowIndex::new(numbers.below(inputs.n_rows()));
    let own = inputs.point(row).to_vec();
    let foreign: Vec<f64> = own.iter().map(|value| value * 1.1 + numbers.unit() - 0.5).collect();
    let mut tree = KdTree::new(inputs);
    for point in [&own, &foreign] {
        let expected = sorted(inputs, point, |_| true);
        assert_eq!(tree.nearest(point), expected.first().copied());
        tree.k_nearest(point, k, &mut neighbors);
        assert_eq!(neighbors, expected[..k.min(expected.len())]);
        let radius = expected[k.min(expected.len() - 1)].squared_distance;
        tree.within(point, radius, &mut neighbors);
        neighbors.sort_by(|a, b| a.squared_distance.total_cmp(&b.squared_distance).then(a.row.cmp(&b.row)));
        let n_within = expected.partition_point(|neighbor| neighbor.squared_distance <= radius);
        assert_eq!(neighbors, expected[..n_within]);
        let expected = sorted(inputs, point, |other| other < row.get());
        tree.k_nearest_before(point, k, row, &mut neighbors);
        assert_eq!(neighbors, expected[..k.min(expected.len())]);
    }
    // The same with some rows removed, and with a tree over what is left.
    let is_left: Vec<bool> = inputs.rows().map(|_| numbers.unit() < 0.3).collect();
    for other in inputs.rows().filter(|other| !is_left[other.get()]) {
        assert!(tree.remove(other));
        assert!(!tree.remove(other));
    }
    let left: Vec<RowIndex> = inputs.rows().filter(|other| is_left[other.get()]).collect();
    let subset = KdTree::over_rows(inputs, &left);
    assert_eq!((tree.len(), subset.len()), (left.len(), left.len()));
    for point in [&own, &foreign] {
        let expected = sorted(inputs, point, |other| is_left[other]);
        for tree in [&tree, &subset] {
            assert_eq!(tree.nearest(point), expected.first().copied());
            tree.k_nearest(point, k, &mut neighbors);
            assert_eq!(neighbors, expected[..k.min(expected.len())]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn on_any_cloud(inputs in any_cloud(200), seed in any::<u64>(), k in 0..30_usize) {
        check(&inputs, seed, k);
    }
}

#[test]
fn on_larger_clouds_of_every_kind() {
    for kind in KINDS {
        for dim in 1..=8 {
            for seed in 0..20 {
                check(&cloud(kind, 700, dim, seed), seed, 12);
            }
        }
    }
}
