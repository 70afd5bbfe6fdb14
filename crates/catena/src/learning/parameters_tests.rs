//! Vectors and models convert both ways, and the chain rule holds.

use super::*;
use crate::kernel::{Kernel, StateKind};

fn model() -> Lmc {
    let latent = |length| {
        let length_scale = LengthScale::new(length).unwrap();
        Latent::new(Kernel::Matern12, StateKind::Value, length_scale).unwrap()
    };
    let mixing = MixingMatrix::with_private(2, 1, vec![1.0, -2.0], vec![0.5, 0.25]).unwrap();
    let noise = vec![Variance::new(0.1).unwrap(), Variance::new(0.4).unwrap()];
    Lmc::new(vec![latent(1.0), latent(2.0), latent(8.0)], mixing, noise).unwrap()
}

fn close(a: &Lmc, b: &Lmc) -> bool {
    let numbers = |model: &Lmc| -> Vec<f64> {
        let lengths = model.latents().iter().map(|latent| latent.length_scale().get());
        let noise = model.noise().iter().map(|noise| noise.get());
        model.mixing().to_dense().into_iter().chain(lengths).chain(noise).collect()
    };
    numbers(a).iter().zip(numbers(b)).all(|(a, b)| (a - b).abs() < 1e-12)
}

#[test]
fn a_model_comes_back_from_its_vector() {
    let parameters = Parameters::all(model(), 1e-6);
    assert_eq!(parameters.n_free(), 4 + 3 + 2);
    let back = parameters.model_at(&parameters.vector_of(&model())).unwrap();
    assert!(close(&back, &model()));
}

#[test]
fn tied_parameters_share_an_entry_and_fixed_ones_have_none() {
    let private = [LatentIndex::new(1), LatentIndex::new(2)];
    let parameters = Parameters::all(model(), 0.0)
        .with_tied_length_scales(private)
        .with_fixed_noise_of(OutputIndex::new(0))
        .with_fixed_weights_of(OutputIndex::new(1));
    // Two weights of output 0, the shared length-scale, the tied one, the second noise.
    assert_eq!(parameters.n_free(), 5);
    let back = parameters.model_at(&parameters.vector_of(&model())).unwrap();
    let lengths: Vec<f64> = back.latents().iter().map(|latent| latent.length_scale().get()).collect();
    assert!((lengths[1] - 4.0).abs() < 1e-12 && (lengths[2] - 4.0).abs() < 1e-12, "{lengths:?}");
    assert_eq!(back.noise()[0], model().noise()[0]);
    let moved = parameters.model_at(&[9.0; 5]).unwrap();
    assert_eq!(moved.mixing().shared_row(OutputIndex::new(1)), [-2.0]);
    assert_eq!(moved.noise()[0], model().noise()[0]);
    let gradient = Gradient {
        log_evidence: 0.0,
        mixing: vec![1.0; 6],
        length_scales: vec![1.0; 3],
        shapes: vec![0.0; 3],
        noise: vec![1.0; 2],
    };
    let mut pulled = vec![0.0; 5];
    parameters.pull_back(&model(), &gradient, &mut pulled);
    // The tied entry collects ℓ of both latents.
    assert_eq!(pulled, [1.0, 1.0, 1.0, 10.0, 0.4]);
}

