//! A model along time learned again, from where it stands: the sum stays, its parameters may move.

use catena::data::Dataset;
use catena::model::Lmc;

use super::sums;
use super::phases;
use super::loadings;
use super::latest_rows;
use super::climb;
use super::TimeModel;
use super::SumComparison;
use super::Start;
use super::Plan;
use crate::error::FitError;
use crate::monitor::FitMonitor;
use crate::options::FitOptions;

/// Learns the parameters of a model again on a table in its units, of which one is `unit` of the user's input.
///
/// Each output alone goes on from its own sum. The joint climb then begins at whichever has the highest evidence: the model as
/// it is, the model with the motion that was found, or a joint model put together anew.
pub(crate) fn learn_again(
    table: &Dataset,
    model: Lmc,
    unit: f64,
    options: &FitOptions,
    monitor: &FitMonitor<'_>,
) -> Result<TimeModel, FitError> {
    let plan = Plan::new(options.budget, model.n_outputs());
    let mut reasons = vec![];
    let part = latest_rows(table, plan.rows, options, &mut reasons)?;
    let comparison = SumComparison::new(part.as_ref().unwrap_or(table), unit, &plan, options, monitor)?;
    let spec = sums::spec_of(&model);
    let earlier: Result<Vec<Lmc>, _> =
        (0..model.n_outputs()).map(|output| sums::single_of(&model, output)).collect();
    let singles = comparison.singles(&spec, &earlier?)?;
    let as_it_is = sums::parameters(&spec, &model, options.noise_floor)?;
    let moved = sums::moving_as(&model, &singles)?;
    let as_moved = sums::parameters(&spec, &moved, options.noise_floor)?;
    let loadings = loadings(&comparison.series, &singles, comparison.prepared_table.dataset.n_rows())?;
    let groups = phases::groups(&spec, &comparison.series, &singles)?;
    let (anew, as_anew) = sums::together(&spec, &singles, &loadings, &groups, options.noise_floor)?;
    let mut best: Option<(Start, &str)> = None;
    for (model, parameters, name) in [
        (model, as_it_is, "as it was"),
        (moved, as_moved, "with motion learned again"),
        (anew, as_anew, "put together anew"),
    ] {
        // A model that no longer suits the table may have no evidence at all.
        let Ok(start) = comparison.rated(model, parameters) else { continue };
        let is_number = start.log_evidence.is_finite();
        if is_number && best.as_ref().is_none_or(|(best, _)| start.log_evidence > best.log_evidence) {
            best = Some((start, name));
        }
    }
    let Some((start, name)) = best else { return Err(FitError::NoStart) };
    reasons.push(format!(
        "learned again as {}, beginning with the model {name}",
        spec.text(|period| (options.length_text)(period * unit))
    ));
    let priors = options.priors.clone().unwrap_or_else(|| comparison.prepared_table.priors());
    let learned = climb(&comparison, start, &priors, plan.joint)?;
    comparison.told(learned, reasons)
}
