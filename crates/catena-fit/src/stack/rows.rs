//! Regressions on other outputs, with a process along the structure for the residuals of each output.
//!
//! A rule predicts each cell from other outputs and uses all rows alike, so that slow movements that outputs share count as much
//! as fast ones. The residuals of one output in successive rows depend on each other; a Matérn-1/2 process with noise carries
//! them into gaps. Where other outputs of a row are missing too, the variance is larger by what they would have explained.

use std::sync::{Arc, OnceLock};

use catena::data::{Cell, Dataset, Observations};
use catena::graph::FactorGraph;
use catena::index::RowIndex;
use catena::inference;
use catena::kernel::{Kernel, StateKind};
use catena::model::{Latent, Lmc, MixingMatrix, ModelError};
use catena::posterior::Posterior;
use catena::prediction::Prediction;
use catena::structure::Tree;
use catena::units::{LengthScale, Variance};
use catena_methods::simple_rules::{
    LaggedRidge, NearestRows, RowCovariance, RowGaussian, RowPredictions, SeasonalMeans,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::residuals::{Residual, ResidualKind, ResidualProcess};
use crate::error::{FitError, MethodError};
use crate::methods::Quantity;
use crate::options::StructureOption;
use crate::prepare::{Predictive, Preparation, PreparedTable};

/// The random stream of noise in draws.
const NOISE_STREAM: u64 = 3;
/// The kernel of a residual process.
const KERNEL: Kernel = Kernel::Matern12;
/// Tables with more outputs than this have a regression with more factors, and more shrinkages.
pub(crate) const MANY_OUTPUTS: usize = 16;
/// The shrinkage of regressions of deviations from a season.
const SEASONAL_SHRINKAGE: f64 = 0.005;

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
    /// The mean of the output, whatever the other outputs are.
    Mean,
    /// Ridge regression on the other outputs of the same and of neighboring rows.
    Lagged {
        /// The largest lag, in rows.
        reach: usize,
    },
    /// The rows that are nearest in the other outputs.
    Nearest {
        /// Their number.
        n_neighbors: usize,
        /// Rows nearer than this along the first input, in the model's units, are not neighbors.
        exclusion: f64,
    },
    /// The season of each output, and a regression of the deviations from it on those of the other outputs.
    Seasonal {
        /// A period, in the model's units.
        period: f64,
        /// A second period.
        second: Option<f64>,
        /// The same phase of neighboring cycles counts, except of cells nearer than this; `None` for one profile of the whole
        /// table.
        exclusion: Option<f64>,
        /// The shrinkage of the regression; `None` for the season alone.
        shrinkage: Option<f64>,
    },
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
    /// The rules that are tried on a sample of a table of `n_rows` rows with these periods, each with the kinds of its residuals.
    /// `exclusion` is half the typical length of a gap.
    pub(super) fn candidates(
        table: &Dataset,
        n_rows: usize,
        exclusion: f64,
        periods: &[f64],
    ) -> Vec<(Self, &'static [ResidualKind])> {
        use ResidualKind::{RandomWalk, Stationary};
        let (observations, n_outputs) = (table.observations(), table.observations().n_outputs());
        let mut rules: Vec<(Self, &[ResidualKind])> = vec![(Self::Mean, &[RandomWalk])];
        let has_regression = n_outputs > 1 && RowGaussian::is_affordable(observations);
        let are_groups = table.inputs().n_groups() > 1;
        if let Some(&period) = periods.first().filter(|_| !are_groups) {
            let second = periods.get(1).copied();
            let seasonal = |exclusion, shrinkage| Self::Seasonal { period, second, exclusion, shrinkage };
            rules.push((seasonal(None, None), &[Stationary]));
            rules.push((seasonal(Some(exclusion), None), &[Stationary]));
            if has_regression {
                rules.push((seasonal(None, Some(SEASONAL_SHRINKAGE)), &[Stationary]));
                rules.push((seasonal(Some(exclusion), Some(SEASONAL_SHRINKAGE)), &[Stationary]));
            }
        }
        if n_outputs < 2 {
            return rules;
        }
        if has_regression {
            let gaussian = |shrinkage, n_factors| Self::Gaussian { shrinkage, n_factors };
            rules.push((gaussian(0.001, None), &[Stationary, RandomWalk]));
            rules.push((gaussian(0.05, None), &[Stationary]));
            if n_outputs > 3 {
                rules.push((gaussian(0.02, Some(2)), &[Stationary]));
            }
            if n_outputs > MANY_OUTPUTS {
                rules.push((gaussian(0.02, Some(8)), &[Stationary]));
                // The fewer rows an output has for each of the others, the more their correlations must shrink.
                rules.push((gaussian(0.01, None), &[Stationary]));
                rules.push((gaussian(0.2, None), &[Stationary]));
            }
            if are_groups {
                // Neighboring rows may be those of other groups.
                return rules;
            }
            if let Some(LaggedRidge { reach }) = LaggedRidge::affordable(n_rows, observations) {
                rules.push((Self::Lagged { reach }, &[Stationary]));
            }
        }
        if !are_groups && NearestRows::is_affordable(n_rows, n_outputs) {
            rules.push((Self::Nearest { n_neighbors: 15, exclusion }, &[Stationary]));
        }
        rules
    }

    /// A name for the summary.
    pub(super) fn name(&self, kind: ResidualKind) -> String {
        let name = match self {
            Self::Gaussian { shrinkage, n_factors: None } => {
                format!("regression on the other outputs (shrinkage {shrinkage})")
            }
            Self::Gaussian { n_factors: Some(count), .. } => {
                format!("regression on the other outputs ({count} factors)")
            }
            Self::Mean if kind == ResidualKind::RandomWalk => return "random walk of each output".to_owned(),
            Self::Mean => "mean of each output".to_owned(),
            Self::Lagged { reach } => format!("regression on the other outputs (lags up to {reach} rows)"),
            Self::Nearest { n_neighbors, .. } => format!("{n_neighbors} nearest rows"),
            Self::Seasonal { exclusion, shrinkage, .. } => {
                let season =
                    if exclusion.is_some() { "season of neighboring cycles" } else { "seasonal profile" };
                let regression =
                    if shrinkage.is_some() { " and regression on the other outputs" } else { "" };
                format!("{season}{regression}")
            }
        };
        match kind {
            ResidualKind::Stationary => name,
            ResidualKind::RandomWalk => name + ", residuals as a random walk",
        }
    }

    /// Every cell from the other outputs, in the model's units.
    pub(super) fn predict(&self, table: &Dataset) -> Result<RowPredictions, MethodError> {
        let observations = table.observations();
        match *self {
            Self::Gaussian { shrinkage, n_factors } => {
                let settings = RowCovariance { shrinkage, n_factors };
                Ok(RowGaussian::fit(observations, settings)?.predict(observations)?)
            }
            Self::Mean => {
                let n_outputs = observations.n_outputs();
                let mut sums = vec![0.0; n_outputs];
                observations.cells().for_each(|(_, cell)| sums[cell.output.get()] += cell.value);
                let counts = observations.counts_by_output();
                let mean = |at: usize| sums[at % n_outputs] / counts[at % n_outputs].max(1) as f64;
                let means: Vec<f64> = (0..table.n_rows() * n_outputs).map(mean).collect();
                Ok(RowPredictions { excess: vec![0.0; means.len()], means })
            }
            Self::Lagged { reach } => Ok(LaggedRidge { reach }.predict(table)?),
            Self::Nearest { n_neighbors, exclusion } => {
                Ok(NearestRows { n_neighbors, exclusion }.predict(table))
            }
            Self::Seasonal { period, second, exclusion, shrinkage } => {
                let periods = std::iter::once(period).chain(second).collect();
                let season = SeasonalMeans { periods, exclusion }.predict(table)?;
                let Some(shrinkage) = shrinkage else { return Ok(season) };
                let n_outputs = observations.n_outputs();
                let deviations = observations.map_cells(|row, cell| {
                    let value = cell.value - season.means[row.get() * n_outputs + cell.output.get()];
                    Ok(Cell { value, ..cell })
                })?;
                let settings = RowCovariance { shrinkage, n_factors: None };
                let RowPredictions { mut means, mut excess } =
                    RowGaussian::fit(&deviations, settings)?.predict(&deviations)?;
                means.iter_mut().zip(&season.means).for_each(|(mean, season)| *mean += season);
                excess.iter_mut().zip(&season.excess).for_each(|(excess, season)| *excess += season);
                Ok(RowPredictions { means, excess })
            }
        }
    }
}

