//! The rounds of an approximation: exact for Gaussian noise, warm starts, errors that name the cell, and honest stops.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations};
use catena::graph::{FactorGraph, GraphError};
use catena::index::{OutputIndex, RowIndex};
use catena::inference::{Gradient, Workspace, marginals};
use catena::kernel::{Kernel, StateKind};
use catena::likelihood::{
    ApproximationSettings, ApproximationStop, CellLikelihood, CellMarginal, Expectation, Gaussian,
    LikelihoodError, ObservedCell, OutputLikelihoods, OutputNoise, Poisson, StudentT, approximate,
    approximate_from,
};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::structure::{Tree, sorted_chain};
use catena::units::{LengthScale, Variance};

/// Two outputs of one latent along a line.
fn model_and_chain(n_rows: usize) -> (Lmc, Tree) {
    let latent =
        Latent::new(Kernel::Matern32, StateKind::Derivative, LengthScale::new(2.0).unwrap()).unwrap();
    let mixing = MixingMatrix::shared(2, 1, vec![1.5, -0.7]).unwrap();
    let noise = vec![Variance::new(0.1).unwrap(), Variance::new(0.4).unwrap()];
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
    (Lmc::new(vec![latent], mixing, noise).unwrap(), sorted_chain(&inputs).unwrap())
}

fn waves(n_rows: usize) -> Vec<f64> {
    let cell = |at: usize| if at % 5 == 3 { f64::NAN } else { (at as f64 * 12.9898).sin() };
    (0..2 * n_rows).map(cell).collect()
}

#[test]
fn gaussian_noise_is_exact_after_one_round_and_the_bound_is_the_evidence() {
    let (model, chain) = model_and_chain(12);
    let plain = Observations::from_dense(12, 2, &waves(12)).unwrap();
    let own: Vec<f64> = (0..24).map(|at| 0.05 + 0.02 * at as f64).collect();
    for table in [plain.clone(), plain.with_cell_noise(&own).unwrap()] {
        let exact = marginals(&FactorGraph::new(&model, &chain, &table).unwrap()).unwrap();
        let found = approximate(&model, &chain, &table, &Gaussian, ApproximationSettings::default()).unwrap();
        assert_eq!((found.stop, found.n_sweeps), (ApproximationStop::Converged, 1));
        assert!((found.lower_bound - exact.log_evidence).abs() < 1e-12);
        let pairs = found.prediction.means().iter().zip(exact.prediction.means());
        assert!(pairs.clone().all(|(found, exact)| (found - exact).abs() < 1e-13));
        let gradient = found.gradient(&mut Workspace::new()).unwrap();
        let expected = Workspace::new().gradient(&FactorGraph::new(&model, &chain, &table).unwrap()).unwrap();
        let all = |of: &Gradient| [&of.mixing[..], &of.length_scales, &of.noise].concat();
        for (found, expected) in all(&gradient).iter().zip(all(&expected)) {
            assert!((found - expected).abs() < 1e-10 * (1.0 + expected.abs()), "{found} {expected}");
        }
    }
}

#[test]
fn a_start_at_the_end_needs_one_sweep() {
    let (model, chain) = model_and_chain(12);
    let table = Observations::from_dense(12, 2, &waves(12)).unwrap();
    let student = StudentT::new(3.0).unwrap();
    let settings = ApproximationSettings::default();
    let first = approximate(&model, &chain, &table, &student, settings).unwrap();
    let start = &first.pseudo_observations;
    let again = approximate_from(start, &model, &chain, &table, &student, settings).unwrap();
    assert_eq!((again.n_sweeps, again.stop), (1, ApproximationStop::Converged));
    assert!((again.lower_bound - first.lower_bound).abs() < 1e-10);
    let other = Observations::from_dense(12, 2, &[0.5; 24]).unwrap();
    let error = approximate_from(start, &model, &chain, &other, &student, settings).unwrap_err();
    assert!(matches!(error, LikelihoodError::OtherStart { table: 24, .. }), "{error}");
}

#[test]
fn a_table_without_cells_keeps_its_prior() {
    let (model, chain) = model_and_chain(3);
    let table = Observations::from_dense(3, 2, &[f64::NAN; 6]).unwrap();
    let found = approximate(&model, &chain, &table, &Gaussian, ApproximationSettings::default()).unwrap();
    assert_eq!((found.lower_bound, found.stop), (0.0, ApproximationStop::Converged));
    assert!(found.prediction.means().iter().all(|mean| *mean == 0.0));
}

