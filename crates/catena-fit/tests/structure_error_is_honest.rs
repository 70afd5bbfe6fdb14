//! The estimated error of a structure is that of the exact posterior, within what it promises.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use catena::data::{Dataset, InputPoints, Observations, OutputScaling};
use catena::graph::FactorGraph;
use catena::index::RowIndex;
use catena::inference::marginals;
use catena::kernel::StateKind;
use catena::model::{Latent, Lmc};
use catena::prediction::Prediction;
use catena::structure::{Start, Tree, greedy_chain, spanning_tree};
use catena_methods::Problem;
use catena_methods::exact::{Exact, ExactOptions};
use catena_methods::structure_error::{
    ErrorEstimate, EstimateError, EstimateOptions, StructureWarning, estimate_structure_error,
};
use catena_methods::structure_report::StructureReport;
use catena_studies::sensor_study::sensor_study;
use catena_studies::study::Study;
use catena_testkit::random::SeededDraws;

fn with_value_states(model: &Lmc) -> Lmc {
    let value = |latent: &Latent| {
        Latent::new(latent.kernel().unwrap(), StateKind::Value, latent.length_scale()).unwrap()
    };
    let latents = model.latents().iter().map(value).collect();
    Lmc::new(latents, model.mixing().clone(), model.noise().to_vec()).unwrap()
}

fn swept(study: &Study, model: &Lmc, structure: Tree) -> Prediction {
    let structure = structure.with_distance_scale(study.distance_scale).unwrap();
    let graph = FactorGraph::new(model, &structure, study.dataset.observations()).unwrap();
    marginals(&graph).unwrap().prediction
}

fn estimate(study: &Study, prediction: &Prediction, options: EstimateOptions) -> ErrorEstimate {
    let problem = Problem::new(&study.model, &study.dataset, study.distance_scale).unwrap();
    let scaling = OutputScaling::with_shifts_and_scales(&study.output_scaling).unwrap();
    estimate_structure_error(problem, prediction, &study.test_rows, &scaling, options).unwrap()
}

/// The RMS difference over all test rows, in output units; `exact` is of the test rows only.
fn true_difference(study: &Study, prediction: &Prediction, exact: &Prediction) -> f64 {
    let n_outputs = study.output_scaling.len();
    let mut squares = 0.0;
    for (at, row) in study.test_rows.iter().enumerate() {
        for (output, &(_, scale)) in study.output_scaling.iter().enumerate() {
            let own = prediction.means()[row.get() * n_outputs + output];
            squares += (scale * (own - exact.means()[at * n_outputs + output])).powi(2);
        }
    }
    (squares / (study.test_rows.len() * n_outputs) as f64).sqrt()
}

/// The paper's chain and the spanning tree on the authors' sensor study, at full size.
fn check_sensor(dim: usize, seed: u32) {
    let study = sensor_study(dim, seed).unwrap();
    let problem = Problem::new(&study.model, &study.dataset, study.distance_scale).unwrap();
    let exact = Exact::fit(problem, ExactOptions::default()).unwrap();
    let exact = exact.predict(&study.test_inputs().unwrap()).unwrap();
    let tree = spanning_tree(study.dataset.inputs()).unwrap();
    let structures = [
        ("chain", swept(&study, &study.model, study.chain.clone())),
        ("tree", swept(&study, &with_value_states(&study.model), tree)),
    ];
    for (name, prediction) in structures {
        let estimate = estimate(&study, &prediction, EstimateOptions::default());
        let truth = true_difference(&study, &prediction, &exact);
        let ratio = estimate.mean_difference.value / truth;
        assert!((0.5..=2.0).contains(&ratio), "M = {dim}, seed {seed}, {name}: {truth} but {estimate}");
    }
}

#[test]
fn two_inputs() {
    (0..2).for_each(|seed| check_sensor(2, seed));
}

#[test]
fn four_inputs() {
    (0..2).for_each(|seed| check_sensor(4, seed));
}

#[test]
fn eight_inputs() {
    (0..2).for_each(|seed| check_sensor(8, seed));
}

