//! Fits of time models.

use catena::data::Dataset;
use catena::kernel::StateKind;

use super::describe::SelectionReport;
use super::finish::{LearnedModel, finish};
use super::fitted::{Fit, FitParts};
use crate::error::FitError;
use crate::families::requested_transforms;
use crate::families::time::{TimeModel, given, learn};
use crate::monitor::{Stage, Watch};
use crate::options::{
    FitOptions, MOST_OUTPUTS, MOST_WITH_OWN_SEASONS, MeanChoice, StructureOption, TimeOptions,
    TimeParameters, TimeSpec,
};
use crate::power::PowerTransform;
use crate::prepare::{InputUnits, Preparation, PreparedTable, rescaled, without_copies};

/// Fits a time model along a single input.
pub(crate) fn fit(
    table: &Dataset,
    requested: &TimeOptions,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<Fit, FitError> {
    let found = table.inputs().dim();
    if found != 1 {
        return Err(FitError::TimeNeedsOneInput { found });
    }
    let n_outputs = table.observations().n_outputs();
    let refused = [
        (n_outputs > MOST_OUTPUTS, "supports at most 32 outputs"),
        (
            n_outputs > MOST_WITH_OWN_SEASONS
                && requested.spec.as_ref().is_some_and(TimeSpec::has_own_season),
            "with more than 16 outputs must share its seasons; write shared(24h) instead of qp(24h)",
        ),
        (!options.method.is_message_passing(), "supports message passing only"),
        (
            !matches!(options.structure, StructureOption::Auto | StructureOption::Chain),
            "supports the sorted chain only",
        ),
        (options.latents.is_some(), "has one shared latent per output"),
        (options.private == Some(true), "has no private latents"),
        (options.state == Some(StateKind::Value), "supports derivative states only"),
        (
            requested.parameters.is_some() && (requested.spec.is_some() || !requested.periods.is_empty()),
            "with given parameters takes its components and periods from them",
        ),
    ];
    if let Some((_, what)) = refused.into_iter().find(|(is_requested, _)| *is_requested) {
        return Err(FitError::NotAlongTime { what });
    }
    let mean = match (options.mean, &requested.parameters) {
        (MeanChoice::Auto, Some(given)) => given.mean,
        (requested, _) => requested,
    };
    let options = &FitOptions { mean, ..options.clone() };
    let (distinct, _) = without_copies(table)?;
    // Starts and periods are in median gaps.
    let preparation = match &requested.parameters {
        Some(_) => Preparation::fitted_to_given(&distinct, InputUnits::Scaled, &options.transform_choice())?,
        None => {
            let transforms = requested_transforms(&distinct, options, InputUnits::Scaled, watch)?;
            Preparation::fitted(&distinct, InputUnits::Scaled, &transforms)?
        }
    };
    let prepared = preparation.dataset(&distinct)?;
    let model = match &requested.parameters {
        Some(parameters) => given(&prepared, &preparation, parameters, options)?,
        None => learn(&prepared, preparation.inputs[0].1, requested, options, watch)?,
    };
    time_model(table, preparation, model, options, watch)
}

impl Fit {
    /// The parameters of a time model in the user's units, for another fit; `None` for other models and when an output has a
    /// transform.
    pub fn time_parameters(&self) -> Option<TimeParameters> {
        let FitParts { model, preparation, summary, table, .. } = &self.parts;
        let has_power = preparation.outputs.iter().any(|output| output.power != PowerTransform::None);
        if has_power
            || !preparation.groups.is_empty()
            || summary.latents.iter().any(|latent| latent.sum.is_none())
        {
            return None;
        }
        let units = Preparation::identity(table.inputs(), model.n_outputs(), InputUnits::AsGiven);
        let has_slopes = preparation.outputs.iter().any(|output| !output.slopes.is_empty());
        let mean = if has_slopes { MeanChoice::Linear } else { MeanChoice::Constant };
        TimeParameters::of(&rescaled(model, preparation, &units).ok()?, mean)
    }
}

/// Conditions a time model on the whole table.
pub(crate) fn time_model(
    table: &Dataset,
    preparation: Preparation,
    model: TimeModel,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<Fit, FitError> {
    let TimeModel { model, learned, reasons, warnings, sums } = model;
    watch.announce(Stage::Structure, 0.0);
    let prepared = PreparedTable::of(table, &preparation, options)?;
    let report = SelectionReport::of_decisions(reasons);
    let model = LearnedModel { preparation, prepared, model, learned, report, combination: None };
    let mut fit = finish(table, model, options, watch)?;
    let summary = &mut fit.parts.summary;
    summary.warnings.extend(warnings);
    for (latent, sum) in summary.latents.iter_mut().zip(sums) {
        latent.sum = Some(sum);
    }
    Ok(fit)
}
