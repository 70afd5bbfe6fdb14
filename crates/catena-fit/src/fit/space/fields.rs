//! Fits of fields: places and units, choice of the fields, learning, conditioning, alone or as a member of a pool.

use catena::data::Dataset;
use catena::learning::Learned;
use catena::model::Lmc;

use super::check::check_places;
use super::choice::choose;
use super::describe::{describe_fields, places_reason};
use super::task::SpaceTable;
use super::units::input_units;
use crate::error::FitError;
use crate::families::requested_transforms;
use crate::fit::describe::SelectionReport;
use crate::fit::finish::{LearnedModel, finish};
use crate::fit::fitted::Fit;
use crate::fit::reasons::copies_reason;
use crate::fit::summary::MemberSummary;
use crate::monitor::{Stage, Watch};
use crate::options::{FitOptions, MethodChoice};
use crate::prepare::{InputUnits, Preparation, PreparedTable, without_copies};
use crate::scores::HeldOutScores;
use crate::space::Geometry;
use crate::stack::Combination;

/// How fields are combined with a column per place and output.
pub(super) struct PlacePool {
    pub(super) combination: Combination,
    pub(super) held_out: Vec<(String, HeldOutScores)>,
    pub(super) members: Vec<MemberSummary>,
    pub(super) reasons: Vec<String>,
}

/// Fits fields alone, or with the other members of a pool.
pub(super) fn fields(
    table: &Dataset,
    geometry: Geometry,
    (options, pool): (&FitOptions, Option<PlacePool>),
    watch: &Watch<'_>,
) -> Result<Fit, FitError> {
    let options = &FitOptions { method: MethodChoice::Space { geometry }, ..options.clone() };
    let (distinct, n_copies) = without_copies(table)?;
    let transforms = requested_transforms(&distinct, options, InputUnits::Scaled, watch)?;
    let units = input_units(table.inputs(), geometry);
    let preparation = Preparation::with_input_units(units, &distinct, &transforms)?;
    learned(table, (&distinct, n_copies), (preparation, None, pool), options, watch)
}

/// Chooses and learns the fields, or learns those of an earlier model again, and conditions them on the whole table.
pub(super) fn learned(
    table: &Dataset,
    (distinct, n_copies): (&Dataset, usize),
    (preparation, earlier, pool): (Preparation, Option<Lmc>, Option<PlacePool>),
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
    let combination = pool.map(|pool| {
        report.decisions.extend(pool.reasons);
        report.held_out = pool.held_out;
        report.members = pool.members;
        pool.combination
    });
    let prepared = PreparedTable::along_rows(preparation.dataset(table)?)?;
    let model = learned.model.clone();
    let model = LearnedModel { preparation, prepared, model, learned: Some(learned), report, combination };
    let mut fit = finish(table, model, options, watch)?;
    describe_fields(&mut fit.parts);
    Ok(fit)
}
