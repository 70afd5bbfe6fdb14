//! Regressions on the other outputs of a row, with a process along the structure for the residuals of each output.
//!
//! A rule predicts each cell from the other cells of its row and uses all rows alike, so that slow movements that outputs share
//! count as much as fast ones. The residuals of one output in successive rows depend on each other; a Matérn-1/2 process with
//! noise carries them into gaps.

use std::sync::{Arc, OnceLock};

use catena::data::{Dataset, Observations};
use catena::graph::FactorGraph;
use catena::index::{OutputIndex, RowIndex};
use catena::inference;
use catena::kernel::{Kernel, StateKind};
use catena::learning::Family;
use catena::model::{Latent, Lmc, MixingMatrix, ModelError};
use catena::posterior::Posterior;
use catena::prediction::Prediction;
use catena::structure::Tree;
use catena::units::{LengthScale, Variance};
use catena_methods::simple_rules::{NearestRows, RowCovariance, RowGaussian};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::cost::limits;
use crate::error::{FitError, MethodError};
use crate::learn::{LearningMonitor, LearningTask};
use crate::methods::Quantity;
use crate::options::{FitOptions, StructureOption};
use crate::prepare::{Predictive, Preparation, PreparedTable};

/// Length-scale multipliers of the starts of a residual process: residuals may change at once or slowly.
const MULTIPLIERS: &[f64] = &[1.0, 20.0];
/// The kernel of a residual process.
const KERNEL: Kernel = Kernel::Matern12;

/// A rule that predicts a cell from the other cells of its row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum RowRule {
    /// Outputs of a row are jointly Gaussian.
    Gaussian {
        /// The fraction by which correlations shrink.
        shrinkage: f64,
        /// The number of common factors; `None` for a covariance without such a structure.
        n_factors: Option<usize>,
    },
    /// The rows that are nearest in the other outputs.
    Nearest {
        /// Their number.
        n_neighbors: usize,
        /// Rows nearer than this along the first input, in the model's units, are not neighbors.
        exclusion: f64,
    },
}

/// The residual process of one output, in the model's units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResidualProcess {
    /// Its standard deviation.
    pub deviation: f64,
    /// Its length-scale.
    pub length_scale: f64,
    /// The variance of the noise.
    pub noise: f64,
}

/// A rule with residual processes.
#[derive(Clone, Debug, PartialEq)]
pub struct RowRegression {
    /// The units.
    pub preparation: Preparation,
    /// The rule.
    pub rule: RowRule,
    /// One process per output.
    pub residuals: Vec<ResidualProcess>,
}

impl RowRule {
    /// The rules that are tried on a sample of a table of `n_rows` rows. `exclusion` is half the typical length of a gap.
    pub(crate) fn candidates(table: &Dataset, n_rows: usize, exclusion: f64) -> Vec<Self> {
        let n_outputs = table.observations().n_outputs();
        let mut rules = vec![];
        if n_outputs < 2 {
            return rules;
        }
        if RowGaussian::is_affordable(table.observations()) {
            rules.extend([0.05, 0.3].map(|shrinkage| Self::Gaussian { shrinkage, n_factors: None }));
            if n_outputs > 3 {
                rules.push(Self::Gaussian { shrinkage: 0.02, n_factors: Some(2) });
            }
        }
        if NearestRows::is_affordable(n_rows, n_outputs) {
            rules.extend([5, 15].map(|n_neighbors| Self::Nearest { n_neighbors, exclusion }));
        }
        rules
    }

    /// A name for the summary.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Gaussian { shrinkage, n_factors: None } => {
                format!("regression on the other outputs (shrinkage {shrinkage})")
            }
            Self::Gaussian { n_factors: Some(count), .. } => {
                format!("regression on the other outputs ({count} factors)")
            }
            Self::Nearest { n_neighbors, .. } => format!("{n_neighbors} nearest rows"),
        }
    }

    /// The prediction of every cell from the other cells of its row, in the model's units.
    fn predict(&self, table: &Dataset) -> Result<Vec<f64>, MethodError> {
        match *self {
            Self::Gaussian { shrinkage, n_factors } => {
                let settings = RowCovariance { shrinkage, n_factors };
                Ok(RowGaussian::fit(table.observations(), settings)?.predict(table.observations())?)
            }
            Self::Nearest { n_neighbors, exclusion } => {
                Ok(NearestRows { n_neighbors, exclusion }.predict(table))
            }
        }
    }
}