/// 60 points of two inputs, two thirds of the cells observed, each with its own noise.
fn small_table() -> Dataset {
    let mut draws = SeededDraws::new(3);
    let places = (0..120).map(|_| draws.normal()).collect();
    let values: Vec<f64> =
        (0..180).map(|_| if draws.chance(0.3) { f64::NAN } else { draws.normal() }).collect();
    let noise: Vec<f64> = (0..180).map(|_| draws.log_uniform(0.05, 0.5)).collect();
    let observations = Observations::from_dense(60, 3, &values).unwrap().with_cell_noise(&noise).unwrap();
    Dataset::new(InputPoints::new(60, 2, places).unwrap(), observations).unwrap()
}

/// The small table with the model of the paper's study, in units of its own median gap: in those of the study's 2000
/// points, 60 points would hardly be correlated and most differences would be zero.
fn small_study() -> Study {
    let dataset = small_table();
    let chain = greedy_chain(dataset.inputs(), Start::FirstRow).unwrap();
    let distance_scale = chain.median_step().unwrap();
    let test_rows = dataset.inputs().rows().collect();
    Study { dataset, chain, distance_scale, test_rows, ..sensor_study(2, 5).unwrap() }
}

/// With all rows sampled and all of them neighbors, the estimate is the difference itself.
#[test]
fn with_everything_looked_at_nothing_is_estimated() {
    let study = small_study();
    let model = with_value_states(&study.model);
    let prediction = swept(&study, &model, spanning_tree(study.dataset.inputs()).unwrap());
    let problem = Problem::new(&study.model, &study.dataset, study.distance_scale).unwrap();
    let exact =
        Exact::fit(problem, ExactOptions::default()).unwrap().predict(study.dataset.inputs()).unwrap();
    let options = EstimateOptions { n_sampled: 1000, n_neighbors: 1000, ..EstimateOptions::default() };
    let estimate = estimate(&study, &prediction, options);
    let truth = true_difference(&study, &prediction, &exact);
    assert!((estimate.mean_difference.value - truth).abs() < 1e-10 * truth, "{truth} but {estimate}");
    assert_eq!(estimate.mean_difference.standard_error, 0.0);
    assert_eq!(estimate.reference_change, 0.0);
    assert_eq!(estimate.n_sampled, 60);
    let total = |prediction: &Prediction| -> f64 {
        let scales = study.output_scaling.iter().map(|(_, scale)| scale * scale).cycle();
        prediction.variances().iter().zip(scales).map(|(variance, scale)| variance * scale).sum()
    };
    let ratio = (total(&prediction) / total(&exact)).sqrt();
    assert!((estimate.deviation_ratio - ratio).abs() < 1e-10 * ratio);
    // Two standard errors hold 95 of 100 normal draws; 85 or fewer would have a chance below 1e-4.
    let is_within = |seed: &u64| {
        let options = EstimateOptions { n_sampled: 30, seed: *seed, ..options };
        let sampled = self::estimate(&study, &prediction, options).mean_difference;
        (sampled.value - truth).abs() <= 2.0 * sampled.standard_error
    };
    let n_within = (0..100).filter(is_within).count();
    assert!(n_within > 85, "{n_within}");
    // Against itself the dense posterior is off by nothing but rounding, and no warning is given.
    let of_itself = self::estimate(&study, &exact, options);
    assert!(of_itself.in_deviations.value < 1e-10 && of_itself.warnings.is_empty(), "{of_itself}");
    // A shift of one deviation in every cell is one deviation.
    let shifted = exact.means().iter().zip(exact.variances()).map(|(mean, variance)| mean + variance.sqrt());
    let shifted = Prediction::new(60, 3, shifted.collect(), exact.variances().to_vec()).unwrap();
    let of_shifted = self::estimate(&study, &shifted, options);
    assert!((of_shifted.in_deviations.value - 1.0).abs() < 1e-9, "{of_shifted}");
    assert!(matches!(of_shifted.warnings[..], [StructureWarning::FarFromDense { .. }]));
}

