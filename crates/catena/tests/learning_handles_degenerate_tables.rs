//! Tables that would break a naive fit end in a finite model and a finite prediction.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use catena::data::{InputPoints, Observations, OutputScaling};
use catena::graph::FactorGraph;
use catena::index::OutputIndex;
use catena::kernel::Kernel;
use catena::learning::{
    Extent, Family, GraphEvidence, Learned, MultiStartSettings, OutputMoments, Priors, StopReason,
    multi_start,
};
use catena::model::Lmc;
use catena::posterior::Posterior;
use catena::structure::StructureChoice;
use catena_testkit::random::SeededDraws;
use std::ops::ControlFlow;

const FLOOR: f64 = 1e-6;
const N_OUTPUTS: usize = 3;

/// A table over places in any dimension: `value(row, output)`, NaN where missing.
struct Case {
    inputs: InputPoints,
    values: Vec<f64>,
}

/// Three waves with a little noise, 200 rows along a line.
fn waves(seed: u64) -> Case {
    let mut draws = SeededDraws::new(seed);
    let inputs = InputPoints::from_column((0..200).map(|row| row as f64).collect()).unwrap();
    let mut values = vec![];
    for row in 0..200 {
        let phase = row as f64 / 9.0;
        let waves = [phase.sin(), 0.8 * phase.sin() + 0.5 * (0.3 * phase).cos(), (1.7 * phase).cos()];
        values.extend(waves.map(|wave| wave + 0.1 * draws.normal()));
    }
    Case { inputs, values }
}

/// Learns by the default starts and checks that everything that comes out is a number, and better than it was.
fn learn(name: &str, case: &Case) -> Learned {
    let learned = learn_from(name, case);
    assert!(learned.log_posterior > learned.path[0], "{name}: nothing was learned");
    learned
}

/// The same for a table from which there may be nothing to learn.
fn learn_from(name: &str, case: &Case) -> Learned {
    let n_rows = case.inputs.n_rows();
    let observations = Observations::from_dense(n_rows, N_OUTPUTS, &case.values).unwrap();
    let observations = OutputScaling::standardizing(&observations).unwrap().apply(&observations).unwrap();
    let choice = StructureChoice::for_dim(case.inputs.dim());
    let tree = choice.build(&case.inputs).unwrap();
    let family = Family {
        n_shared: 2,
        shared_kernel: Kernel::Matern32,
        private_kernel: Some(Kernel::Matern12),
        state: choice.state(),
        tied: false,
    };
    let extent = Extent::of(&case.inputs, &tree);
    let moments = OutputMoments::of(&observations);
    let starts = [1.0, 0.3, 3.0].map(|multiplier| family.start(&moments, extent, multiplier).unwrap());
    let constant = (0..N_OUTPUTS).filter(|output| moments.covariance()[output * (N_OUTPUTS + 1)] == 0.0);
    let parameters = family.parameters_without(starts[0].clone(), FLOOR, constant.map(OutputIndex::new));
    let priors = Priors::for_points(extent.spacing, extent.span);
    let graph = FactorGraph::new(&starts[0], &tree, &observations).unwrap();
    let make = || GraphEvidence::new(graph.clone());
    let learned = multi_start(&make, &parameters, &priors, &starts, MultiStartSettings::default(), &|_| {
        ControlFlow::Continue(())
    });
    let learned = learned.unwrap();
    assert!(numbers(&learned.model).iter().all(|number| number.is_finite()), "{name}: {:?}", learned.model);
    assert!(learned.model.noise().iter().all(|noise| noise.get() >= FLOOR), "{name}");
    assert!(learned.log_evidence.is_finite() && learned.path.is_sorted(), "{name}");
    assert!(
        matches!(learned.stop, StopReason::Converged | StopReason::IterationLimit),
        "{name}: {:?}",
        learned.stop
    );
    let posterior = Posterior::new(&graph.with_model(&learned.model).unwrap()).unwrap();
    let prediction = posterior.prediction();
    assert!(prediction.means().iter().all(|mean| mean.is_finite()), "{name}");
    assert!(prediction.variances().iter().all(|variance| *variance >= 0.0 && variance.is_finite()), "{name}");
    learned
}

fn numbers(model: &Lmc) -> Vec<f64> {
    let lengths = model.latents().iter().map(|latent| latent.length_scale().get());
    let noise = model.noise().iter().map(|noise| noise.get());
    model.mixing().to_dense().into_iter().chain(lengths).chain(noise).collect()
}

