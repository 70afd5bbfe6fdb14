//! A fit with parameters in the user's units: nothing is learned.

use catena::data::Dataset;
use catena::kernel::StateKind;
use catena::learning::Family;
use catena::model::{Latent, Lmc, MixingMatrix};
use catena::units::{LengthScale, Variance};

use super::fitted::finish;
use super::fitted::SelectionReport;
use super::Fit;
use crate::error::FitError;
use crate::monitor::FitMonitor;
use crate::options::{FitOptions, GivenParameters};
use crate::prepare::{InputUnits, OutputTransform, Preparation, PreparedTable, scaled_candidates, with_candidates};

/// A fit with parameters in the user's units.
pub(super) fn fit(
    table: &Dataset,
    given: &GivenParameters,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<Fit, FitError> {
    let n_outputs = table.observations().n_outputs();
    // With one input a length-scale follows its unit; with several, given length-scales are distances as they are.
    let is_line = table.inputs().dim() == 1;
    let units = if options.standardize && is_line { InputUnits::Scaled } else { InputUnits::AsGiven };
    let preparation = if options.standardize {
        Preparation::fitted_to_given(table, units, &options.wanted())?
    } else {
        Preparation::identity(table.inputs(), n_outputs, units)
    };
    let candidates = scaled_candidates(&preparation, options.candidates.as_ref())?;
    let prepared = with_candidates(preparation.dataset(table)?, candidates.as_ref())?;
    let prepared_table = PreparedTable::new(prepared, &options.structure.learned_on())?;
    let is_line = table.inputs().dim() == 1 && prepared_table.tree.is_chain();
    let model = given_model(given, &preparation, is_line, options)?;
    let told = SelectionReport { decisions: vec!["parameters as given".to_owned()], ..SelectionReport::default() };
    finish(table, preparation, &prepared_table, model, None, told, options, monitor)
}

/// The model with given parameters, in the units of `preparation`; `is_line` on a chain along a single input.
pub(super) fn given_model(
    given: &GivenParameters,
    preparation: &Preparation,
    is_line: bool,
    options: &FitOptions,
) -> Result<Lmc, FitError> {
    let n_outputs = preparation.outputs.len();
    let n_latents = given.length_scales.len();
    let check = |what: &'static str, expected: usize, found: usize| {
        if expected == found { Ok(()) } else { Err(FitError::ParameterShape { what, expected, found }) }
    };
    check("the mixing matrix", n_outputs, given.mixing.len())?;
    given.mixing.iter().try_for_each(|row| check("a row of the mixing matrix", n_latents, row.len()))?;
    check("the noise", n_outputs, given.noise.len())?;
    let n_private = if given.has_private { n_outputs } else { 0 };
    let Some(n_shared) = n_latents.checked_sub(n_private) else {
        return Err(FitError::ParameterShape {
            what: "the length-scales",
            expected: n_private,
            found: n_latents,
        });
    };
    let (mut shared, mut private, mut noise) = (vec![], vec![], vec![]);
    for ((row, variance), (output, transform)) in
        given.mixing.iter().zip(&given.noise).zip(preparation.outputs.iter().enumerate())
    {
        let OutputTransform { scale, .. } = transform;
        shared.extend(row[..n_shared].iter().map(|weight| weight / scale));
        if given.has_private {
            private.push(row[n_shared + output] / scale);
        }
        noise.push(Variance::new(variance / (scale * scale)).map_err(catena::model::ModelError::from)?);
    }
    let suited = if is_line { StateKind::Derivative } else { StateKind::Value };
    let state = options.state.unwrap_or(suited);
    let kernels = given.kernel;
    let family = Family {
        n_shared,
        shared_kernel: kernels.shared,
        private_kernel: given.has_private.then_some(kernels.private),
        state,
        tied: false,
    };
    let unit = if preparation.inputs.len() == 1 { preparation.inputs[0].1 } else { 1.0 };
    let latent = |(at, length): (usize, &f64)| -> Result<Latent, catena::model::ModelError> {
        let kernel = if at < n_shared { kernels.shared } else { kernels.private };
        Ok(Latent::new(kernel, family.state_of(kernel), LengthScale::new(length / unit)?)?)
    };
    let latents: Result<Vec<Latent>, _> = given.length_scales.iter().enumerate().map(latent).collect();
    Ok(Lmc::new(latents?, MixingMatrix::with_private(n_outputs, n_shared, shared, private)?, noise)?)
}
