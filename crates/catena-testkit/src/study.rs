//! A cell of the paper's studies, as every method receives it, and the paper's scores.

use catena::data::{DataError, Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::model::{Lmc, ModelError};
use catena::prediction::Prediction;
use catena::structure::{StructureError, Tree};
use catena::units::{DistanceScale, UnitError};
use thiserror::Error;

use crate::julia_streams::JuliaStream;

/// A study that cannot be set up.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A line of the data file lacks a number.
    #[error("line {line} of the data has no number in column {column}")]
    NotANumber {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// The data file is too short.
    #[error("the data has {found} rows, {needed} are needed")]
    TooShort {
        /// Rows in the file.
        found: usize,
        /// Rows asked for.
        needed: usize,
    },
    /// Half of the chain's gaps are zero.
    #[error("the median gap of the chain is zero")]
    NoDistanceScale,
    /// The table cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The model cannot be built.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The chain cannot be built.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A number has the wrong sign.
    #[error(transparent)]
    Unit(#[from] UnitError),
}

/// One cell: standardized inputs of all rows, training cells, and what is needed to score the test rows.
#[derive(Clone, Debug)]
pub struct Study {
    /// All candidate rows; only training cells are observed, on the standardized scale.
    pub dataset: Dataset,
    /// The greedy chain over all rows, with unscaled gaps.
    pub chain: Tree,
    /// The median gap.
    pub distance_scale: DistanceScale,
    /// The model with the study's fixed hyperparameters.
    pub model: Lmc,
    /// Rows to predict.
    pub test_rows: Vec<RowIndex>,
    /// Rows that k-means sees, in chain order.
    pub pool: Vec<RowIndex>,
    /// The seed of the authors' k-means.
    pub k_means_seed: u32,
    /// Outputs of all rows in original units, row-major.
    pub truth: Vec<f64>,
    /// Mean and scale by which each output was standardized.
    pub output_scaling: Vec<(f64, f64)>,
}

/// The paper's scores: over test rows and outputs, in original units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// Root of the mean squared error.
    pub rmse: f64,
    /// Mean negative log density with the function's variance alone.
    pub mnll_latent: f64,
    /// Mean negative log density of a new observation.
    pub mnll_with_noise: f64,
}

/// The ETT study floors variances here; no variance of these studies is near it on the sensor.
const SMALLEST_VARIANCE: f64 = 1e-8;

impl Study {
    /// The test rows' inputs.
    ///
    /// # Errors
    /// When there are no test rows.
    pub fn test_inputs(&self) -> Result<InputPoints, DataError> {
        self.inputs_of(&self.test_rows)
    }

    /// The pool's inputs, in chain order.
    ///
    /// # Errors
    /// When the pool is empty.
    pub fn pool_inputs(&self) -> Result<InputPoints, DataError> {
        self.inputs_of(&self.pool)
    }

    /// The same study with rows in chain order, as the authors' methods see it: ties between equal distances go to the
    /// earlier position, which matters where inputs repeat.
    ///
    /// # Errors
    /// Never for a study that could be built.
    pub fn in_chain_order(&self) -> Result<Self, StudyError> {
        let order: Vec<RowIndex> =
            self.chain.positions().map(|position| self.chain.row_at(position)).collect();
        let n_outputs = self.output_scaling.len();
        let mut values = vec![f64::NAN; order.len() * n_outputs];
        for (position, &row) in order.iter().enumerate() {
            for cell in self.dataset.observations().row(row) {
                values[position * n_outputs + cell.output.get()] = cell.value;
            }
        }
        let inputs = self.inputs_of(&order)?;
        let positions = |rows: &[RowIndex]| -> Vec<RowIndex> {
            rows.iter().map(|&row| RowIndex::new(self.chain.position_of(row).get())).collect()
        };
        let truth = order.iter().flat_map(|row| &self.truth[row.get() * n_outputs..][..n_outputs]);
        Ok(Self {
            chain: Tree::chain(&inputs, inputs.rows().collect())?,
            dataset: Dataset::new(inputs, Observations::from_dense(order.len(), n_outputs, &values)?)?,
            test_rows: positions(&self.test_rows),
            pool: positions(&self.pool),
            truth: truth.copied().collect(),
            ..self.clone()
        })
    }

    /// The authors' initial centers: positions in the pool.
    pub fn initial_centers(&self, count: usize) -> Vec<RowIndex> {
        let permutation = JuliaStream::new(self.k_means_seed).randperm(self.pool.len());
        permutation.into_iter().take(count).map(RowIndex::new).collect()
    }

    fn inputs_of(&self, rows: &[RowIndex]) -> Result<InputPoints, DataError> {
        let inputs = self.dataset.inputs();
        let values = rows.iter().flat_map(|&row| inputs.point(row)).copied().collect();
        InputPoints::new(rows.len(), inputs.dim(), values)
    }

    /// Scores a prediction of the test rows on the standardized scale.
    pub fn score(&self, prediction: &Prediction) -> Scores {
        let n_outputs = self.output_scaling.len();
        let (mut squares, mut latent, mut noisy) = (0.0, 0.0, 0.0);
        for (at, &row) in self.test_rows.iter().enumerate() {
            for (output, &(shift, scale)) in self.output_scaling.iter().enumerate() {
                let cell = at * n_outputs + output;
                let mean = prediction.means()[cell] * scale + shift;
                let error = self.truth[row.get() * n_outputs + output] - mean;
                let variance = prediction.variances()[cell];
                let noise = self.model.noise()[output].get();
                squares += error * error;
                latent += negative_log_density(error, (variance * scale * scale).max(SMALLEST_VARIANCE));
                noisy += negative_log_density(error, (variance + noise) * scale * scale);
            }
        }
        let count = (self.test_rows.len() * n_outputs) as f64;
        Scores { rmse: (squares / count).sqrt(), mnll_latent: latent / count, mnll_with_noise: noisy / count }
    }
}

fn negative_log_density(error: f64, variance: f64) -> f64 {
    0.5 * ((std::f64::consts::TAU * variance).ln() + error * error / variance)
}

/// Mean and standard deviation (n − 1) of numbers.
pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}
