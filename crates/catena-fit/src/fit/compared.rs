//! The held-out cells on which a fit was chosen, with the scores and models of its summary.

use catena::data::Dataset;
use catena::model::Lmc;

use super::fitted::{Fit, FitParts};
use crate::error::FitError;
use crate::families::FamilyChoice;
use crate::folds::HeldOutFolds;
use crate::prepare::{InputUnits, Preparation};
use crate::scores::HeldOutScores;
use crate::stack::Combination;

/// The held-out cells on which a fit was chosen.
#[derive(Clone, Debug)]
pub struct FitComparison {
    /// The cells.
    pub folds: HeldOutFolds,
    /// Scores under the names of the summary: the chosen model or pool first, then, beside a pool, the best single model, then
    /// simple rules.
    pub scores: Vec<(String, HeldOutScores)>,
    /// The best single model as it was learned on each fold, with its units and the factor on its standard deviations.
    singles: Vec<(Lmc, Preparation, f64)>,
}

impl FitComparison {
    /// The comparison of a choice; `None` if no cells were held out.
    pub(super) fn of(choice: &FamilyChoice, units: InputUnits) -> Result<Option<Self>, FitError> {
        let comparison = &choice.comparison;
        let (folds, singles) = match &choice.method_folds {
            Some((folds, singles)) => {
                let singles = singles.iter().cloned();
                (folds.clone(), singles.map(|(model, units)| (model, units, 1.0)).collect::<Vec<_>>())
            }
            None => {
                let Some(chosen) = comparison.trials.iter().find(|trial| trial.is_chosen) else {
                    return Ok(None);
                };
                let units = Preparation::fitted(&comparison.sample, units, &chosen.transforms)?;
                let models = chosen.fold_models.iter().zip(&chosen.widening.without);
                let single = |(model, factor): (&Lmc, &f64)| (model.clone(), units.clone(), *factor);
                (comparison.held_out_folds(), models.map(single).collect())
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
        let parts = |(table, (model, preparation, factor)): (Dataset, &(Lmc, Preparation, f64))| FitParts {
            table,
            preparation: preparation.clone(),
            model: model.clone(),
            combination: (*factor > 1.0).then(|| Combination::widened(String::new(), *factor)),
            ..fit.parts().clone()
        };
        Ok(self.folds.training()?.into_iter().zip(&self.singles).map(parts).collect())
    }
}
