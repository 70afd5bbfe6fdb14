//! Learns the parameters of a time model again on more rows; the sum stays.

use catena::data::Dataset;
use catena::model::Lmc;

use super::comparison::{JointStart, SumComparison, TimeModel};
use super::sums;
use crate::error::FitError;
use crate::monitor::Watch;
use crate::options::FitOptions;

/// Learns the parameters of a model again on a scaled table. One unit of its input is `unit` in the user's units.
///
/// Single outputs start from their sums in the model. The joint model starts from whichever has the highest log evidence: the
/// model itself, the model with the new dynamics, or a joint model assembled from the single ones.
pub(crate) fn relearn(
    table: &Dataset,
    model: Lmc,
    unit: f64,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<TimeModel, FitError> {
    let mut reasons = vec![];
    let comparison = SumComparison::new(table, unit, options, watch, &mut reasons)?;
    let spec = sums::spec_of(&model);
    let earlier: Result<Vec<Lmc>, _> =
        (0..model.n_outputs()).map(|output| sums::single_of(&model, output)).collect();
    let singles = comparison.singles(&spec, &earlier?)?;
    let same_parameters = sums::parameters(&spec, &model, options.noise_floor)?;
    let moved = sums::moving_as(&model, &singles)?;
    let moved_parameters = sums::parameters(&spec, &moved, options.noise_floor)?;
    let (assembled, assembled_parameters) = comparison.assembled(&spec, &singles)?;
    let mut best: Option<(JointStart, &str)> = None;
    for (model, parameters, name) in [
        (model, same_parameters, "the previous parameters"),
        (moved, moved_parameters, "the previous weights and new dynamics"),
        (assembled, assembled_parameters, "new weights and new dynamics"),
    ] {
        // The previous model may have no finite evidence on the new table.
        let Ok(start) = comparison.start(model, parameters) else { continue };
        let is_finite = start.log_evidence.is_finite();
        if is_finite && best.as_ref().is_none_or(|(best, _)| start.log_evidence > best.log_evidence) {
            best = Some((start, name));
        }
    }
    let Some((start, name)) = best else { return Err(FitError::NoStart) };
    reasons.push(format!("learned again as {}, starting from {name}", comparison.text(&spec)));
    comparison.optimize(start, reasons)
}
