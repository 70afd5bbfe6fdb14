//! The gradient is that of the dense evidence, and that of the evidence the sweep itself reports.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::graph::FactorGraph;
use catena::inference::{Form, Gradient};
use catena::model::{Lmc, MixingMatrix};
use catena::units::{LengthScale, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::forms::{Choice, accurate_forms, workspace};
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};

fn gradient_in(scenario: &Scenario, form: Choice) -> Gradient {
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    workspace(form).gradient(&graph).unwrap()
}

/// Each kind of parameter has its own largest entry.
fn check_against_dense(scenario: &Scenario) {
    let dense = DensePrior::on_structure(&scenario.model, &scenario.tree);
    let dense = dense.condition(&scenario.observations).unwrap();
    let expected = dense.gradient();
    // A slope is a sum over cells that can nearly vanish at a stationary point: a thousandth of a unit per cell counts
    // as its size then.
    let floor = 1e-3 * scenario.observations.n_observed() as f64;
    let tolerance = Tolerance::relative(1e-9).with_scale_at_least(floor);
    for form in accurate_forms(scenario) {
        let named = |what: &str| format!("{what} with form {form:?}, {}", scenario.label);
        let gradient = gradient_in(scenario, form);
        let n_latents = scenario.model.n_latents();
        assert_close(&named("slopes in W"), n_latents, &gradient.mixing, &expected.mixing, tolerance);
        let (actual, slopes) = (&gradient.length_scales, &expected.length_scales);
        assert_close(&named("slopes in length-scales"), 1, actual, slopes, tolerance);
        assert_close(&named("slopes in shapes"), 1, &gradient.shapes, &expected.shapes, tolerance);
        assert_close(&named("slopes in noise"), 1, &gradient.noise, &expected.noise, tolerance);
        let evidence_tolerance =
            Tolerance::relative(1e-10).with_scale_at_least(scenario.observations.n_observed() as f64);
        let evidence = [gradient.log_evidence];
        assert_close(&named("evidence"), 1, &evidence, &[dense.log_evidence()], evidence_tolerance);
    }
}

/// The parameters of a model in one list: W (D×L, structural zeros included), length-scales, shapes, noises.
fn parameters(model: &Lmc) -> Vec<f64> {
    let mut list = model.mixing().to_dense();
    list.extend(model.latents().iter().map(|latent| latent.length_scale().get()));
    list.extend(model.latents().iter().map(|latent| latent.shape().unwrap_or(1.0)));
    list.extend(model.noise().iter().map(|noise| noise.get()));
    list
}

fn with_parameters(model: &Lmc, list: &[f64]) -> Lmc {
    let (n_outputs, n_latents) = (model.n_outputs(), model.n_latents());
    let n_shared = model.mixing().n_shared();
    let (weights, rest) = list.split_at(n_outputs * n_latents);
    let (length_scales, rest) = rest.split_at(n_latents);
    let (shapes, noise) = rest.split_at(n_latents);
    let shared = weights.chunks_exact(n_latents).flat_map(|row| row[..n_shared].to_vec()).collect();
    let own = |output: usize| weights[output * n_latents + n_shared + output];
    let private = if model.mixing().has_private() { (0..n_outputs).map(own).collect() } else { vec![] };
    let mixing = MixingMatrix::with_private(n_outputs, n_shared, shared, private).unwrap();
    let latents =
        model.latents().iter().zip(length_scales.iter().zip(shapes)).map(|(latent, (&scale, &shape))| {
            latent.with_length_scale(LengthScale::new(scale).unwrap()).with_shape(shape).unwrap()
        });
    let noise = noise.iter().map(|&variance| Variance::new(variance).unwrap()).collect();
    Lmc::new(latents.collect(), mixing, noise).unwrap()
}

/// The evidence in the square-root form, which keeps its digits at any noise: every other form is judged by something it shares no
/// recursion with, and the blur of the differences is the same for all. One parameter is moved, positive ones in their
/// logarithms, weights by an absolute step.
fn evidence_moved(scenario: &Scenario) -> impl FnMut(usize, f64) -> f64 {
    let centre = parameters(&scenario.model);
    let n_weights = scenario.model.n_outputs() * scenario.model.n_latents();
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    let mut sweeps = workspace(Some(Form::SquareRoot));
    move |at, step| {
        let mut list = centre.clone();
        list[at] = if at < n_weights { list[at] + step } else { list[at] * step.exp() };
        let model = with_parameters(&scenario.model, &list);
        sweeps.log_evidence(&graph.with_model(&model).unwrap()).unwrap()
    }
}

/// Central differences in one step.
fn differences(scenario: &Scenario) -> Vec<f64> {
    let n_weights = scenario.model.n_outputs() * scenario.model.n_latents();
    let mut evidence = evidence_moved(scenario);
    let mut slope = |at: usize| {
        let step = if at < n_weights { 1e-5 } else { 1e-4 };
        central(&mut |moved| evidence(at, moved), step)
    };
    (0..parameters(&scenario.model).len()).map(&mut slope).collect()
}

fn central(function: &mut dyn FnMut(f64) -> f64, step: f64) -> f64 {
    (function(step) - function(-step)) / (2.0 * step)
}

