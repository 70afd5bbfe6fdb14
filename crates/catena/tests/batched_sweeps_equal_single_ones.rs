//! Several models swept together have the log evidences and gradients that each has by itself, and those of the dense judge.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::FactorGraph;
use catena::inference::{Form, Gradient, Workspace};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Tree, sorted_chain};
use catena::units::{LengthScale, Variance};
use catena_testkit::compare::{Tolerance, assert_close};
use catena_testkit::reference::DensePrior;
use catena_testkit::scenario::{Limits, Scenario, Shape};

/// The same kernels with other weights, length-scales and noises; number 0 is the model itself.
fn changed(model: &Lmc, number: usize) -> Lmc {
    let factor = |at: usize| 1.0 + 0.3 * ((at * 7 + number * 13) as f64).sin() * number.min(1) as f64;
    let mixing = model.mixing();
    let n_shared = mixing.n_shared();
    let dense = mixing.to_dense();
    let rows = || dense.chunks_exact(model.n_latents());
    let shared: Vec<f64> = rows().flat_map(|row| row[..n_shared].to_vec()).collect();
    let own = |(output, row): (usize, &[f64])| row[n_shared + output];
    let private: Vec<f64> = if mixing.has_private() { rows().enumerate().map(own).collect() } else { vec![] };
    let times = |numbers: Vec<f64>, first: usize| -> Vec<f64> {
        numbers.iter().enumerate().map(|(at, number)| number * factor(first + at)).collect()
    };
    let mixing =
        MixingMatrix::with_private(model.n_outputs(), n_shared, times(shared, 0), times(private, 50))
            .unwrap();
    let latent = |(at, latent): (usize, &Latent)| {
        latent.with_length_scale(LengthScale::new(latent.length_scale().get() * factor(at + 90)).unwrap())
    };
    let latents = model.latents().iter().enumerate().map(latent).collect();
    let noise = model.noise().iter().enumerate();
    let noise = noise.map(|(at, noise)| Variance::new(noise.get() * factor(at + 70)).unwrap()).collect();
    Lmc::new(latents, mixing, noise).unwrap()
}

/// The graph of a scenario under several models.
fn with_models<'a>(scenario: &'a Scenario, models: &'a [Lmc]) -> Vec<FactorGraph<'a>> {
    let graph = FactorGraph::new(&scenario.model, &scenario.tree, &scenario.observations).unwrap();
    models.iter().map(|model| graph.with_model(model).unwrap()).collect()
}

fn assert_equal(label: &str, found: &Gradient, expected: &Gradient, (digits, n_cells): (f64, usize)) {
    let tolerance = Tolerance::relative(digits).with_scale_at_least(1e-3 * n_cells as f64);
    let lists = |gradient: &Gradient| {
        let Gradient { mixing, length_scales, shapes, noise, log_evidence } = gradient.clone();
        [mixing, length_scales, shapes, noise, vec![log_evidence, n_cells as f64]]
    };
    for (at, (found, expected)) in lists(found).iter().zip(lists(expected)).enumerate() {
        assert_close(&format!("list {at} of {label}"), 1, found, &expected, tolerance);
    }
}

/// Two to six models of a scenario: a batch with idle lanes, a full one, and one with a rest.
fn check(scenario: &Scenario, form: Option<Form>) {
    let count = 2 + scenario.n_rows() % 5;
    let models: Vec<Lmc> = (0..count).map(|number| changed(&scenario.model, number)).collect();
    let graphs = with_models(scenario, &models);
    let workspace = || form.map_or_else(Workspace::new, Workspace::with_form);
    let found = workspace().gradients(&graphs);
    assert_eq!(found.len(), count);
    let n_cells = scenario.observations.n_observed();
    for (number, (graph, found)) in graphs.iter().zip(found).enumerate() {
        let label = format!("model {number} of {count}, form {form:?}, {}", scenario.label);
        let found = found.unwrap();
        assert_equal(&label, &found, &workspace().gradient(graph).unwrap(), (1e-10, n_cells));
        let dense = DensePrior::on_structure(graph.model(), &scenario.tree);
        let dense = dense.condition(&scenario.observations).unwrap();
        let expected = dense.gradient();
        let expected = Gradient {
            log_evidence: dense.log_evidence(),
            mixing: expected.mixing,
            length_scales: expected.length_scales,
            shapes: expected.shapes,
            noise: expected.noise,
        };
        assert_equal(&format!("dense, {label}"), &found, &expected, (1e-9, n_cells));
    }
}

#[test]
fn on_random_chains_with_every_mask_and_irregular_steps() {
    for shape in [Shape::Line, Shape::Chain] {
        Scenario::drawn(shape, Limits::NOISY, 1000..1048).for_each(|one| check(&one, None));
        Scenario::drawn(shape, Limits::NOISY, 1048..1064).for_each(|one| check(&one, Some(Form::Covariance)));
        Scenario::drawn(shape, Limits::MODERATE, 1064..1096).for_each(|one| check(&one, None));
    }
}

