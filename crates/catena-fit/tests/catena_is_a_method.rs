//! Catena behind the common interface: exact on a line, its structure's own process elsewhere, candidates inside.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use catena::data::{Dataset, InputPoints, Observations};
use catena::graph::GraphError;
use catena::index::LatentIndex;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Start, Tree, greedy_chain, spanning_tree};
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_fit::dense::ExactMethod;
use catena_fit::message_passing::{CatenaMethod, States, Structure};
use catena_fit::method::{Differentiable, Evidence, Method, MethodError, Quantity};
use catena_methods::Problem;
use catena_testkit::reference::DensePrior;

const N_ROWS: usize = 24;

fn scale() -> DistanceScale {
    DistanceScale::new(0.7).unwrap()
}

/// Two shared latents and a private one per output.
fn model(state: StateKind) -> Lmc {
    let latent = |kernel, length| Latent::new(kernel, state, LengthScale::new(length).unwrap()).unwrap();
    let latents = vec![
        latent(Kernel::Matern32, 2.0),
        latent(Kernel::Matern12, 1.0),
        latent(Kernel::Matern52, 0.5),
        latent(Kernel::Matern32, 0.8),
    ];
    let mixing = MixingMatrix::with_private(2, 2, vec![1.0, -0.7, 0.3, 0.9], vec![0.5, 0.4]).unwrap();
    Lmc::new(latents, mixing, vec![Variance::new(0.1).unwrap(), Variance::new(0.2).unwrap()]).unwrap()
}

/// Coordinates that fill [0, 4) evenly and never repeat.
fn places(count: usize, first: usize) -> Vec<f64> {
    (first..first + count).map(|at| 4.0 * (at as f64 * 0.618_033_988_749_895).fract()).collect()
}

/// Every third cell hidden; cells know their own noise if asked for.
fn observations(has_cell_noise: bool) -> Observations {
    let cells = 0..2 * N_ROWS;
    let values: Vec<f64> =
        cells.clone().map(|cell| if cell % 3 == 1 { f64::NAN } else { (0.4 * cell as f64).sin() }).collect();
    let observations = Observations::from_dense(N_ROWS, 2, &values).unwrap();
    let noise: Vec<f64> = cells.map(|cell| 0.1 + 0.01 * cell as f64).collect();
    if has_cell_noise { observations.with_cell_noise(&noise).unwrap() } else { observations }
}

fn in_the_plane(has_cell_noise: bool) -> Dataset {
    let inputs = InputPoints::new(N_ROWS, 2, places(2 * N_ROWS, 0)).unwrap();
    Dataset::new(inputs, observations(has_cell_noise)).unwrap()
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-10, "{what} {at}: {found} is not {expected}");
    }
}

#[test]
fn on_a_line_it_is_exact() {
    // States of values alone, as rivals do not care: on a line the method carries derivatives by itself.
    let model = model(StateKind::Value);
    for has_cell_noise in [false, true] {
        let line = InputPoints::from_column(places(N_ROWS, 0)).unwrap();
        let dataset = Dataset::new(line, observations(has_cell_noise)).unwrap();
        let problem = Problem::new(&model, &dataset, scale()).unwrap();
        let at = InputPoints::from_column(vec![-1.0, 0.0, 1.3, 2.6, 9.0]).unwrap();
        let (exact, catena) = (ExactMethod::default(), CatenaMethod::default());
        let (judge, fitted) = (exact.fit(problem).unwrap(), catena.fit(problem).unwrap());
        let pairs = [
            (fitted.predict(&at, Quantity::Function), judge.predict(&at, Quantity::Function)),
            (fitted.predict_rows(Quantity::Observation), judge.predict_rows(Quantity::Observation)),
        ];
        for (found, expected) in pairs.map(|(found, expected)| (found.unwrap(), expected.unwrap())) {
            assert_close(found.means(), expected.means(), "mean");
            assert_close(found.variances(), expected.variances(), "variance");
        }
        let evidence = fitted.evidence().unwrap().unwrap();
        assert!(matches!(evidence, Evidence::Exact(_)));
        assert_close(&[evidence.get()], &[judge.evidence().unwrap().unwrap().get()], "evidence");
        let (slopes, expected) = (catena.gradient(problem).unwrap(), exact.gradient(problem).unwrap());
        assert_close(&slopes.mixing, &expected.mixing, "slope in mixing");
        assert_close(&slopes.length_scales, &expected.length_scales, "slope in length-scales");
        assert_close(&slopes.noise, &expected.noise, "slope in noise");
    }
}

