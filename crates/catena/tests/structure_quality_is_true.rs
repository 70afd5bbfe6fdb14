//! What a structure says about itself is what measuring every pair of points finds.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod clouds;

use catena::data::InputPoints;
use catena::diagnostics::{Distortion, GapStatistics, PairSampling, StructureQuality, chain_start_factor};
use catena::index::RowIndex;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Start, StructureChoice, Tree, greedy_chain, sorted_chain, spanning_tree};
use catena::units::{DistanceScale, LengthScale, Variance};
use clouds::{Kind, any_cloud, cloud};
use proptest::prelude::*;

/// Path lengths by relaxing every edge until nothing changes, as if the structure were any graph.
fn all_paths(tree: &Tree) -> Vec<Vec<f64>> {
    let n_rows = tree.len();
    let mut paths = vec![vec![f64::INFINITY; n_rows]; n_rows];
    for row in 0..n_rows {
        paths[row][row] = 0.0;
    }
    for position in tree.positions() {
        if let Some(above) = tree.parent(position) {
            let (row, above) = (tree.row_at(position).get(), tree.row_at(above).get());
            paths[row][above] = tree.step_into(position);
            paths[above][row] = tree.step_into(position);
        }
    }
    for via in 0..n_rows {
        for from in 0..n_rows {
            for to in 0..n_rows {
                paths[from][to] = paths[from][to].min(paths[from][via] + paths[via][to]);
            }
        }
    }
    paths
}

