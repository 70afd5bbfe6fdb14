//! Time models, forecasts from many origins and own scales of groups equal those of each group as a table of its own, with the
//! same model.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::{GroupIndex, RowIndex};
use catena_fit::forecast::{Horizon, Rolling, rolling};
use catena_fit::later_rows;
use catena_fit::{
    Budget, Event, Fit, FitOptions, FitParts, GroupScaling, Quantity, TimeOptions, TimeSpec, fit,
};
use catena_testkit::random::SeededDraws;

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Interleaved daily rows of one output: levels with steps and a week of their own. Group g begins on day g.
fn shops(n_groups: usize, n_days: usize, level: impl Fn(usize) -> (f64, f64)) -> Dataset {
    let mut draws = SeededDraws::new(7);
    let (mut times, mut groups, mut values) = (vec![], vec![], vec![]);
    let mut walks = vec![0.0; n_groups];
    for day in 0..n_days {
        for (group, walk) in walks.iter_mut().enumerate().filter(|(group, _)| day >= *group) {
            *walk += 0.1 * draws.normal();
            let (mean, scale) = level(group);
            let season = (std::f64::consts::TAU * day as f64 / 7.0).sin();
            let value = mean + scale * (*walk + season + 0.1 * draws.normal());
            times.push(day as f64);
            groups.push(GroupIndex::new(group));
            values.push(if draws.chance(0.15) { f64::NAN } else { value });
        }
    }
    let observations = Observations::from_dense(times.len(), 1, &values).unwrap();
    let inputs = InputPoints::from_column(times).unwrap().with_groups(groups).unwrap();
    Dataset::new(inputs, observations).unwrap()
}

fn rows_of(table: &Dataset, is_own: impl Fn(usize, f64) -> bool) -> Vec<RowIndex> {
    let own = |row: &RowIndex| {
        is_own(table.inputs().group(*row).map_or(0, GroupIndex::get), table.inputs().point(*row)[0])
    };
    table.inputs().rows().filter(own).collect()
}

/// Some rows as a table without groups.
fn alone(table: &Dataset, rows: &[RowIndex]) -> Dataset {
    let selected = table.select_rows(rows).unwrap();
    let inputs = InputPoints::from_column(selected.inputs().values().to_vec()).unwrap();
    Dataset::new(inputs, selected.observations().clone()).unwrap()
}

/// The same model on one group as a table without groups, in the units of that group.
fn on_group(whole: &Fit, group: usize) -> Fit {
    let table = alone(whole.table(), &rows_of(whole.table(), |own, _| own == group));
    let mut parts = FitParts { table, ..whole.parts().clone() };
    if let Some(own) = parts.preparation.groups.remove(&group) {
        parts.preparation.outputs = own;
    }
    parts.preparation.groups = BTreeMap::new();
    Fit::from_parts(parts).unwrap()
}

fn at(group: Option<usize>, places: &[f64]) -> InputPoints {
    let points = InputPoints::from_column(places.to_vec()).unwrap();
    match group {
        None => points,
        Some(group) => points.with_groups(vec![GroupIndex::new(group); places.len()]).unwrap(),
    }
}

fn numbers(fit: &Fit, points: &InputPoints) -> Vec<f64> {
    let found = fit.predict(points, Quantity::Observation).unwrap();
    (0..points.n_rows()).flat_map(|cell| [found.mean(cell), found.deviation(cell)]).collect()
}

fn assert_near(found: &[f64], expected: &[f64], unit: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(unit), "{found} {expected}");
    }
}

fn options(time: Option<&str>) -> FitOptions {
    let time = time.map(|spec| {
        let spec: TimeSpec =
            TimeSpec::parse(spec, &|text| text.parse().map_err(|_| text.to_owned())).unwrap();
        TimeOptions { spec: Some(spec), ..TimeOptions::default() }
    });
    FitOptions { budget: Budget::Quick, time, ..FitOptions::default() }
}

const PLACES: [f64; 6] = [-2.0, 3.5, 20.0, 47.0, 55.0, 70.0];

/// Forecasts from the later rows of a fit's table.
fn scores(fit: &Fit, later: &Dataset) -> Vec<Horizon> {
    let table = later_rows(fit, later).unwrap().unwrap();
    let options = Rolling {
        first: fit.table().n_rows(),
        every: 2,
        origins: usize::MAX,
        horizons: vec![1.0, 7.0],
        season: Some(7.0),
        interval: 0.9,
    };
    rolling(fit, &table, &options).unwrap()
}

