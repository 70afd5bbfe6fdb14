//! A fit of sums along time: what is refused, and where learning and conditioning meet.

use catena::data::Dataset;

use super::fitted::{Told, finish, scaled_candidates, tell};
use super::learn::rival;
use super::{Fit, FitError, FitMonitor, FitOptions, Stage, StructureOption};
use crate::distinct::distinct;
use crate::ground::Ground;
use crate::message_passing::with_candidates;
use crate::preparation::{InputUnits, Preparation, Wanted};
use crate::time::{MOST_OUTPUTS, TimeModel, TimeOptions};

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
    let refused = [
        (table.observations().n_outputs() > MOST_OUTPUTS, "is for at most 16 outputs"),
        (rival(options.method, options.seed).is_some(), "runs by message passing alone"),
        (
            !matches!(options.structure, StructureOption::Auto | StructureOption::Chain),
            "lives on the sorted chain",
        ),
        (options.latents.is_some(), "has one shared latent per output"),
        (options.private == Some(true), "has no private latents"),
        (options.state == Some(catena::kernel::StateKind::Value), "carries whole states"),
    ];
    if let Some((_, what)) = refused.into_iter().find(|(is_asked, _)| *is_asked) {
        return Err(FitError::NotAlongTime { what });
    }
    let (learned_from, _) = distinct(table)?;
    let units = if options.standardize { InputUnits::Scaled } else { InputUnits::AsGiven };
    let wanted = Wanted { trend: time.linear_mean, ..Wanted::default() };
    let preparation = Preparation::fitted(&learned_from, units, &wanted)?;
    let unit = preparation.inputs[0].1;
    let TimeModel { learned, reasons, warnings } =
        crate::time::learn(&preparation.dataset(&learned_from)?, unit, time, options, monitor)?;
    tell(monitor, Stage::Structure, 0.0);
    let candidates = scaled_candidates(&preparation, options.candidates.as_ref())?;
    let prepared = with_candidates(preparation.dataset(table)?, candidates.as_ref())?;
    let ground = Ground::new(prepared, &options.structure.learned_on())?;
    let told = Told { decisions: reasons, ..Told::default() };
    let model = learned.model.clone();
    let mut fit = finish(table, preparation, &ground, model, Some(&learned), told, options, monitor)?;
    fit.parts.summary.warnings.extend(warnings);
    Ok(fit)
}
