//! Fits of models of space and time: places and units, choice of the fields, learning, conditioning.

mod check;
mod choice;
mod describe;
mod plan;
mod silence;
mod task;
mod units;

use catena::data::Dataset;
use catena::learning::Learned;
use catena::model::Lmc;

use super::describe::SelectionReport;
use super::finish::{LearnedModel, finish};
use super::fitted::Fit;
use super::reasons::copies_reason;
use crate::error::FitError;
use crate::families::requested_transforms;
use crate::monitor::{Stage, Watch};
use crate::options::{FitOptions, MethodChoice};
use crate::prepare::{InputUnits, Preparation, PreparedTable, without_copies};
use crate::space::Geometry;
use check::{check, check_places};
use choice::choose;
use describe::{describe_fields, places_reason};
pub(super) use plan::SpacePlan;
pub(super) use silence::{is_tried, silent_places};
use task::SpaceTable;
use units::input_units;

/// Fits a model of space and time: the last input is the time, the others are the coordinates of the place.
pub(super) fn fit(
    table: &Dataset,
    geometry: Geometry,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<Fit, FitError> {
    let geometry = match geometry {
        Geometry::Auto => Geometry::of_inputs(&options.input_names, table.inputs().values()),
        given => given,
    };
    check(table, geometry, options)?;
    let options = &FitOptions { method: MethodChoice::Space { geometry }, ..options.clone() };
    let (distinct, n_copies) = without_copies(table)?;
    let transforms = requested_transforms(&distinct, options, InputUnits::Scaled, watch)?;
    let units = input_units(table.inputs(), geometry);
    let preparation = Preparation::with_input_units(units, &distinct, &transforms)?;
    learned(table, (&distinct, n_copies), (preparation, None), options, watch)
}

/// The same kind of model learned again, from the parameters of an earlier one in the units of `preparation`.
pub(crate) fn relearn_space(
    table: &Dataset,
    distinct: &Dataset,
    (preparation, earlier): (Preparation, Lmc),
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<Fit, FitError> {
    learned(table, (distinct, 0), (preparation, Some(earlier)), options, watch)
}

/// Chooses and learns the fields, or learns those of an earlier model again, and conditions them on the whole table.
fn learned(
    table: &Dataset,
    (distinct, n_copies): (&Dataset, usize),
    (preparation, earlier): (Preparation, Option<Lmc>),
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<Fit, FitError> {
    watch.announce(Stage::Structure, 0.0);
    let geometry = match options.method {
        MethodChoice::Space { geometry } => geometry,
        _ => Geometry::Plane,
    };
    let long = preparation.dataset(distinct)?;
    let n_places = check_places(long.inputs(), geometry)?;
    let times = SpaceTable::new(&long, geometry)?;
    let (learned, mut report): (Learned, SelectionReport) = choose(&times, earlier, options, watch)?;
    report.decisions.insert(0, places_reason(n_places, geometry));
    report.decisions.extend(copies_reason(n_copies));
    let prepared = PreparedTable::along_rows(preparation.dataset(table)?)?;
    let model = learned.model.clone();
    let model =
        LearnedModel { preparation, prepared, model, learned: Some(learned), report, combination: None };
    let mut fit = finish(table, model, options, watch)?;
    describe_fields(&mut fit.parts);
    Ok(fit)
}
