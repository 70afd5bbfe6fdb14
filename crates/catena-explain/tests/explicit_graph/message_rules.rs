//! Message rules against the integrals they stand for: by quadrature for numbers, by dense joint algebra for vectors.

use super::cases::Random;
use super::dense::{Dense, apply, combine, inner, invert, multiply, relative_error, transpose};
use catena::index::OutputIndex;
use catena_explain::factor::{Mixing, Observation, Prior, Selection, Transition};
use catena_explain::{Canonical, FormError, Matrix, Moment};

const TOLERANCE: f64 = 1e-11;

fn scalar(value: f64) -> Matrix {
    Matrix::from_fn(1, 1, |_, _| value)
}

fn matrix(nested: &Dense) -> Matrix {
    Matrix::from_fn(nested.len(), nested[0].len(), |i, j| nested[i][j])
}

fn density(x: f64, mean: f64, variance: f64) -> f64 {
    (-0.5 * (x - mean) * (x - mean) / variance).exp() / (std::f64::consts::TAU * variance).sqrt()
}

/// The trapezoid rule on a line wide and fine enough: for Gaussians it converges faster than any power of the step.
fn integral(mut function: impl FnMut(f64) -> f64) -> f64 {
    let step = 1.0 / 512.0;
    (-30 * 512..=30 * 512).map(|i| function(f64::from(i) * step)).sum::<f64>() * step
}

fn evaluate_canonical(message: &Canonical, x: f64) -> f64 {
    let quadratic = 0.5 * message.precision[(0, 0)] * x * x;
    (message.log_scale + message.information[0] * x - quadratic).exp()
}

fn evaluate_moment(message: &Moment, x: f64) -> f64 {
    message.log_scale.exp() * density(x, message.mean[0], message.covariance[(0, 0)])
}

fn assert_same(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= TOLERANCE * expected.abs().max(1e-3),
        "{found} instead of {expected}"
    );
}

/// (A, Q) against incoming (Λ, η, c) from below and (m, P) from above.
type Step = ((f64, f64), (f64, f64, f64), (f64, f64));

const TRANSITIONS: [Step; 5] = [
    ((0.8, 0.36), (2.0, 1.5, -0.3), (0.4, 0.7)),
    ((1.0, 0.05), (10.0, -3.0, 0.2), (-1.0, 0.1)),
    ((0.0, 1.0), (0.5, 0.5, 0.0), (2.0, 1.0)),
    ((-0.6, 0.9), (0.0, 0.0, -1.0), (0.3, 0.4)),
    ((0.3, 2.0), (0.0, 0.7, 0.0), (0.0, 2.0)),
];

#[test]
fn transition_rules_are_the_sum_product_integrals() {
    for ((a, q), (precision, information, log_scale), (mean, variance)) in TRANSITIONS {
        let transition = Transition { matrix: scalar(a), noise: scalar(q) };
        let below = Canonical { precision: scalar(precision), information: vec![information], log_scale };
        let above = Moment { mean: vec![mean], covariance: scalar(variance), log_scale: 0.1 };
        let (up, down) = (transition.toward_previous(&below), transition.toward_next(&above));
        for at in [-1.3, 0.0, 0.9] {
            let expected = integral(|x| evaluate_canonical(&below, x) * density(x, a * at, q));
            assert_same(evaluate_canonical(&up, at), expected);
            let expected = integral(|x| evaluate_moment(&above, x) * density(at, a * x, q));
            assert_same(evaluate_moment(&down, at), expected);
        }
    }
}

#[test]
fn observation_rules_are_the_sum_product_integrals() {
    for (noise_variance, value) in [(0.2, 1.1), (1.5, -0.4)] {
        let observation = Observation { noise_variance };
        let above = Moment { mean: vec![0.3], covariance: scalar(0.6), log_scale: -0.2 };
        let (up, down) = (observation.toward_output(value), observation.toward_observation(&above));
        for at in [-1.0, 0.2, 1.4] {
            assert_same(evaluate_canonical(&up, at), density(value, at, noise_variance));
            let expected = integral(|f| evaluate_moment(&above, f) * density(at, f, noise_variance));
            assert_same(evaluate_moment(&down, at), expected);
        }
        let expected = integral(|f| evaluate_moment(&above, f) * density(value, f, noise_variance));
        assert_same(above.times(&up).log_scale.exp(), expected);
        assert_same(down.known_to_be(value).log_scale.exp(), expected);
    }
}

#[test]
fn the_prior_integrates_what_comes_up() {
    for (covariance, precision, information) in [(1.0, 2.0, 0.7), (4.0, 0.0, 0.3), (0.3, 5.0, -2.0)] {
        let prior = Prior { covariance: scalar(covariance) };
        let below =
            Canonical { precision: scalar(precision), information: vec![information], log_scale: -0.4 };
        let expected = integral(|z| evaluate_canonical(&below, z) * density(z, 0.0, covariance));
        assert_same(prior.log_evidence(&below).exp(), expected);
    }
}

#[test]
fn a_product_of_messages_is_the_product_of_their_values() {
    let above = Moment { mean: vec![0.3], covariance: scalar(0.6), log_scale: -0.2 };
    let below = Canonical { precision: scalar(1.7), information: vec![-0.9], log_scale: 0.5 };
    let (product, square) = (above.times(&below), below.times(&below));
    for at in [-1.0, 0.2, 1.4] {
        let (x, y) = (evaluate_moment(&above, at), evaluate_canonical(&below, at));
        assert_same(evaluate_moment(&product, at), x * y);
        assert_same(evaluate_canonical(&square, at), y * y);
        assert_same(evaluate_canonical(&above.to_canonical().unwrap(), at), x);
        assert_same(evaluate_moment(&below.to_moment().unwrap(), at), y);
    }
}

