//! An ensemble depends on its seed and on nothing else.

mod clouds;

use catena::data::InputPoints;
use catena::structure::{Start, chain_ensemble, greedy_chain};
use clouds::{KINDS, Kind, any_cloud, cloud};
use proptest::prelude::*;

proptest! {
    #[test]
    fn every_chain_visits_every_row_and_stands_on_its_own(inputs in any_cloud(150), seed in any::<u64>()) {
        let chains = chain_ensemble(&inputs, 3, seed).unwrap();
        prop_assert_eq!(&chains[..2], &chain_ensemble(&inputs, 2, seed).unwrap()[..]);
        for chain in &chains {
            prop_assert!(chain.is_chain() && chain.len() == inputs.n_rows());
            check_steps(&inputs, chain);
        }
    }
}

/// Each step leads to one of the three nearest unvisited rows, at most half again as far as the nearest.
fn check_steps(inputs: &InputPoints, chain: &catena::structure::Tree) {
    let order: Vec<_> = chain.positions().map(|position| chain.row_at(position)).collect();
    for at in 1..order.len() {
        let mut ahead: Vec<(f64, usize)> =
            order[at..].iter().map(|&row| (inputs.squared_distance(order[at - 1], row), row.get())).collect();
        let taken = ahead[0];
        ahead.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        assert!(ahead[..ahead.len().min(3)].contains(&taken));
        assert!(taken.0 <= 2.25 * ahead[0].0 * (1.0 + 1e-15));
    }
}

#[test]
fn chains_differ_and_are_not_much_longer_than_the_greedy_one() {
    for dim in [2, 4, 8] {
        let inputs = cloud(Kind::Random, 2000, dim, 1);
        let greedy = greedy_chain(&inputs, Start::FirstRow).unwrap().total_length();
        let chains = chain_ensemble(&inputs, 4, 7).unwrap();
        for (at, chain) in chains.iter().enumerate() {
            assert!(chains[..at].iter().all(|other| other != chain));
            // A draw among steps of up to 1.5 times the nearest may also leave points behind; a chain of twice the
            // length would no longer be a greedy one.
            assert!(chain.total_length() < 1.5 * greedy, "{} and {greedy}", chain.total_length());
        }
    }
}

#[test]
fn seeds_matter() {
    let inputs = cloud(Kind::Random, 200, 2, 1);
    assert_ne!(chain_ensemble(&inputs, 1, 1).unwrap(), chain_ensemble(&inputs, 1, 2).unwrap());
}

#[test]
fn one_thread_or_several_give_the_same_chains() {
    for kind in KINDS {
        let inputs = cloud(kind, 500, 3, 2);
        let with_threads = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| chain_ensemble(&inputs, 6, 3).unwrap())
        };
        assert_eq!(with_threads(1), with_threads(4));
    }
}
