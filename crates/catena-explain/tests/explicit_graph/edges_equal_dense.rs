//! On every edge of every small graph the product of the two messages is the dense marginal, and its scale the evidence.

use super::cases::{Case, Random, Shape, random_case};
use super::dense::relative_error;
use super::reference::Reference;
use catena::data::{InputPoints, Observations};
use catena::graph::GraphError;
use catena::index::{OutputIndex, RowIndex};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::sorted_chain;
use catena::units::{LengthScale, Variance};
use catena_explain::{Edge, ExplainError, ExplicitGraph};

const TOLERANCE: f64 = 1e-10;

fn graph_of(case: &Case) -> ExplicitGraph {
    ExplicitGraph::new(&case.model, &case.tree, &case.observations).unwrap()
}

/// Every mask of D ≤ 4 outputs, several times on each kind of structure.
fn for_every_mask(mut check: impl FnMut(&Case)) {
    let mut random = Random::new(2026);
    for shape in [Shape::SortedChain, Shape::GreedyChain, Shape::Tree] {
        for n_outputs in 1..=4 {
            for mask in 0..1 << n_outputs {
                for _ in 0..6 {
                    check(&random_case(&mut random, shape, n_outputs, mask));
                }
            }
        }
    }
}

#[test]
fn the_product_of_the_messages_on_any_edge_is_the_dense_marginal() {
    let mut n_edges = 0;
    for_every_mask(|case| {
        let (graph, reference) = (graph_of(case), Reference::new(case));
        for edge in graph.edges() {
            let found = graph.marginal_on(edge).unwrap();
            let (mean, covariance) = reference.on_edge(edge);
            let mean_error = relative_error(&found.mean, &mean);
            let covariance_error = relative_error(found.covariance.as_slice(), &covariance);
            assert!(mean_error < TOLERANCE, "{edge:?}: mean off by {mean_error:e}");
            assert!(covariance_error < TOLERANCE, "{edge:?}: covariance off by {covariance_error:e}");
            n_edges += 1;
        }
    });
    assert!(n_edges > 5_000, "only {n_edges} edges were looked at");
}

#[test]
fn every_edge_knows_the_dense_evidence() {
    for_every_mask(|case| {
        let (graph, reference) = (graph_of(case), Reference::new(case));
        let scale = reference.log_evidence.abs().max(1.0);
        assert!((graph.log_evidence() - reference.log_evidence).abs() < TOLERANCE * scale);
        for edge in graph.edges() {
            let found = graph.marginal_on(edge).unwrap().log_scale;
            // What is not observed below an edge adds nothing to it, and all the rest lies above.
            assert!((found - reference.log_evidence).abs() < TOLERANCE * scale, "{edge:?}: {found}");
        }
    });
}

#[test]
fn the_named_marginals_are_those_of_their_edges() {
    for_every_mask(|case| {
        let graph = graph_of(case);
        assert_eq!(Some(graph.marginal(case.row)), graph.marginal_on(Edge::State(case.row)));
        for output in graph.outputs() {
            let expected = graph.marginal_on(Edge::Output(case.row, output));
            assert_eq!(Some(graph.output_marginal(case.row, output)), expected);
        }
    });
}

#[test]
fn copies_of_a_variable_have_the_same_marginal() {
    for_every_mask(|case| {
        let graph = graph_of(case);
        for edge in graph.edges() {
            let original = match edge {
                Edge::Parent(row) => Edge::State(graph.parent_row(row).unwrap()),
                Edge::Readout(row) => Edge::State(row),
                Edge::Join(row, _) | Edge::Selection(row, _) => Edge::Outputs(row),
                _ => continue,
            };
            let (copy, original) = (graph.marginal_on(edge).unwrap(), graph.marginal_on(original).unwrap());
            assert!(relative_error(&copy.mean, &original.mean) < TOLERANCE);
            assert!(relative_error(copy.covariance.as_slice(), original.covariance.as_slice()) < TOLERANCE);
        }
    });
}

