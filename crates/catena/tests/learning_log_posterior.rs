//! What is climbed is the log evidence plus the stated log priors, and its slopes are its own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::graph::FactorGraph;
use catena::index::{LatentIndex, OutputIndex};
use catena::inference::Gradient;
use catena::kernel::Component;
use catena::learning::{GraphEvidence, LogNormal, LogPosterior, Parameters, Penalty, Priors};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{LengthScale, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};

/// Below every noise of the scenarios.
const FLOOR: f64 = 4e-4;

const PRIORS: Priors = Priors {
    // Some noises of the scenarios lie below, some above.
    noise: Penalty { limit: 0.03, weight: 1.5 },
    length_scale: LogNormal { center: 2.0, weight: 0.7 },
    season: None,
    shortness: Penalty { limit: 0.8, weight: 3.0 },
    weight_precision: 0.4,
    wandering: LogNormal { center: 50.0, weight: 0.3 },
    quality: LogNormal { center: 1.0, weight: 0.5 },
};

/// The log priors by their formulas.
fn log_prior(model: &Lmc) -> f64 {
    let bell = |value: f64, center: f64, weight: f64| -0.5 * weight * (value.ln() - center.ln()).powi(2);
    let weights: f64 = model.mixing().to_dense().iter().map(|weight| -0.2 * weight * weight).sum();
    let of_length = |length: f64| bell(length, 2.0, 0.7) - 1.5 * (0.8 / length).powi(2);
    let lengths: f64 = model.latents().iter().map(|latent| of_length(latent.length_scale().get())).sum();
    let of_noise = |noise: f64| if noise < 0.03 { bell(noise, 0.03, 1.5) } else { 0.0 };
    let noises: f64 = model.noise().iter().map(|noise| of_noise(noise.get())).sum();
    weights + lengths + noises
}

/// The parameters of a model: all free, then with ties and fixed subsets of every kind.
fn variants(model: &Lmc) -> Vec<(&'static str, Parameters)> {
    let all = || Parameters::all(model.clone(), FLOOR);
    let latents = || (0..model.n_latents()).map(LatentIndex::new);
    let output = OutputIndex::new(model.n_outputs() - 1);
    vec![
        ("all free", all()),
        ("no floor", Parameters::all(model.clone(), 0.0)),
        ("tied length-scales", all().with_tied_length_scales(latents())),
        ("tied noise", all().with_tied_noise()),
        ("fixed mixing, tied noise", all().with_fixed_mixing().with_tied_noise()),
        ("fixed length-scales", all().with_fixed_length_scales()),
        ("one fixed length-scale", all().with_fixed_length_scale(LatentIndex::new(0))),
        ("fixed noise", all().with_fixed_noise()),
        ("an output left alone", all().with_fixed_weights_of(output).with_fixed_noise_of(output)),
        (
            "one fixed length-scale, the others tied",
            all().with_fixed_length_scale(LatentIndex::new(0)).with_tied_length_scales(latents()),
        ),
    ]
}

fn check_value(scenario: &Scenario) {
    for (variant, parameters) in variants(&scenario.model) {
        let vector = parameters.vector_of(&scenario.model);
        // Ties move parameters that differed: the model in question is that of the vector.
        let model = parameters.model_at(&vector).unwrap();
        let dense =
            DensePrior::on_structure(&model, &scenario.tree).condition(&scenario.observations).unwrap();
        let expected = dense.log_evidence() + log_prior(&model);
        let value = objective(scenario, &parameters).evaluate(&vector, &mut vec![0.0; vector.len()]);
        // A sum of one term of order 1 per cell and per parameter.
        let size = (scenario.observations.n_observed() + vector.len()) as f64;
        let tolerance = Tolerance::relative(1e-10).with_scale_at_least(size);
        assert_close(&format!("{variant}, {}", scenario.label), 1, &[value], &[expected], tolerance);
    }
}

