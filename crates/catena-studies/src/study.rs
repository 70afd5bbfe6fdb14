//! A cell of the paper's studies, as every method receives it, and the paper's scores.

use catena::data::{DataError, Dataset, InputPoints, Observations};
use catena::index::RowIndex;
use catena::model::{Lmc, ModelError};
use catena::prediction::Prediction;
use catena::structure::{Start, StructureError, Tree, greedy_chain};
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
    /// The variance of each latent in the paper's notation; in the model it is part of the mixing matrix.
    pub latent_variances: Vec<f64>,
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

    /// The cells of the test rows on the standardized scale, by their place in a prediction at [`Study::test_inputs`].
    pub fn test_cells(&self) -> Vec<(usize, f64)> {
        let n_outputs = self.output_scaling.len();
        let mut cells = Vec::with_capacity(self.test_rows.len() * n_outputs);
        for (at, row) in self.test_rows.iter().enumerate() {
            for (output, (shift, scale)) in self.output_scaling.iter().enumerate() {
                let truth = self.truth[row.get() * n_outputs + output];
                cells.push((at * n_outputs + output, (truth - shift) / scale));
            }
        }
        cells
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

    /// The same points, cells and model with the greedy chain from another row, and the distance scale of that chain.
    ///
    /// # Errors
    /// When the row is not one of the study's.
    pub fn starting_at(&self, row: RowIndex) -> Result<Self, StudyError> {
        let chain = greedy_chain(self.dataset.inputs(), Start::Row(row))?;
        let distance_scale = chain.median_step().ok_or(StudyError::NoDistanceScale)?;
        Ok(Self { chain, distance_scale, ..self.clone() })
    }

    /// The chain in units of the distance scale.
    ///
    /// # Errors
    /// When a distance overflows.
    pub fn scaled_chain(&self) -> Result<Tree, StudyError> {
        Ok(self.chain.clone().with_distance_scale(self.distance_scale)?)
    }

    /// The scaled chain with no gap below `shortest`: the authors' electricity study has 1e-3, which keeps duplicates
    /// apart and so changes the model.
    ///
    /// Only gaps are seen of a chain, so the points are laid out anew, on a folded line with these gaps. Folding keeps
    /// coordinates small, and with them the rounding of a gap.
    ///
    /// # Errors
    /// When a distance overflows.
    pub fn chain_with_shortest_gap(&self, shortest: f64) -> Result<Tree, StudyError> {
        let scaled = self.scaled_chain()?;
        let (mut places, mut here) = (vec![0.0; scaled.len()], 0.0);
        for position in scaled.positions().skip(1) {
            let gap = scaled.step_into(position).max(shortest);
            here += if here > 0.0 { -gap } else { gap };
            places[scaled.row_at(position).get()] = here;
        }
        let order = scaled.positions().map(|position| scaled.row_at(position)).collect();
        Ok(Tree::chain(&InputPoints::from_column(places)?, order)?)
    }

    /// The test rows of a prediction of all rows.
    ///
    /// # Errors
    /// When the prediction is of fewer rows.
    pub fn at_test_rows(&self, prediction: &Prediction) -> Result<Prediction, DataError> {
        let n_outputs = prediction.n_outputs();
        let pick = |numbers: &[f64]| -> Vec<f64> {
            let rows = self
                .test_rows
                .iter()
                .filter_map(|row| numbers.get(row.get() * n_outputs..)?.get(..n_outputs));
            rows.flatten().copied().collect()
        };
        let (means, variances) = (pick(prediction.means()), pick(prediction.variances()));
        Prediction::new(self.test_rows.len(), n_outputs, means, variances)
    }

    /// What predicting the training mean with the training variance gives at the test rows, on the standardized scale.
    ///
    /// # Errors
    /// Never for a study that could be built.
    pub fn trivial_prediction(&self) -> Result<Prediction, DataError> {
        let (n_rows, n_outputs) = (self.test_rows.len(), self.output_scaling.len());
        Prediction::new(n_rows, n_outputs, vec![0.0; n_rows * n_outputs], vec![1.0; n_rows * n_outputs])
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
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor_study::sensor_study_of;

    #[test]
    fn a_folded_chain_has_the_gaps_of_the_chain_but_for_the_short_ones() {
        let study = sensor_study_of(3, 200, 5).unwrap();
        let (plain, folded) = (study.scaled_chain().unwrap(), study.chain_with_shortest_gap(0.6).unwrap());
        let mut n_short = 0;
        for position in plain.positions() {
            assert_eq!(plain.row_at(position), folded.row_at(position));
            let expected = if position.get() == 0 { 0.0 } else { plain.step_into(position).max(0.6) };
            assert!((folded.step_into(position) - expected).abs() < 1e-14);
            n_short += usize::from(expected == 0.6);
        }
        assert!(n_short > 10, "{n_short}");
    }

    #[test]
    fn another_start_keeps_points_and_cells() {
        let study = sensor_study_of(2, 100, 1).unwrap();
        let moved = study.starting_at(RowIndex::new(40)).unwrap();
        assert_eq!(moved.chain.row_at(moved.chain.positions().next().unwrap()), RowIndex::new(40));
        assert_eq!(moved.dataset, study.dataset);
        assert_eq!(moved.distance_scale.get(), moved.chain.median_step().unwrap().get());
        assert!(study.starting_at(RowIndex::new(100)).is_err());
    }
}