#[test]
fn two_identical_outputs() {
    let mut case = waves(1);
    case.values.chunks_exact_mut(N_OUTPUTS).for_each(|row| row[1] = row[0]);
    let learned = learn("identical", &case);
    // The model sees that they are one.
    let weights = learned.model.mixing().to_dense();
    let n = learned.model.n_latents();
    let product =
        |a: usize, b: usize| -> f64 { (0..n).map(|at| weights[a * n + at] * weights[b * n + at]).sum() };
    let correlation = product(0, 1) / (product(0, 0) * product(1, 1)).sqrt();
    assert!(correlation > 0.95, "{correlation}");
}

#[test]
fn one_observation_in_an_output() {
    let mut case = waves(2);
    for (row, cells) in case.values.chunks_exact_mut(N_OUTPUTS).enumerate() {
        if row != 77 {
            cells[2] = f64::NAN;
        }
    }
    learn("one observation", &case);
}

#[test]
fn two_observations_in_an_output() {
    let mut case = waves(2);
    for (row, cells) in case.values.chunks_exact_mut(N_OUTPUTS).enumerate() {
        if row != 77 && row != 120 {
            cells[2] = f64::NAN;
        }
    }
    learn("two observations", &case);
}

#[test]
fn outputs_in_extreme_units_are_learned_like_any_other() {
    let plain = learn("plain", &waves(3));
    let scaled = |scales: [f64; 3]| {
        let mut case = waves(3);
        let cells = case.values.iter_mut().enumerate();
        cells.for_each(|(at, value)| *value *= scales[at % N_OUTPUTS]);
        case
    };
    // Powers of two change no digit, so nothing at all may change.
    let exact = learn("powers of two", &scaled([2.0_f64.powi(-40), 1.0, 2.0_f64.powi(40)]));
    assert_eq!(numbers(&exact.model), numbers(&plain.model));
    // Powers of ten change last digits, and with them the way of the climb, but not where it leads.
    let near = learn("powers of ten", &scaled([1e-12, 1.0, 1e12]));
    assert!((near.log_posterior - plain.log_posterior).abs() < 1.0);
}

#[test]
fn duplicate_rows_with_conflicting_values() {
    let mut draws = SeededDraws::new(4);
    let case = waves(4);
    let doubled: Vec<f64> = case.inputs.values().iter().flat_map(|&place| [place, place, place]).collect();
    let rows = case.values.chunks_exact(N_OUTPUTS);
    let values = rows.flat_map(|row| [row, row, row].concat()).collect::<Vec<f64>>();
    let values = values.iter().map(|value| value + draws.normal()).collect();
    let case = Case { inputs: InputPoints::from_column(doubled).unwrap(), values };
    let learned = learn("conflicting", &case);
    // The disagreement has variance 1 beside a signal of about 1/2: most of what is seen is noise.
    assert!(
        learned.model.noise().iter().all(|noise| (0.4..1.0).contains(&noise.get())),
        "{:?}",
        learned.model.noise()
    );
}

#[test]
fn all_rows_in_one_place() {
    let case = Case { inputs: InputPoints::from_column(vec![3.0; 200]).unwrap(), ..waves(5) };
    learn("one place", &case);
}

#[test]
fn a_constant_output_is_left_alone() {
    let mut case = waves(6);
    case.values.chunks_exact_mut(N_OUTPUTS).for_each(|row| row[1] = 7.25);
    let learned = learn("constant", &case);
    assert_eq!(learned.model.noise()[1].get(), 0.05);
}

#[test]
fn duplicate_points_in_the_plane() {
    let mut draws = SeededDraws::new(7);
    // Twenty places for two hundred rows.
    let places = (0..200).flat_map(|_| [draws.below(5) as f64, draws.below(4) as f64]).collect();
    let case = Case { inputs: InputPoints::new(200, 2, places).unwrap(), ..waves(7) };
    learn("plane", &case);
}

#[test]
fn a_single_row() {
    let one_row = |values: [f64; N_OUTPUTS]| Case {
        inputs: InputPoints::from_column(vec![1.0]).unwrap(),
        values: values.to_vec(),
    };
    // Each output is constant, and left alone.
    let learned = learn_from("single row", &one_row([1.0, -2.0, 3.0]));
    assert!(learned.model.noise().iter().all(|noise| noise.get() == 0.05), "{:?}", learned.model.noise());
    // An output never seen has no scale: that is an error of the table, not of learning.
    let observations = Observations::from_dense(1, N_OUTPUTS, &one_row([1.0, f64::NAN, 3.0]).values).unwrap();
    assert!(OutputScaling::standardizing(&observations).is_err());
}
