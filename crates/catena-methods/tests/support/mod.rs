//! A textbook Gaussian process in plain loops, and small random problems to judge the rivals by it.
#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod dense_process;

use std::sync::Arc;

use catena::data::{Cell, Dataset, InputPoints, Observations};
use catena::index::{OutputIndex, RowIndex};
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::prediction::Prediction;
use catena::units::{DistanceScale, LengthScale, Variance};
use catena_methods::fullscale::{Arrangement, FullScale, FullScaleSize};
use catena_methods::{MemoryLimit, Problem};

/// A linear congruential generator: enough to make tables.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Roughly normal: a sum of twelve uniform numbers.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// What a random problem looks like.
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

pub(crate) fn points(random: &mut Random, n_rows: usize, dim: usize) -> InputPoints {
    InputPoints::new(n_rows, dim, (0..n_rows * dim).map(|_| 4.0 * random.unit()).collect()).unwrap()
}

/// A random problem. Row 3 repeats the place of row 2, and row 5 has no observed cell when cells may be missing.
pub(crate) fn example(shape: Shape, seed: u64) -> Example {
    let mut random = Random(seed);
    random.unit();
    let (n, d) = (shape.n_rows, shape.n_outputs);
    let mut places: Vec<f64> = (0..n * shape.dim).map(|_| 4.0 * random.unit()).collect();
    places.copy_within(2 * shape.dim..3 * shape.dim, 3 * shape.dim);
    let inputs = InputPoints::new(n, shape.dim, places).unwrap();
    let mut values = Vec::with_capacity(n * d);
    for row in 0..n {
        for _ in 0..d {
            let value = random.normal();
            let hidden = random.unit() < shape.missing || (row == 5 && shape.missing > 0.0);
            values.push(if hidden { f64::NAN } else { value });
        }
    }
    let mut observations = Observations::from_dense(n, d, &values).unwrap();
    if shape.cell_noise {
        let noises: Vec<f64> = (0..n * d).map(|_| 0.05 + random.unit()).collect();
        observations = observations.with_cell_noise(&noises).unwrap();
    }
    let kernels = [Kernel::Matern32, Kernel::Matern12, Kernel::Matern52, Kernel::SquaredExponential];
    let n_private = if shape.private { d } else { 0 };
    let latents = (0..shape.n_shared + n_private)
        .map(|at| {
            if shape.one_correlation {
                latent(Kernel::Matern32, 1.3)
            } else {
                latent(kernels[(at + seed as usize) % kernels.len()], 0.5 + 2.0 * random.unit())
            }
        })
        .collect();
    let shared = (0..d * shape.n_shared).map(|_| random.normal()).collect();
    let private = (0..n_private).map(|_| 0.5 + random.unit()).collect();
    let mixing = MixingMatrix::with_private(d, shape.n_shared, shared, private).unwrap();
    let noise = (0..d).map(|_| Variance::new(0.05 + 0.4 * random.unit()).unwrap()).collect();
    let model = Lmc::new(latents, mixing, noise).unwrap();
    let at = points(&mut random, 11, shape.dim);
    let dataset = Dataset::new(inputs, observations).unwrap();
    Example { model, dataset, at, scale: DistanceScale::new(0.7).unwrap() }
}

/// The correlation functions, written again from their definitions.
pub(crate) fn correlation(kernel: Kernel, length_scale: f64, distance: f64) -> f64 {
    let r = distance / length_scale;
    match kernel {
        Kernel::Matern12 => (-r).exp(),
        Kernel::Matern32 => (1.0 + 3.0_f64.sqrt() * r) * (-(3.0_f64.sqrt()) * r).exp(),
        Kernel::Matern52 => (1.0 + 5.0_f64.sqrt() * r + 5.0 * r * r / 3.0) * (-(5.0_f64.sqrt()) * r).exp(),
        Kernel::SquaredExponential => (-0.5 * r * r).exp(),
    }
}

