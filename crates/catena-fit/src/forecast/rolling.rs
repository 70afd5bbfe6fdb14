//! Forecasts from many origins, scored beside simple rules: the last value, the last season, the mean.
//!
//! Parameters are fixed; one Kalman filter over the whole table serves all origins. In a table with groups each group has origins and
//! targets of its own.

use std::ops::Range;
use std::sync::Arc;

use catena::data::Dataset;
use catena::graph::FactorGraph;
use catena::index::{GroupIndex, RowIndex};
use catena::inference::{InferenceError, Outlook, Workspace};
use catena::structure::sorted_chain;
use serde::Serialize;

use crate::error::{FitError, MethodError};
use crate::fit::Fit;
use crate::normal::log_density;
use crate::prepare::median_gap_within_groups;

/// Options of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Rolling {
    /// The number of rows before the first origin. With groups, each begins after as many of its rows, or after those of the fit if they
    /// are fewer.
    pub first: usize,
    /// The number of rows between origins.
    pub every: usize,
    /// The most origins; with groups, of each group.
    pub origins: usize,
    /// The distance ahead, in units of the input.
    pub horizons: Vec<f64>,
    /// The period of the seasonal rule, in units of the input; `None` to leave it out.
    pub season: Option<f64>,
    /// The probability of the intervals.
    pub interval: f64,
}

/// Scores of the model or a rule at one horizon.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Horizon {
    /// The distance ahead, in units of the input.
    pub horizon: f64,
    /// `catena` or the rule.
    pub name: &'static str,
    /// The number of observed targets.
    pub n_cells: usize,
    /// Root mean squared error, in standard deviations of the training rows.
    pub rmse: f64,
    /// Mean log predictive density per cell in nats, outputs in the same units; larger is better.
    pub log_score: f64,
    /// The fraction of targets inside the intervals.
    pub coverage: f64,
}

/// The targets of one horizon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Targets {
    /// The number of origins.
    pub n_origins: usize,
    /// Origins whose target is after the last row.
    pub n_beyond: usize,
    /// Origins whose target is before the last row, but at a time without a row.
    pub n_without_row: usize,
    /// Cells of rows at a target that are missing.
    pub n_missing: usize,
}

/// Times before and after others, where steps are not lengths along the input: months or business days.
pub struct Shifts<'a> {
    /// The target of an origin, by the number of the horizon; `None` if there is no such time.
    pub target: &'a dyn Fn(f64, usize) -> Option<f64>,
    /// The time a number of seasons before another.
    pub before: &'a dyn Fn(f64, i64) -> Option<f64>,
}

/// Values by group and time.
pub(super) struct SortedRows {
    pub(super) times: Vec<f64>,
    /// Row-major values, by time; NaN where missing.
    values: Vec<f64>,
    /// The last value of each output at or before each row; NaN where there is none.
    latest: Vec<f64>,
    pub(super) rows: Vec<RowIndex>,
    /// The group of each place, and the places of each group.
    group_of: Vec<usize>,
    groups: Vec<(Option<GroupIndex>, Range<usize>)>,
    pub(super) n_outputs: usize,
    /// Times closer than this are equal.
    blur: f64,
}

impl SortedRows {
    pub(super) fn new(table: &Dataset) -> Self {
        let (n_outputs, inputs) = (table.observations().n_outputs(), table.inputs());
        let mut rows: Vec<RowIndex> = inputs.rows().collect();
        let time = |row: RowIndex| inputs.point(row)[0];
        rows.sort_by(|&a, &b| inputs.group(a).cmp(&inputs.group(b)).then(time(a).total_cmp(&time(b))));
        let (mut groups, mut group_of) = (vec![], Vec::with_capacity(rows.len()));
        for group in rows.chunk_by(|&a, &b| inputs.group(a) == inputs.group(b)) {
            let begin = group_of.len();
            group_of.resize(begin + group.len(), groups.len());
            groups.push((inputs.group(group[0]), begin..begin + group.len()));
        }
        let mut values = vec![f64::NAN; rows.len() * n_outputs];
        for (at, &row) in rows.iter().enumerate() {
            for cell in table.observations().row(row) {
                values[at * n_outputs + cell.output.get()] = cell.value;
            }
        }
        let mut latest = values.clone();
        for (_, places) in &groups {
            for at in (places.start + 1) * n_outputs..places.end * n_outputs {
                if latest[at].is_nan() {
                    latest[at] = latest[at - n_outputs];
                }
            }
        }
        let blur = 1e-6 * median_gap_within_groups(inputs).unwrap_or(0.0);
        let times = rows.iter().map(|&row| time(row)).collect();
        Self { times, values, latest, rows, group_of, groups, n_outputs, blur }
    }

