//! The paper's bounds hold on random tables.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use catena::data::InputPoints;
use catena::diagnostics::chain_start_factor;
use catena::index::RowIndex;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Start, Tree, greedy_chain, sorted_chain, spanning_tree};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_methods::bounds::{Sides, covariance_gap, latent_gap, posterior_gap};
use proptest::prelude::*;

/// Both sides are rounded: entries of size 1 by 1e-16, norms of C·D of them by some 1e-13.
fn assert_holds(sides: Sides) {
    assert!(sides.left <= sides.right * (1.0 + 1e-9) + 1e-11, "{sides:?}");
}

#[derive(Clone, Debug)]
struct Case {
    inputs: InputPoints,
    latents: Vec<(Kernel, f64)>,
    n_outputs: usize,
    weights: Vec<f64>,
    values: Vec<f64>,
    noise: f64,
    scale: f64,
}

/// Random points, or points on a grid with duplicates and ties.
fn case() -> impl Strategy<Value = Case> {
    let sizes = (2..30_usize, 1..=5_usize, 1..=3_usize, 1..=3_usize, any::<bool>());
    sizes.prop_flat_map(|(n_points, dim, n_latents, n_outputs, is_grid)| {
        let coordinate = prop_oneof![-2.0..2.0_f64];
        let kernel = prop::sample::select(vec![Kernel::Matern12, Kernel::Matern32, Kernel::Matern52]);
        (
            prop::collection::vec(coordinate, n_points * dim),
            prop::collection::vec((kernel, 0.05..20.0_f64), n_latents),
            prop::collection::vec(-2.0..2.0_f64, n_latents * n_outputs),
            prop::collection::vec(-3.0..3.0_f64, n_points * n_outputs),
            (-3.0..1.0_f64, 0.1..10.0_f64),
        )
            .prop_map(move |(mut coordinates, latents, weights, values, (noise, scale))| {
                if is_grid {
                    coordinates.iter_mut().for_each(|coordinate| *coordinate = coordinate.round());
                }
                let inputs = InputPoints::new(n_points, dim, coordinates).unwrap();
                Case { inputs, latents, n_outputs, weights, values, noise: 10_f64.powf(noise), scale }
            })
    })
}

impl Case {
    fn model(&self, state: StateKind) -> Lmc {
        let latent =
            |&(kernel, length)| Latent::new(kernel, state, LengthScale::new(length).unwrap()).unwrap();
        let mixing = MixingMatrix::shared(self.n_outputs, self.latents.len(), self.weights.clone()).unwrap();
        let noise = vec![Variance::new(self.noise).unwrap(); self.n_outputs];
        Lmc::new(self.latents.iter().map(latent).collect(), mixing, noise).unwrap()
    }

    fn scaled(&self, structure: Tree) -> Tree {
        structure.with_distance_scale(DistanceScale::new(self.scale).unwrap()).unwrap()
    }

    fn check_posterior(&self, structure: &Tree, state: StateKind) {
        let noise = Variance::new(self.noise).unwrap();
        let sides = posterior_gap(&self.inputs, structure, &self.model(state), noise, &self.values).unwrap();
        // The left sides carry the rounding of a solve besides: with condition number κ = ‖K‖/σ², a backward stable
        // one is off by n·ε·κ relative to a solution that is up to κ times too long.
        let largest = sides.norms.euclidean.max(sides.norms.structure);
        let length = self.values.iter().map(|value| value * value).sum::<f64>().sqrt();
        let condition = 1.0 + largest / self.noise;
        let rounding = f64::EPSILON * self.values.len() as f64 * condition.powi(2) * (largest + length);
        let allow = |sides: Sides| Sides { right: sides.right + rounding, ..sides };
        assert_holds(allow(sides.mean));
        assert_holds(allow(sides.covariance));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn on_derivative_chains(case in case()) {
        let chain = case.scaled(greedy_chain(&case.inputs, Start::FirstRow).unwrap());
        let model = case.model(StateKind::Derivative);
        for latent in model.latents() {
            assert_holds(latent_gap(&case.inputs, &chain, latent).unwrap());
        }
        assert_holds(covariance_gap(&case.inputs, &chain, &model).unwrap());
        case.check_posterior(&chain, StateKind::Derivative);
    }

    #[test]
    fn lemma_2_with_the_computed_gap_on_trees_and_value_states(case in case()) {
        let tree = case.scaled(spanning_tree(&case.inputs).unwrap());
        case.check_posterior(&tree, StateKind::Value);
    }

    #[test]
    fn lengths_from_any_two_starts_with_the_corrected_factor(case in case(), a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>()) {
        let start = |index: prop::sample::Index| Start::Row(RowIndex::new(index.index(case.inputs.n_rows())));
        let length = |start| greedy_chain(&case.inputs, start).unwrap().total_length();
        let right = chain_start_factor(case.inputs.n_rows()) * length(start(b));
        assert_holds(Sides { left: length(start(a)), right });
    }
}

#[test]
fn on_a_sorted_line_both_covariances_are_the_same() {
    let inputs = InputPoints::from_column(vec![0.3, -1.0, 2.0, 0.3, 7.5]).unwrap();
    let chain = sorted_chain(&inputs).unwrap();
    for kernel in [Kernel::Matern12, Kernel::Matern32, Kernel::Matern52] {
        let latent = Latent::new(kernel, StateKind::Derivative, LengthScale::new(0.8).unwrap()).unwrap();
        let sides = latent_gap(&inputs, &chain, &latent).unwrap();
        // Coordinates are sums of gaps: a few roundings, and so is the distortion.
        assert!(sides.left < 1e-14 && sides.right < 1e-13, "{sides:?}");
    }
}

#[test]
fn two_points_far_from_equal_are_bounded_tightly() {
    // Three points of an equilateral triangle with unit sides: the chain's ends are at distance 2 along it, 1 in space.
    let inputs = InputPoints::new(3, 2, vec![0.0, 0.0, 1.0, 0.0, 0.5, 0.75_f64.sqrt()]).unwrap();
    let chain = greedy_chain(&inputs, Start::FirstRow).unwrap();
    let latent =
        Latent::new(Kernel::Matern12, StateKind::Derivative, LengthScale::new(1.0).unwrap()).unwrap();
    let sides = latent_gap(&inputs, &chain, &latent).unwrap();
    // Only one pair differs, by e⁻¹ − e⁻², which is the norm of the difference; the bound is C·1·1 = 3.
    let expected = (-1.0_f64).exp() - (-2.0_f64).exp();
    assert!((sides.left - expected).abs() < 1e-14, "{sides:?}");
    assert!((sides.right - 3.0).abs() < 1e-14, "{sides:?}");
}

#[test]
fn proposition_1_as_printed_fails_on_four_points() {
    let inputs = InputPoints::from_column(vec![-1.0, 0.0, 0.9, 3.0]).unwrap();
    let length = |row| greedy_chain(&inputs, Start::Row(RowIndex::new(row))).unwrap().total_length();
    assert!((length(1) - 6.8).abs() < 1e-14 && (length(0) - 4.0).abs() < 1e-14);
    assert!(length(1) > 0.5 * chain_start_factor(4) * length(0));
    assert!(length(1) <= chain_start_factor(4) * length(0));
}