#[test]
fn weights_are_measured_by_what_blurs_their_output() {
    let parameters = Parameters::all(model(), 0.0).with_fixed_weights_of(OutputIndex::new(0));
    let mut scales = vec![0.0; parameters.n_free()];
    parameters.scales_at(&parameters.vector_of(&model()), &mut scales);
    let of_second = (0.4_f64 + 0.1 * 0.25 * 0.25 + 1e-4 * 4.0).sqrt();
    // Its shared and its private weight, three length-scales, two noises.
    let expected = [of_second, of_second, 1.0, 1.0, 1.0, 1.0, 1.0];
    assert!(scales.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{scales:?}");
}

/// Two sums of an oscillator and a walk over two outputs.
fn sums() -> (Lmc, Vec<usize>) {
    let length = |value: f64| LengthScale::new(value).unwrap();
    let quality = crate::units::Quality::new(2.0).unwrap();
    let latents = [3.0, 5.0].map(|scale| {
        let walk = Latent::component(Component::RandomWalk, length(10.0 * scale));
        [Latent::component(Component::Sho { quality }, length(scale)), walk]
    });
    let mixing = MixingMatrix::shared(2, 4, vec![1.0, 4.0, 0.5, 0.1, -2.0, -8.0, 1.5, 0.3]).unwrap();
    let noise = vec![Variance::new(0.1).unwrap(); 2];
    (Lmc::new(latents.concat(), mixing, noise).unwrap(), vec![0, 0, 2, 2])
}

#[test]
fn bound_columns_are_multiples_of_their_head() {
    let (model, heads) = sums();
    let parameters = Parameters::of_sums(model.clone(), 0.0, heads);
    // Four weights, two amplitudes, four length-scales, two qualities, two noises.
    assert_eq!(parameters.n_free(), 14);
    let vector = parameters.vector_of(&model);
    assert!(close(&parameters.model_at(&vector).unwrap(), &model));
    let mut moved = vector.clone();
    (moved[0], moved[4]) = (3.0, 0.5_f64.ln());
    let weights = parameters.model_at(&moved).unwrap().mixing().to_dense();
    let expected = [3.0, 1.5, 0.5, 0.1, -2.0, -1.0, 1.5, 0.3];
    assert!(weights.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{weights:?}");
    let fixed = parameters.with_fixed_amplitude(LatentIndex::new(1)).with_fixed_qualities();
    assert_eq!(fixed.n_free(), 11);
    assert!(close(&fixed.model_at(&fixed.vector_of(&model)).unwrap(), &model));
}

/// The gradient in the vector against central differences of a smooth function of the model's own parameters.
#[test]
fn slopes_are_pulled_back_through_sums() {
    let (model, heads) = sums();
    let parameters = Parameters::of_sums(model.clone(), 0.0, heads);
    let number = |at: usize| (1.0 + at as f64).sin();
    let value = |model: &Lmc| -> f64 {
        let weights = model.mixing().to_dense().into_iter();
        let lengths = model.latents().iter().map(|latent| latent.length_scale().get());
        let shapes = model.latents().iter().map(|latent| latent.shape().unwrap_or(0.0));
        let noise = model.noise().iter().map(|noise| noise.get());
        weights.chain(lengths).chain(shapes).chain(noise).enumerate().map(|(at, x)| number(at) * x).sum()
    };
    let gradient = Gradient {
        log_evidence: 0.0,
        mixing: (0..8).map(number).collect(),
        length_scales: (8..12).map(number).collect(),
        shapes: (12..16).map(number).collect(),
        noise: (16..18).map(number).collect(),
    };
    let vector = parameters.vector_of(&model);
    let mut pulled = vec![0.0; vector.len()];
    parameters.pull_back(&model, &gradient, &mut pulled);
    for at in 0..vector.len() {
        let at_moved = |by: f64| {
            let mut moved = vector.clone();
            moved[at] += by;
            value(&parameters.model_at(&moved).unwrap())
        };
        let difference = (at_moved(1e-5) - at_moved(-1e-5)) / 2e-5;
        assert!((difference - pulled[at]).abs() < 1e-7, "entry {at}: {} instead of {difference}", pulled[at]);
    }
}

#[test]
fn numbers_out_of_range_are_an_error() {
    let parameters = Parameters::all(model(), 0.0);
    let mut vector = parameters.vector_of(&model());
    vector[4] = 800.0;
    assert!(parameters.model_at(&vector).is_err());
    vector[4] = -800.0;
    assert!(parameters.model_at(&vector).is_err());
}
