//! The candidates of a comparison, for stacking.

use catena::data::Dataset;
use catena::learning::{Family, MultiStartSettings};
use catena::model::Lmc;

use crate::folds::{Fold, HeldOutFolds, gaps};
use crate::options::TransformChoice;
use crate::scores::{Densities, Widening};

/// The candidates of a comparison with the sample and its folds.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    /// Rows of the table, in the user's units.
    pub(crate) sample: Dataset,
    /// Rows from which candidates were learned, at most.
    pub(crate) n_learning: usize,
    pub(crate) folds: Vec<Fold>,
    /// The standard deviation of each output, in which errors are scored.
    pub(crate) scales: Vec<f64>,
    pub(crate) trials: Vec<FamilyTrial>,
    /// With which candidates were learned.
    pub(crate) settings: MultiStartSettings,
    pub(crate) multipliers: &'static [f64],
}

/// A candidate.
#[derive(Clone, Debug)]
pub(crate) struct FamilyTrial {
    pub(crate) name: String,
    pub(crate) family: Family,
    pub(crate) transforms: TransformChoice,
    /// Learned on the training cells of the first fold, or on all cells of the sample without folds.
    pub(crate) model: Lmc,
    /// Learned on the training cells of each fold on which it was scored.
    pub(crate) fold_models: Vec<Lmc>,
    /// Factors on its standard deviations as a single model.
    pub(crate) widening: Widening,
    /// Its densities at the held-out cells of all folds, without these factors; empty without folds.
    pub(crate) densities: Densities,
    pub(crate) is_chosen: bool,
}

impl Comparison {
    /// The held-out cells of all folds.
    pub(crate) fn held_out(&self) -> Vec<(usize, f64)> {
        self.folds.iter().flat_map(|fold| fold.held_out.iter().copied()).collect()
    }

    /// The folds with their held-out cells.
    pub(crate) fn held_out_folds(&self) -> HeldOutFolds {
        HeldOutFolds::new(self.sample.inputs().clone(), self.folds.clone(), self.scales.clone())
    }

    /// The gap of each held-out cell, numbered over all folds.
    pub(crate) fn gaps(&self) -> Vec<usize> {
        gaps(&self.folds)
    }
}
