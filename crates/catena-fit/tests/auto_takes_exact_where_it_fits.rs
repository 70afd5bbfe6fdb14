//! Above one input `auto` is exact inference where the budget allows its work, and a race where it does not.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its case must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{Budget, Fit, FitOptions, MethodChoice, fit};
use catena_testkit::random::SeededDraws;

/// Two outputs over a square, a tenth of the cells missing.
fn table(n_rows: usize) -> Dataset {
    let mut draws = SeededDraws::new(5);
    let places: Vec<f64> = (0..2 * n_rows).map(|_| draws.uniform(0.0, 1.0)).collect();
    let mut values = vec![];
    for place in places.chunks_exact(2) {
        let wave = (5.0 * place[0]).sin() + (4.0 * place[1]).cos();
        for weight in [1.0, -0.6] {
            let value = weight * wave + 0.1 * draws.normal();
            values.push(if draws.chance(0.1) { f64::NAN } else { value });
        }
    }
    let inputs = InputPoints::new(n_rows, 2, places).unwrap();
    Dataset::new(inputs, Observations::from_dense(n_rows, 2, &values).unwrap()).unwrap()
}

fn quickly(n_rows: usize) -> Fit {
    let options = FitOptions { budget: Budget::Quick, ..FitOptions::default() };
    fit(&table(n_rows), &options, &|_| ControlFlow::Continue(())).unwrap()
}

fn says(fit: &Fit, words: &str) -> bool {
    fit.summary().decisions.iter().any(|reason| reason.contains(words))
}

#[test]
fn a_small_table_is_answered_exactly_and_nothing_else_is_tried() {
    let fit = quickly(120);
    assert_eq!(fit.parts().method, MethodChoice::Exact);
    assert!(says(&fit, "fits the budget"), "{:?}", fit.summary().decisions);
    assert!(!says(&fit, "method by log score"));
}

#[test]
fn a_table_beyond_the_budget_is_raced() {
    let fit = quickly(2000);
    assert!(says(&fit, "method by log score per held-out cell"), "{:?}", fit.summary().decisions);
    assert_ne!(fit.parts().method, MethodChoice::Exact);
}