fn check(inputs: &InputPoints, tree: &Tree) {
    let paths = all_paths(tree);
    let (mut expected, mut sum, mut longest) = (0.0_f64, 0.0, 0.0_f64);
    for a in inputs.rows() {
        for b in inputs.rows().filter(|&b| b != a) {
            let path = paths[a.get()][b.get()];
            let direct = inputs.squared_distance(a, b).sqrt() / tree.distance_scale().get();
            expected = expected.max((path - direct).abs());
            sum += (path - direct).abs();
            longest = longest.max(path);
        }
    }
    let n_pairs = (inputs.n_rows() * (inputs.n_rows() - 1)).max(1) as f64;
    // Paths are sums of up to C edges in another order.
    let rounding = 1e-14 * inputs.n_rows() as f64 * longest;
    let Distortion::Exact { largest, mean } = Distortion::of(inputs, tree, PairSampling::default()) else {
        unreachable!("so few points are all looked at")
    };
    assert!((largest - expected).abs() <= rounding, "{largest} and {expected}");
    assert!((mean - sum / n_pairs).abs() <= rounding, "{mean} and {}", sum / n_pairs);
    let few = PairSampling { most_points_for_all_pairs: 0, n_sampled: 5, seed: 3 };
    if let Distortion::Sampled { at_least, at_most, .. } = Distortion::of(inputs, tree, few) {
        assert!(at_least <= expected + rounding && expected <= at_most + rounding);
        assert!((at_most - longest).abs() <= rounding);
    } else {
        assert!(inputs.n_rows() <= 5);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn distortion_is_that_of_the_worst_pair(inputs in any_cloud(40)) {
        let is_plain = inputs.values().iter().all(|value| *value == 0.0 || (1e-100..1e100).contains(&value.abs()));
        prop_assume!(is_plain);
        let scale = DistanceScale::new(0.3).unwrap();
        check(&inputs, &greedy_chain(&inputs, Start::FirstRow).unwrap().with_distance_scale(scale).unwrap());
        check(&inputs, &spanning_tree(&inputs).unwrap().with_distance_scale(scale).unwrap());
    }
}

#[test]
fn the_sampled_mean_is_within_its_error() {
    let inputs = cloud(Kind::Random, 1500, 2, 4);
    for tree in [greedy_chain(&inputs, Start::FirstRow).unwrap(), spanning_tree(&inputs).unwrap()] {
        let Distortion::Exact { mean: expected, .. } =
            Distortion::of(&inputs, &tree, PairSampling::default())
        else {
            unreachable!("so few points are all looked at")
        };
        let mut n_within = 0;
        for seed in 0..100 {
            let few = PairSampling { most_points_for_all_pairs: 0, n_sampled: 60, seed };
            let Distortion::Sampled { mean, mean_standard_error, .. } = Distortion::of(&inputs, &tree, few)
            else {
                unreachable!("60 of 1500 points are a sample")
            };
            n_within += usize::from((mean - expected).abs() <= 2.0 * mean_standard_error);
        }
        // Two standard errors hold 95 of 100 normal draws; 85 or fewer would have a chance of 1.4e-4.
        assert!(n_within > 85, "{n_within}");
    }
}

#[test]
fn gaps_of_a_known_chain() {
    let inputs = InputPoints::from_column(vec![0.0, 1.0, 1.0, 3.0, 10.0]).unwrap();
    let gaps = GapStatistics::new(&sorted_chain(&inputs).unwrap());
    let expected = GapStatistics { total: 10.0, mean: 2.5, median: 1.5, largest: 7.0, n_zero: 1 };
    assert_eq!(gaps, expected);
}

#[test]
fn a_sorted_line_is_not_distorted() {
    let inputs = InputPoints::from_column(vec![0.5, -2.0, 8.0, 0.5, 1.0]).unwrap();
    let chain = sorted_chain(&inputs).unwrap();
    assert_eq!(
        Distortion::of(&inputs, &chain, PairSampling::default()),
        Distortion::Exact { largest: 0.0, mean: 0.0 }
    );
}

#[test]
fn the_factor_of_proposition_1_rounds_the_logarithm_up() {
    let factors = [1, 2, 3, 4, 5, 1024, 1025].map(chain_start_factor);
    assert_eq!(factors, [1.0, 2.0, 3.0, 3.0, 4.0, 11.0, 12.0]);
}

#[test]
fn the_report_reads_as_text() {
    let inputs = InputPoints::new(3, 2, vec![0.0, 0.0, 1.0, 0.0, 1.0, 1.0]).unwrap();
    let chain = greedy_chain(&inputs, Start::Row(RowIndex::new(0))).unwrap();
    let latent =
        Latent::new(Kernel::Matern12, StateKind::Derivative, LengthScale::new(2.0).unwrap()).unwrap();
    let mixing = MixingMatrix::shared(1, 1, vec![3.0]).unwrap();
    let model = Lmc::new(vec![latent], mixing, vec![Variance::new(0.1).unwrap()]).unwrap();
    let quality = StructureQuality::new(&inputs, &chain, Some(&model), PairSampling::default());
    // ε = 2 − √2, α = 1/2, ‖w‖² = 9, C = 3.
    let expected = 3.0 * (2.0 - 2.0_f64.sqrt()) * 9.0 * 0.5;
    assert!((quality.covariance_gap_bound.unwrap() - expected).abs() < 1e-13);
    let text = quality.to_string();
    for part in ["chain over 3 points with 2 inputs", "total length 2.0", "distortion over all pairs"] {
        assert!(text.contains(part), "{text}");
    }
    let tree = StructureQuality::new(
        &inputs,
        &spanning_tree(&inputs).unwrap(),
        Some(&model),
        PairSampling::default(),
    );
    assert!(tree.is_chain, "three points in a row are a chain");
    let value = Latent::new(Kernel::Matern32, StateKind::Value, LengthScale::new(2.0).unwrap()).unwrap();
    let model = Lmc::new(vec![value], model.mixing().clone(), model.noise().to_vec()).unwrap();
    let quality = StructureQuality::new(&inputs, &chain, Some(&model), PairSampling::default());
    assert_eq!(quality.covariance_gap_bound, None, "Theorem 1 is not about value states");
}

#[test]
fn the_automatic_choice_follows_the_number_of_inputs() {
    for (dim, name, state) in [
        (1, "sorted chain", StateKind::Derivative),
        (2, "spanning tree", StateKind::Value),
        (4, "spanning tree", StateKind::Value),
        (5, "greedy chain", StateKind::Value),
        (32, "greedy chain", StateKind::Value),
    ] {
        let inputs = cloud(Kind::Random, 50, dim, 1);
        let choice = StructureChoice::for_dim(dim);
        assert_eq!((choice.name(), choice.state()), (name, state));
        assert!(choice.to_string().starts_with(name), "{choice}");
        let expected = match name {
            "sorted chain" => sorted_chain(&inputs),
            "spanning tree" => spanning_tree(&inputs),
            _ => greedy_chain(&inputs, Start::FirstRow),
        };
        assert_eq!(choice.build(&inputs).unwrap(), expected.unwrap());
    }
}
