//! Small random problems and their posterior by the dense reference.
#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod full_scale_reference;

use std::sync::Arc;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::{OutputIndex, RowIndex};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::prediction::Prediction;
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_methods::fullscale::{Arrangement, FullScale, FullScaleSize};
use catena_methods::{Joint, MemoryLimit, Problem};
use catena_testkit::random::SeededDraws;
use catena_testkit::reference::DensePrior;

/// The kind of a random problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) n_rows: usize,
    pub(crate) dim: usize,
    pub(crate) n_outputs: usize,
    pub(crate) n_shared: usize,
    pub(crate) private: bool,
    pub(crate) missing: f64,
    pub(crate) cell_noise: bool,
    pub(crate) one_correlation: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            n_rows: 24,
            dim: 2,
            n_outputs: 3,
            n_shared: 2,
            private: false,
            missing: 0.3,
            cell_noise: false,
            one_correlation: false,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) model: Lmc,
    pub(crate) dataset: Dataset,
    pub(crate) at: InputPoints,
    pub(crate) scale: DistanceScale,
}

pub(crate) fn latent(kernel: Kernel, length_scale: f64) -> Latent {
    Latent::new(kernel, StateKind::Value, LengthScale::new(length_scale).unwrap()).unwrap()
}

pub(crate) fn points(draws: &mut SeededDraws, n_rows: usize, dim: usize) -> InputPoints {
    InputPoints::new(n_rows, dim, (0..n_rows * dim).map(|_| draws.uniform(0.0, 4.0)).collect()).unwrap()
}

/// A random problem. Rows 2 and 3 have equal inputs, and row 5 has no observed cell if cells may be missing.
pub(crate) fn example(shape: Shape, seed: u64) -> Example {
    let mut draws = SeededDraws::new(seed);
    let (n, d) = (shape.n_rows, shape.n_outputs);
    let mut places: Vec<f64> = (0..n * shape.dim).map(|_| draws.uniform(0.0, 4.0)).collect();
    places.copy_within(2 * shape.dim..3 * shape.dim, 3 * shape.dim);
    let inputs = InputPoints::new(n, shape.dim, places).unwrap();
    let mut values = Vec::with_capacity(n * d);
    for row in 0..n {
        for _ in 0..d {
            let value = draws.normal();
            let is_missing = draws.chance(shape.missing) || (row == 5 && shape.missing > 0.0);
            values.push(if is_missing { f64::NAN } else { value });
        }
    }
    let mut observations = Observations::from_dense(n, d, &values).unwrap();
    if shape.cell_noise {
        let noises: Vec<f64> = (0..n * d).map(|_| draws.uniform(0.05, 1.05)).collect();
        observations = observations.with_cell_noise(&noises).unwrap();
    }
    let kernels = [Kernel::Matern32, Kernel::Matern12, Kernel::Matern52, Kernel::SquaredExponential];
    let n_private = if shape.private { d } else { 0 };
    let latents = (0..shape.n_shared + n_private)
        .map(|at| {
            if shape.one_correlation {
                latent(Kernel::Matern32, 1.3)
            } else {
                latent(kernels[(at + seed as usize) % kernels.len()], draws.uniform(0.5, 2.5))
            }
        })
        .collect();
    let shared = (0..d * shape.n_shared).map(|_| draws.normal()).collect();
    let private = (0..n_private).map(|_| draws.uniform(0.5, 1.5)).collect();
    let mixing = MixingMatrix::with_private(d, shape.n_shared, shared, private).unwrap();
    let noise = (0..d).map(|_| Variance::new(draws.uniform(0.05, 0.45)).unwrap()).collect();
    let model = Lmc::new(latents, mixing, noise).unwrap();
    let at = points(&mut draws, 11, shape.dim);
    let dataset = Dataset::new(inputs, observations).unwrap();
    Example { model, dataset, at, scale: DistanceScale::new(0.7).unwrap() }
}

pub(crate) struct Answer {
    pub(crate) log_evidence: f64,
    pub(crate) means: Vec<f64>,
    pub(crate) variances: Vec<f64>,
}

/// The full-scale method on a problem.
pub(crate) fn full_scale(example: &Example, n_inducing: usize, n_neighbors: usize) -> FullScale {
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let size = FullScaleSize { n_inducing, n_neighbors };
    let arrangement = Arrangement::new(&example.dataset, size, 1).unwrap();
    FullScale::fit(problem, Arc::new(arrangement), MemoryLimit::default()).unwrap()
}

