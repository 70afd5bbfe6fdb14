//! The rows of the page of a fit with groups: a chart for each output of each group, along the inputs of all of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use catena::data::InputPoints;
use catena::index::{GroupIndex, OutputIndex, RowIndex};
use catena_fit::{Fit, FitError, Quantity};

use crate::predicted::predicted;
use crate::report::OutputSeries;
use crate::{About, GroupNames};

/// The most charts, and the most points in all of them.
const MOST_CHARTS: usize = 48;
const MOST_POINTS: usize = 1_000_000;

/// Charts of some groups.
pub(crate) struct GroupCharts {
    /// The inputs of all charts, in the user's units, ascending.
    pub(crate) places: Vec<f64>,
    /// One chart for each output of each group.
    pub(crate) outputs: Vec<OutputSeries>,
    /// Which groups are shown, if not all.
    pub(crate) note: Option<String>,
}

/// The rows of a group by their places; rows at one input have places of their own.
type RowsByPlace = BTreeMap<(u64, usize), RowIndex>;

/// The charts of a fit with groups along its input. `held_out` is as for the page.
///
/// # Errors
/// When a prediction overflows.
pub(crate) fn group_charts(
    fit: &Fit,
    about: &About,
    names: &GroupNames,
    held_out: &[f64],
) -> Result<GroupCharts, FitError> {
    let (table, n_outputs) = (fit.table(), about.outputs.len());
    let mut groups: BTreeMap<GroupIndex, RowsByPlace> = BTreeMap::new();
    let mut seen: HashMap<(Option<GroupIndex>, u64), usize> = HashMap::new();
    for row in table.inputs().rows() {
        let (group, place) = (table.inputs().group(row), ordered(table.inputs().point(row)[0]));
        let repeat = seen.entry((group, place)).or_default();
        groups.entry(group.unwrap_or(GroupIndex::new(0))).or_default().insert((place, *repeat), row);
        *repeat += 1;
    }
    let n_groups = groups.len();
    let mut shown: Vec<(GroupIndex, RowsByPlace)> = groups.into_iter().collect();
    // Those with the most rows, in the order of their names.
    shown.sort_by_key(|(group, rows)| (Reverse(rows.len()), *group));
    shown.truncate((MOST_CHARTS / n_outputs.max(1)).max(1));
    while shown.len() > 1 && all_places(&shown).len() * shown.len() * n_outputs > MOST_POINTS {
        shown.pop();
    }
    shown.sort_by_key(|(group, _)| *group);
    let keys = all_places(&shown);
    let places: Vec<f64> = keys.iter().map(|(place, _)| number(*place)).collect();
    let values = shown.iter().flat_map(|_| places.iter().copied()).collect();
    let of_point = shown.iter().flat_map(|(group, _)| std::iter::repeat_n(*group, places.len()));
    let points = InputPoints::from_column(values)?.with_groups(of_point.collect())?;
    let predictive = fit.predict(&points, Quantity::Observation)?;
    let mut outputs = vec![];
    for (at, (group, rows)) in shown.iter().enumerate() {
        let label = names.names.get(group.get()).map_or_else(String::new, |names| names.join(", "));
        let ends = rows.keys().next().zip(rows.keys().next_back());
        let is_inside = |key: &(u64, usize)| ends.is_some_and(|(first, last)| key >= first && key <= last);
        for (output, name) in about.outputs.iter().enumerate() {
            let begin = at * places.len();
            let mut chart = predicted(
                fit,
                &predictive,
                &|place| (begin + place) * n_outputs + output,
                output,
                places.len(),
            );
            chart.name = format!("{name}, {label}");
            let cell = |key: &(u64, usize)| {
                let row = *rows.get(key)?;
                table.observations().row(row).find(|cell| cell.output == OutputIndex::new(output))
            };
            let known = |key: &(u64, usize)| {
                let value = held_out.get(rows.get(key)?.get() * n_outputs + output)?;
                Some(*value).filter(|value| !value.is_nan())
            };
            chart.observed = keys.iter().map(|key| Some(cell(key)?.value)).collect();
            let known: Vec<Option<f64>> = keys.iter().map(known).collect();
            chart.held_out = if known.iter().any(Option::is_some) { known } else { vec![] };
            // Far outside its rows a group has the prior.
            for (mean, _) in chart.mean.iter_mut().zip(&keys).filter(|(_, key)| !is_inside(key)) {
                *mean = f64::NAN;
            }
            outputs.push(chart);
        }
    }
    let n_shown = shown.len();
    let note = (n_shown < n_groups)
        .then(|| format!("charts: the {n_shown} groups with the most rows of {n_groups}"));
    Ok(GroupCharts { places, outputs, note })
}

/// The places of all rows of some groups, ascending.
fn all_places(groups: &[(GroupIndex, RowsByPlace)]) -> Vec<(u64, usize)> {
    let mut places: Vec<(u64, usize)> = groups.iter().flat_map(|(_, rows)| rows.keys().copied()).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Bits in the order of their numbers, in which −0 and 0 are equal.
fn ordered(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number of [`ordered`] bits.
fn number(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}
