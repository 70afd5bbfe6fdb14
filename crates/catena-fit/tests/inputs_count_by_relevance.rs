//! Inputs that do not matter are found out, and a table with them is predicted better than with all inputs alike.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{Fit, FitOptions, Quantity, fit};
use catena_testkit::random::SeededDraws;

/// Three inputs of which the second matters, two outputs, and the truth at every row; every fourth row is hidden.
fn table() -> (Dataset, Vec<(usize, f64)>) {
    let n_rows = 240;
    let mut draws = SeededDraws::new(5);
    let inputs: Vec<f64> = (0..3 * n_rows).map(|_| draws.uniform(0.0, 1.0)).collect();
    let mut values = vec![];
    let mut hidden = vec![];
    for row in 0..n_rows {
        let x = inputs[3 * row + 1];
        for output in 0..2 {
            let value = (9.0 * x + output as f64).sin() + 0.02 * draws.normal();
            if row % 4 == 3 {
                hidden.push((2 * row + output, value));
                values.push(f64::NAN);
            } else {
                values.push(value);
            }
        }
    }
    let inputs = InputPoints::new(n_rows, 3, inputs).unwrap();
    (Dataset::new(inputs, Observations::from_dense(n_rows, 2, &values).unwrap()).unwrap(), hidden)
}

fn error(fitted: &Fit, hidden: &[(usize, f64)]) -> f64 {
    let predictive = fitted.predict_rows(Quantity::Observation).unwrap();
    let squares: f64 = hidden.iter().map(|(at, truth)| (predictive.mean(*at) - truth).powi(2)).sum();
    (squares / hidden.len() as f64).sqrt()
}

#[test]
fn irrelevant_inputs_are_found_out() {
    let (table, hidden) = table();
    let fitted = |relevance| {
        let options = FitOptions { ard: relevance, ..FitOptions::default() };
        fit(&table, &options, &|_| ControlFlow::Continue(())).unwrap()
    };
    let (decided, alike) = (fitted(None), fitted(Some(false)));
    let chosen = decided.summary().tried.iter().find(|tried| tried.chosen).unwrap();
    assert!(chosen.name.contains("inputs scaled"), "{}", chosen.name);
    let (with, without) = (error(&decided, &hidden), error(&alike, &hidden));
    assert!(with < 0.5 * without, "{with} with factors, {without} without: {}", chosen.name);
    // What is asked for is done.
    assert!(alike.summary().tried.iter().all(|tried| !tried.name.contains("inputs scaled")));
}