    /// The places of the group of a place.
    fn around(&self, place: usize) -> Range<usize> {
        self.groups[self.group_of[place]].1.clone()
    }

    /// The origins of every group. `n_known` is the number of rows of the fit in a group.
    fn origins(&self, options: &Rolling, n_known: &dyn Fn(GroupIndex) -> usize) -> Vec<usize> {
        let of_group = |(group, places): &(Option<GroupIndex>, Range<usize>)| {
            let first = group.map_or(options.first, |group| options.first.min(n_known(group)));
            let origins = (places.start + first..=places.end).step_by(options.every.max(1));
            let start = places.start;
            origins.filter(move |&at| at > start).map(|at| at - 1).take(options.origins)
        };
        self.groups.iter().flat_map(of_group).collect()
    }

    /// The place of the row of a group at a time.
    fn at(&self, group: Range<usize>, time: f64) -> Option<usize> {
        let before = self.times[group.clone()].partition_point(|&other| other < time - self.blur);
        let place = group.start + before;
        (place < group.end && self.times[place] <= time + self.blur).then_some(place)
    }

    /// The places of origins and their targets that have a row, and the number of the others.
    fn pairs(
        &self,
        origins: &[usize],
        target: &dyn Fn(f64) -> Option<f64>,
    ) -> (Vec<(usize, usize)>, Targets) {
        let mut counts = Targets { n_origins: origins.len(), ..Targets::default() };
        let mut pairs = vec![];
        for &origin in origins {
            let (time, group) = (target(self.times[origin]), self.around(origin));
            match time.and_then(|time| self.at(group.clone(), time)) {
                Some(target) => pairs.push((origin, target)),
                None if time.is_some_and(|time| time < self.times[group.end - 1]) => {
                    counts.n_without_row += 1;
                }
                None => counts.n_beyond += 1,
            }
        }
        (pairs, counts)
    }

    pub(super) fn value(&self, place: usize, output: usize) -> f64 {
        self.values[place * self.n_outputs + output]
    }

    /// The last value of an output at or before a place.
    fn last_value(&self, place: usize, output: usize) -> Option<f64> {
        Some(self.latest[place * self.n_outputs + output]).filter(|value| value.is_finite())
    }

    /// The latest value a whole number of seasons before a target and not after the origin.
    fn seasonal_value(
        &self,
        origin: usize,
        target: f64,
        (season, shifts): (f64, &Shifts<'_>),
        output: usize,
    ) -> Option<f64> {
        let is_known = |time: &f64| *time <= self.times[origin] + self.blur;
        // Seasons of a calendar differ from their mean by less than one season.
        let first = (((target - self.times[origin]) / season) as i64 - 1).max(1);
        let known = (first..).map_while(|seasons| (shifts.before)(target, seasons)).filter(is_known);
        known.take(4).find_map(|time| {
            let place = self.at(self.around(origin), time).filter(|&place| place <= origin)?;
            Some(self.value(place, output)).filter(|value| value.is_finite())
        })
    }
}

/// Sums of the scores of the model or a rule at one horizon.
#[derive(Default)]
struct Sums {
    count: usize,
    squares: f64,
    log_densities: f64,
    hits: usize,
}

impl Sums {
    /// Adds the error and the log density of a target, in standard deviations of the output, and whether it is inside its
    /// interval.
    fn add(&mut self, error: f64, log_density: f64, is_hit: bool) {
        self.count += 1;
        self.squares += error * error;
        self.log_densities += log_density;
        self.hits += usize::from(is_hit);
    }

