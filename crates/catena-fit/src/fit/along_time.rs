//! A fit of sums along time: what is refused, and where learning and conditioning meet.

use catena::data::Dataset;

use super::fitted::finish;
use super::fitted::SelectionReport;
use super::FitParts;
use super::Fit;
use crate::error::FitError;
use crate::families::time::TimeModel;
use crate::monitor::{FitMonitor, Stage, tell};
use crate::options::{FitOptions, MOST_OUTPUTS, MOST_WITH_OWN_SEASONS, MeanChoice, StructureOption, TimeOptions, TimeParameters, TimeSpec};
use crate::prepare::{InputUnits, Preparation, PreparedTable, distinct, rescaled, scaled_candidates, with_candidates};

/// A fit of sums of level, season and oscillator along a single input.
pub(super) fn fit(
    table: &Dataset,
    time: &TimeOptions,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<Fit, FitError> {
    let found = table.inputs().dim();
    if found != 1 {
        return Err(FitError::TimeNeedsOneInput { found });
    }
    let n_outputs = table.observations().n_outputs();
    let refused = [
        (n_outputs > MOST_OUTPUTS, "is for at most 32 outputs"),
        (
            n_outputs > MOST_WITH_OWN_SEASONS && time.spec.as_ref().is_some_and(TimeSpec::has_own_season),
            "of more than 16 outputs has no season in every latent, but one that they share, such as shared(24h)",
        ),
        (!options.method.is_message_passing(), "runs by message passing alone"),
        (
            !matches!(options.structure, StructureOption::Auto | StructureOption::Chain),
            "lives on the sorted chain",
        ),
        (options.latents.is_some(), "has one shared latent per output"),
        (options.private == Some(true), "has no private latents"),
        (options.state == Some(catena::kernel::StateKind::Value), "carries whole states"),
        (
            time.parameters.is_some() && (time.spec.is_some() || !time.periods.is_empty()),
            "whose parameters are given has its pieces and periods from them",
        ),
    ];
    if let Some((_, what)) = refused.into_iter().find(|(is_asked, _)| *is_asked) {
        return Err(FitError::NotAlongTime { what });
    }
    let mean = match (options.mean, &time.parameters) {
        (MeanChoice::Auto, Some(given)) => given.mean,
        (asked, _) => asked,
    };
    let options = &FitOptions { mean, ..options.clone() };
    let (learned_from, _) = distinct(table)?;
    // Starts and periods are counted in gaps, whatever the unit of the input.
    let preparation = match &time.parameters {
        Some(_) => Preparation::fitted_to_given(&learned_from, InputUnits::Scaled, &options.wanted())?,
        None => Preparation::fitted(&learned_from, InputUnits::Scaled, &options.wanted())?,
    };
    let prepared = preparation.dataset(&learned_from)?;
    let model = match &time.parameters {
        Some(given) => crate::families::time::given(&prepared, &preparation, given, options)?,
        None => crate::families::time::learn(&prepared, preparation.inputs[0].1, time, options, monitor)?,
    };
    conclude(table, preparation, model, options, monitor)
}

impl Fit {
    /// The parameters of a model along time in the user's units, to be given to another fit; `None` for any other model.
    pub fn time_parameters(&self) -> Option<TimeParameters> {
        let FitParts { model, preparation, summary, table, .. } = &self.parts;
        if summary.latents.iter().any(|latent| latent.sum.is_none()) {
            return None;
        }
        let units = Preparation::identity(table.inputs(), model.n_outputs(), InputUnits::AsGiven);
        let has_slopes = preparation.outputs.iter().any(|output| !output.slopes.is_empty());
        let mean = if has_slopes { MeanChoice::Linear } else { MeanChoice::Constant };
        TimeParameters::of(&rescaled(model, preparation, &units).ok()?, mean)
    }
}

/// Conditions a model on the whole table.
pub(super) fn conclude(
    table: &Dataset,
    preparation: Preparation,
    model: TimeModel,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<Fit, FitError> {
    let TimeModel { model, learned, reasons, warnings, sums } = model;
    tell(monitor, Stage::Structure, 0.0);
    let candidates = scaled_candidates(&preparation, options.candidates.as_ref())?;
    let prepared = with_candidates(preparation.dataset(table)?, candidates.as_ref())?;
    let prepared_table = PreparedTable::new(prepared, &options.structure.learned_on())?;
    let told = SelectionReport { decisions: reasons, ..SelectionReport::default() };
    let mut fit = finish(table, preparation, &prepared_table, model, learned.as_ref(), told, options, monitor)?;
    let summary = &mut fit.parts.summary;
    summary.warnings.extend(warnings);
    for (latent, sum) in summary.latents.iter_mut().zip(sums) {
        latent.sum = Some(sum);
    }
    Ok(fit)
}