#[test]
fn a_missing_output_is_an_absent_factor() {
    // Taking the output out of the model altogether leaves the state's marginal and the evidence as they are.
    let latents: Vec<Latent> = [Kernel::Matern32, Kernel::Matern12]
        .map(|kernel| Latent::new(kernel, StateKind::Derivative, LengthScale::new(0.8).unwrap()).unwrap())
        .into();
    let noise = Variance::new(0.1).unwrap();
    let tree = sorted_chain(&InputPoints::new(3, 1, vec![0.0, 0.3, 1.0]).unwrap()).unwrap();
    let nan = f64::NAN;
    let with_holes = Observations::from_dense(3, 3, &[0.4, nan, -1.0, 0.1, nan, nan, nan, nan, 0.7]).unwrap();
    let without = Observations::from_dense(3, 2, &[0.4, -1.0, 0.1, nan, nan, 0.7]).unwrap();
    let mixing = MixingMatrix::shared(3, 2, vec![1.0, 0.5, 9.0, -9.0, -0.3, 0.8]).unwrap();
    let smaller = MixingMatrix::shared(2, 2, vec![1.0, 0.5, -0.3, 0.8]).unwrap();
    let model = Lmc::new(latents.clone(), mixing, vec![noise; 3]).unwrap();
    let small_model = Lmc::new(latents, smaller, vec![noise; 2]).unwrap();
    let whole = ExplicitGraph::new(&model, &tree, &with_holes).unwrap();
    let small = ExplicitGraph::new(&small_model, &tree, &without).unwrap();
    assert!((whole.log_evidence() - small.log_evidence()).abs() < 1e-13);
    for row in (0..3).map(RowIndex::new) {
        let (a, b) = (whole.marginal(row), small.marginal(row));
        assert!(relative_error(&a.mean, &b.mean) < 1e-13);
        assert!(relative_error(a.covariance.as_slice(), b.covariance.as_slice()) < 1e-13);
        assert!(whole.messages_on(Edge::Observation(row, OutputIndex::new(1))).is_none());
    }
}

#[test]
fn nothing_observed_leaves_the_prior_and_no_evidence() {
    let latent =
        Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(1.0).unwrap()).unwrap();
    let mixing = MixingMatrix::shared(1, 1, vec![1.0]).unwrap();
    let model = Lmc::new(vec![latent], mixing, vec![Variance::new(0.1).unwrap()]).unwrap();
    let tree = sorted_chain(&InputPoints::new(2, 1, vec![0.0, 0.5]).unwrap()).unwrap();
    let observations = Observations::from_dense(2, 1, &[f64::NAN; 2]).unwrap();
    let graph = ExplicitGraph::new(&model, &tree, &observations).unwrap();
    assert_eq!(graph.log_evidence(), 0.0);
    for row in graph.rows() {
        let marginal = graph.marginal(row);
        assert_eq!(marginal.mean, [0.0, 0.0]);
        assert!(relative_error(marginal.covariance.as_slice(), &[1.0, 0.0, 0.0, 1.0]) < 1e-15);
    }
}

#[test]
fn parts_that_do_not_fit_and_numbers_that_overflow_are_errors() {
    let latent = Latent::new(Kernel::Matern12, StateKind::Value, LengthScale::new(1.0).unwrap()).unwrap();
    let mixing = MixingMatrix::shared(1, 1, vec![1.0]).unwrap();
    let model =
        |noise: f64| Lmc::new(vec![latent], mixing.clone(), vec![Variance::new(noise).unwrap()]).unwrap();
    let tree = sorted_chain(&InputPoints::new(2, 1, vec![0.0, 0.5]).unwrap()).unwrap();
    let build = |noise: f64, n_rows: usize, n_outputs: usize| {
        let values: Vec<f64> = (0..n_rows * n_outputs).map(|at| 1e10 * (at + 1) as f64).collect();
        let observations = Observations::from_dense(n_rows, n_outputs, &values).unwrap();
        ExplicitGraph::new(&model(noise), &tree, &observations).unwrap_err()
    };
    let rows = GraphError::RowCountMismatch { structure: 2, observations: 3 };
    assert_eq!(build(1.0, 3, 1), ExplainError::Graph(rows));
    let outputs = GraphError::OutputCountMismatch { model: 1, observations: 2 };
    assert_eq!(build(1.0, 2, 2), ExplainError::Graph(outputs));
    assert!(matches!(build(1e-300, 2, 1), ExplainError::MessageNotFinite { .. }));
}