/// Central differences extrapolated to a step of zero. Their error is a series in even powers of the step: from differences
/// at steps that halve, each column of Neville's table takes off one power more. A small step is blurred by rounding and a large one
/// bent by the series, which for a period depends on how often it fits into a gap; the entry that differs least from its
/// neighbors is neither (Ridders 1982).
fn extrapolated(function: &mut dyn FnMut(f64) -> f64) -> f64 {
    let (mut best, mut least) = (f64::NAN, f64::INFINITY);
    let mut before: Vec<f64> = vec![];
    for halvings in 0..10 {
        let mut row = vec![central(function, 0.02 * 0.5_f64.powi(halvings))];
        for (column, above) in before.iter().enumerate() {
            let gain = 4.0_f64.powi(column as i32 + 1);
            let left = row[column];
            let entry = (gain * left - above) / (gain - 1.0);
            let change = (entry - left).abs().max((entry - above).abs());
            if change < least {
                (best, least) = (entry, change);
            }
            row.push(entry);
        }
        before = row;
    }
    best
}

/// Extrapolated differences of the evidence in every parameter.
fn extrapolated_differences(scenario: &Scenario) -> Vec<f64> {
    let mut evidence = evidence_moved(scenario);
    let mut slope = |at: usize| extrapolated(&mut |moved| evidence(at, moved));
    (0..parameters(&scenario.model).len()).map(&mut slope).collect()
}

fn check_against_differences(scenario: &Scenario) {
    check_slopes(scenario, &differences(scenario), 1e-6);
}

fn check_slopes(scenario: &Scenario, expected: &[f64], digits: f64) {
    let centre = parameters(&scenario.model);
    for form in accurate_forms(scenario) {
        let gradient = gradient_in(scenario, form);
        let n_weights = gradient.mixing.len();
        let mut slopes = [gradient.mixing, gradient.length_scales, gradient.shapes, gradient.noise].concat();
        slopes.iter_mut().zip(&centre).skip(n_weights).for_each(|(slope, value)| *slope *= value);
        // Differences of a number of this size in steps of 1e-5 are blurred by 1e-10 of it.
        let blur = 1e-3 * gradient.log_evidence.abs().max(1.0);
        let tolerance = Tolerance::relative(digits).with_scale_at_least(blur);
        let named = |what: &str| format!("differences in {what}, form {form:?}, {}", scenario.label);
        let n_latents = scenario.model.n_latents();
        let split = |list: &[f64]| {
            let (weights, rest) = list.split_at(n_weights);
            let (scales, rest) = rest.split_at(n_latents);
            let (shapes, noise) = rest.split_at(n_latents);
            [weights, scales, shapes, noise].map(<[f64]>::to_vec)
        };
        for (what, (actual, expected)) in
            ["W", "length-scales", "shapes", "noise"].iter().zip(split(&slopes).iter().zip(&split(expected)))
        {
            assert_close(&named(what), n_latents, actual, expected, tolerance);
        }
    }
}

#[test]
fn equal_the_dense_gradient_for_pieces_of_time() {
    Scenario::drawn(Shape::Time, Limits::NOISY, 800..832).for_each(|scenario| check_against_dense(&scenario));
    Scenario::drawn(Shape::Time, Limits::MODERATE, 832..864)
        .for_each(|scenario| check_against_dense(&scenario));
}

#[test]
fn equal_the_dense_gradient_with_a_phase_per_output() {
    let many = Limits { outputs: 12, shared_latents: 9, ..Limits::NOISY };
    Scenario::drawn(Shape::Phases, Limits::NOISY, 888..912)
        .for_each(|scenario| check_against_dense(&scenario));
    Scenario::drawn(Shape::Phases, Limits::MODERATE, 912..936)
        .for_each(|scenario| check_against_dense(&scenario));
    Scenario::drawn(Shape::Phases, Limits { rows: 12, ..many }, 936..952)
        .for_each(|scenario| check_against_dense(&scenario));
}

#[test]
fn equal_differences_for_pieces_of_time() {
    Scenario::drawn(Shape::Time, Limits::MODERATE, 864..888)
        .for_each(|scenario| check_against_differences(&scenario));
}

#[test]
fn equal_extrapolated_differences_with_a_phase_per_output() {
    Scenario::drawn(Shape::Phases, Limits::MODERATE, 952..976)
        .for_each(|scenario| check_slopes(&scenario, &extrapolated_differences(&scenario), 1e-7));
}

#[test]
fn equal_the_dense_gradient_on_trees() {
    Scenario::drawn(Shape::Tree, Limits::NOISY, 348..380).for_each(|scenario| check_against_dense(&scenario));
    Scenario::drawn(Shape::Tree, Limits::MODERATE, 300..348)
        .for_each(|scenario| check_against_dense(&scenario));
}

#[test]
fn equal_the_dense_gradient_on_chains() {
    Scenario::drawn(Shape::Chain, Limits::NOISY, 348..380)
        .for_each(|scenario| check_against_dense(&scenario));
    Scenario::drawn(Shape::Chain, Limits::MODERATE, 300..348)
        .for_each(|scenario| check_against_dense(&scenario));
}

#[test]
fn equal_the_dense_gradient_on_long_structures() {
    check_against_dense(&Scenario::draw(Shape::Tree, Limits::LONG, 18));
    check_against_dense(&Scenario::draw(Shape::Chain, Limits::LONG, 18));
}

#[test]
fn equal_central_differences_of_the_evidence() {
    for shape in [Shape::Tree, Shape::Chain, Shape::Line] {
        Scenario::drawn(shape, Limits::NOISY, 432..456).for_each(|one| check_against_differences(&one));
        Scenario::drawn(shape, Limits::MODERATE, 400..432).for_each(|one| check_against_differences(&one));
    }
}
