//! A season shared by all outputs with a phase of its own in each: the covariance is the one on paper, and odd models are refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::inference::Workspace;
use catena::kernel::Component;
use catena::learning::Parameters;
use catena::model::{Latent, Lmc, MixingMatrix, ModelError};
use catena::structure::sorted_chain;
use catena::units::{LengthScale, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::reference::DensePrior;

fn length(value: f64) -> LengthScale {
    LengthScale::new(value).unwrap()
}

/// Two harmonics of a season of 5, each with its quadrature component.
fn season() -> Vec<Latent> {
    let harmonic =
        |order: f64| Latent::component(Component::Cycle { period: length(5.0 / order) }, length(7.0));
    [1.0, 2.0]
        .map(harmonic)
        .into_iter()
        .flat_map(|cycle| [cycle, Latent::quadrature_of(&cycle).unwrap()])
        .collect()
}

fn model(latents: Vec<Latent>, weights: &[f64]) -> Result<Lmc, ModelError> {
    let mixing = MixingMatrix::shared(2, latents.len(), weights.to_vec())?;
    Lmc::new(latents, mixing, vec![Variance::new(0.2).unwrap(), Variance::new(0.1).unwrap()])
}

/// By hand, for a time τ from output e to a later d:
/// `Σ_j e^(−τ/ℓ)(cos(jωτ)(a_d a_e + b_d b_e) + sin(jωτ)(a_d b_e − b_d a_e))`. The evidence of two cells says the rest.
#[test]
fn the_covariance_of_two_outputs_is_that_on_paper() {
    let weights = [1.0, -0.4, 0.3, 0.7, 0.6, 0.9, -0.2, 0.5];
    let model = model(season(), &weights).unwrap();
    let covariance = |d: usize, e: usize, time: f64| -> f64 {
        (1..=2)
            .map(|j| {
                let weight =
                    |output: usize| (weights[4 * output + 2 * (j - 1)], weights[4 * output + 2 * j - 1]);
                let ((a, b), (c, s)) = (weight(d), weight(e));
                let (sine, cosine) = (std::f64::consts::TAU * j as f64 * time / 5.0).sin_cos();
                (-time / 7.0).exp() * (cosine * (a * c + b * s) + sine * (a * s - b * c))
            })
            .sum()
    };
    for (first, second, time) in [(0, 1, 1.3), (1, 0, 1.3), (0, 0, 0.8), (1, 1, 2.9), (0, 1, 0.0)] {
        let inputs = InputPoints::from_column(vec![0.0, time]).unwrap();
        let mut values = [f64::NAN; 4];
        values[first] = 0.7;
        values[2 + second] = -1.1;
        let observations = Observations::from_dense(2, 2, &values).unwrap();
        let noise = [0.2, 0.1];
        let (k, l) =
            (covariance(first, first, 0.0) + noise[first], covariance(second, second, 0.0) + noise[second]);
        let between = covariance(second, first, time);
        let determinant = k * l - between * between;
        let square = (0.7 * 0.7 * l + 2.0 * 0.7 * 1.1 * between + 1.1 * 1.1 * k) / determinant;
        let expected = -0.5 * (square + determinant.ln()) - std::f64::consts::TAU.ln();
        let tree = sorted_chain(&inputs).unwrap();
        let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
        let found = Workspace::new().log_evidence(&graph).unwrap();
        assert!((found - expected).abs() < 1e-12, "{first} {second} {time}: {found} instead of {expected}");
        let dense = DensePrior::on_structure(&model, &tree).condition(&observations).unwrap();
        assert!((dense.log_evidence() - expected).abs() < 1e-12);
    }
}

/// Weights turned by any angle in all outputs alike say the same.
#[test]
fn only_differences_of_phases_count() {
    let (weights, angle) = ([1.0, -0.4, 0.3, 0.7, 0.6, 0.9, -0.2, 0.5], 0.7_f64);
    let turned: Vec<f64> = weights
        .chunks_exact(2)
        .flat_map(|pair| {
            [angle.cos() * pair[0] - angle.sin() * pair[1], angle.sin() * pair[0] + angle.cos() * pair[1]]
        })
        .collect();
    let inputs = InputPoints::from_column((0..30).map(|row| 0.4 * f64::from(row)).collect()).unwrap();
    let values: Vec<f64> = (0..60).map(|at| (f64::from(at) * 0.37).sin()).collect();
    let observations = Observations::from_dense(30, 2, &values).unwrap();
    let tree = sorted_chain(&inputs).unwrap();
    let marginals = |weights: &[f64]| {
        let model = model(season(), weights).unwrap();
        let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
        Workspace::new().marginals(&graph).unwrap()
    };
    let (first, second) = (marginals(&weights), marginals(&turned));
    let tolerance = Tolerance::relative(1e-10);
    assert_close("means", 2, first.prediction.means(), second.prediction.means(), tolerance);
    assert_close("variances", 2, first.prediction.variances(), second.prediction.variances(), tolerance);
    assert!((first.log_evidence - second.log_evidence).abs() < 1e-9);
}

/// In the logarithm of each period: half the step, a quarter of the error, so what central differences lack is their own; and
/// without its square they have nine digits of the gradient.
#[test]
fn central_differences_in_a_period_err_by_the_square_of_their_step() {
    let weights = [1.0, -0.4, 0.3, 0.7, 0.6, 0.9, -0.2, 0.5];
    let inputs = InputPoints::from_column((0..30).map(|row| 0.4 * f64::from(row)).collect()).unwrap();
    let values: Vec<f64> = (0..60).map(|at| (f64::from(at) * 0.37).sin()).collect();
    let observations = Observations::from_dense(30, 2, &values).unwrap();
    let tree = sorted_chain(&inputs).unwrap();
    let gradient = {
        let model = model(season(), &weights).unwrap();
        Workspace::new().gradient(&FactorGraph::new(&model, &tree, &observations).unwrap()).unwrap()
    };
    for cycle in [0, 2] {
        let evidence = |step: f64| {
            let mut latents = season();
            let period = latents[cycle].shape().unwrap() * step.exp();
            latents[cycle] = latents[cycle].with_shape(period).unwrap();
            let model = model(latents, &weights).unwrap();
            let graph = FactorGraph::new(&model, &tree, &observations).unwrap();
            Workspace::new().log_evidence(&graph).unwrap()
        };
        let central = |step: f64| (evidence(step) - evidence(-step)) / (2.0 * step);
        let slope = season()[cycle].shape().unwrap() * gradient.shapes[cycle];
        let steps = [4e-3, 2e-3, 1e-3].map(|step| (step, central(step)));
        for pair in steps.windows(2) {
            let ratio = (pair[0].1 - slope) / (pair[1].1 - slope);
            assert!((ratio / 4.0 - 1.0).abs() < 0.01, "cycle {cycle}: {steps:?} of {slope}");
        }
        // Without the fourth power too, what is left is of the sixth: 1e-18 and rounding over the step.
        let second = |at: usize| (4.0 * steps[at + 1].1 - steps[at].1) / 3.0;
        let extrapolated = (16.0 * second(1) - second(0)) / 15.0;
        assert!(
            (extrapolated / slope - 1.0).abs() < 1e-9,
            "cycle {cycle}: {extrapolated} instead of {slope}"
        );
    }
}

#[test]
fn a_quadrature_needs_its_cycle() {
    let cycle = Latent::component(Component::Cycle { period: length(3.0) }, length(2.0));
    let turn = Latent::quadrature_of(&cycle).unwrap();
    let walk = Latent::component(Component::RandomWalk, length(2.0));
    assert!(Latent::quadrature_of(&walk).is_none() && Latent::quadrature_of(&turn).is_none());
    for latents in [vec![turn, cycle], vec![walk, turn], vec![cycle, turn, turn]] {
        let weights = vec![1.0; 2 * latents.len()];
        assert!(matches!(model(latents, &weights).unwrap_err(), ModelError::NoCycleBefore { .. }));
    }
    // Its length-scale is its cycle's, and no free number of its own.
    let model = model(vec![walk, cycle, turn], &[1.0; 6]).unwrap();
    let parameters = Parameters::all(model.clone(), 1e-6);
    assert_eq!(parameters.n_free(), 6 + 2 + 2);
    let mut vector = parameters.vector_of(&model);
    vector[7] = 5.0_f64.ln();
    let moved = parameters.model_at(&vector).unwrap();
    assert!((moved.latents()[2].length_scale().get() - 5.0).abs() < 1e-12);
}