impl ResidualProcess {
    fn of(model: &Lmc) -> Self {
        let weight = model.mixing().shared_row(OutputIndex::new(0)).first().copied().unwrap_or(0.0);
        let length = model.latents().first().map_or(1.0, |latent| latent.length_scale().get());
        let noise = model.noise().first().map_or(1.0, |noise| noise.get());
        Self { deviation: weight.abs(), length_scale: length, noise }
    }

    fn model(self) -> Result<Lmc, FitError> {
        let length_scale = LengthScale::new(self.length_scale).map_err(ModelError::from)?;
        let latent = Latent::new(KERNEL, StateKind::Value, length_scale).map_err(ModelError::from)?;
        let mixing = MixingMatrix::with_private(1, 1, vec![self.deviation], vec![])?;
        let noise = Variance::new(self.noise).map_err(ModelError::from)?;
        Ok(Lmc::new(vec![latent], mixing, vec![noise])?)
    }
}

/// A rule on a table: its predictions and the residuals of each output on the structure.
pub(super) struct FittedRows {
    preparation: Preparation,
    /// The table in the model's units.
    prepared: Dataset,
    tree: Arc<Tree>,
    /// The predictions of the rule, row-major.
    centers: Vec<f64>,
    models: Vec<Lmc>,
    /// Means and variances of the function at the rows, computed when first needed.
    rows: OnceLock<Prediction>,
}

impl RowRegression {
    /// Learns the residual processes of a rule on a prepared table.
    pub(crate) fn learn(
        rule: RowRule,
        (preparation, table): (&Preparation, &PreparedTable),
        options: &FitOptions,
        monitor: &LearningMonitor<'_>,
    ) -> Result<Self, FitError> {
        let centers = rule.predict(&table.dataset)?;
        let n_outputs = table.dataset.observations().n_outputs();
        let family = Family {
            n_shared: 1,
            shared_kernel: KERNEL,
            private_kernel: None,
            state: StateKind::Value,
            tied: false,
        };
        let learned = |output: usize| -> Result<ResidualProcess, FitError> {
            let residuals = residuals(&table.dataset, &centers, output)?;
            if residuals.n_observed() == 0 {
                return Ok(ResidualProcess { deviation: 0.0, length_scale: 1.0, noise: 1.0 });
            }
            let dataset = Dataset::new(table.dataset.inputs().clone(), residuals)?;
            let own = PreparedTable::on(dataset, Arc::clone(&table.tree));
            let task = LearningTask::new(family, limits(6, 25), &own.statistics, options)
                .with_starts(vec![], MULTIPLIERS);
            Ok(ResidualProcess::of(&task.learn(&own, monitor)?.model))
        };
        let residuals: Result<Vec<_>, FitError> = (0..n_outputs).into_par_iter().map(learned).collect();
        Ok(Self { preparation: preparation.clone(), rule, residuals: residuals? })
    }

    /// The rule on a table in the user's units.
    pub(super) fn fitted(&self, table: &Dataset, structure: StructureOption) -> Result<FittedRows, FitError> {
        let prepared = self.preparation.dataset(table)?;
        let tree = Arc::new(structure.build(prepared.inputs())?);
        self.fitted_on(prepared, tree)
    }

    fn fitted_on(&self, prepared: Dataset, tree: Arc<Tree>) -> Result<FittedRows, FitError> {
        let centers = self.rule.predict(&prepared)?;
        let models: Result<Vec<Lmc>, FitError> =
            self.residuals.iter().map(|process| process.model()).collect();
        Ok(FittedRows {
            preparation: self.preparation.clone(),
            prepared,
            tree,
            centers,
            models: models?,
            rows: OnceLock::new(),
        })
    }

