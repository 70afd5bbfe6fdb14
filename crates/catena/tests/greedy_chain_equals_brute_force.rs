//! The fast chain is the chain one gets by looking at every unvisited point, bit for bit.

mod clouds;

use catena::data::InputPoints;
use catena::index::RowIndex;
use catena::structure::{Start, StructureError, Tree, greedy_chain};
use catena_studies::brute_force_chain::brute_force_greedy_chain;
use clouds::{KINDS, Kind, any_cloud, cloud};
use proptest::prelude::*;

fn check(inputs: &InputPoints, start: RowIndex) {
    let expected = brute_force_greedy_chain(inputs, start);
    let found = greedy_chain(inputs, Start::Row(start));
    assert!(found == expected, "{} × {}", inputs.n_rows(), inputs.dim());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn on_any_small_cloud_from_any_start(inputs in any_cloud(300), start in any::<prop::sample::Index>()) {
        check(&inputs, RowIndex::new(start.index(inputs.n_rows())));
    }
}

#[test]
fn on_larger_clouds_of_every_kind_in_one_to_eight_dimensions() {
    for kind in KINDS {
        for dim in 1..=8 {
            check(&cloud(kind, 2500, dim, dim as u64), RowIndex::new(17));
        }
    }
}

#[test]
fn when_the_search_gives_up_on_the_tree_midway() {
    // In so many directions every leaf is near: the automatic search changes over after the first steps.
    check(&cloud(Kind::Random, 1200, 24, 5), RowIndex::new(0));
    check(&cloud(Kind::Lattice, 1200, 24, 5), RowIndex::new(0));
}

#[test]
fn quantized_clouds_do_hold_duplicates() {
    let inputs = cloud(Kind::Quantized, 2500, 3, 3);
    let chain = greedy_chain(&inputs, Start::FirstRow).unwrap();
    let n_duplicates = chain.steps()[1..].iter().filter(|&&step| step == 0.0).count();
    assert!(n_duplicates * 25 >= inputs.n_rows(), "{n_duplicates} duplicates");
}

#[test]
fn equal_points_are_visited_in_row_order_and_in_no_time() {
    // Looking at all pairs of so many points would take hours, so a degenerate search shows as a test that hangs.
    let inputs = cloud(Kind::AllEqual, 400_000, 3, 0);
    let chain = greedy_chain(&inputs, Start::FirstRow).unwrap();
    assert!(chain.positions().all(|position| chain.row_at(position).get() == position.get()));
}

#[test]
fn an_unknown_start_is_refused() {
    let inputs = cloud(Kind::Random, 4, 2, 0);
    let row = RowIndex::new(4);
    let refused: Result<Tree, _> = greedy_chain(&inputs, Start::Row(row));
    assert_eq!(refused, Err(StructureError::UnknownRow { row, n_rows: 4 }));
}
