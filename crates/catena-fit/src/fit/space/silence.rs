//! Whether a table is one of places and times, and the held-out cells on which space and time is compared with other methods: places
//! fall silent, some of them together with their neighbors.

use std::collections::BTreeMap;

use catena::data::{Dataset, InputPoints};
use catena::index::RowIndex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardUniform};

use crate::error::FitError;
use crate::folds::{Fold, HeldOutFolds, scales_of};
use crate::options::{FitOptions, MethodChoice, StructureOption};
use crate::space::{Geometry, MOST_PLACES, Places};

/// The share of the times for which a place is silent.
const SILENCE: f64 = 0.3;
/// The fewest times of a table that is compared.
const FEWEST_TIMES: usize = 20;

/// Whether space and time is tried beside other methods: one or two coordinates and a time, places that repeat, and no option that
/// space and time does not have.
pub(crate) fn is_tried(table: &Dataset, options: &FitOptions) -> bool {
    let inputs = table.inputs();
    let is_open = options.method == MethodChoice::Auto
        && options.structure == StructureOption::Auto
        && options.time.is_none()
        && !options.has_parameters()
        && options.candidates.is_none()
        && options.state.is_none()
        && options.private.is_none()
        && options.ard != Some(true)
        && options.latents != Some(0);
    if !(is_open && options.time_is_last && (2..=3).contains(&inputs.dim()) && inputs.groups().is_none()) {
        return false;
    }
    let n_places = Places::of(inputs, geometry(inputs, options)).len();
    (2..=MOST_PLACES).contains(&n_places) && inputs.n_rows() >= FEWEST_TIMES * n_places / 2
}

fn geometry(inputs: &InputPoints, options: &FitOptions) -> Geometry {
    Geometry::of_inputs(&options.input_names, inputs.values())
}

/// The distinct times of points, ascending.
pub(super) fn times_of(inputs: &InputPoints) -> Vec<f64> {
    let mut times: Vec<f64> =
        inputs.rows().map(|row| inputs.point(row).last().copied().unwrap_or(0.0)).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// The folds of [`silent_places`] for a table whose places are measured as its inputs say.
pub(crate) fn silent_fold(table: &Dataset, options: &FitOptions) -> Result<Option<HeldOutFolds>, FitError> {
    let places = Places::of(table.inputs(), geometry(table.inputs(), options));
    silent_places(table, &places, options.seed, 1)
}

/// In each fold a quarter of the places are silent for stretches of time, half of them at the same time as their nearest neighbors. `None`
/// if an output has no cells left.
pub(super) fn silent_places(
    table: &Dataset,
    places: &Places,
    seed: u64,
    n_folds: usize,
) -> Result<Option<HeldOutFolds>, FitError> {
    let times = times_of(table.inputs());
    let folds = (0..n_folds).map(|number| silent_in(table, places, &times, (seed, number as u64)));
    let Some(folds) = folds.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let training = Dataset::new(table.inputs().clone(), folds[0].training.clone())?;
    Ok(Some(HeldOutFolds::new(table.inputs().clone(), folds, scales_of(&training)?)))
}

/// One fold; the cells of an output at a silent place are a gap.
fn silent_in(table: &Dataset, places: &Places, times: &[f64], (seed, number): (u64, u64)) -> Option<Fold> {
    let (inputs, observations) = (table.inputs(), table.observations());
    let (n_places, n_outputs) = (places.len(), observations.n_outputs());
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(number);
    let mut uniform = || -> f64 { StandardUniform.sample(&mut generator) };
    // By distance from a random place: the first of them are a region.
    let center = ((uniform() * n_places as f64) as usize).min(n_places - 1);
    let distances = &places.distances()[center * n_places..][..n_places];
    let mut order: Vec<usize> = (0..n_places).collect();
    order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
    let n_silent = (n_places / 4).max(1);
    let n_region = n_silent.div_ceil(2);
    for at in n_region..n_places {
        let other = at + ((uniform() * (n_places - at) as f64) as usize).min(n_places - at - 1);
        order.swap(at, other);
    }
    let mut window = || {
        let first = uniform() * (1.0 - SILENCE) * times.len() as f64;
        let first = (first as usize).min(times.len() - 1);
        let last = (first + (SILENCE * times.len() as f64) as usize).min(times.len() - 1);
        (times[first], times[last])
    };
    let region = window();
    let silence: Vec<(usize, (f64, f64))> = order[..n_silent]
        .iter()
        .enumerate()
        .map(|(at, &place)| (place, if at < n_region { region } else { window() }))
        .collect();
    // The number of the silent place, if a row is silent.
    let silent = |row: RowIndex| {
        let point = inputs.point(row);
        let place = places.number_of(point);
        let at = silence.iter().position(|(silent, _)| Some(*silent) == place)?;
        let (first, last) = silence[at].1;
        point.last().filter(|time| (first..=last).contains(*time)).map(|_| at)
    };
    let (mut held_out, mut gaps, mut numbers) = (vec![], vec![], BTreeMap::new());
    for (row, cell) in observations.cells() {
        let Some(place) = silent(row) else { continue };
        let n_known = numbers.len();
        gaps.push(*numbers.entry((place, cell.output)).or_insert(n_known));
        held_out.push((row.get() * n_outputs + cell.output.get(), cell.value));
    }
    let mut left = observations.counts_by_output();
    held_out.iter().for_each(|(cell, _)| left[cell % n_outputs] -= 1);
    if held_out.is_empty() || left.iter().any(|count| *count < 2) {
        return None;
    }
    let training = observations.filter(|row, _| silent(row).is_none());
    Some(Fold { training, held_out, gaps })
}