/// Answers everything with the same numbers.
struct Broken(Expectation);

impl CellLikelihood for Broken {
    fn expectation(&self, _: &ObservedCell, _: CellMarginal) -> Expectation {
        self.0
    }
}

const USABLE: Expectation = Expectation { log_density: 0.0, slope: 0.3, precision: 2.0, noise_slope: 0.0 };

#[test]
fn what_cannot_be_computed_is_an_error_that_names_the_cell() {
    let (model, chain) = model_and_chain(2);
    let table = Observations::from_dense(2, 2, &[f64::NAN, f64::NAN, f64::NAN, 1.0]).unwrap();
    let settings = ApproximationSettings::default();
    let try_with = |broken: Expectation, settings| {
        approximate(&model, &chain, &table, &Broken(broken), settings).unwrap_err()
    };
    let (row, output) = (RowIndex::new(1), OutputIndex::new(1));
    for precision in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let error = try_with(Expectation { precision, ..USABLE }, settings);
        let is_named = matches!(&error, LikelihoodError::PseudoObservation { row: at, output: of, .. }
            if *at == row && *of == output);
        assert!(is_named, "{error:?}");
        assert!(error.to_string().contains("output 1 at row 1"), "{error}");
    }
    let error = try_with(Expectation { log_density: f64::NEG_INFINITY, ..USABLE }, settings);
    assert_eq!(error, LikelihoodError::Density { row, output, value: f64::NEG_INFINITY });
    let error = try_with(USABLE, ApproximationSettings { max_rounds: 0, ..settings });
    assert_eq!(error, LikelihoodError::NoRounds);
    for tolerance in [-1e-9, f64::NAN, f64::INFINITY] {
        let error = try_with(USABLE, ApproximationSettings { tolerance, ..settings });
        assert!(matches!(error, LikelihoodError::Tolerance(_)));
    }
    let other = Observations::from_dense(1, 2, &[1.0, 2.0]).unwrap();
    let error = approximate(&model, &chain, &other, &Gaussian, settings).unwrap_err();
    assert!(matches!(error, LikelihoodError::Graph(GraphError::RowCountMismatch { .. })));
    let other = Observations::from_dense(2, 1, &[1.0, 2.0]).unwrap();
    let error = approximate(&model, &chain, &other, &Gaussian, settings).unwrap_err();
    assert!(matches!(error, LikelihoodError::Graph(GraphError::OutputCountMismatch { .. })));
}

#[test]
fn a_likelihood_that_violates_its_law_stalls_and_a_limit_is_reported() {
    let (model, chain) = model_and_chain(2);
    let table = Observations::from_dense(2, 2, &[0.3, f64::NAN, f64::NAN, 1.0]).unwrap();
    // A constant term whose slope claims that it rises.
    let claim = Broken(Expectation { slope: 50.0, ..USABLE });
    let found = approximate(&model, &chain, &table, &claim, ApproximationSettings::default()).unwrap();
    assert_eq!(found.stop, ApproximationStop::Stalled);
    let settings = ApproximationSettings { max_rounds: 1, ..ApproximationSettings::default() };
    let found = approximate(&model, &chain, &table, &claim, settings).unwrap();
    assert_eq!((found.n_sweeps, found.stop), (1, ApproximationStop::RoundLimit));
}

#[test]
fn values_that_a_likelihood_does_not_allow_are_named() {
    let (model, chain) = model_and_chain(2);
    let table = Observations::from_dense(2, 2, &[0.3, 2.0, 1.0, 2.5]).unwrap();
    let counts = OutputLikelihoods::new([OutputNoise::from(Gaussian), OutputNoise::from(Poisson)]);
    let settings = ApproximationSettings::default();
    let error = approximate(&model, &chain, &table, &counts, settings).unwrap_err().to_string();
    assert!(error.contains("output 1 is 2.5 at row 1") && error.contains("whole numbers"), "{error}");
    let single = OutputLikelihoods::new([Gaussian]);
    let error = approximate(&model, &chain, &table, &single, settings).unwrap_err();
    assert!(matches!(error, LikelihoodError::NoLikelihood { n_likelihoods: 1, .. }));
    let exposed = OutputLikelihoods::new([Gaussian; 2]).with_exposures(2, vec![1.0, 1.0, 1.0, 0.0]).unwrap();
    let error = approximate(&model, &chain, &table, &exposed, settings).unwrap_err();
    assert!(matches!(error, LikelihoodError::Exposure { .. }), "{error}");
}