#[test]
fn with_components_along_time_and_on_trees_which_are_swept_one_by_one() {
    for shape in [Shape::Time, Shape::Phases, Shape::Tree] {
        Scenario::drawn(shape, Limits::NOISY, 1100..1116).for_each(|one| check(&one, None));
    }
}

/// More outputs than latents, so that complete rows are rotated, and many latents.
#[test]
fn on_wide_tables_and_with_many_latents() {
    let wide = Limits { outputs: 24, shared_latents: 3, rows: 25, ..Limits::NOISY };
    let large = Limits { outputs: 12, shared_latents: 12, rows: 25, ..Limits::NOISY };
    for limits in [wide, large] {
        Scenario::drawn(Shape::Line, limits, 1120..1136).for_each(|one| check(&one, None));
    }
}

/// A regular chain of 200 rows with gaps in three outputs.
fn regular() -> (Tree, Observations) {
    let inputs = InputPoints::from_column((0..200).map(f64::from).collect()).unwrap();
    let value = |at: usize| {
        let (row, output) = (at / 3, at % 3);
        if row % (5 + output) < 2 { f64::NAN } else { (row as f64 * 0.07 * (1 + output) as f64).sin() }
    };
    let values: Vec<f64> = (0..600).map(value).collect();
    (sorted_chain(&inputs).unwrap(), Observations::from_dense(200, 3, &values).unwrap())
}

fn of_noise(noise: f64) -> Lmc {
    let latent = |scale: f64| {
        Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(scale).unwrap()).unwrap()
    };
    let mixing = MixingMatrix::shared(3, 2, vec![1.0, 0.3, -0.4, 0.8, 0.5, 0.5]).unwrap();
    Lmc::new(vec![latent(9.0), latent(30.0)], mixing, vec![Variance::new(noise).unwrap(); 3]).unwrap()
}

#[test]
fn a_model_that_needs_the_square_root_form_is_swept_by_itself_and_changes_nothing_for_the_others() {
    let (tree, observations) = regular();
    // The second is too precise from the start, the fourth may turn out to be.
    let models = [0.1, 1e-12, 0.03, 1e-6].map(of_noise);
    let graph = FactorGraph::new(&models[0], &tree, &observations).unwrap();
    let graphs: Vec<_> = models.iter().map(|model| graph.with_model(model).unwrap()).collect();
    let found = Workspace::new().gradients(&graphs);
    let singles: Vec<_> = graphs.iter().map(|graph| Workspace::new().gradient(graph).unwrap()).collect();
    assert_eq!(found[1].as_ref().unwrap(), &singles[1]);
    for at in [0, 2, 3] {
        let n_cells = observations.n_observed();
        assert_equal(&format!("model {at}"), found[at].as_ref().unwrap(), &singles[at], (1e-8, n_cells));
    }
    // Without the precise ones, the others have the same bits: a lane does not depend on its neighbors.
    let two = [graphs[0].clone(), graphs[2].clone()];
    let two = Workspace::new().gradients(&two);
    assert_eq!([&two[0], &two[1]], [&found[0], &found[2]]);
}

#[test]
fn a_model_that_overflows_is_an_error_of_its_own() {
    let (tree, observations) = regular();
    let mut models = [0.1, 0.2, 0.3].map(of_noise);
    let mixing = MixingMatrix::shared(3, 2, vec![1e200; 6]).unwrap();
    models[1] = Lmc::new(models[1].latents().to_vec(), mixing, models[1].noise().to_vec()).unwrap();
    let graph = FactorGraph::new(&models[0], &tree, &observations).unwrap();
    let graphs: Vec<_> = models.iter().map(|model| graph.with_model(model).unwrap()).collect();
    for form in [None, Some(Form::Covariance)] {
        let workspace = || form.map_or_else(Workspace::new, Workspace::with_form);
        let found = workspace().gradients(&graphs);
        assert_eq!(found[1].is_err(), workspace().gradient(&graphs[1]).is_err());
        let expected = workspace().gradient(&graphs[2]).unwrap();
        assert_equal("beside it", found[2].as_ref().unwrap(), &expected, (1e-10, observations.n_observed()));
    }
}

#[test]
fn no_models_and_tables_of_other_graphs_are_no_trouble() {
    assert!(Workspace::new().gradients(&[]).is_empty());
    let (tree, observations) = regular();
    let model = of_noise(0.1);
    let graph = || FactorGraph::new(&model, &tree, &observations).unwrap();
    let found = Workspace::new().gradients(&[graph(), graph()]);
    assert_eq!(found[0], Workspace::new().gradient(&graph()));
    assert_eq!(found[0], found[1]);
}