fn objective<'a>(scenario: &'a Scenario, parameters: &'a Parameters) -> LogPosterior<'a, GraphEvidence<'a>> {
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    LogPosterior::new(GraphEvidence::new(graph), parameters, &PRIORS)
}

fn check_slopes(scenario: &Scenario) {
    for (variant, parameters) in variants(&scenario.model) {
        let mut objective = objective(scenario, &parameters);
        let center = parameters.vector_of(&scenario.model);
        let mut slopes = vec![0.0; center.len()];
        let value = objective.evaluate(&center, &mut slopes);
        let mut unused = slopes.clone();
        let mut value_at = |at: usize, moved: f64| {
            let mut vector = center.clone();
            vector[at] += moved;
            objective.evaluate(&vector, &mut unused)
        };
        let step = 1e-4;
        // Four points: what is left is of fourth order in the step.
        let differences: Vec<f64> = (0..center.len())
            .map(|at| {
                let near = value_at(at, step) - value_at(at, -step);
                let far = value_at(at, 2.0 * step) - value_at(at, -2.0 * step);
                (8.0 * near - far) / (12.0 * step)
            })
            .collect();
        // Differences of a number of this size in steps of 1e-4 are blurred by 1e-11 of it.
        let tolerance = Tolerance::relative(1e-7).with_scale_at_least(1e-3 * value.abs().max(1.0));
        assert_close(&format!("{variant}, {}", scenario.label), 1, &slopes, &differences, tolerance);
    }
}

#[test]
fn its_value_is_the_dense_evidence_plus_the_priors() {
    for shape in [Shape::Line, Shape::Chain, Shape::Tree] {
        let limits = Limits { rows: 14, ..Limits::MODERATE };
        Scenario::drawn(shape, limits, 700..716).for_each(|scenario| check_value(&scenario));
    }
}

#[test]
fn its_slopes_are_central_differences() {
    for shape in [Shape::Line, Shape::Chain, Shape::Tree] {
        Scenario::drawn(shape, Limits::MODERATE, 716..740).for_each(|scenario| check_slopes(&scenario));
    }
}

#[test]
fn ties_and_fixed_parameters_hold_wherever_the_vector_goes() {
    let scenario = (0..).map(|seed| Scenario::draw(Shape::Tree, Limits::MODERATE, seed));
    let is_rich = |one: &Scenario| one.model.n_outputs() > 2 && one.model.n_latents() > 3;
    let model = scenario.into_iter().find(is_rich).unwrap().model;
    let lengths = |model: &Lmc| -> Vec<f64> {
        model.latents().iter().map(|latent| latent.length_scale().get()).collect()
    };
    let noises = |model: &Lmc| -> Vec<f64> { model.noise().iter().map(|noise| noise.get()).collect() };
    let is_level = |list: &[f64]| list.iter().all(|entry| *entry == list[0]);
    let last = OutputIndex::new(model.n_outputs() - 1);
    for (variant, parameters) in variants(&model) {
        let mut vector = parameters.vector_of(&model);
        vector.iter_mut().enumerate().for_each(|(at, entry)| *entry += 0.3 + 0.1 * at as f64);
        let moved = parameters.model_at(&vector).unwrap();
        let (old_lengths, new_lengths) = (lengths(&model), lengths(&moved));
        match variant {
            "tied length-scales" => assert!(is_level(&new_lengths)),
            "tied noise" => assert!(is_level(&noises(&moved))),
            "fixed mixing, tied noise" => {
                assert!(is_level(&noises(&moved)));
                assert_eq!(moved.mixing(), model.mixing());
            }
            "fixed length-scales" => assert_eq!(new_lengths, old_lengths),
            "one fixed length-scale" => assert_eq!(new_lengths[0], old_lengths[0]),
            "fixed noise" => assert_eq!(moved.noise(), model.noise()),
            "an output left alone" => {
                assert_eq!(moved.noise()[last.get()], model.noise()[last.get()]);
                assert_eq!(moved.mixing().shared_row(last), model.mixing().shared_row(last));
                assert_eq!(moved.mixing().private_weight(last), model.mixing().private_weight(last));
            }
            "one fixed length-scale, the others tied" => {
                assert_eq!(new_lengths[0], old_lengths[0]);
                assert!(is_level(&new_lengths[1..]) && new_lengths[1] != old_lengths[1]);
            }
            _ => assert!(new_lengths.iter().zip(&old_lengths).all(|(new, old)| new > old)),
        }
        // However far down a noise is pushed, it stays above the floor.
        vector.iter_mut().for_each(|entry| *entry -= 30.0);
        let floor = parameters.noise_floor();
        assert!(noises(&parameters.model_at(&vector).unwrap()).iter().all(|noise| *noise >= floor));
    }
}

