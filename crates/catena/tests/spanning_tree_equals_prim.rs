//! The spanning tree is the one a textbook Prim grows, edge for edge, and no other has less weight.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod clouds;

use catena::data::InputPoints;
use catena::index::RowIndex;
use catena::structure::{Tree, spanning_tree};
use clouds::{KINDS, Kind, any_cloud, cloud};
use proptest::prelude::*;

type Edge = (usize, usize);

/// Prim by the book: of all edges out of the tree take the first by (squared distance, lower row, higher row).
fn prim(inputs: &InputPoints) -> Vec<Edge> {
    let n_rows = inputs.n_rows();
    let mut shortest: Vec<Option<(f64, usize, usize)>> = vec![None; n_rows];
    let mut is_inside = vec![false; n_rows];
    let mut edges = vec![];
    let mut newest = 0;
    for _ in 1..n_rows {
        is_inside[newest] = true;
        let mut next: Option<(usize, (f64, usize, usize))> = None;
        for row in (0..n_rows).filter(|&row| !is_inside[row]) {
            let squared = inputs.squared_distance(RowIndex::new(row), RowIndex::new(newest));
            let edge = (squared, row.min(newest), row.max(newest));
            if shortest[row].is_none_or(|known| edge < known) {
                shortest[row] = Some(edge);
            }
            if next.is_none_or(|(_, best)| shortest[row].unwrap() < best) {
                next = Some((row, shortest[row].unwrap()));
            }
        }
        let (row, edge) = next.unwrap();
        edges.push((edge.1, edge.2));
        newest = row;
    }
    edges.sort_unstable();
    edges
}

fn edges_of(tree: &Tree) -> Vec<Edge> {
    let mut edges: Vec<Edge> = tree
        .positions()
        .filter_map(|position| {
            let (row, above) = (tree.row_at(position).get(), tree.row_at(tree.parent(position)?).get());
            Some((row.min(above), row.max(above)))
        })
        .collect();
    edges.sort_unstable();
    edges
}

fn check(inputs: &InputPoints) {
    let expected = prim(inputs);
    let tree = spanning_tree(inputs).unwrap();
    assert!(edges_of(&tree) == expected, "{} × {}", inputs.n_rows(), inputs.dim());
    let distance = |&(a, b): &Edge| inputs.squared_distance(RowIndex::new(a), RowIndex::new(b)).sqrt();
    let weight: f64 = expected.iter().map(distance).sum();
    if weight.is_finite() && weight > 1e-100 {
        assert!((tree.total_length() - weight).abs() <= 1e-12 * weight);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn on_any_small_cloud(inputs in any_cloud(300)) {
        check(&inputs);
    }
}

#[test]
fn on_larger_clouds_of_every_kind_in_one_to_eight_dimensions() {
    for kind in KINDS {
        for dim in 1..=8 {
            check(&cloud(kind, 1500, dim, dim as u64));
        }
    }
}

#[test]
fn when_the_search_gives_up_on_the_tree() {
    check(&cloud(Kind::Random, 1000, 24, 5));
    check(&cloud(Kind::Lattice, 1000, 24, 5));
}

#[test]
fn no_other_tree_on_five_points_weighs_less() {
    for seed in 0..40 {
        let inputs = cloud(KINDS[(seed % 5) as usize], 5, 2, seed);
        let weight = spanning_tree(&inputs).unwrap().total_length();
        // Every list of parents for the rows 1 to 4 that reaches row 0 is a spanning tree, and every tree is one.
        for code in 0..5_usize.pow(4) {
            let parents: Vec<Option<RowIndex>> = (0..5)
                .map(|row| (row > 0).then(|| RowIndex::new(code / 5_usize.pow(row as u32 - 1) % 5)))
                .collect();
            if let Ok(other) = Tree::from_parents(&inputs, &parents) {
                assert!(weight <= other.total_length() * (1.0 + 1e-12), "seed {seed}");
            }
        }
    }
}

#[test]
fn points_along_a_line_become_a_chain_however_long() {
    // As deep as it is long: a recursion over it would exhaust the stack.
    let inputs = cloud(Kind::Line, 300_000, 3, 1);
    assert!(spanning_tree(&inputs).unwrap().is_chain());
}

#[test]
fn equal_points_are_connected_in_no_time() {
    let inputs = cloud(Kind::AllEqual, 400_000, 3, 0);
    let tree = spanning_tree(&inputs).unwrap();
    assert_eq!((tree.len(), tree.total_length()), (400_000, 0.0));
}

#[test]
fn two_heaps_of_equal_points_are_connected_in_no_time() {
    let values = (0..400_000).map(|at| f64::from(at / 2 % 2)).collect();
    let tree = spanning_tree(&InputPoints::new(200_000, 2, values).unwrap()).unwrap();
    assert_eq!(tree.total_length(), 2.0_f64.sqrt());
}

#[test]
fn many_copies_of_a_few_points_are_connected_in_no_time() {
    // The corners of a cube in eight dimensions, 200 copies of each: 255 edges of length 1, all others of length 0.
    let corner = |at: usize| (0..8).map(move |k| f64::from(((at >> k) & 1) as u8));
    let values = (0..51_200).flat_map(corner).collect();
    let tree = spanning_tree(&InputPoints::new(51_200, 8, values).unwrap()).unwrap();
    assert_eq!(tree.total_length(), 255.0);
}