/// Checks a method with candidates in the plane against the dense process on `tree`, built over rows and candidates.
fn check_in_the_plane(
    method: &CatenaMethod,
    carried: &Lmc,
    build: fn(&InputPoints) -> Tree,
    has_cell_noise: bool,
) {
    let (model, dataset) = (model(StateKind::Derivative), in_the_plane(has_cell_noise));
    let problem = Problem::new(&model, &dataset, scale()).unwrap();
    // As a user gives them: all points, the table's own rows among them.
    let all = [dataset.inputs().values(), &places(24, 2 * N_ROWS)].concat();
    let candidates = InputPoints::new(N_ROWS + 12, 2, all.clone()).unwrap();
    let method = CatenaMethod { candidates: Some(candidates.clone()), ..method.clone() };

    let joined = [dataset.inputs().values(), &all].concat();
    let tree = build(&InputPoints::new(2 * N_ROWS + 12, 2, joined).unwrap());
    let tree = tree.with_distance_scale(scale()).unwrap();
    let (mut values, mut noise) = (vec![f64::NAN; 2 * tree.len()], vec![f64::NAN; 2 * tree.len()]);
    for (row, cell) in dataset.observations().cells() {
        let place = 2 * row.get() + cell.output.get();
        values[place] = cell.value;
        noise[place] = cell.noise_variance.unwrap_or(carried.noise()[cell.output.get()].get());
    }
    let observations = Observations::from_dense(tree.len(), 2, &values).unwrap();
    let known = if has_cell_noise { observations.with_cell_noise(&noise).unwrap() } else { observations };
    let judge = DensePrior::on_structure(carried, &tree).condition(&known).unwrap();

    let fitted = method.fit(problem).unwrap();
    let rows = fitted.predict_rows(Quantity::Function).unwrap();
    assert_eq!(rows.n_rows(), N_ROWS);
    assert_close(rows.means(), &judge.means()[..2 * N_ROWS], "mean of a row");
    assert_close(rows.variances(), &judge.variances()[..2 * N_ROWS], "variance of a row");
    let inside = fitted.predict(&candidates, Quantity::Function).unwrap();
    assert_close(inside.means(), &judge.means()[2 * N_ROWS..], "mean of a candidate");
    assert_close(inside.variances(), &judge.variances()[2 * N_ROWS..], "variance of a candidate");
    let evidence = fitted.evidence().unwrap().unwrap();
    assert!(matches!(evidence, Evidence::Approximate(_)));
    assert_close(&[evidence.get()], &[judge.log_evidence()], "evidence");
    let (slopes, expected) = (method.gradient(problem).unwrap(), judge.gradient());
    assert_close(&slopes.mixing, &expected.mixing, "slope in mixing");
    assert_close(&slopes.length_scales, &expected.length_scales, "slope in length-scales");
}

fn first_greedy_chain(inputs: &InputPoints) -> Tree {
    greedy_chain(inputs, Start::FirstRow).unwrap()
}

#[test]
fn in_the_plane_it_is_the_structures_own_process() {
    let (derivatives, values) = (model(StateKind::Derivative), model(StateKind::Value));
    let with = |structure, states| CatenaMethod { structure, states, candidates: None };
    for has_cell_noise in [false, true] {
        check_in_the_plane(&CatenaMethod::paper(), &derivatives, first_greedy_chain, has_cell_noise);
        let chain = with(Structure::Chain, States::Suited);
        check_in_the_plane(&chain, &values, first_greedy_chain, has_cell_noise);
        let tree = with(Structure::Automatic, States::Suited);
        check_in_the_plane(&tree, &values, |inputs| spanning_tree(inputs).unwrap(), has_cell_noise);
    }
}

#[test]
fn a_structure_built_before_gives_the_same_in_any_unit() {
    let (model, dataset) = (model(StateKind::Value), in_the_plane(false));
    let problem = Problem::new(&model, &dataset, scale()).unwrap();
    let expected = CatenaMethod::default().gradient(problem).unwrap();
    let tree = spanning_tree(dataset.inputs()).unwrap();
    let in_other_units = tree.clone().with_distance_scale(DistanceScale::new(0.25).unwrap()).unwrap();
    for tree in [tree, in_other_units] {
        let method = CatenaMethod { structure: Structure::Given(tree.into()), ..CatenaMethod::default() };
        let found = method.gradient(problem).unwrap();
        assert_close(&[found.value], &[expected.value], "evidence");
        assert_close(&found.length_scales, &expected.length_scales, "slope in length-scales");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (model, dataset) = (model(StateKind::Derivative), in_the_plane(false));
    let problem = Problem::new(&model, &dataset, scale()).unwrap();
    let as_given = CatenaMethod { states: States::AsGiven, ..CatenaMethod::default() };
    let refused = GraphError::DerivativeOnTree { latent: LatentIndex::new(0) };
    assert_eq!(as_given.fit(problem).err(), Some(MethodError::Graph(refused)));

    let line = InputPoints::from_column(vec![1.0]).unwrap();
    let refused = MethodError::InputDim { expected: 2, found: 1 };
    let fitted = CatenaMethod::default().fit(problem).unwrap();
    assert_eq!(fitted.predict(&line, Quantity::Function), Err(refused.clone()));
    let method = CatenaMethod { candidates: Some(line), ..CatenaMethod::default() };
    assert_eq!(method.fit(problem).err(), Some(refused));

    let fewer = InputPoints::new(N_ROWS - 1, 2, places(2 * N_ROWS - 2, 0)).unwrap();
    let of_another_table = Structure::Given(spanning_tree(&fewer).unwrap().into());
    let method = CatenaMethod { structure: of_another_table, ..CatenaMethod::default() };
    let refused = GraphError::RowCountMismatch { structure: N_ROWS - 1, observations: N_ROWS };
    assert_eq!(method.fit(problem).err(), Some(MethodError::Graph(refused)));
}