/// A random positive definite matrix with eigenvalues of at least `least`.
fn random_positive(random: &mut Random, dim: usize, least: f64) -> Dense {
    let root: Dense = random_dense(random, dim, dim);
    let mut positive = multiply(&root, &transpose(&root));
    (0..dim).for_each(|i| positive[i][i] += least);
    positive
}

fn random_dense(random: &mut Random, n_rows: usize, n_columns: usize) -> Dense {
    (0..n_rows).map(|_| (0..n_columns).map(|_| random.uniform(-1.0, 1.0)).collect()).collect()
}

#[test]
fn transition_toward_the_parent_is_the_dense_marginalization() {
    let mut random = Random::new(11);
    for dim in [1, 2, 3, 6] {
        for _ in 0..20 {
            let (a, q) = (random_dense(&mut random, dim, dim), random_positive(&mut random, dim, 0.05));
            let precision = random_positive(&mut random, dim, 0.0);
            let eta: Vec<f64> = (0..dim).map(|_| random.uniform(-2.0, 2.0)).collect();
            // The joint precision of (parent, child), with the child integrated out by a Schur complement.
            let (q_inverse, log_det_q) = invert(&q);
            let (schur, log_det_schur) = invert(&combine(&q_inverse, 1.0, &precision));
            let cross = multiply(&transpose(&a), &q_inverse);
            let expected_precision = combine(
                &multiply(&cross, &a),
                -1.0,
                &multiply(&multiply(&cross, &schur), &transpose(&cross)),
            );
            let expected_eta = apply(&multiply(&cross, &schur), &eta);
            let expected_scale = 0.3 + 0.5 * (inner(&eta, &apply(&schur, &eta)) - log_det_q - log_det_schur);
            let transition = Transition { matrix: matrix(&a), noise: matrix(&q) };
            let found = transition.toward_previous(&Canonical {
                precision: matrix(&precision),
                information: eta,
                log_scale: 0.3,
            });
            assert!(relative_error(found.precision.as_slice(), &expected_precision.concat()) < 1e-11);
            assert!(relative_error(&found.information, &expected_eta) < 1e-11);
            assert!(relative_error(&[found.log_scale], &[expected_scale]) < 1e-11);
        }
    }
}

#[test]
fn products_and_conversions_agree_with_dense_inverses() {
    let mut random = Random::new(12);
    for dim in [1, 2, 5] {
        for _ in 0..20 {
            let (covariance, precision) =
                (random_positive(&mut random, dim, 0.05), random_positive(&mut random, dim, 0.0));
            let mean: Vec<f64> = (0..dim).map(|_| random.uniform(-2.0, 2.0)).collect();
            let eta: Vec<f64> = (0..dim).map(|_| random.uniform(-2.0, 2.0)).collect();
            let (prior_precision, _) = invert(&covariance);
            let (expected, _) = invert(&combine(&prior_precision, 1.0, &precision));
            let total: Vec<f64> =
                apply(&prior_precision, &mean).iter().zip(&eta).map(|(a, b)| a + b).collect();
            let above = Moment { mean, covariance: matrix(&covariance), log_scale: 0.2 };
            let below = Canonical { precision: matrix(&precision), information: eta, log_scale: -0.7 };
            let found = above.times(&below);
            assert!(relative_error(found.covariance.as_slice(), &expected.concat()) < 1e-11);
            assert!(relative_error(&found.mean, &apply(&expected, &total)) < 1e-11);
            // The other way round: both canonical, then to moments. The scale must come out the same.
            let other = above.to_canonical().unwrap().times(&below).to_moment().unwrap();
            assert!(relative_error(&found.mean, &other.mean) < 1e-10);
            assert!(relative_error(&[found.log_scale], &[other.log_scale]) < 1e-10);
        }
    }
}

#[test]
fn mixing_and_selection_toward_the_state_and_back_agree_on_the_evidence() {
    // Integrating below or above a deterministic box gives the same number, however singular the covariance is.
    let mut random = Random::new(13);
    for (n_outputs, dim) in [(1, 3), (4, 2), (3, 3)] {
        let mixing = Mixing { readout: matrix(&random_dense(&mut random, n_outputs, dim)) };
        let above = Moment {
            mean: (0..dim).map(|_| random.uniform(-1.0, 1.0)).collect(),
            covariance: matrix(&random_positive(&mut random, dim, 0.1)),
            log_scale: 0.4,
        };
        for output in (0..n_outputs).map(OutputIndex::new) {
            let selection = Selection { output, n_outputs };
            let seen = Observation { noise_variance: 0.3 }.toward_output(0.8);
            let outputs = mixing.toward_outputs(&above);
            let at_output = selection.toward_output(&outputs).times(&seen).log_scale;
            let at_outputs = outputs.times(&selection.toward_outputs(&seen)).log_scale;
            let at_state = above.times(&mixing.toward_state(&selection.toward_outputs(&seen))).log_scale;
            assert!((at_output - at_outputs).abs() < 1e-13 && (at_output - at_state).abs() < 1e-13);
        }
    }
}

#[test]
fn messages_without_another_form_say_so() {
    assert_eq!(Canonical::flat(2).to_moment().unwrap_err(), FormError::Improper);
    let certain = Moment { mean: vec![1.0], covariance: scalar(0.0), log_scale: 0.0 };
    assert_eq!(certain.to_canonical().unwrap_err(), FormError::Degenerate);
}
