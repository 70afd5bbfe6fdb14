//! Every observed cell given all other cells, in closed form from one sweep.

use std::collections::BTreeSet;

use catena::data::Dataset;
use catena::index::RowIndex;
use catena::prediction::Prediction;

use crate::error::{FitError, MethodError};
use crate::fit::{Fit, FitParts};
use crate::methods::Quantity;
use crate::normal::left_out;
use crate::options::{MethodChoice, StructureOption};
use crate::prepare::Predictive;

/// Row-major places of cells in a table.
pub(super) type Cells = BTreeSet<usize>;

/// Means and variances of all cells in the model's units, each given the observed cells without itself.
pub(super) struct LeftOut {
    pub(super) means: Vec<f64>,
    /// Variances of an observation.
    pub(super) variances: Vec<f64>,
    /// The part of them that is noise.
    pub(super) noise: Vec<f64>,
}

/// Refuses methods whose posterior variances are not those of one joint normal distribution.
pub(super) fn check_method(method: MethodChoice, structure: StructureOption) -> Result<(), FitError> {
    match (method, structure) {
        (MethodChoice::Exact, _) => Ok(()),
        (MethodChoice::Auto | MethodChoice::Catena, StructureOption::Ensemble { .. }) => {
            Err(FitError::Check { what: "needs one chain or tree, not an ensemble; leave the structure out" })
        }
        (MethodChoice::Auto | MethodChoice::Catena, _) => Ok(()),
        (MethodChoice::Space { .. }, _) => Err(FitError::Check {
            what: "does not know space and time; name the time alone with --inputs, or the stations with --wide or --group",
        }),
        _ => Err(FitError::Check { what: "needs method catena or exact; leave the method out" }),
    }
}

/// The cells of a table that are not set aside.
pub(super) fn without(table: &Dataset, aside: &Cells) -> Result<Dataset, FitError> {
    let n_outputs = table.observations().n_outputs();
    let is_kept = |row: RowIndex, output: usize| !aside.contains(&(row.get() * n_outputs + output));
    let observations = table.observations().filter(|row, cell| is_kept(row, cell.output.get()));
    Ok(Dataset::new(table.inputs().clone(), observations)?)
}

impl LeftOut {
    /// The cells of a fit's own table.
    fn of(fit: &Fit) -> Result<Self, FitError> {
        let FitParts { table, preparation, model, method, structure, .. } = fit.parts();
        check_method(*method, *structure)?;
        if preparation.has_likelihoods() {
            let what = "is not checked cell by cell yet; fit without --likelihood";
            return Err(FitError::WithLikelihood { what });
        }
        let prepared = preparation.dataset(table)?;
        let (mut means, mut variances) = fit.best.posterior.predict_rows(Quantity::Function)?.into_arrays();
        let n_outputs = model.n_outputs();
        let prior =
            |output| -> f64 { model.mixing().row_entries(output).map(|(_, weight)| weight * weight).sum() };
        let mut noise: Vec<f64> = (0..means.len()).map(|at| model.noise()[at % n_outputs].get()).collect();
        let mut is_observed = vec![false; means.len()];
        for (row, cell) in prepared.observations().cells() {
            let at = row.get() * n_outputs + cell.output.get();
            let own = cell.noise_variance.unwrap_or(noise[at]);
            let posterior = (means[at], variances[at]);
            let Some((mean, variance)) = left_out(cell.value, own, posterior, prior(cell.output)) else {
                let what = "needs more noise than these parameters have, because a cell is determined by itself alone; give a \
                            larger noise";
                return Err(FitError::Check { what });
            };
            means[at] = mean;
            variances[at] = variance;
            noise[at] = own;
            is_observed[at] = true;
        }
        for at in (0..means.len()).filter(|at| !is_observed[*at]) {
            variances[at] += noise[at];
        }
        Ok(Self { means, variances, noise })
    }

    /// All cells of a table by the model of a fit, given the cells that are not set aside.
    pub(super) fn given(fit: &Fit, table: &Dataset, aside: &Cells) -> Result<Self, FitError> {
        let parts = FitParts { table: without(table, aside)?, combination: None, ..fit.parts().clone() };
        Self::of(&Fit::from_parts(parts)?)
    }

    /// The errors of all observed cells of a table in standard deviations, row-major; NaN where nothing is observed, and infinite for a
    /// value that the transform of its output does not have.
    pub(super) fn errors(&self, fit: &Fit, table: &Dataset) -> Result<Vec<f64>, FitError> {
        let (preparation, inputs) = (&fit.parts().preparation, table.inputs());
        let scaled = preparation.inputs(inputs)?;
        let n_outputs = table.observations().n_outputs();
        let mut errors = vec![f64::NAN; self.means.len()];
        for (row, cell) in table.observations().cells() {
            let at = row.get() * n_outputs + cell.output.get();
            let units = &preparation.outputs_in(inputs.group(row))[cell.output.get()];
            let error =
                (units.apply(cell.value, scaled.point(row)) - self.means[at]) / self.variances[at].sqrt();
            errors[at] = if error.is_nan() { f64::NEG_INFINITY } else { error };
        }
        Ok(errors)
    }

    /// Predictive distributions of all cells in the user's units; the deviations of each output are multiplied by its factor.
    pub(super) fn predictive(
        &self,
        fit: &Fit,
        table: &Dataset,
        factors: &[f64],
    ) -> Result<Predictive, FitError> {
        let n_outputs = factors.len();
        let variance = |(at, variance): (usize, &f64)| variance * factors[at % n_outputs].powi(2);
        let variances = self.variances.iter().enumerate().map(variance).collect();
        let prediction = Prediction::new(table.n_rows(), n_outputs, self.means.clone(), variances)
            .map_err(MethodError::from)?;
        let preparation = &fit.parts().preparation;
        Ok(preparation.predictive(prediction, &preparation.inputs(table.inputs())?)?)
    }
}

impl Fit {
    /// Predictive distributions of every cell of the table given all *other* observed cells: leave-one-out in closed form, from one
    /// sweep. Of a pool they are those of its single model.
    ///
    /// # Errors
    /// When the method is an approximation or the structure an ensemble, the noise is so small that a cell alone determines its
    /// function, or numbers overflow.
    pub fn left_out(&self) -> Result<Predictive, FitError> {
        LeftOut::of(self)?.predictive(self, self.table(), &vec![1.0; self.parts().model.n_outputs()])
    }
}
