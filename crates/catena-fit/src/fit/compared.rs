//! The held-out cells on which a fit was chosen, with the scores and models of its summary.

use catena::data::Dataset;
use catena::model::Lmc;

use super::fitted::{Fit, FitParts};
use crate::error::FitError;
use crate::families::FamilyChoice;
use crate::folds::HeldOutFolds;
use crate::prepare::{InputUnits, Preparation};
use crate::scores::HeldOutScores;

/// The held-out cells on which a fit was chosen.
#[derive(Clone, Debug)]
pub struct FitComparison {
    /// The cells.
    pub folds: HeldOutFolds,
    /// Scores under the names of the summary: the chosen model or pool first, then, beside a pool, the best single model, then
    /// simple rules.
    pub scores: Vec<(String, HeldOutScores)>,
    /// The best single model as it was learned on each fold, with its units.
    singles: Vec<(Lmc, Preparation)>,
}

impl FitComparison {
    /// The comparison of a choice; `None` if no cells were held out.
    pub(super) fn of(choice: &FamilyChoice, units: InputUnits) -> Result<Option<Self>, FitError> {
        let comparison = &choice.comparison;
        let (folds, singles) = match &choice.method_folds {
            Some((folds, singles)) => (folds.clone(), singles.clone()),
            None => {
                let Some(chosen) = comparison.trials.iter().find(|trial| trial.is_chosen) else {
                    return Ok(None);
                };
                let units = Preparation::fitted(&comparison.sample, units, &chosen.transforms)?;
                let models = chosen.fold_models.iter().cloned();
                (comparison.held_out_folds(), models.map(|model| (model, units.clone())).collect())
            }
        };
        let is_scored = folds.n_cells() > 0 && singles.len() == folds.n_folds();
        Ok(is_scored.then(|| Self { folds, scores: choice.held_out.clone(), singles }))
    }

    /// The best single model on the training cells of each fold, with the method and structure of the fit.
    ///
    /// # Errors
    /// Never for the fit of this comparison.
    pub fn single_models(&self, fit: &Fit) -> Result<Vec<FitParts>, FitError> {
        let parts = |(table, (model, preparation)): (Dataset, &(Lmc, Preparation))| FitParts {
            table,
            preparation: preparation.clone(),
            model: model.clone(),
            combination: None,
            ..fit.parts().clone()
        };
        Ok(self.folds.training()?.into_iter().zip(&self.singles).map(parts).collect())
    }
}
