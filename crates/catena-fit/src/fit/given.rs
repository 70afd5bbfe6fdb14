//! Models with given parameters.

use catena::data::Dataset;
use catena::kernel::StateKind;
use catena::learning::Family;
use catena::model::{Latent, Lmc, MixingMatrix, ModelError};
use catena::units::{LengthScale, Variance};

use super::describe::SelectionReport;
use super::finish::LearnedModel;
use crate::error::FitError;
use crate::options::{FitOptions, GivenParameters};
use crate::prepare::{InputUnits, Preparation, PreparedTable};

/// The model with given parameters for a table.
pub(super) fn learned_model(
    table: &Dataset,
    given: &GivenParameters,
    options: &FitOptions,
) -> Result<LearnedModel, FitError> {
    let n_outputs = table.observations().n_outputs();
    // With several inputs given length-scales are distances in the user's units.
    let is_line = table.inputs().dim() == 1;
    let units = if options.standardize && is_line { InputUnits::Scaled } else { InputUnits::AsGiven };
    let preparation = if options.standardize {
        Preparation::fitted_to_given(table, units, &options.transform_choice())?
    } else {
        Preparation::identity(table.inputs(), n_outputs, units)
    };
    let prepared = PreparedTable::of(table, &preparation, options)?;
    let model = given_model(given, &preparation, prepared.default_state(), options)?;
    let report = SelectionReport::of_decisions(vec!["parameters as given".to_owned()]);
    Ok(LearnedModel { preparation, prepared, model, learned: None, report, combination: None })
}

/// The model with given parameters, in the units of `preparation`; `default_state` is used unless the options set one.
pub(crate) fn given_model(
    given: &GivenParameters,
    preparation: &Preparation,
    default_state: StateKind,
    options: &FitOptions,
) -> Result<Lmc, FitError> {
    let (n_outputs, n_latents) = (preparation.outputs.len(), given.length_scales.len());
    let check = |what: &'static str, expected: usize, found: usize| {
        if expected == found { Ok(()) } else { Err(FitError::ParameterShape { what, expected, found }) }
    };
    check("the mixing matrix", n_outputs, given.mixing.len())?;
    given.mixing.iter().try_for_each(|row| check("a row of the mixing matrix", n_latents, row.len()))?;
    check("the noise", n_outputs, given.noise.len())?;
    let n_private = if given.has_private { n_outputs } else { 0 };
    let Some(n_shared) = n_latents.checked_sub(n_private) else {
        let (what, expected) = ("the length-scales", n_private);
        return Err(FitError::ParameterShape { what, expected, found: n_latents });
    };
    let (mut shared, mut private, mut noise) = (vec![], vec![], vec![]);
    for (output, transform) in preparation.outputs.iter().enumerate() {
        let (row, scale) = (&given.mixing[output], transform.scale);
        shared.extend(row[..n_shared].iter().map(|weight| weight / scale));
        if given.has_private {
            private.push(row[n_shared + output] / scale);
        }
        noise.push(Variance::new(given.noise[output] / (scale * scale)).map_err(ModelError::from)?);
    }
    let kernels = given.kernel;
    let family = Family {
        n_shared,
        shared_kernel: kernels.shared,
        private_kernel: given.has_private.then_some(kernels.private),
        state: options.state.unwrap_or(default_state),
        tied: false,
    };
    let unit = if preparation.inputs.len() == 1 { preparation.inputs[0].1 } else { 1.0 };
    let latent = |(at, length): (usize, &f64)| -> Result<Latent, ModelError> {
        let kernel = if at < n_shared { kernels.shared } else { kernels.private };
        Ok(Latent::new(kernel, family.state_of(kernel), LengthScale::new(length / unit)?)?)
    };
    let latents: Result<Vec<Latent>, _> = given.length_scales.iter().enumerate().map(latent).collect();
    Ok(Lmc::new(latents?, MixingMatrix::with_private(n_outputs, n_shared, shared, private)?, noise)?)
}
