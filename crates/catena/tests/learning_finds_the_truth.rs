//! Data drawn from a known model teach a model that explains them at least as well, with its noises and length-scales.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::index::OutputIndex;
use catena::kernel::{Kernel, StateKind};
use catena::learning::{
    Extent, Family, GraphEvidence, Learned, MultiStartSettings, OutputMoments, Priors, multi_start,
};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Tree, sorted_chain, spanning_tree};
use catena::units::{LengthScale, Variance};
use catena_testkit::process_draws::draw_on_line;
use catena_testkit::random::SeededDraws;
use std::ops::ControlFlow;

const N_ROWS: usize = 2000;
/// A fifth of the cells is missing.
const MISSING: f64 = 0.2;

/// Two shared latents and private ones over six outputs of variance 1, noise and private share different in each.
///
/// Six, because of fewer than five outputs with private parts two common factors cannot be told (Ledermann's bound).
fn truth(kernel: Kernel, state: StateKind, shared_lengths: [f64; 2], private_length: f64) -> Lmc {
    let private = [0.5, 0.6, 0.5, 0.6, 0.5, 0.6];
    let directions: [[f64; 2]; 6] =
        [[0.9, 0.2], [-0.6, 0.7], [0.3, -0.9], [0.7, 0.6], [-0.8, -0.4], [0.1, 0.9]];
    let mut shared = vec![];
    for (own, direction) in private.iter().zip(directions) {
        let size = ((1.0 - own * own) / (direction[0].powi(2) + direction[1].powi(2))).sqrt();
        shared.extend(direction.map(|weight| size * weight));
    }
    let latent = |length: f64| Latent::new(kernel, state, LengthScale::new(length).unwrap()).unwrap();
    let latents = shared_lengths.iter().copied().chain([private_length; 6]).map(latent).collect();
    let mixing = MixingMatrix::with_private(6, 2, shared, private.to_vec()).unwrap();
    let noise = [0.02, 0.05, 0.1, 0.03, 0.05, 0.02].map(|noise| Variance::new(noise).unwrap());
    Lmc::new(latents, mixing, noise.to_vec()).unwrap()
}

fn observe(model: &Lmc, latents: &[Vec<f64>], draws: &mut SeededDraws) -> Observations {
    let mut values = vec![];
    for row in 0..N_ROWS {
        for output in (0..model.n_outputs()).map(OutputIndex::new) {
            let entries = model.mixing().row_entries(output);
            let signal: f64 = entries.map(|(latent, weight)| weight * latents[latent.get()][row]).sum();
            let noise = model.noise()[output.get()].get().sqrt() * draws.normal();
            values.push(if draws.chance(MISSING) { f64::NAN } else { signal + noise });
        }
    }
    Observations::from_dense(N_ROWS, model.n_outputs(), &values).unwrap()
}

/// Learned without any opinion, so that evidences can be compared.
fn learn(model: &Lmc, inputs: &InputPoints, tree: &Tree, observations: &Observations) -> Learned {
    let family = Family {
        n_shared: 2,
        shared_kernel: model.latents()[0].kernel().unwrap(),
        private_kernel: model.latents()[2].kernel(),
        state: model.latents()[0].state(),
        tied: false,
    };
    let extent = Extent::of(inputs, tree);
    let moments = OutputMoments::of(observations);
    let starts = [1.0, 0.3, 3.0].map(|multiplier| family.start(&moments, extent, multiplier).unwrap());
    let parameters = family.parameters(starts[0].clone(), 1e-6);
    let graph = FactorGraph::new(&starts[0], tree, observations).unwrap();
    let make = || GraphEvidence::new(graph.clone());
    let settings = MultiStartSettings::default();
    multi_start(&make, &parameters, &Priors::FLAT, &starts, settings, &|_| ControlFlow::Continue(())).unwrap()
}

fn assert_within(what: &str, factor: f64, learned: f64, truth: f64) {
    let ratio = learned / truth;
    assert!(
        ratio < factor && ratio > factor.recip(),
        "{what}: {learned}, truth {truth}, allowed factor {factor}"
    );
}

