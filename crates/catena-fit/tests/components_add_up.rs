//! The components of an output are exact parts of its posterior: they add up to it, and a part alone is all of it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::index::GroupIndex;
use catena_fit::{
    Budget, CombineChoice, Event, Fit, FitError, FitOptions, GroupScaling, MethodChoice, MethodError,
    Quantity, TimeOptions, TimeSpec, TransformKind, TransformOptions, fit,
};

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{found} {expected}");
    }
}

/// Two outputs over 80 hours with a daily season, a drift and missing cells.
fn table() -> Dataset {
    let value = |row: usize, output: usize| {
        let hour = row as f64;
        let wobble = ((row * 37 + output * 11) % 17) as f64 / 100.0;
        (hour / 24.0 * std::f64::consts::TAU).sin() * (1 + output) as f64 + 0.02 * hour + wobble
    };
    let is_missing = |row: usize, output: usize| output == 1 && (20..30).contains(&row);
    let cell = |at: usize| if is_missing(at / 2, at % 2) { f64::NAN } else { value(at / 2, at % 2) };
    let values: Vec<f64> = (0..160).map(cell).collect();
    let inputs = InputPoints::from_column((0..80).map(f64::from).collect()).unwrap();
    Dataset::new(inputs, Observations::from_dense(80, 2, &values).unwrap()).unwrap()
}

fn options(kernel: Option<&str>) -> FitOptions {
    let number = |text: &str| text.parse::<f64>().map_err(|error| error.to_string());
    let spec = |text: &str| TimeSpec::parse(text, &number).unwrap();
    FitOptions {
        time: kernel.map(|text| TimeOptions { spec: Some(spec(text)), ..TimeOptions::default() }),
        budget: Budget::Quick,
        combine: CombineChoice::None,
        transforms: TransformOptions { others: TransformKind::None, ..TransformOptions::default() },
        ..FitOptions::default()
    }
}

fn plain(length: f64) -> String {
    length.to_string()
}

fn fitted(kernel: Option<&str>) -> Fit {
    fit(&table(), &options(kernel), &go_on).unwrap()
}

#[test]
fn parts_add_up_to_the_function_at_rows_and_elsewhere() {
    for (kernel, names) in [
        (None, vec![]),
        (Some("llt+qp(24,2)"), vec!["mean", "trend", "season 24"]),
        (Some("sho+rw"), vec!["mean", "oscillator", "level"]),
    ] {
        let fit = fitted(kernel);
        let elsewhere = InputPoints::from_column(vec![-3.0, 24.5, 90.0]).unwrap();
        for at in [None, Some(&elsewhere)] {
            let parts = fit.components(at, plain).unwrap();
            assert!(names.is_empty() || parts.names == names, "{:?}", parts.names);
            let found: Vec<f64> =
                parts.means.chunks(parts.names.len()).map(|cell| cell.iter().sum()).collect();
            let expected = match at {
                None => fit.predict_rows(Quantity::Function).unwrap(),
                Some(at) => fit.predict(at, Quantity::Function).unwrap(),
            };
            assert_close(&found, &expected.means());
            let is_mean = |place: usize| place.is_multiple_of(parts.names.len());
            let is_right = |(place, deviation): (usize, &f64)| (*deviation == 0.0) == is_mean(place);
            assert!(parts.deviations.iter().enumerate().all(is_right));
        }
    }
}

#[test]
fn a_single_part_has_the_deviations_of_the_function() {
    let options = FitOptions { latents: Some(1), private: Some(false), ..options(None) };
    let fit = fit(&table(), &options, &go_on).unwrap();
    let parts = fit.components(None, plain).unwrap();
    assert_eq!(parts.names, ["mean", "shared 1"]);
    let own: Vec<f64> = parts.deviations.iter().skip(1).step_by(2).copied().collect();
    assert_close(&own, &fit.predict_rows(Quantity::Function).unwrap().deviations());
}

/// With shared means and scales, and with those of each group.
#[test]
fn parts_of_groups_add_up_in_each() {
    let plain_table = table();
    let groups = (0..80).map(|row| GroupIndex::new(row % 2)).collect();
    let inputs = plain_table.inputs().clone().with_groups(groups).unwrap();
    let grouped = Dataset::new(inputs, plain_table.observations().clone()).unwrap();
    let elsewhere = InputPoints::from_column(vec![-3.0, 24.5, 24.5]).unwrap();
    let elsewhere = elsewhere.with_groups([0, 0, 1].map(GroupIndex::new).to_vec()).unwrap();
    for (kernel, group_scaling) in [(None, GroupScaling::Shared), (Some("sho+rw"), GroupScaling::Own)] {
        let fit = fit(&grouped, &FitOptions { group_scaling, ..options(kernel) }, &go_on).unwrap();
        for at in [None, Some(&elsewhere)] {
            let parts = fit.components(at, plain).unwrap();
            let found: Vec<f64> =
                parts.means.chunks(parts.names.len()).map(|cell| cell.iter().sum()).collect();
            let expected = fit.predict(at.unwrap_or(grouped.inputs()), Quantity::Function).unwrap();
            assert_close(&found, &expected.means());
        }
    }
}

#[test]
fn other_methods_are_refused() {
    let plain_table = table();
    let exact = FitOptions { method: MethodChoice::Exact, ..options(None) };
    let refused = fit(&plain_table, &exact, &go_on).unwrap().components(None, plain);
    assert!(matches!(refused, Err(FitError::Method(MethodError::NotOffered { .. }))), "{refused:?}");
}

#[test]
fn a_pure_season_is_no_unused_latent() {
    let values: Vec<f64> =
        (0..240).map(|hour| (f64::from(hour) / 24.0 * std::f64::consts::TAU).sin()).collect();
    let inputs = InputPoints::from_column((0..240).map(f64::from).collect()).unwrap();
    let season = Dataset::new(inputs, Observations::from_dense(240, 1, &values).unwrap()).unwrap();
    let time = FitOptions { time: Some(TimeOptions::default()), ..options(None) };
    for options in [options(None), time] {
        let warnings = fit(&season, &options, &go_on).unwrap().summary().warnings.clone();
        assert!(!warnings.iter().any(|warning| warning.contains("unused")), "{warnings:?}");
    }
}
