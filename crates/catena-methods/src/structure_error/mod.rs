//! The error of a structure: its posterior compared with dense posteriors on the neighborhoods of sampled points.
//!
//! For a seeded sample of rows, a dense Gaussian process with the same hyperparameters and the Euclidean kernel is
//! conditioned on the k nearest observed rows of each, and the difference to the structure's mean and deviation is
//! averaged. The dense process is itself local; its change when the neighborhood is halved is reported too and shows whether k
//! is large enough. Only predictions are compared, so the structure may be a tree, a chain or an ensemble.

mod error;
mod neighborhood;
mod text;

pub use error::{EstimateError, StructureWarning};

use std::time::Instant;

use crate::Problem;
use catena::data::OutputScaling;
use catena::index::RowIndex;
use catena::prediction::Prediction;
use neighborhood::Neighborhoods;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

/// Options of an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimateOptions {
    /// The number of sampled rows, at most all.
    pub n_sampled: usize,
    /// The number of observed rows in a neighborhood.
    pub n_neighbors: usize,
    /// The seed of the sample.
    pub seed: u64,
    /// The RMS difference of the means, in posterior deviations, above which there is a warning.
    pub warn_above: f64,
}

impl Default for EstimateOptions {
    /// 200 rows of 100 neighbors each. The limit is half a deviation: means shifted by a normal error of that size turn
    /// a 95 % band into one of P(|z| < 1.96/√1.25) = 92 %.
    fn default() -> Self {
        Self { n_sampled: 200, n_neighbors: 100, seed: 0, warn_above: 0.5 }
    }
}

/// A number with its standard error over the sampled rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimated {
    /// The estimate.
    pub value: f64,
    /// The standard error; 0 if all rows were sampled.
    pub standard_error: f64,
}

/// The difference between a structure's posterior and dense posteriors, estimated from a sample of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorEstimate {
    /// The RMS difference of the means, in output units, over rows and outputs.
    pub mean_difference: Estimated,
    /// The same with each difference divided by the structure's posterior deviation of the function.
    pub in_deviations: Estimated,
    /// The RMS difference of the posterior deviations of the function, in output units.
    pub deviation_difference: Estimated,
    /// Root of the ratio of mean variances, structure to dense: above 1 the structure's bands are wider.
    pub deviation_ratio: f64,
    /// The RMS change of the dense means when neighborhoods are halved, in output units; 0 when a neighborhood is the
    /// whole table, and the dense process exact.
    pub reference_change: f64,
    /// Rows sampled.
    pub n_sampled: usize,
    /// Observed rows in a neighborhood.
    pub n_neighbors: usize,
    /// Wall-clock seconds the estimate took.
    pub seconds: f64,
    /// Warnings.
    pub warnings: Vec<StructureWarning>,
}

/// Compares a structure's prediction of a table's rows with dense posteriors on neighborhoods.
///
/// `prediction` is of the function (no noise) at every row, in the units of the problem's observations; `scaling` is what
/// brought these to scale, so that differences are reported in the user's units. `rows` are those to sample from: all
/// of them, or the ones that matter, such as those to be filled. O(C log C + n·(k·min(D, L))³) time.
///
/// # Errors
/// When the arguments do not match, or a neighborhood's covariance is not positive definite.
pub fn estimate_structure_error(
    problem: Problem<'_>,
    prediction: &Prediction,
    rows: &[RowIndex],
    scaling: &OutputScaling,
    options: EstimateOptions,
) -> Result<ErrorEstimate, EstimateError> {
    let start = Instant::now();
    let scales: Vec<f64> = scaling.scales().collect();
    check(problem, prediction, rows, &scales, options)?;
    let neighborhoods = Neighborhoods::new(problem, options.n_neighbors)?;
    let sampled = sample(rows, options.n_sampled, options.seed);
    let compare = |&row: &RowIndex| -> Result<Difference, EstimateError> {
        let [dense, dense_of_half] = neighborhoods.dense_posteriors(row)?;
        Ok(Difference::new((prediction, row), &dense, &dense_of_half, &scales))
    };
    let differences: Vec<Result<Difference, EstimateError>> = sampled.par_iter().map(compare).collect();
    let differences = differences.into_iter().collect::<Result<Vec<_>, _>>()?;
    let root_mean = |part: fn(&Difference) -> f64| {
        root_mean_square(&differences.iter().map(part).collect::<Vec<_>>(), rows.len())
    };
    let sum = |part: fn(&Difference) -> f64| differences.iter().map(part).sum::<f64>();
    let mut estimate = ErrorEstimate {
        mean_difference: root_mean(|difference| difference.mean),
        in_deviations: root_mean(|difference| difference.in_deviations),
        deviation_difference: root_mean(|difference| difference.deviation),
        deviation_ratio: (sum(|difference| difference.variance)
            / sum(|difference| difference.dense_variance))
        .sqrt(),
        reference_change: root_mean(|difference| difference.reference).value,
        n_sampled: sampled.len(),
        n_neighbors: neighborhoods.n_neighbors(),
        seconds: 0.0,
        warnings: vec![],
    };
    estimate.warnings = estimate.worth_warning(options.warn_above);
    estimate.seconds = start.elapsed().as_secs_f64();
    Ok(estimate)
}

