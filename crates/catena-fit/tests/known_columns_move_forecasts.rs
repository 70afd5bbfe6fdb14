//! The effect of a column that is known ahead is found, moves forecasts as it should, and is left out where it does not help.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{
    Budget, FitError, FitOptions, KnownColumns, KnownFit, Quantity, TransformKind, TransformOptions,
    fit_known,
};
use catena_testkit::random::SeededDraws;

const N_ROWS: usize = 120;
const N_AHEAD: usize = 8;

/// Numbers without order between −1 and 1.
fn mixed(at: usize, stream: usize) -> f64 {
    ((at * 7919 + stream * 104_729 + at * at * 31) % 1009) as f64 / 504.5 - 1.0
}

fn column(at: usize) -> f64 {
    20.0 + 6.0 * mixed(at, 1)
}

/// A slow movement without the effect.
fn base(at: usize) -> f64 {
    30.0 + 3.0 * (at as f64 * 0.15).sin()
}

fn table(value: impl Fn(usize) -> f64) -> Dataset {
    let inputs = InputPoints::from_column((0..N_ROWS).map(|at| at as f64).collect()).unwrap();
    let values: Vec<f64> = (0..N_ROWS).map(value).collect();
    Dataset::new(inputs, Observations::from_dense(N_ROWS, 1, &values).unwrap()).unwrap()
}

fn known(column: impl Fn(usize) -> f64) -> KnownColumns {
    KnownColumns {
        names: vec!["temperature".to_owned()],
        at_rows: (0..N_ROWS).map(&column).collect(),
        times_ahead: (N_ROWS..N_ROWS + N_AHEAD).map(|at| at as f64).collect(),
        ahead: (N_ROWS..N_ROWS + N_AHEAD).map(column).collect(),
    }
}

fn options(kind: TransformKind) -> FitOptions {
    let transforms = TransformOptions { others: kind, by_name: vec![] };
    FitOptions { budget: Budget::Quick, transforms, ..FitOptions::default() }
}

fn learned(table: &Dataset, known: &KnownColumns, kind: TransformKind) -> KnownFit {
    fit_known(table, known, &options(kind), &|_| ControlFlow::Continue(())).unwrap()
}

fn chosen(fit: &KnownFit) -> &str {
    &fit.scores().iter().find(|score| score.chosen).unwrap().name
}

#[test]
fn a_linear_effect_is_found_and_moves_the_forecast() {
    let value = |at: usize| base(at) + 0.5 * column(at) + 0.2 * mixed(at, 2);
    // Values of the column may be missing in the table.
    let mut columns = known(column);
    columns.at_rows[33] = f64::NAN;
    let fit = learned(&table(value), &columns, TransformKind::None);
    assert_ne!(chosen(&fit), "without");
    let effect = fit.effects().iter().find(|effect| effect.feature == "temperature").unwrap();
    if chosen(&fit) != "smooth effects" {
        assert!((effect.value - 0.5).abs() < 4.0 * effect.deviation + 0.02, "{effect:?}");
    }
    let means = fit.predict(Quantity::Observation).unwrap().means();
    let errors: f64 = (0..N_AHEAD).map(|at| (means[at] - value(N_ROWS + at)).powi(2)).sum();
    // The effect alone has a variance of 3.
    assert!(errors / (N_AHEAD as f64) < 1.0, "{errors}");
    // Joint draws have the same moments.
    let draws = fit.draws(Quantity::Observation, 2000, 3).unwrap();
    let deviations = fit.predict(Quantity::Observation).unwrap().deviations();
    for at in 0..N_AHEAD {
        let own: Vec<f64> = draws.iter().skip(at).step_by(N_AHEAD).copied().collect();
        let mean = own.iter().sum::<f64>() / 2000.0;
        let deviation = (own.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 2000.0).sqrt();
        assert!((mean - means[at]).abs() < 0.12 * deviations[at], "{mean} {}", means[at]);
        assert!((deviation / deviations[at] - 1.0).abs() < 0.12, "{deviation} {}", deviations[at]);
    }
}

#[test]
fn effects_of_a_logarithm_are_factors() {
    let value = |at: usize| (0.02 * at as f64 + 0.1 * column(at) + 0.02 * mixed(at, 2)).exp();
    let fit = learned(&table(value), &known(column), TransformKind::Auto);
    assert_ne!(chosen(&fit), "without");
    let means = fit.predict(Quantity::Observation).unwrap().means();
    for at in 0..N_AHEAD {
        let ratio = means[at] / value(N_ROWS + at);
        assert!((ratio - 1.0).abs() < 0.2, "{ratio}");
    }
}

#[test]
fn a_column_without_effect_hardly_moves_the_forecast() {
    let mut draws = SeededDraws::new(6);
    let noise: Vec<f64> = (0..N_ROWS).map(|_| 0.1 * draws.normal()).collect();
    let value = |at: usize| base(at) + noise[at];
    let fit = learned(&table(value), &known(column), TransformKind::None);
    let other = learned(&table(value), &known(|at| -column(at)), TransformKind::None);
    let (one, two) =
        (fit.predict(Quantity::Observation).unwrap(), other.predict(Quantity::Observation).unwrap());
    for at in 0..N_AHEAD {
        assert!((one.mean(at) - base(N_ROWS + at)).abs() < 2.0);
        // Signs of a column do not matter.
        assert!((one.mean(at) - two.mean(at)).abs() < 1e-3 * one.deviation(at) + 1e-6);
    }
}

#[test]
fn columns_that_are_not_known_ahead_are_refused() {
    let mut columns = known(column);
    columns.ahead[2] = f64::NAN;
    let found =
        fit_known(&table(base), &columns, &options(TransformKind::None), &|_| ControlFlow::Continue(()));
    let Err(FitError::Known { what }) = found else { panic!("not refused") };
    assert!(what.contains("temperature has no value at row 3 ahead"), "{what}");
    let found = fit_known(&table(base), &known(column), &options(TransformKind::BoxCox), &|_| {
        ControlFlow::Continue(())
    });
    assert!(matches!(found, Err(FitError::Known { .. })));
}
