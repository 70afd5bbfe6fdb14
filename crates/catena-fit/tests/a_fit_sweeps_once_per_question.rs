//! A fit sweeps once per question: predictions at the rows, at other points, or a live posterior.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{Budget, Event, Fit, FitOptions, LiveFit, Quantity, StructureOption, fit};

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Waves with noise.
fn table() -> Dataset {
    let times: Vec<f64> = (0..60).map(f64::from).collect();
    let noise = |row: i32| 0.1 * f64::from((13 * row * row) % 7) - 0.3;
    let values = |row: i32| {
        let time = f64::from(row);
        [(0.2 * time).sin() + noise(row), (0.3 * time).cos() + noise(row + 1)]
    };
    let values: Vec<f64> = (0..60).flat_map(values).collect();
    let inputs = InputPoints::from_column(times).unwrap();
    Dataset::new(inputs, Observations::from_dense(60, 2, &values).unwrap()).unwrap()
}

fn options() -> FitOptions {
    FitOptions { budget: Budget::Quick, ..FitOptions::default() }
}

fn points() -> InputPoints {
    InputPoints::from_column(vec![0.5, 17.25, 80.0]).unwrap()
}

/// `fit` and then `predict` at new points.
#[test]
fn predictions_at_new_points_take_one_sweep() {
    let fitted = fit(&table(), &options(), &go_on).unwrap();
    assert_eq!(fitted.n_sweeps(), 0);
    let first = fitted.predict(&points(), Quantity::Observation).unwrap();
    assert_eq!(fitted.n_sweeps(), 1);
    assert_eq!(fitted.predict(&points(), Quantity::Observation).unwrap(), first);
    assert_eq!(fitted.n_sweeps(), 1);
    fitted.predict_rows(Quantity::Observation).unwrap();
    fitted.predict_rows(Quantity::Function).unwrap();
    assert_eq!(fitted.n_sweeps(), 2);
}

/// `predict --at`: a kept model, predicted at new points.
#[test]
fn a_kept_model_takes_one_sweep() {
    let fitted = fit(&table(), &options(), &go_on).unwrap();
    let expected = fitted.predict(&points(), Quantity::Function).unwrap();
    let kept = Fit::from_parts(fitted.parts().clone()).unwrap();
    assert_eq!(kept.n_sweeps(), 0);
    assert_eq!(kept.predict(&points(), Quantity::Function).unwrap(), expected);
    assert_eq!(kept.n_sweeps(), 1);
}

/// `watch`: a kept model that becomes a live posterior.
#[test]
fn a_live_fit_takes_one_sweep() {
    let fitted = fit(&table(), &options(), &go_on).unwrap();
    let kept = Fit::from_parts(fitted.parts().clone()).unwrap();
    LiveFit::new(&kept).unwrap();
    assert_eq!(kept.n_sweeps(), 1);
}

/// `impute --no-learn`: given parameters, predicted at the rows.
#[test]
fn given_parameters_take_one_sweep() {
    let learned = fit(&table(), &options(), &go_on).unwrap();
    let options = FitOptions { parameters: learned.parameters(), ..options() };
    let fitted = fit(&table(), &options, &go_on).unwrap();
    fitted.predict_rows(Quantity::Observation).unwrap();
    fitted.log_evidence().unwrap();
    assert_eq!(fitted.n_sweeps(), 1);
}

/// Joint draws sweep over the structure that contains their points, and nothing else.
#[test]
fn draws_take_one_sweep() {
    let options = FitOptions { structure: StructureOption::Chain, ..options() };
    let fitted = fit(&table(), &options, &go_on).unwrap();
    fitted.draws(&points(), Quantity::Function, 3, 1).unwrap();
    assert_eq!(fitted.n_sweeps(), 1);
}

/// The log evidence of a forward pass is that of the sweep, to the bit, unless tiny noise makes the sweep change its form.
#[test]
fn the_log_evidence_does_not_depend_on_the_question() {
    let fitted = fit(&table(), &options(), &go_on).unwrap();
    let kept = Fit::from_parts(fitted.parts().clone()).unwrap();
    kept.predict_rows(Quantity::Function).unwrap();
    assert_eq!(kept.log_evidence().unwrap().to_bits(), fitted.log_evidence().unwrap().to_bits());
}