    /// Predictive distributions of observations at the rows of a prepared table.
    pub(crate) fn predictive(&self, table: &PreparedTable) -> Result<Predictive, FitError> {
        let fitted = self.fitted_on(table.dataset.as_ref().clone(), Arc::clone(&table.tree))?;
        fitted.predict_rows(Quantity::Observation)
    }
}

/// The residuals of one output, as a table of one output.
fn residuals(table: &Dataset, centers: &[f64], output: usize) -> Result<Observations, FitError> {
    let observations = table.observations();
    let n_outputs = observations.n_outputs();
    let mut values = vec![f64::NAN; table.n_rows()];
    for (row, cell) in observations.cells().filter(|(_, cell)| cell.output.get() == output) {
        values[row.get()] = cell.value - centers[row.get() * n_outputs + output];
    }
    Ok(Observations::from_dense(table.n_rows(), 1, &values)?)
}

impl FittedRows {
    fn graph(&self, output: usize) -> Result<FactorGraph<'static>, FitError> {
        let residuals = residuals(&self.prepared, &self.centers, output)?;
        let model = Arc::new(self.models[output].clone());
        Ok(FactorGraph::new(model, Arc::clone(&self.tree), &residuals).map_err(MethodError::from)?)
    }

    /// Means and variances of the function at the rows, in the model's units.
    fn rows(&self) -> Result<&Prediction, FitError> {
        if let Some(rows) = self.rows.get() {
            return Ok(rows);
        }
        let n_outputs = self.models.len();
        let of_output = |output: usize| -> Result<(Vec<f64>, Vec<f64>), FitError> {
            let found = inference::marginals(&self.graph(output)?).map_err(MethodError::from)?;
            Ok(found.prediction.into_arrays())
        };
        let by_output: Result<Vec<_>, FitError> = (0..n_outputs).into_par_iter().map(of_output).collect();
        let mut means = self.centers.clone();
        let mut variances = vec![0.0; means.len()];
        for (output, (own, variance)) in by_output?.into_iter().enumerate() {
            for (row, (mean, variance)) in own.into_iter().zip(variance).enumerate() {
                means[row * n_outputs + output] += mean;
                variances[row * n_outputs + output] = variance;
            }
        }
        let rows = Prediction::new(self.prepared.n_rows(), n_outputs, means, variances)?;
        Ok(self.rows.get_or_init(|| rows))
    }

    /// Predictive distributions at the rows of the table.
    pub(super) fn predict_rows(&self, quantity: Quantity) -> Result<Predictive, FitError> {
        let rows = self.rows()?.clone();
        let rows = match quantity {
            Quantity::Function => rows,
            Quantity::Observation => {
                let noise: Vec<Variance> = self.models.iter().map(|model| model.noise()[0]).collect();
                rows.with_noise(&noise)
            }
        };
        Ok(self.preparation.predictive_unchecked(rows, self.prepared.inputs()))
    }

    /// Joint draws of the function at the rows, one after the other, each row-major, in the user's units.
    pub(super) fn draws(&self, rows: &[RowIndex], n_draws: usize, seed: u64) -> Result<Vec<f64>, FitError> {
        let n_outputs = self.models.len();
        let mut draws = vec![0.0; n_draws * rows.len() * n_outputs];
        for output in 0..n_outputs {
            let posterior = Posterior::new(&self.graph(output)?).map_err(MethodError::from)?;
            for (number, draw) in posterior.draws(seed.wrapping_add(output as u64)).take(n_draws).enumerate()
            {
                for (at, row) in rows.iter().enumerate() {
                    let place = row.get() * n_outputs + output;
                    draws[(number * rows.len() + at) * n_outputs + output] =
                        self.centers[place] + draw[row.get()];
                }
            }
        }
        let points = self.prepared.inputs().select_rows(rows)?;
        self.preparation.undo(&mut draws, &points)?;
        Ok(draws)
    }

    /// The standard deviations of the noise, in the user's units.
    pub(super) fn noise_deviations(&self) -> Vec<f64> {
        let outputs = self.models.iter().zip(&self.preparation.outputs);
        outputs.map(|(model, output)| model.noise()[0].get().sqrt() * output.scale).collect()
    }
}