fn check(truth: &Lmc, inputs: &InputPoints, tree: &Tree, observations: &Observations) {
    let learned = learn(truth, inputs, tree, observations);
    let graph = FactorGraph::new(truth, tree, observations).unwrap();
    let of_truth = catena::inference::log_evidence(&graph).unwrap();
    assert!(learned.log_evidence >= of_truth, "learned {}, truth {of_truth}", learned.log_evidence);
    // Twice the gain is about χ² with as many degrees of freedom as parameters: 32 ± 4 standard deviations.
    let gain = 2.0 * (learned.log_evidence - of_truth);
    assert!(gain < 32.0 + 4.0 * 64.0_f64.sqrt(), "the learned model is better than the truth by {gain}");
    // 1600 cells determine a variance to 4 % when nothing else is to be learned from them; a fast private latent beside
    // the noise makes it several times that.
    for (output, (found, noise)) in learned.model.noise().iter().zip(truth.noise()).enumerate() {
        assert_within(&format!("noise of output {output}"), 1.35, found.get(), noise.get());
    }
    let lengths = |model: &Lmc| -> Vec<f64> {
        let mut shared: Vec<f64> =
            model.latents()[..2].iter().map(|latent| latent.length_scale().get()).collect();
        shared.sort_by(f64::total_cmp);
        shared.extend(model.latents()[2..].iter().map(|latent| latent.length_scale().get()));
        shared
    };
    for (latent, (found, length)) in lengths(&learned.model).iter().zip(lengths(truth)).enumerate() {
        assert_within(&format!("length-scale {latent}"), 1.5, *found, length);
    }
    // The covariance between outputs that both models imply, diagonal (which is 1) included.
    let covariance = |model: &Lmc| -> Vec<f64> {
        let (weights, n) = (model.mixing().to_dense(), model.n_latents());
        let entry = |i: usize, j: usize| (0..n).map(|at| weights[i * n + at] * weights[j * n + at]).sum();
        (0..36).map(|at| entry(at / 6, at % 6)).collect()
    };
    for (at, (found, expected)) in covariance(&learned.model).iter().zip(covariance(truth)).enumerate() {
        assert!((found - expected).abs() < 0.5, "covariance {} {}: {found}, not {expected}", at / 6, at % 6);
    }
}

#[test]
fn along_a_line() {
    let truth = truth(Kernel::Matern32, StateKind::Derivative, [40.0, 8.0], 12.0);
    let mut draws = SeededDraws::new(31);
    let mut place = 0.0;
    let coordinates: Vec<f64> = (0..N_ROWS)
        .map(|_| {
            place += draws.uniform(0.3, 1.7);
            place
        })
        .collect();
    let latents: Vec<Vec<f64>> = truth
        .latents()
        .iter()
        .map(|latent| draw_on_line(latent.kernel().unwrap(), latent.length_scale(), &coordinates, &mut draws))
        .collect();
    let observations = observe(&truth, &latents, &mut draws);
    let inputs = InputPoints::from_column(coordinates).unwrap();
    check(&truth, &inputs, &sorted_chain(&inputs).unwrap(), &observations);
}

#[test]
fn along_a_tree() {
    let mut draws = SeededDraws::new(32);
    let points = (0..2 * N_ROWS).map(|_| draws.uniform(0.0, 40.0)).collect();
    let inputs = InputPoints::new(N_ROWS, 2, points).unwrap();
    let tree = spanning_tree(&inputs).unwrap();
    let truth = truth(Kernel::Matern32, StateKind::Value, [8.0, 2.0], 3.0);
    let latents: Vec<Vec<f64>> = truth
        .latents()
        .iter()
        .map(|latent| {
            let mut values = vec![0.0; N_ROWS];
            // Parents come before their children; the value at a child is its parent's, faded, and something new.
            for position in tree.positions() {
                let fade = tree
                    .parent(position)
                    .map_or(0.0, |_| latent.correlation(tree.step_into(position)).unwrap());
                let above = tree.parent(position).map_or(0.0, |parent| values[tree.row_at(parent).get()]);
                values[tree.row_at(position).get()] =
                    fade * above + (1.0 - fade * fade).sqrt() * draws.normal();
            }
            values
        })
        .collect();
    let observations = observe(&truth, &latents, &mut draws);
    check(&truth, &inputs, &tree, &observations);
}