/// The model of a residual process.
pub(super) fn model_of(process: ResidualProcess) -> Result<Lmc, FitError> {
    let length_scale = LengthScale::new(process.length_scale).map_err(ModelError::from)?;
    let latent = Latent::new(KERNEL, StateKind::Value, length_scale).map_err(ModelError::from)?;
    let mixing = MixingMatrix::with_private(1, 1, vec![process.deviation], vec![])?;
    let noise = Variance::new(process.noise).map_err(ModelError::from)?;
    Ok(Lmc::new(vec![latent], mixing, vec![noise])?)
}

/// A rule on a table: its predictions and the residuals of each output on the structure.
pub(super) struct FittedRows {
    preparation: Preparation,
    /// The table in the model's units.
    prepared: Dataset,
    tree: Arc<Tree>,
    /// The predictions of the rule.
    centers: RowPredictions,
    models: Vec<Lmc>,
    /// Means and variances of the function at the rows, computed when first needed.
    rows: OnceLock<Prediction>,
}

impl RowRegression {
    /// Learns the residual processes of a rule with these predictions on a prepared table.
    pub(super) fn learn(
        (rule, kind): (RowRule, ResidualKind),
        centers: &RowPredictions,
        (preparation, table): (&Preparation, &Dataset),
    ) -> Self {
        let (n_rows, n_outputs) = (table.n_rows(), table.observations().n_outputs());
        let place = |row: usize| table.inputs().point(RowIndex::new(row))[0];
        let group = |row: usize| table.inputs().group(RowIndex::new(row));
        let mut order: Vec<usize> = (0..n_rows).collect();
        order.sort_by(|&a, &b| group(a).cmp(&group(b)).then(place(a).total_cmp(&place(b))));
        let mut by_output: Vec<Vec<Residual>> = vec![vec![]; n_outputs];
        let mut extent: f64 = 0.0;
        for rows in order.chunk_by(|&a, &b| group(a) == group(b)) {
            let mut is_first = vec![true; n_outputs];
            for &row in rows {
                for cell in table.observations().row(RowIndex::new(row)) {
                    let output = cell.output.get();
                    let at = row * n_outputs + output;
                    let (value, excess) = (cell.value - centers.means[at], centers.excess[at]);
                    let is_first = std::mem::take(&mut is_first[output]);
                    by_output[output].push(Residual { place: place(row), value, excess, is_first });
                }
            }
            if let (Some(&first), Some(&last)) = (rows.first(), rows.last()) {
                extent = extent.max(place(last) - place(first));
            }
        }
        let fitted = |residuals: &Vec<Residual>| ResidualProcess::fitted(residuals, kind, extent);
        let residuals = by_output.par_iter().map(fitted).collect();
        Self { preparation: preparation.clone(), rule, residuals }
    }

