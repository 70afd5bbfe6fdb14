//! Pools fields with a column per place and output: each is learned without places that fall silent, and weighted by its densities at
//! their cells. At places that are not in the table fields answer alone, as wide as places left out show them to be.

use catena::data::Dataset;
use catena::index::RowIndex;

use super::fields::{PlacePool, fields};
use super::silence::{silent_places, times_of};
use crate::error::FitError;
use crate::fit::fitted::{Fit, FitParts};
use crate::fit::summary::{HeldOut, MemberSummary};
use crate::methods::Quantity;
use crate::monitor::{FitMonitor, Watch};
use crate::options::{BoundsOptions, Budget, CombineChoice, FitOptions, MethodChoice, TransformOptions};
use crate::scores::{Densities, HeldOutScores};
use crate::space::{Geometry, Pivot, Places};
use crate::stack::{
    AheadCandidate, AheadCells, Combination, Member, MemberKind, PlaceColumns, PoolComponent, single_widening,
};

/// Tables with more columns, one per place and output, have no pool: free weights of so many are not learned well.
const MOST_COLUMNS: usize = 64;
/// Rows and times on which members are compared, at most.
const MOST_ROWS: usize = 60_000;
const MOST_TIMES: usize = 2000;
/// Folds of silent places.
const N_FOLDS: usize = 2;
/// Places that are left out, at most, and times at which they are predicted.
const MOST_LEFT_OUT: usize = 8;
const TIMES_LEFT_OUT: usize = 300;

/// Fits a table along time.
pub(super) type FitColumns<'a> = dyn Fn(&Dataset, &FitOptions) -> Result<Fit, FitError> + 'a;

/// Whether the options leave a pool open.
fn is_open(table: &Dataset, options: &FitOptions) -> bool {
    options.combine == CombineChoice::Auto
        && options.latents.is_none()
        && options.kernel.is_none()
        && options.transforms.others == TransformOptions::AUTO.others
        && options.transforms.by_name.is_empty()
        && !table.observations().has_cell_noise()
}

/// The pool of a table; `None` if the options ask for fields alone, or if nothing can be held out.
pub(super) fn place_pool(
    table: &Dataset,
    geometry: Geometry,
    options: &FitOptions,
    (monitor, fit_columns): (&FitMonitor<'_>, &FitColumns<'_>),
) -> Result<Option<PlacePool>, FitError> {
    let places = Places::of(table.inputs(), geometry);
    let n_columns = places.len() * table.observations().n_outputs();
    if !is_open(table, options) || n_columns > MOST_COLUMNS {
        return Ok(None);
    }
    let most = (MOST_ROWS / places.len()).clamp(1, MOST_TIMES);
    let sample = middle_times(table, most)?;
    let Some(folds) = silent_places(&sample, &places, options.seed, N_FOLDS)? else { return Ok(None) };
    let quick = FitOptions {
        budget: Budget::Quick,
        combine: CombineChoice::None,
        time_limit: options.time_limit.map(|limit| limit / 10),
        ..options.clone()
    };
    let fold = |training: &Dataset| -> Result<(Fit, PlaceColumns), FitError> {
        let watch = Watch::new(monitor, quick.time_limit);
        let fields = fields(training, geometry, (&quick, None), &watch)?;
        Ok((fields, columns(training, &places, &quick, fit_columns)?))
    };
    let (mut of_fields, mut of_columns, mut left_out) =
        (Densities::default(), Densities::default(), Densities::default());
    for (number, training) in folds.training()?.iter().enumerate() {
        let (fields, columns) = fold(training)?;
        let held_out = folds.held_out(number);
        of_fields.extend(Densities::at(&fields.predict_rows(Quantity::Observation)?, held_out));
        let fitted = columns.fitted(training, (options.seed, options.memory))?;
        of_columns
            .extend(Densities::at(&fitted.predict(training.inputs(), Quantity::Observation)?, held_out));
        if number == 0 {
            left_out = places_left_out(&fields, &places)?;
        }
    }
    let cells = AheadCells {
        sizes: folds.sizes(),
        cells: (0..folds.n_folds()).flat_map(|fold| folds.held_out(fold).iter().copied()).collect(),
        gaps: folds.gaps(),
        scales: folds.scales().to_vec(),
    };
    if !(cells.are_scored(&of_fields) && cells.are_scored(&of_columns)) {
        return Ok(None);
    }
    let names = ["space and time", "a column per place and output"];
    let candidates = [(names[0], of_fields, true), (names[1], of_columns, false)];
    let candidates = candidates.map(|(name, densities, is_model)| AheadCandidate {
        name: name.to_owned(),
        densities,
        is_model,
    });
    let pool = cells.pool(&candidates, 0);
    let n_left_out = n_gaps_of(&places, table.observations().n_outputs());
    let widening = match left_out.len() > 0 && left_out.is_finite() {
        true => single_widening(&left_out, n_left_out),
        false => 1.0,
    };
    let is_fields = |at: usize| pool.members[at].0 == 0;
    let n_members = pool.members.len();
    let component = |component: &PoolComponent| PoolComponent {
        weight: component.weight,
        at_rows: component.elsewhere.clone(),
        elsewhere: (0..n_members).map(|at| if is_fields(at) { widening.powi(-2) } else { 0.0 }).collect(),
    };
    let components = pool.components.iter().map(component).collect();
    let (mut members, mut summaries) = (vec![], vec![]);
    for &(at, weight) in &pool.members {
        let kind = match at {
            0 => MemberKind::Best,
            _ => {
                let options = FitOptions {
                    combine: CombineChoice::None,
                    time_limit: options.time_limit.map(|limit| limit / 3),
                    ..options.clone()
                };
                MemberKind::Columns(columns(table, &places, &options, fit_columns)?)
            }
        };
        let (factor, scores) = cells.alone(&candidates[at].densities);
        let alone = HeldOut::new(candidates[at].name.clone(), scores.scores);
        summaries.push(MemberSummary { weight, widening: factor, alone });
        members.push(Member { name: candidates[at].name.clone(), weight, kind });
    }
    let alone = |at: usize| -> HeldOutScores { cells.alone(&candidates[at].densities).1 };
    let held_out = [("pool".to_owned(), pool.held_out.clone())]
        .into_iter()
        .chain((0..2).map(|at| (candidates[at].name.clone(), alone(at))));
    let share =
        |at: usize| pool.members.iter().find(|(own, _)| *own == at).map_or(0.0, |(_, weight)| *weight);
    let reasons = vec![
        format!(
            "at the places of the table {:.0} % of the precision is of fields and {:.0} % of {}, by {} cells of places that fall silent; for \
             fields alone use --combine none",
            100.0 * share(0),
            100.0 * share(1),
            names[1],
            cells.cells.len()
        ),
        format!(
            "at other places fields answer, with standard deviations multiplied by {widening:.2}: so wide are their errors at places that are \
             left out"
        ),
    ];
    Ok(Some(PlacePool {
        combination: Combination { is_ahead: false, members, components },
        held_out: held_out.collect(),
        members: summaries,
        reasons,
    }))
}

