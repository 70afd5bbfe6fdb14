//! Bad input is a typed error that says where; nothing panics, and no NaN comes out.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use catena::data::{DataError, Dataset, InputPoints, InputScaling, Observations, OutputScaling};
use catena::graph::{FactorGraph, GraphError};
use catena::index::{LatentIndex, OutputIndex, RowIndex};
use catena::inference::{Form, InferenceError, Outlook, Workspace};
use catena::kernel::{Component, Kernel, KernelError, StateKind};
use catena::live::LivePosterior;
use catena::model::{Latent, Lmc, MixingMatrix, ModelError};
use catena::posterior::Posterior;
use catena::structure::{StructureError, Tree, sorted_chain};
use catena::units::{DistanceScale, LengthScale, Quality, UnitError, Variance};
use catena_studies::brute_force_chain::brute_force_greedy_chain;

const NOT_NUMBERS: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
const NOT_POSITIVE: [f64; 6] = [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

fn latent(kernel: Kernel, state: StateKind) -> Latent {
    Latent::new(kernel, state, LengthScale::new(1.0).unwrap()).unwrap()
}

/// One latent in each of `n_outputs` outputs with this weight and noise.
fn model(n_outputs: usize, weight: f64, noise: f64) -> Lmc {
    let mixing = MixingMatrix::shared(n_outputs, 1, vec![weight; n_outputs]).unwrap();
    let noise = vec![Variance::new(noise).unwrap(); n_outputs];
    Lmc::new(vec![latent(Kernel::Matern32, StateKind::Derivative)], mixing, noise).unwrap()
}

#[test]
fn inputs_that_are_not_finite_name_row_and_column() {
    for bad in NOT_NUMBERS {
        let error = InputPoints::new(3, 2, vec![0.0, 1.0, 2.0, 3.0, 4.0, bad]).unwrap_err();
        let DataError::InputNotFinite { row, column, value } = error else { panic!("{error:?}") };
        assert_eq!((row, column, value.to_bits()), (RowIndex::new(2), 1, bad.to_bits()));
    }
}

#[test]
fn infinite_outputs_name_row_and_column() {
    for bad in [f64::INFINITY, f64::NEG_INFINITY] {
        let error = Observations::from_dense(2, 2, &[0.0, f64::NAN, bad, 3.0]).unwrap_err();
        let (row, output) = (RowIndex::new(1), OutputIndex::new(0));
        assert_eq!(error, DataError::OutputNotFinite { row, output, value: bad });
    }
}

#[test]
fn cell_noise_that_is_not_positive_names_row_and_column() {
    for bad in NOT_POSITIVE {
        let table = Observations::from_dense(2, 2, &[0.0, 1.0, f64::NAN, 3.0]).unwrap();
        let error = table.clone().with_cell_noise(&[1.0, 1.0, 1.0, bad]).unwrap_err();
        let DataError::CellNoise { row, output, .. } = error else { panic!("{error:?}") };
        assert_eq!((row, output), (RowIndex::new(1), OutputIndex::new(1)));
        assert!(table.with_cell_noise(&[1.0, 1.0, bad, 1.0]).is_ok(), "a missing cell has no noise");
    }
}

#[test]
fn empty_tables_and_wrong_shapes() {
    assert_eq!(InputPoints::new(0, 2, vec![]).unwrap_err(), DataError::NoRows);
    assert_eq!(InputPoints::from_column(vec![]).unwrap_err(), DataError::NoRows);
    assert_eq!(InputPoints::new(2, 0, vec![]).unwrap_err(), DataError::NoInputs);
    assert_eq!(Observations::from_dense(0, 2, &[]).unwrap_err(), DataError::NoRows);
    assert_eq!(Observations::from_dense(2, 0, &[]).unwrap_err(), DataError::NoOutputs);
    let is_shape = |error: DataError| matches!(error, DataError::ShapeMismatch { .. });
    assert!(is_shape(InputPoints::new(2, 2, vec![0.0; 3]).unwrap_err()));
    assert!(is_shape(InputPoints::new(usize::MAX, 2, vec![0.0; 3]).unwrap_err()));
    assert!(is_shape(Observations::from_dense(2, 2, &[0.0; 5]).unwrap_err()));
    assert!(is_shape(Observations::from_dense(usize::MAX, usize::MAX, &[0.0; 5]).unwrap_err()));
    let table = Observations::from_dense(2, 1, &[0.0, 1.0]).unwrap();
    assert!(is_shape(table.clone().with_cell_noise(&[1.0]).unwrap_err()));
    let inputs = InputPoints::from_column(vec![0.0, 1.0, 2.0]).unwrap();
    let error = Dataset::new(inputs, table).unwrap_err();
    assert_eq!(error, DataError::RowCountMismatch { inputs: 3, observations: 2 });
}

#[test]
fn an_output_without_values_cannot_be_standardized_but_can_be_predicted() {
    let table = Observations::from_dense(2, 2, &[0.5, f64::NAN, 1.5, f64::NAN]).unwrap();
    let error = OutputScaling::standardizing(&table).unwrap_err();
    assert_eq!(error, DataError::OutputNeverObserved { output: OutputIndex::new(1) });
    let model = model(2, 0.7, 0.1);
    let tree = sorted_chain(&InputPoints::from_column(vec![0.0, 1e12]).unwrap()).unwrap();
    let graph = FactorGraph::new(&model, &tree, &table).unwrap();
    let prediction = Workspace::new().marginals(&graph).unwrap().prediction;
    assert!(prediction.variances().iter().all(|variance| *variance > 0.0 && *variance < 0.49 + 1e-12));
}

#[test]
fn units_must_be_positive() {
    for bad in NOT_POSITIVE {
        assert!(matches!(LengthScale::new(bad), Err(UnitError::LengthScale(_))));
        assert!(matches!(Variance::new(bad), Err(UnitError::Variance(_))));
        assert!(matches!(DistanceScale::new(bad), Err(UnitError::DistanceScale(_))));
    }
}

#[test]
fn models_whose_parts_do_not_fit() {
    assert_eq!(MixingMatrix::shared(0, 1, vec![]).unwrap_err(), ModelError::NoOutputs);
    assert_eq!(MixingMatrix::shared(1, 0, vec![]).unwrap_err(), ModelError::NoLatents);
    let error = MixingMatrix::shared(2, 2, vec![0.0; 3]).unwrap_err();
    assert_eq!(error, ModelError::MixingShape { n_outputs: 2, n_latents: 2, found: 3 });
    let error = MixingMatrix::with_private(2, 1, vec![0.0; 2], vec![1.0]).unwrap_err();
    assert_eq!(error, ModelError::PrivateShape { n_outputs: 2, found: 1 });
    for bad in NOT_NUMBERS {
        let error = MixingMatrix::shared(2, 2, vec![0.0, 1.0, bad, 3.0]).unwrap_err();
        let ModelError::WeightNotFinite { output, latent, .. } = error else { panic!("{error:?}") };
        assert_eq!((output, latent), (OutputIndex::new(1), LatentIndex::new(0)));
        let error = MixingMatrix::with_private(2, 1, vec![0.0; 2], vec![1.0, bad]).unwrap_err();
        let ModelError::WeightNotFinite { output, latent, .. } = error else { panic!("{error:?}") };
        assert_eq!((output, latent), (OutputIndex::new(1), LatentIndex::new(2)));
    }
    let mixing = MixingMatrix::shared(2, 1, vec![1.0; 2]).unwrap();
    let noise = vec![Variance::new(1.0).unwrap(); 2];
    let error = Lmc::new(vec![], mixing.clone(), noise.clone()).unwrap_err();
    assert_eq!(error, ModelError::LatentCount { latents: 0, columns: 1 });
    let latents = vec![latent(Kernel::Matern12, StateKind::Value)];
    let error = Lmc::new(latents, mixing, noise[..1].to_vec()).unwrap_err();
    assert_eq!(error, ModelError::NoiseCount { n_outputs: 2, found: 1 });
    let scale = LengthScale::new(1.0).unwrap();
    let error = Latent::new(Kernel::SquaredExponential, StateKind::Derivative, scale).unwrap_err();
    assert_eq!(error, KernelError::NoDerivativeState(Kernel::SquaredExponential));
}

#[test]
fn structures_that_are_none() {
    let rows =
        |numbers: &[usize]| -> Vec<RowIndex> { numbers.iter().map(|&row| RowIndex::new(row)).collect() };
    let inputs = InputPoints::new(3, 2, vec![0.0; 6]).unwrap();
    assert_eq!(sorted_chain(&inputs).unwrap_err(), StructureError::NotOneDimensional { dim: 2 });
    let error = brute_force_greedy_chain(&inputs, RowIndex::new(3)).unwrap_err();
    assert_eq!(error, StructureError::UnknownRow { row: RowIndex::new(3), n_rows: 3 });
    let error = Tree::chain(&inputs, rows(&[0, 1])).unwrap_err();
    assert_eq!(error, StructureError::RowCountMismatch { n_rows: 3, found: 2 });
    let error = Tree::chain(&inputs, rows(&[0, 1, 1])).unwrap_err();
    assert_eq!(error, StructureError::RowVisitedTwice { row: RowIndex::new(1) });
    let error = Tree::chain(&inputs, rows(&[0, 1, 7])).unwrap_err();
    assert_eq!(error, StructureError::UnknownRow { row: RowIndex::new(7), n_rows: 3 });
    let parents = |list: [Option<usize>; 3]| list.map(|row| row.map(RowIndex::new));
    let error = Tree::from_parents(&inputs, &parents([None, None, Some(0)])).unwrap_err();
    assert_eq!(error, StructureError::NotOneRoot { found: 2, n_groups: 1 });
    let error = Tree::from_parents(&inputs, &parents([None, Some(2), Some(1)])).unwrap_err();
    assert_eq!(error, StructureError::NotConnected { row: RowIndex::new(1) });
    let error = Tree::from_parents(&inputs, &parents([None, Some(9), Some(1)])).unwrap_err();
    assert_eq!(error, StructureError::UnknownRow { row: RowIndex::new(9), n_rows: 3 });
    let far = InputPoints::from_column(vec![-1.7e308, 1.7e308]).unwrap();
    let error = sorted_chain(&far).unwrap_err();
    assert!(matches!(error, StructureError::DistanceNotFinite { row, .. } if row == RowIndex::new(1)));
}

#[test]
fn parts_of_different_tables() {
    let model = model(2, 1.0, 0.1);
    let tree = sorted_chain(&InputPoints::from_column(vec![0.0, 1.0, 2.0]).unwrap()).unwrap();
    let table = Observations::from_dense(2, 2, &[0.0; 4]).unwrap();
    let error = FactorGraph::new(&model, &tree, &table).unwrap_err();
    assert_eq!(error, GraphError::RowCountMismatch { structure: 3, observations: 2 });
    let table = Observations::from_dense(3, 1, &[0.0; 3]).unwrap();
    let error = FactorGraph::new(&model, &tree, &table).unwrap_err();
    assert_eq!(error, GraphError::OutputCountMismatch { model: 2, observations: 1 });
}

#[test]
fn trees_carry_no_derivatives_and_no_covariance_form() {
    let inputs = InputPoints::from_column(vec![0.0, 1.0, 2.0]).unwrap();
    let star = [None, Some(RowIndex::new(0)), Some(RowIndex::new(0))];
    let star = Tree::from_parents(&inputs, &star).unwrap();
    let table = Observations::from_dense(3, 1, &[0.0; 3]).unwrap();
    let with_derivatives = model(1, 1.0, 0.1);
    let error = FactorGraph::new(&with_derivatives, &star, &table).unwrap_err();
    assert_eq!(error, GraphError::DerivativeOnTree { latent: LatentIndex::new(0) });
    let mixing = MixingMatrix::shared(1, 1, vec![1.0]).unwrap();
    let noise = vec![Variance::new(0.1).unwrap()];
    let values = Lmc::new(vec![latent(Kernel::Matern32, StateKind::Value)], mixing, noise).unwrap();
    let graph = FactorGraph::new(&values, &star, &table).unwrap();
    let mut workspace = Workspace::with_form(Form::Covariance);
    assert_eq!(workspace.marginals(&graph).unwrap_err(), InferenceError::NotAChain);
    assert_eq!(workspace.log_evidence(&graph).unwrap_err(), InferenceError::NotAChain);
    assert_eq!(workspace.gradient(&graph).unwrap_err(), InferenceError::NotAChain);
}

/// Whatever the size of the numbers, what comes out is finite or an error that names a row.
#[test]
fn numbers_of_extreme_size_overflow_into_an_error_or_not_at_all() {
    let inputs = InputPoints::from_column(vec![0.0, 0.0, 1e-300, 1.0, 1e300]).unwrap();
    let tree = sorted_chain(&inputs).unwrap();
    let mut failures = vec![];
    for weight in [0.0, 1e-300, 1e-160, 1.0, 1e160, 1e300] {
        for noise in [5e-324, 1e-300, 1e-160, 1.0, 1e160, f64::MAX] {
            for value in [0.0, 1e-300, 1.0, 1e160, f64::MAX] {
                let model = model(1, weight, noise);
                let cells = [value, -value, f64::NAN, value, 0.5 * value];
                let table = Observations::from_dense(5, 1, &cells).unwrap();
                let graph = FactorGraph::new(&model, &tree, &table).unwrap();
                for form in [None, Some(Form::Information), Some(Form::Covariance), Some(Form::SquareRoot)] {
                    for what in not_finite(&graph, form) {
                        failures.push(format!(
                            "{what}, form {form:?}: weight {weight:e}, noise {noise:e}, values {value:e}"
                        ));
                    }
                }
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} cases, among them {:#?}",
        failures.len(),
        &failures[..failures.len().min(200)]
    );
}

/// What a sweep gives without an error and is yet not a finite number, or a negative variance.
fn not_finite(graph: &FactorGraph<'_>, form: Option<Form>) -> Vec<&'static str> {
    let mut workspace = form.map_or_else(Workspace::new, Workspace::with_form);
    let mut found = vec![];
    if workspace.log_evidence(graph).is_ok_and(|evidence| !evidence.is_finite()) {
        found.push("evidence alone");
    }
    if let Ok(marginals) = workspace.marginals(graph) {
        let prediction = &marginals.prediction;
        if !marginals.log_evidence.is_finite() {
            found.push("evidence");
        }
        if prediction.means().iter().any(|mean| !mean.is_finite()) {
            found.push("means");
        }
        if prediction.variances().iter().any(|variance| !(variance.is_finite() && *variance >= 0.0)) {
            found.push("variances");
        }
    }
    if let Ok(gradient) = workspace.gradient(graph) {
        let slopes = [gradient.mixing, gradient.length_scales, gradient.noise];
        if slopes.iter().flatten().any(|slope| !slope.is_finite()) {
            found.push("slopes");
        }
    }
    let joint = form.map_or_else(|| Posterior::new(graph), |form| Posterior::with_form(graph, form));
    if let Ok(joint) = joint {
        let prediction = joint.prediction();
        let numbers = prediction.means().iter().chain(prediction.variances());
        if numbers.into_iter().any(|number| !number.is_finite()) {
            found.push("joint posterior");
        }
        // A form that is named is left as it is.
        if form.is_none() && prediction.variances().iter().any(|variance| *variance < 0.0) {
            found.push("variances of the joint posterior");
        }
    }
    found
}

/// New inputs of every kind: beyond both ends, between rows, on them, and near to them.
const PLACES: [f64; 7] = [-1e308, -1e-300, 0.0, 1e-200, 0.5, 1e299, 1e308];

/// Whatever the size of the numbers, new inputs are answered by finite numbers, or by an error.
#[test]
fn new_inputs_of_extreme_size_overflow_into_an_error_or_not_at_all() {
    let inputs = InputPoints::from_column(vec![0.0, 0.0, 1e-300, 1.0, 1e300]).unwrap();
    let tree = sorted_chain(&inputs).unwrap();
    let at = InputPoints::from_column(PLACES.to_vec()).unwrap();
    let length = LengthScale::new(1.0).unwrap();
    let latents = [
        latent(Kernel::Matern32, StateKind::Derivative),
        latent(Kernel::Matern52, StateKind::Derivative),
        Latent::component(Component::Sho { quality: Quality::new(1e-6).unwrap() }, length),
        Latent::component(Component::Cycle { period: length }, length),
        Latent::component(Component::RandomWalk, length),
        Latent::component(Component::LocalLinearTrend, length),
    ];
    let mut failures = vec![];
    for weight in [0.0, 1e-300, 1e-160, 1.0, 1e160, 1e300] {
        for noise in [5e-324, 1e-160, 1e-9, 1.0, 1e160, f64::MAX] {
            for value in [0.0, 1e-300, 1.0, 1e160, f64::MAX] {
                for latent in latents {
                    let mixing = MixingMatrix::shared(1, 1, vec![weight]).unwrap();
                    let noises = vec![Variance::new(noise).unwrap()];
                    let model = Lmc::new(vec![latent], mixing, noises).unwrap();
                    let cells = [value, -value, f64::NAN, value, 0.5 * value];
                    let table = Observations::from_dense(5, 1, &cells).unwrap();
                    let graph = FactorGraph::new(&model, &tree, &table).unwrap();
                    for what in answers_not_finite(&graph, (&inputs, &table), &at) {
                        let process = latent.process();
                        failures.push(format!(
                            "{what}: {process:?}, weight {weight:e}, noise {noise:e}, values {value:e}"
                        ));
                    }
                }
            }
        }
    }
    let shown = &failures[..failures.len().min(100)];
    assert!(failures.is_empty(), "{} cases, among them {shown:#?}", failures.len());
}

/// The same for answers that are not at rows of the table.
fn answers_not_finite(
    graph: &FactorGraph<'_>,
    (inputs, table): (&InputPoints, &Observations),
    at: &InputPoints,
) -> Vec<&'static str> {
    let is_wrong = |means: &[f64], variances: &[f64]| {
        let is_variance = |variance: &f64| variance.is_finite() && *variance >= 0.0;
        !(means.iter().all(|mean| mean.is_finite()) && variances.iter().all(is_variance))
    };
    let mut found = vec![];
    let mut live = LivePosterior::new(graph, inputs, table).unwrap();
    for row in at.rows() {
        let one = InputPoints::from_column(at.point(row).to_vec()).unwrap();
        let along = Workspace::new().predict_along(graph, inputs, &one, false);
        if along.is_ok_and(|(along, _)| is_wrong(along.means(), along.variances())) {
            found.push("along");
        }
        let answer = Posterior::new(graph).and_then(|joint| joint.with_inputs(inputs)?.predict_at(&one));
        if answer.is_ok_and(|answer| is_wrong(answer.means(), answer.variances())) {
            found.push("at new inputs");
        }
        if live.marginals_at(one.values()).is_ok_and(|answer| is_wrong(&answer.means, &answer.variances)) {
            found.push("of a live posterior");
        }
    }
    let ahead = [0.0, 1e-300, 1.0, 1e308].map(|distance| Outlook { origin: RowIndex::new(3), distance });
    for outlook in ahead {
        let answer = Workspace::new().predict_ahead(graph, &[outlook]);
        if answer.is_ok_and(|answer| is_wrong(answer.means(), answer.variances())) {
            found.push("ahead");
        }
    }
    found
}

#[test]
fn inputs_that_overflow_when_they_are_scaled_name_row_and_column() {
    let inputs = InputPoints::new(2, 2, vec![0.0, 1.0, 2.0, 1e300]).unwrap();
    let scaling = InputScaling::with_shifts_and_scales(&[(0.0, 1.0), (0.0, 1e-300)]).unwrap();
    let overflow = DataError::ScalingOverflow { row: RowIndex::new(1), column: 1 };
    assert_eq!(scaling.apply(&inputs).unwrap_err(), overflow);
}