    /// The rule on a table in the user's units.
    pub(super) fn fitted(&self, table: &Dataset, structure: StructureOption) -> Result<FittedRows, FitError> {
        let prepared = self.preparation.dataset(table)?;
        let tree = Arc::new(structure.build(prepared.inputs())?);
        let centers = self.rule.predict(&prepared)?;
        self.fitted_on(prepared, tree, centers)
    }

    fn fitted_on(
        &self,
        prepared: Dataset,
        tree: Arc<Tree>,
        centers: RowPredictions,
    ) -> Result<FittedRows, FitError> {
        let models: Result<Vec<Lmc>, FitError> = self.residuals.iter().copied().map(model_of).collect();
        Ok(FittedRows {
            preparation: self.preparation.clone(),
            prepared,
            tree,
            centers,
            models: models?,
            rows: OnceLock::new(),
        })
    }

    /// Predictive distributions of observations at the rows of a prepared table, for which the rule predicts `centers`.
    pub(super) fn predictive(
        &self,
        table: &PreparedTable,
        centers: &RowPredictions,
    ) -> Result<Predictive, FitError> {
        let prepared = table.dataset.as_ref().clone();
        let fitted = self.fitted_on(prepared, Arc::clone(&table.tree), centers.clone())?;
        fitted.predict_rows(Quantity::Observation)
    }
}

impl FittedRows {
    /// The residuals of one output on the structure.
    fn graph(&self, output: usize) -> Result<FactorGraph<'static>, FitError> {
        let observations = self.prepared.observations();
        let (n_rows, n_outputs) = (self.prepared.n_rows(), observations.n_outputs());
        let model = &self.models[output];
        let (mut values, mut noise) = (vec![f64::NAN; n_rows], vec![model.noise()[0].get(); n_rows]);
        let mut has_excess = false;
        for (row, cell) in observations.cells().filter(|(_, cell)| cell.output.get() == output) {
            let at = row.get() * n_outputs + output;
            values[row.get()] = cell.value - self.centers.means[at];
            noise[row.get()] += self.centers.excess[at];
            has_excess |= self.centers.excess[at] > 0.0;
        }
        let mut residuals = Observations::from_dense(n_rows, 1, &values)?;
        if has_excess {
            residuals = residuals.with_cell_noise(&noise)?;
        }
        let model = Arc::new(model.clone());
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
        let RowPredictions { mut means, excess: mut variances } = self.centers.clone();
        for (output, (own, variance)) in by_output?.into_iter().enumerate() {
            for (row, (mean, variance)) in own.into_iter().zip(variance).enumerate() {
                means[row * n_outputs + output] += mean;
                variances[row * n_outputs + output] += variance;
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

    /// Joint draws of the transformed outputs at the rows, one after the other, each row-major.
    pub(super) fn draws(
        &self,
        rows: &[RowIndex],
        quantity: Quantity,
        n_draws: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let n_outputs = self.models.len();
        let mut draws = vec![0.0; n_draws * rows.len() * n_outputs];
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(NOISE_STREAM);
        for (output, model) in self.models.iter().enumerate() {
            let noise = match quantity {
                Quantity::Function => 0.0,
                Quantity::Observation => model.noise()[0].get(),
            };
            let posterior = Posterior::new(&self.graph(output)?).map_err(MethodError::from)?;
            for (number, draw) in posterior.draws(seed.wrapping_add(output as u64)).take(n_draws).enumerate()
            {
                for (at, row) in rows.iter().enumerate() {
                    let place = row.get() * n_outputs + output;
                    let fresh: f64 = StandardNormal.sample(&mut generator);
                    draws[(number * rows.len() + at) * n_outputs + output] = self.centers.means[place]
                        + draw[row.get()]
                        + (self.centers.excess[place] + noise).sqrt() * fresh;
                }
            }
        }
        let points = self.prepared.inputs().select_rows(rows)?;
        self.preparation.unscale(&mut draws, &points);
        Ok(draws)
    }
}