fn prior(example: &Example, (x, d): (&[f64], usize), (z, e): (&[f64], usize)) -> f64 {
    let distance = x.iter().zip(z).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt() / example.scale.get();
    let weights = example.model.mixing().to_dense();
    let n_latents = example.model.n_latents();
    (0..n_latents)
        .map(|l| {
            let latent = &example.model.latents()[l];
            weights[d * n_latents + l]
                * weights[e * n_latents + l]
                * correlation(latent.kernel().unwrap(), latent.length_scale().get(), distance)
        })
        .sum()
}

pub(crate) struct Answer {
    pub(crate) log_evidence: f64,
    pub(crate) means: Vec<f64>,
    pub(crate) variances: Vec<f64>,
}

/// Point, output, value and noise of every observed cell.
pub(crate) fn observed_cells(example: &Example) -> Vec<(Vec<f64>, usize, f64, f64)> {
    let cell = |(row, cell): (RowIndex, Cell)| {
        let noise = cell.noise_variance.unwrap_or(example.model.noise()[cell.output.get()].get());
        (example.dataset.inputs().point(row).to_vec(), cell.output.get(), cell.value, noise)
    };
    example.dataset.observations().cells().map(cell).collect()
}

/// The full-scale method on a problem.
pub(crate) fn full_scale(example: &Example, n_inducing: usize, n_neighbors: usize) -> FullScale {
    let problem = Problem::new(&example.model, &example.dataset, example.scale).unwrap();
    let size = FullScaleSize { n_inducing, n_neighbors };
    let arrangement = Arrangement::new(&example.dataset, size, 1).unwrap();
    FullScale::fit(problem, Arc::new(arrangement), MemoryLimit::default()).unwrap()
}

/// Gaussian conditioning as in a textbook: one equation per observed cell, Cholesky in three loops.
pub(crate) fn textbook(example: &Example) -> Answer {
    let cells = observed_cells(example);
    let n = cells.len();
    let mut k = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..n {
            k[i][j] = prior(example, (&cells[i].0, cells[i].1), (&cells[j].0, cells[j].1));
        }
        k[i][i] += cells[i].3;
    }
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|t| k[i][t] * k[j][t]).sum();
            k[i][j] = if i == j { (k[i][i] - sum).sqrt() } else { (k[i][j] - sum) / k[j][j] };
        }
    }
    let whiten = |b: &[f64]| {
        let mut z = vec![0.0; n];
        for i in 0..n {
            let sum: f64 = (0..i).map(|t| k[i][t] * z[t]).sum();
            z[i] = (b[i] - sum) / k[i][i];
        }
        z
    };
    let z = whiten(&cells.iter().map(|cell| cell.2).collect::<Vec<_>>());
    let log_evidence = -0.5 * z.iter().map(|z| z * z).sum::<f64>()
        - (0..n).map(|i| k[i][i].ln()).sum::<f64>()
        - 0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln();
    let (mut means, mut variances) = (vec![], vec![]);
    for row in example.at.rows() {
        for d in 0..example.model.n_outputs() {
            let x = example.at.point(row);
            let b: Vec<f64> = cells.iter().map(|cell| prior(example, (&cell.0, cell.1), (x, d))).collect();
            let v = whiten(&b);
            means.push(v.iter().zip(&z).map(|(v, z)| v * z).sum());
            variances.push(prior(example, (x, d), (x, d)) - v.iter().map(|v| v * v).sum::<f64>());
        }
    }
    Answer { log_evidence, means, variances }
}

/// Every mean and variance within `tolerance` of the textbook's, relative to the scale of the numbers (about 1).
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

/// The model with one hyperparameter moved: first the weights (row-major, entries that can differ from 0), then
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

/// The number of hyperparameters [`moved`] knows.
pub(crate) fn n_parameters(model: &Lmc) -> usize {
    model.n_outputs() * model.n_latents() + model.n_latents() + model.n_outputs()
}

/// Problems of every kind: few and many latents, private ones, holes, noise per cell, one correlation function.
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