/// The joint posterior at the points of an example by the dense reference, and its log evidence. The points are appended to
/// the table as rows without cells.
pub(crate) fn reference_joint(example: &Example) -> (f64, Joint) {
    let (model, observations, at) = (&example.model, example.dataset.observations(), &example.at);
    let (n_observed, n_outputs) = (observations.n_rows(), model.n_outputs());
    let n_rows = n_observed + at.n_rows();
    let (mut values, mut noise) = (vec![f64::NAN; n_rows * n_outputs], vec![1.0; n_rows * n_outputs]);
    for (row, cell) in observations.cells() {
        let index = row.get() * n_outputs + cell.output.get();
        values[index] = cell.value;
        noise[index] = cell.noise_variance.unwrap_or(model.noise()[cell.output.get()].get());
    }
    let padded = Observations::from_dense(n_rows, n_outputs, &values).unwrap();
    let padded = padded.with_cell_noise(&noise).unwrap();
    let places = [example.dataset.inputs().values(), at.values()].concat();
    let inputs = InputPoints::new(n_rows, at.dim(), places).unwrap();
    let posterior = DensePrior::euclidean(model, &inputs, example.scale).condition(&padded).unwrap();
    let rows = || (n_observed..n_rows).map(RowIndex::new);
    let dim = at.n_rows() * n_outputs;
    let mut covariance = vec![0.0; dim * dim];
    for (a, here) in rows().enumerate() {
        for (b, there) in rows().enumerate() {
            let block = posterior.output_cross_covariance(here, there);
            for (entry, value) in block.into_iter().enumerate() {
                let (d, e) = (entry / n_outputs, entry % n_outputs);
                covariance[(a * n_outputs + d) * dim + b * n_outputs + e] = value;
            }
        }
    }
    let means = rows().flat_map(|row| posterior.output_mean(row)).collect();
    (posterior.log_evidence(), Joint { means, covariance })
}

/// Means and variances at the points of an example by the dense reference.
pub(crate) fn reference(example: &Example) -> Answer {
    let (log_evidence, Joint { means, covariance }) = reference_joint(example);
    let variances = covariance.into_iter().step_by(means.len() + 1).collect();
    Answer { log_evidence, means, variances }
}

/// Every mean and variance within `tolerance` of the reference, relative to the scale of the numbers (about 1).
pub(crate) fn assert_prediction(prediction: &Prediction, answer: &Answer, tolerance: f64) {
    assert_all_close(prediction.means(), &answer.means, tolerance, "mean");
    assert_all_close(prediction.variances(), &answer.variances, tolerance, "variance");
}

pub(crate) fn assert_all_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: number of entries");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error <= tolerance, "{what} {at}: {found} is not {expected} (off by {error:e})");
    }
}

/// The model with one hyperparameter changed: first the weights (row-major, entries that can differ from 0), then
/// length-scales, then noises.
pub(crate) fn moved(model: &Lmc, number: usize, by: f64) -> Lmc {
    let mixing = model.mixing();
    let (d, shared, all) = (mixing.n_outputs(), mixing.n_shared(), mixing.n_latents());
    let mut weights: Vec<f64> =
        (0..d).flat_map(|output| mixing.shared_row(OutputIndex::new(output)).to_vec()).collect();
    let mut private: Vec<f64> =
        (0..d).filter_map(|output| mixing.private_weight(OutputIndex::new(output))).collect();
    let mut latents = model.latents().to_vec();
    let mut noise: Vec<f64> = model.noise().iter().map(|noise| noise.get()).collect();
    if number < d * all {
        let (output, l) = (number / all, number % all);
        if l < shared {
            weights[output * shared + l] += by;
        } else if l - shared == output {
            private[output] += by;
        }
    } else if number < d * all + all {
        let l = number - d * all;
        let longer = latents[l].length_scale().get() + by;
        latents[l] = latents[l].with_length_scale(LengthScale::new(longer).unwrap());
    } else {
        noise[number - d * all - all] += by;
    }
    let mixing = MixingMatrix::with_private(d, shared, weights, private).unwrap();
    Lmc::new(latents, mixing, noise.into_iter().map(|r| Variance::new(r).unwrap()).collect()).unwrap()
}

/// The number of hyperparameters that [`moved`] can change.
pub(crate) fn n_parameters(model: &Lmc) -> usize {
    model.n_outputs() * model.n_latents() + model.n_latents() + model.n_outputs()
}

/// Problems of every kind: few and many latents, private ones, missing values, noise per cell, one correlation function.
pub(crate) fn shapes() -> Vec<Shape> {
    let usual = Shape::default();
    vec![
        usual,
        Shape { dim: 1, n_shared: 1, ..usual },
        Shape { n_outputs: 5, n_shared: 2, ..usual },
        Shape { n_outputs: 2, n_shared: 4, dim: 3, ..usual },
        Shape { private: true, ..usual },
        Shape { private: true, n_shared: 0, ..usual },
        Shape { cell_noise: true, n_outputs: 4, ..usual },
        Shape { one_correlation: true, ..usual },
        Shape { one_correlation: true, missing: 0.0, n_outputs: 4, ..usual },
        Shape { missing: 0.0, n_outputs: 4, ..usual },
        Shape { missing: 0.0, private: true, ..usual },
    ]
}