/// Learning drives noises down to the floor; the value must still be right there.
#[test]
fn its_value_keeps_its_digits_when_noise_is_tiny() {
    let limits = Limits { rows: 14, noise: (1e-6, 1e-4), ..Limits::MODERATE };
    for shape in [Shape::Line, Shape::Chain, Shape::Tree] {
        for scenario in Scenario::drawn(shape, limits, 740..756) {
            let parameters = Parameters::all(scenario.model.clone(), 0.0);
            let vector = parameters.vector_of(&scenario.model);
            let dense = DensePrior::on_structure(&scenario.model, &scenario.tree);
            let dense = dense.condition(&scenario.observations).unwrap();
            let expected = dense.log_evidence() + log_prior(&scenario.model);
            let value = objective(&scenario, &parameters).evaluate(&vector, &mut vec![0.0; vector.len()]);
            // Residuals of order 1 over variances of 1e-6 are the terms of the sum; ten digits of the largest.
            let tolerance =
                Tolerance::relative(1e-9).with_scale_at_least(scenario.observations.n_observed() as f64);
            assert_close(&scenario.label, 1, &[value], &[expected], tolerance);
        }
    }
}

/// A season of three harmonics counts once, in its own periods; another season counts for itself.
#[test]
fn a_season_has_one_prior() {
    let length = |value: f64| LengthScale::new(value).unwrap();
    let cycle = |period: f64, scale: f64| {
        Latent::component(Component::Cycle { period: length(period) }, length(scale))
    };
    let model = |year: f64, week: f64| {
        let rough = Latent::component(Component::RandomWalk, length(8.0));
        let latents = vec![rough, cycle(12.0, year), cycle(6.0, year), cycle(4.0, year), cycle(7.0, week)];
        let mixing = MixingMatrix::shared(1, 5, vec![0.3; 5]).unwrap();
        Lmc::new(latents, mixing, vec![Variance::new(0.1).unwrap()]).unwrap()
    };
    let priors = Priors { season: Some(LogNormal { center: 30.0, weight: 0.25 }), ..Priors::FLAT };
    let bell = |periods: f64| -0.125 * (periods / 30.0).ln().powi(2);
    for (year, week) in [(100.0, 50.0), (1000.0, 3.0)] {
        let expected = bell(year / 12.0) + bell(week / 7.0);
        assert!((priors.log_density(&model(year, week)) - expected).abs() < 1e-12);
        let mut gradient = Gradient {
            log_evidence: 0.0,
            mixing: vec![0.0; 5],
            length_scales: vec![0.0; 5],
            shapes: vec![0.0; 5],
            noise: vec![0.0],
        };
        priors.add_to(&model(year, week), &mut gradient);
        let step = 1e-5;
        let slope = (priors.log_density(&model(year * (1.0 + step), week))
            - priors.log_density(&model(year * (1.0 - step), week)))
            / (2.0 * step * year);
        // The length-scales of harmonics are one parameter.
        let tied: f64 = gradient.length_scales[1..4].iter().sum();
        assert!((tied - slope).abs() < 1e-8 * slope.abs().max(1e-3), "{tied} instead of {slope}");
    }
}
