//! Fits of models of space and time: places and units, choice of the fields, learning, conditioning.

mod check;
mod choice;
mod describe;
mod fields;
mod pairs;
mod plan;
mod pool;
mod silence;
mod task;
mod units;

use catena::data::Dataset;
use catena::model::Lmc;

use super::fitted::Fit;
use crate::error::FitError;
use crate::monitor::{FitMonitor, Watch};
use crate::options::FitOptions;
use crate::prepare::Preparation;
use crate::space::Geometry;
use check::check;
use fields::{fields, learned};
pub(super) use plan::SpacePlan;
use pool::{FitColumns, place_pool};
pub(super) use silence::{is_tried, silent_fold};

/// Fits a model of space and time: the last input is the time, the others are the coordinates of the place. `columns` fits the table of
/// times with a column for every place and output.
pub(super) fn fit(
    table: &Dataset,
    geometry: Geometry,
    options: &FitOptions,
    (monitor, columns): (&FitMonitor<'_>, &FitColumns<'_>),
) -> Result<Fit, FitError> {
    let geometry = match geometry {
        Geometry::Auto => Geometry::of_inputs(&options.input_names, table.inputs().values()),
        given => given,
    };
    check(table, geometry, options)?;
    let pool = place_pool(table, geometry, options, (monitor, columns))?;
    let limit = options.time_limit.map(|limit| if pool.is_some() { limit / 3 } else { limit });
    let watch = &Watch::new(monitor, limit);
    fields(table, geometry, (options, pool), watch)
}

/// The same kind of model learned again, from the parameters of an earlier one in the units of `preparation`.
pub(crate) fn relearn_space(
    table: &Dataset,
    distinct: &Dataset,
    (preparation, earlier): (Preparation, Lmc),
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<Fit, FitError> {
    learned(table, (distinct, 0), (preparation, Some(earlier), None), options, watch)
}