#[test]
fn the_seed_decides_and_threads_do_not() {
    let study = sensor_study(2, 1).unwrap();
    let prediction = swept(&study, &study.model, study.chain.clone());
    let few = EstimateOptions { n_sampled: 20, n_neighbors: 10, ..EstimateOptions::default() };
    let with = |n_threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let estimate = pool.install(|| estimate(&study, &prediction, EstimateOptions { seed, ..few }));
        ErrorEstimate { seconds: 0.0, ..estimate }
    };
    assert_eq!(with(1, 0), with(4, 0));
    assert_ne!(with(1, 0), with(1, 1));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let study = sensor_study(2, 5).unwrap();
    let problem = Problem::new(&study.model, &study.dataset, study.distance_scale).unwrap();
    let prediction = swept(&study, &study.model, study.chain.clone());
    let refused = |prediction: &Prediction, rows: &[RowIndex], n_outputs, options| {
        let scaling = OutputScaling::identity(n_outputs);
        estimate_structure_error(problem, prediction, rows, &scaling, options).unwrap_err()
    };
    let (options, rows) = (EstimateOptions::default(), &study.test_rows[..]);
    let short = Prediction::new(1, 3, vec![0.0; 3], vec![1.0; 3]).unwrap();
    assert_eq!(refused(&short, rows, 3, options), EstimateError::PredictionShape { rows: 1, outputs: 3 });
    assert_eq!(refused(&prediction, rows, 2, options), EstimateError::ScaleCount { expected: 3, found: 2 });
    assert_eq!(refused(&prediction, &[], 3, options), EstimateError::NoRows);
    let row = RowIndex::new(2000);
    assert_eq!(refused(&prediction, &[row], 3, options), EstimateError::UnknownRow { row, n_rows: 2000 });
    let one = EstimateOptions { n_neighbors: 1, ..options };
    let too_few = EstimateError::TooFew { n_sampled: 200, n_neighbors: 1 };
    assert_eq!(refused(&prediction, rows, 3, one), too_few);
}

#[test]
fn the_report_holds_bounds_and_estimate() {
    let study = small_study();
    let model = with_value_states(&study.model);
    let tree = spanning_tree(study.dataset.inputs()).unwrap();
    let prediction = swept(&study, &model, tree.clone());
    let estimate = estimate(&study, &prediction, EstimateOptions::default());
    let tree = tree.with_distance_scale(study.distance_scale).unwrap();
    let problem = Problem::new(&model, &study.dataset, study.distance_scale).unwrap();
    let report = StructureReport::new(problem, &tree, Default::default(), Some(estimate.clone())).unwrap();
    let bounds = report.bounds.clone().unwrap();
    assert!(bounds.latents.is_none() && bounds.covariance.is_none() && !bounds.is_complete);
    assert!(bounds.posterior.norms.gap > 0.0);
    assert!(bounds.posterior.mean.left <= bounds.posterior.mean.right);
    assert!(bounds.posterior.covariance.left <= bounds.posterior.covariance.right);
    assert!(report.to_string().contains("Lemma 2, means (missing cells as 0)"), "{report}");
}

/// On a derivative chain the paper's own inequalities are evaluated too, and hold.
#[test]
fn the_report_on_the_papers_chain_holds_its_bounds() {
    let study = small_study();
    let chain = study.chain.clone().with_distance_scale(study.distance_scale).unwrap();
    let problem = Problem::new(&study.model, &study.dataset, study.distance_scale).unwrap();
    let report = StructureReport::new(problem, &chain, Default::default(), None).unwrap();
    let bounds = report.bounds.as_ref().unwrap();
    let latents = bounds.latents.as_ref().unwrap();
    assert_eq!(latents.len(), 2);
    let covariance = bounds.covariance.unwrap();
    assert!(latents.iter().chain([&covariance]).all(|sides| 0.0 < sides.left && sides.left <= sides.right));
    assert!((covariance.left - bounds.posterior.norms.gap).abs() < 1e-12 * covariance.left, "{report}");
    assert!(
        (report.quality.covariance_gap_bound.unwrap() - covariance.right).abs() < 1e-12 * covariance.right
    );
    assert!(report.error.is_none());
}