#[test]
fn a_time_model_of_groups_is_one_of_each_group() {
    let all = shops(4, 60, |group| (3.0 * group as f64, 1.0));
    let table = all.select_rows(&rows_of(&all, |_, day| day < 48.0)).unwrap();
    let later = all.select_rows(&rows_of(&all, |_, day| day >= 48.0)).unwrap();
    let whole = fit(&table, &options(Some("sho+rw+qp(7,2)")), &go_on).unwrap();
    let together = scores(&whole, &later);
    let (mut log_evidence, mut sums) = (0.0, BTreeMap::new());
    for group in 0..4 {
        let single = on_group(&whole, group);
        assert_near(&numbers(&whole, &at(Some(group), &PLACES)), &numbers(&single, &at(None, &PLACES)), 1.0);
        log_evidence += single.log_evidence().unwrap();
        let values: Vec<f64> = single.table().observations().cells().map(|(_, cell)| cell.value).collect();
        let own = alone(&later, &rows_of(&later, |own, _| own == group));
        for score in scores(&single, &own) {
            let (count, square) = sums.entry((score.horizon.to_bits(), score.name)).or_insert((0, 0.0));
            *count += score.n_cells;
            *square += score.n_cells as f64 * (score.rmse * deviation(&values)).powi(2);
        }
    }
    assert_near(&[whole.log_evidence().unwrap()], &[log_evidence], 1.0);
    let values: Vec<f64> = table.observations().cells().map(|(_, cell)| cell.value).collect();
    assert_eq!(together.len(), 8);
    // The mean is that of all groups.
    for score in together.iter().filter(|score| score.name != "mean") {
        let (count, square) = sums[&(score.horizon.to_bits(), score.name)];
        assert_eq!(score.n_cells, count);
        let found = score.n_cells as f64 * (score.rmse * deviation(&values)).powi(2);
        assert!((found - square).abs() < 1e-10 * square, "{score:?} {found} {square}");
    }
    // Levels and weeks are known after six weeks.
    let rmse = |name: &str| together.iter().find(|score| score.name == name).unwrap().rmse;
    assert!(rmse("catena") < 0.7 * rmse("last value"), "{together:?}");
}

fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

#[test]
fn one_group_forecasts_as_no_group_to_the_bit() {
    let all = shops(1, 60, |_| (2.0, 1.0));
    let table = all.select_rows(&rows_of(&all, |_, day| day < 48.0)).unwrap();
    let later = all.select_rows(&rows_of(&all, |_, day| day >= 48.0)).unwrap();
    let plain = |table: &Dataset| alone(table, &rows_of(table, |_, _| true));
    for time in [None, Some("sho+rw+qp(7,2)")] {
        let with = fit(&table, &options(time), &go_on).unwrap();
        let without = fit(&plain(&table), &options(time), &go_on).unwrap();
        assert_eq!(with.parts().model, without.parts().model);
        assert_eq!(scores(&with, &later), scores(&without, &plain(&later)));
        let more = with.with_more_rows(&later).unwrap();
        let expected = without.with_more_rows(&plain(&later)).unwrap();
        assert_eq!(numbers(&more, &at(Some(0), &PLACES)), numbers(&expected, &at(None, &PLACES)));
    }
}

#[test]
fn many_groups_learn_from_some_and_find_their_season() {
    let table = shops(40, 90, |group| (group as f64, 1.0));
    let time = Some(TimeOptions::default());
    let whole = fit(&table, &FitOptions { time, ..options(None) }, &go_on).unwrap();
    let decisions = whole.summary().decisions.join("\n");
    assert!(decisions.contains("a season of 7"), "{decisions}");
    assert!(decisions.contains("of 40 groups"), "{decisions}");
}

#[test]
fn own_means_and_scales_are_those_of_each_group() {
    let table = shops(5, 60, |group| (100.0 * group as f64, 10.0_f64.powi(group as i32)));
    let own = FitOptions { group_scaling: GroupScaling::Own, ..options(None) };
    let whole = fit(&table, &own, &go_on).unwrap();
    let mut log_evidence = 0.0;
    for group in 0..5 {
        let values = alone(&table, &rows_of(&table, |own, _| own == group));
        let values: Vec<f64> = values.observations().cells().map(|(_, cell)| cell.value).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let units = &whole.parts().preparation.groups[&group][0];
        assert_near(&[units.intercept, units.scale], &[mean, deviation(&values)], 1.0);
        let single = on_group(&whole, group);
        let (found, expected) =
            (numbers(&whole, &at(Some(group), &PLACES)), numbers(&single, &at(None, &PLACES)));
        assert_near(&found, &expected, units.scale);
        log_evidence += single.log_evidence().unwrap();
    }
    assert_near(&[whole.log_evidence().unwrap()], &[log_evidence], 1.0);
    // Scales that differ by powers of ten are found on held-out cells; equal ones stay shared.
    let auto = FitOptions { budget: Budget::Default, ..FitOptions::default() };
    assert_eq!(fit(&table, &auto, &go_on).unwrap().parts().preparation.groups.len(), 5);
    let shared = FitOptions { group_scaling: GroupScaling::Shared, ..options(None) };
    assert!(fit(&table, &shared, &go_on).unwrap().parts().preparation.groups.is_empty());
}
