//! Held-out cells of a table in one or several folds, and the scores of predictions on them.

use catena::data::{DataError, Dataset, InputPoints};

use super::fold::Fold;
use super::simple_rules::SimpleRule;
use crate::error::FitError;
use crate::options::TransformChoice;
use crate::prepare::{InputUnits, Predictive, Preparation};
use crate::scores::{HeldOutScores, MixtureDensities, mean_with_error};

/// Folds of a table that is not learned from.
const N_FOLDS: u64 = 4;

/// Held-out cells of a table. No method sees the cells of a fold on which it is scored.
#[derive(Clone, Debug)]
pub struct HeldOutFolds {
    inputs: InputPoints,
    folds: Vec<Fold>,
    /// The standard deviation of each output, in which errors are scored.
    scales: Vec<f64>,
}

impl HeldOutFolds {
    pub(crate) fn new(inputs: InputPoints, folds: Vec<Fold>, scales: Vec<f64>) -> Self {
        Self { inputs, folds, scales }
    }

    /// Four folds of a table that carry its own gaps to other places. Folds without cells are left out.
    ///
    /// # Errors
    /// When the scale of an output overflows.
    pub fn with_gaps_of(table: &Dataset, seed: u64) -> Result<Self, FitError> {
        let mut folds = Fold::several(table, table, seed, N_FOLDS);
        folds.retain(|fold| !fold.held_out.is_empty());
        Ok(Self::new(table.inputs().clone(), folds, scales_of(table)?))
    }

    /// One fold of given cells `(place, value)` with row-major places. All cells of an output are one gap.
    ///
    /// # Errors
    /// When the scale of an output overflows.
    pub fn of_cells(table: &Dataset, held_out: Vec<(usize, f64)>) -> Result<Self, FitError> {
        let n_outputs = table.observations().n_outputs();
        let places: std::collections::HashSet<usize> = held_out.iter().map(|(at, _)| *at).collect();
        let is_left = |row: usize, output: usize| !places.contains(&(row * n_outputs + output));
        let training = table.observations().filter(|row, cell| is_left(row.get(), cell.output.get()));
        let gaps = held_out.iter().map(|(at, _)| at % n_outputs).collect();
        let scales = scales_of(&Dataset::new(table.inputs().clone(), training.clone())?)?;
        let fold = Fold { training, held_out, gaps };
        Ok(Self::new(table.inputs().clone(), vec![fold], scales))
    }

    /// The training cells of each fold.
    ///
    /// # Errors
    /// Never for folds of a valid table.
    pub fn training(&self) -> Result<Vec<Dataset>, DataError> {
        self.folds.iter().map(|fold| Dataset::new(self.inputs.clone(), fold.training.clone())).collect()
    }

    /// The number of folds.
    pub fn n_folds(&self) -> usize {
        self.folds.len()
    }

    /// The number of held-out cells of all folds.
    pub fn n_cells(&self) -> usize {
        self.folds.iter().map(|fold| fold.held_out.len()).sum()
    }

    /// The number of gaps in which they lie.
    pub fn n_gaps(&self) -> usize {
        self.gaps().iter().max().map_or(0, |last| last + 1)
    }

    /// The number of observed cells of the table.
    pub fn n_observed(&self) -> usize {
        self.folds.first().map_or(0, |fold| fold.training.n_observed() + fold.held_out.len())
    }

    /// The held-out cells of a fold: row-major places and values.
    pub(crate) fn held_out(&self, fold: usize) -> &[(usize, f64)] {
        &self.folds[fold].held_out
    }

    /// The standard deviation of each output, in which errors are scored.
    pub(crate) fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// The number of held-out cells of each fold.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        self.folds.iter().map(|fold| fold.held_out.len()).collect()
    }

    /// The gap of each held-out cell, numbered over all folds.
    pub(crate) fn gaps(&self) -> Vec<usize> {
        gaps(&self.folds)
    }

    /// Scores of the predictions of each fold at the rows of the table; `None` without folds.
    ///
    /// # Panics
    /// When a prediction has other rows or outputs than the table.
    pub fn scores(&self, predictions: &[Predictive]) -> Option<HeldOutScores> {
        let folds = self.folds.iter().zip(predictions);
        let scores = |(fold, prediction): (&Fold, &Predictive)| {
            HeldOutScores::new(prediction, &fold.held_out, &self.scales)
        };
        HeldOutScores::pooled(folds.map(scores).collect())
    }

    /// Scores of densities at the held-out cells of all folds.
    pub(crate) fn scores_of(&self, densities: &MixtureDensities<'_>) -> HeldOutScores {
        let cells: Vec<(usize, f64)> =
            self.folds.iter().flat_map(|fold| fold.held_out.iter().copied()).collect();
        densities.scores(&cells, &self.scales)
    }

    /// Scores of every simple rule that applies.
    pub(crate) fn simple_rules(&self) -> Result<Vec<(String, HeldOutScores)>, FitError> {
        let (training, mut found) = (self.training()?, vec![]);
        for rule in SimpleRule::applicable(&self.inputs, self.scales.len()) {
            let predictions: Result<Vec<Predictive>, FitError> =
                training.iter().map(|table| rule.predict(table)).collect();
            found.extend(self.scores(&predictions?).map(|scores| (rule.name().to_owned(), scores)));
        }
        Ok(found)
    }

    /// By how many nats per cell the log score of the first is above that of the second, and the standard error. All cells of a
    /// gap count as one observation; with a single gap the error is infinite.
    pub fn difference(&self, one: &HeldOutScores, other: &HeldOutScores) -> (f64, f64) {
        let pairs = one.log_densities.iter().zip(&other.log_densities);
        mean_with_error(&pairs.map(|(one, other)| one - other).collect::<Vec<_>>(), &self.gaps())
    }
}

/// The standard deviation of each output, in which errors are scored.
pub(crate) fn scales_of(table: &Dataset) -> Result<Vec<f64>, FitError> {
    let plain = Preparation::fitted_to_given(table, InputUnits::AsGiven, &TransformChoice::default())?;
    Ok(plain.outputs.iter().map(|output| output.scale).collect())
}

/// The gap of each held-out cell, numbered over all folds.
pub(crate) fn gaps(folds: &[Fold]) -> Vec<usize> {
    let (mut all, mut n_before) = (vec![], 0);
    for fold in folds {
        all.extend(fold.gaps.iter().map(|gap| n_before + gap));
        n_before = all.iter().max().map_or(0, |last| last + 1);
    }
    all
}