fn check(
    problem: Problem<'_>,
    prediction: &Prediction,
    rows: &[RowIndex],
    scales: &[f64],
    options: EstimateOptions,
) -> Result<(), EstimateError> {
    let (n_rows, n_outputs) = (problem.dataset().n_rows(), problem.model().n_outputs());
    if (prediction.n_rows(), prediction.n_outputs()) != (n_rows, n_outputs) {
        let (rows, outputs) = (prediction.n_rows(), prediction.n_outputs());
        return Err(EstimateError::PredictionShape { rows, outputs });
    }
    if scales.len() != n_outputs {
        return Err(EstimateError::ScaleCount { expected: n_outputs, found: scales.len() });
    }
    if options.n_sampled < 2 || options.n_neighbors < 2 {
        let EstimateOptions { n_sampled, n_neighbors, .. } = options;
        return Err(EstimateError::TooFew { n_sampled, n_neighbors });
    }
    if rows.is_empty() {
        return Err(EstimateError::NoRows);
    }
    match rows.iter().find(|row| row.get() >= n_rows) {
        Some(&row) => Err(EstimateError::UnknownRow { row, n_rows }),
        None => Ok(()),
    }
}

/// `count` distinct rows, at most all.
fn sample(rows: &[RowIndex], count: usize, seed: u64) -> Vec<RowIndex> {
    let mut drawn = rows.to_vec();
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let count = count.min(rows.len());
    for at in 0..count {
        let ahead = (rows.len() - at) as u128;
        drawn.swap(at, at + ((u128::from(generator.next_u64()) * ahead) >> 64) as usize);
    }
    drawn.truncate(count);
    drawn
}

/// Mean squares over the outputs of one row.
struct Difference {
    mean: f64,
    in_deviations: f64,
    deviation: f64,
    reference: f64,
    variance: f64,
    dense_variance: f64,
}

impl Difference {
    fn new(
        (prediction, row): (&Prediction, RowIndex),
        dense: &Prediction,
        dense_of_half: &Prediction,
        scales: &[f64],
    ) -> Self {
        let first = row.get() * scales.len();
        let average = |square_at: &dyn Fn(usize) -> f64| {
            (0..scales.len()).map(square_at).sum::<f64>() / scales.len() as f64
        };
        let means = &prediction.means()[first..];
        let variances = &prediction.variances()[first..];
        let apart = |output: usize| means[output] - dense.means()[output];
        Self {
            mean: average(&|output| (scales[output] * apart(output)).powi(2)),
            in_deviations: average(&|output| match apart(output) {
                // An output without weights is 0 in both.
                0.0 => 0.0,
                apart => apart * apart / variances[output],
            }),
            deviation: average(&|output| {
                (scales[output] * (variances[output].sqrt() - dense.variances()[output].sqrt())).powi(2)
            }),
            reference: average(&|output| {
                (scales[output] * (dense.means()[output] - dense_of_half.means()[output])).powi(2)
            }),
            variance: average(&|output| scales[output].powi(2) * variances[output]),
            dense_variance: average(&|output| scales[output].powi(2) * dense.variances()[output]),
        }
    }
}

/// The root of the mean of squares drawn without repetition from `n_rows`, its error by the delta rule.
fn root_mean_square(squares: &[f64], n_rows: usize) -> Estimated {
    let count = squares.len() as f64;
    let mean = squares.iter().sum::<f64>() / count;
    if mean == 0.0 {
        return Estimated { value: 0.0, standard_error: 0.0 };
    }
    let spread: f64 = squares.iter().map(|square| (square - mean).powi(2)).sum();
    let unseen = 1.0 - count / n_rows as f64;
    let error_of_mean = (spread / (count - 1.0).max(1.0) / count * unseen).sqrt();
    Estimated { value: mean.sqrt(), standard_error: error_of_mean / (2.0 * mean.sqrt()) }
}

impl ErrorEstimate {
    fn worth_warning(&self, limit: f64) -> Vec<StructureWarning> {
        let mut warnings = vec![];
        let in_deviations = self.in_deviations.value;
        if in_deviations > limit {
            warnings.push(StructureWarning::FarFromDense { in_deviations, limit });
        }
        let (change, n_neighbors) = (self.reference_change, self.n_neighbors);
        if change > 0.5 * self.mean_difference.value {
            warnings.push(StructureWarning::ReferenceUnsettled { change, n_neighbors });
        }
        warnings
    }
}