/// A model with a column for every place and output.
fn columns(
    table: &Dataset,
    places: &Places,
    options: &FitOptions,
    fit_columns: &FitColumns<'_>,
) -> Result<PlaceColumns, FitError> {
    let options = FitOptions {
        method: MethodChoice::Auto,
        transforms: TransformOptions::NONE,
        bounds: BoundsOptions::default(),
        time_is_last: false,
        input_names: vec![],
        output_names: vec![],
        ..options.clone()
    };
    let times = Pivot::new(table, places)?.table;
    let fit = fit_columns(&times, &options)?;
    let FitParts { preparation, model, .. } = fit.parts().clone();
    Ok(PlaceColumns { places: places.clone(), preparation, model })
}

/// Densities of fields at places that they do not know, at some times: a few places are left out one by one, with the parameters that
/// were learned with them.
fn places_left_out(fields: &Fit, places: &Places) -> Result<Densities, FitError> {
    let parts = fields.parts();
    let table = middle_times(&parts.table, TIMES_LEFT_OUT)?;
    let n_outputs = table.observations().n_outputs();
    let n_left_out = places.len().min(MOST_LEFT_OUT);
    let mut found = Densities::default();
    for number in 0..n_left_out {
        let place = number * places.len() / n_left_out;
        let is_there = |row: &RowIndex| places.number_of(table.inputs().point(*row)) == Some(place);
        let (there, others): (Vec<RowIndex>, Vec<RowIndex>) = table.inputs().rows().partition(is_there);
        if there.is_empty() || others.is_empty() {
            continue;
        }
        let known = FitParts { table: table.select_rows(&others)?, combination: None, ..parts.clone() };
        let hidden = table.select_rows(&there)?;
        let cells: Vec<(usize, f64)> = hidden
            .observations()
            .cells()
            .map(|(row, cell)| (row.get() * n_outputs + cell.output.get(), cell.value))
            .collect();
        let predicted = Fit::from_parts(known)?.predict(hidden.inputs(), Quantity::Observation)?;
        found.extend(Densities::at(&predicted, &cells));
    }
    Ok(found)
}

/// The rows of the middle times of a table, at most this many.
fn middle_times(table: &Dataset, most: usize) -> Result<Dataset, FitError> {
    let times = times_of(table.inputs());
    if times.len() <= most {
        return Ok(table.clone());
    }
    let first = (times.len() - most) / 2;
    let (low, high) = (times[first], times[first + most - 1]);
    let inputs = table.inputs();
    let is_between =
        |row: &RowIndex| inputs.point(*row).last().is_some_and(|time| (low..=high).contains(time));
    Ok(table.select_rows(&inputs.rows().filter(is_between).collect::<Vec<_>>())?)
}

/// The cells of an output of a place that is left out fail together.
fn n_gaps_of(places: &Places, n_outputs: usize) -> usize {
    places.len().min(MOST_LEFT_OUT) * n_outputs
}