    /// Adds a target with a normal forecast, in standard deviations of the output.
    fn add_normal(&mut self, error: f64, deviation: f64, reach: f64) {
        self.add(error, log_density(error, 0.0, deviation), error.abs() <= reach * deviation);
    }

    fn finish(&self, horizon: f64, name: &'static str) -> Horizon {
        let count = self.count as f64;
        Horizon {
            horizon,
            name,
            n_cells: self.count,
            rmse: (self.squares / count).sqrt(),
            log_score: self.log_densities / count,
            coverage: self.hits as f64 / count,
        }
    }
}

/// Mean and standard deviation of each output of a table.
pub(super) fn spreads(table: &Dataset) -> Vec<(f64, f64)> {
    let n_outputs = table.observations().n_outputs();
    let mut cells = vec![vec![]; n_outputs];
    for (_, cell) in table.observations().cells() {
        cells[cell.output.get()].push(cell.value);
    }
    let spread = |cells: &Vec<f64>| {
        let count = cells.len() as f64;
        let mean = cells.iter().sum::<f64>() / count;
        let squares: f64 = cells.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
        (mean, if deviation > 0.0 { deviation } else { 1.0 })
    };
    cells.iter().map(spread).collect()
}

/// Scores of forecasts from many origins of a table, by horizon: the model first, then the rules.
///
/// # Errors
/// When the table has more than one input or other outputs than the fit, just one of both has groups, or numbers overflow.
pub fn rolling(fit: &Fit, table: &Dataset, options: &Rolling) -> Result<Vec<Horizon>, FitError> {
    let shifts = Shifts {
        target: &|origin, horizon| Some(origin + options.horizons[horizon]),
        before: &|target, seasons| Some(target - seasons as f64 * options.season?),
    };
    Ok(rolling_with(fit, table, options, &shifts)?.0)
}

/// The same with the targets and seasons of a calendar, and the number of targets by horizon. The lengths in `options` only name
/// the horizons; a season there means that the seasonal rule is scored.
///
/// # Errors
/// As [`rolling`].
pub fn rolling_with(
    fit: &Fit,
    table: &Dataset,
    options: &Rolling,
    shifts: &Shifts<'_>,
) -> Result<(Vec<Horizon>, Vec<Targets>), FitError> {
    if fit.parts().preparation.has_likelihoods() {
        let what = "is not scored along the calendar yet; score forecasts of its model file on later rows, or fit without --likelihood";
        return Err(FitError::WithLikelihood { what });
    }
    let in_fit = fit.table().inputs().groups().is_some();
    if in_fit != table.inputs().groups().is_some() {
        let error = if in_fit { InferenceError::NoGroups } else { InferenceError::UnknownGroups };
        return Err(MethodError::from(error).into());
    }
    let rows = SortedRows::new(table);
    let n_outputs = rows.n_outputs;
    let spreads = spreads(fit.table());
    let reach = crate::normal::quantile(0.5 + 0.5 * options.interval);
    let trained = SortedRows::new(fit.table());
    let n_known = |group: GroupIndex| {
        let of_group = trained.groups.iter().find(|(own, _)| *own == Some(group));
        of_group.map_or(0, |(_, places)| places.len())
    };
    let origins = rows.origins(options, &n_known);
    let mut found = vec![];
    // Pairs of origin and target, by horizon: one filter predicts all of them.
    let (pairs, mut targets): (Vec<Vec<(usize, usize)>>, Vec<Targets>) =
        (0..options.horizons.len()).map(|h| rows.pairs(&origins, &|time| (shifts.target)(time, h))).unzip();
    let all: Vec<(usize, usize)> = pairs.iter().flatten().copied().collect();
    if all.is_empty() {
        return Ok((found, targets));
    }
    let forecasts = forecasts(fit, table, &rows, &all)?;
    let mut begin = 0;
    for (h, &horizon) in options.horizons.iter().enumerate() {
        let mut sums: Vec<Sums> = (0..4).map(|_| Sums::default()).collect();
        let target_of = |rows: &SortedRows, origin: usize| (shifts.target)(rows.times[origin], h);
        let season = |rows: &SortedRows, origin: usize, output: usize| {
            rows.seasonal_value(origin, target_of(rows, origin)?, (options.season?, shifts), output)
        };
        let last_value = |rows: &SortedRows, origin: usize, output: usize| rows.last_value(origin, output);
        let of_last = rule_deviations(&trained, &target_of, &last_value, &spreads);
        let of_season = rule_deviations(&trained, &target_of, &season, &spreads);
        for (at, &(origin, target)) in pairs[h].iter().enumerate() {
            for (output, &(mean, scale)) in spreads.iter().enumerate() {
                let truth = rows.value(target, output);
                if !truth.is_finite() {
                    targets[h].n_missing += 1;
                    continue;
                }
                let place = (begin + at) * n_outputs + output;
                let below = forecasts.probability_below(place, truth);
                let is_hit = (below - 0.5).abs() <= 0.5 * options.interval;
                let log_density = forecasts.log_density(place, truth) + scale.ln();
                sums[0].add((truth - forecasts.mean(place)) / scale, log_density, is_hit);
                if let Some(value) = last_value(&rows, origin, output) {
                    sums[1].add_normal((truth - value) / scale, of_last[output], reach);
                }
                if let Some(value) = season(&rows, origin, output) {
                    sums[2].add_normal((truth - value) / scale, of_season[output], reach);
                }
                sums[3].add_normal((truth - mean) / scale, 1.0, reach);
            }
        }
        let names = ["catena", "last value", "last season", "mean"];
        found.extend(
            sums.iter()
                .zip(names)
                .filter(|(sums, _)| sums.count > 0)
                .map(|(sums, name)| sums.finish(horizon, name)),
        );
        begin += pairs[h].len();
    }
    Ok((found, targets))
}

/// The root mean squared errors of a rule on the training rows, by output, in standard deviations.
fn rule_deviations(
    trained: &SortedRows,
    target_of: &dyn Fn(&SortedRows, usize) -> Option<f64>,
    rule: &dyn Fn(&SortedRows, usize, usize) -> Option<f64>,
    spreads: &[(f64, f64)],
) -> Vec<f64> {
    let deviation = |(output, &(_, scale)): (usize, &(f64, f64))| {
        let error = |origin: usize| {
            let target = trained.at(trained.around(origin), target_of(trained, origin)?)?;
            let error = (trained.value(target, output) - rule(trained, origin, output)?) / scale;
            error.is_finite().then_some(error * error)
        };
        let squares: Vec<f64> = (0..trained.times.len()).filter_map(error).collect();
        let mean = squares.iter().sum::<f64>() / squares.len() as f64;
        if mean > 0.0 { mean.sqrt() } else { 1.0 }
    };
    spreads.iter().enumerate().map(deviation).collect()
}

/// The model's forecasts with noise at pairs of origin and target, by output.
pub(super) fn forecasts(
    fit: &Fit,
    table: &Dataset,
    rows: &SortedRows,
    scored: &[(usize, usize)],
) -> Result<crate::prepare::Predictive, FitError> {
    let parts = fit.parts();
    parts.preparation.check_values(table)?;
    let prepared = parts.preparation.dataset(table)?;
    let unit = parts.preparation.inputs.first().map_or(1.0, |(_, unit)| *unit);
    let tree = Arc::new(sorted_chain(prepared.inputs())?);
    let graph = FactorGraph::new(&parts.model, tree, prepared.observations()).map_err(MethodError::from)?;
    let outlook = |&(origin, target): &(usize, usize)| Outlook {
        origin: rows.rows[origin],
        distance: (rows.times[target] - rows.times[origin]) / unit,
    };
    let outlooks: Vec<Outlook> = scored.iter().map(outlook).collect();
    let ahead = Workspace::new().predict_ahead(&graph, &outlooks).map_err(MethodError::from)?;
    let ahead = ahead.with_noise(parts.model.noise());
    let places: Vec<f64> = outlooks
        .iter()
        .map(|outlook| prepared.inputs().point(outlook.origin)[0] + outlook.distance)
        .collect();
    let origins: Vec<RowIndex> = outlooks.iter().map(|outlook| outlook.origin).collect();
    let scaled = prepared.inputs().select_rows(&origins)?.with_values(1, places)?;
    Ok(parts.preparation.predictive(ahead, &scaled)?)
}
