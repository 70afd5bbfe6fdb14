//! A fit with a time limit ends in time and says what it left out; a limit that is not reached changes nothing, and a request to stop is
//! answered at every stage.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{Budget, Event, Fit, FitOptions, FitSize, Quantity, Stage, TimeOptions, fit};
use catena_testkit::random::SeededDraws;

/// The limit of the tests, and the time in which a fit must have ended even if the machine gives it a tenth of a core. Without the
/// limit the fits take far longer, or have no warning about it.
const LIMIT: Duration = Duration::from_secs(1);
const AT_MOST: Duration = Duration::from_secs(12);

/// Held by each test that measures time, so that they do not slow each other down.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Outputs that mix two slow processes and have one of their own, with noise and gaps.
fn table(n_rows: usize, n_outputs: usize, seed: u64) -> Dataset {
    let mut draws = SeededDraws::new(seed);
    let weights: Vec<f64> = (0..2 * n_outputs).map(|_| draws.normal()).collect();
    let mut states: Vec<f64> = (0..2 + n_outputs).map(|_| draws.normal()).collect();
    let mut values = Vec::with_capacity(n_rows * n_outputs);
    for row in 0..n_rows {
        for state in &mut states {
            *state = 0.98 * *state + 0.2 * draws.normal();
        }
        for output in 0..n_outputs {
            let shared = weights[2 * output] * states[0] + weights[2 * output + 1] * states[1];
            let value = shared + 0.3 * states[2 + output] + 0.1 * draws.normal();
            let is_missing = (row / 10 + 3 * output) % 8 == 0;
            values.push(if is_missing { f64::NAN } else { value });
        }
    }
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
    Dataset::new(inputs, Observations::from_dense(n_rows, n_outputs, &values).unwrap()).unwrap()
}

fn limited(time: Option<TimeOptions>) -> FitOptions {
    FitOptions { time_limit: Some(LIMIT), budget: Budget::Thorough, time, ..FitOptions::default() }
}

/// Fits with the limit, and checks that it ends and says what it left out.
fn check(data: &Dataset, options: &FitOptions) -> Fit {
    let begin = Instant::now();
    let fitted = fit(data, options, &go_on).unwrap();
    let elapsed = begin.elapsed();
    assert!(elapsed < AT_MOST, "{} rows: {elapsed:?}", data.n_rows());
    let warnings = &fitted.summary().warnings;
    let is_said = |warning: &String| warning.starts_with("time limit: ") && warning.contains("--time-limit");
    assert!(warnings.iter().any(is_said), "{warnings:?}");
    assert!(!warnings.iter().any(|warning| warning.contains("interrupted")), "{warnings:?}");
    let predictive = fitted.predict_rows(Quantity::Observation).unwrap();
    assert!(predictive.mean(0).is_finite() && predictive.deviation(0) > 0.0);
    fitted
}

#[test]
fn wide_long_and_usual_tables_end_in_time() {
    let _guard = alone();
    for (n_rows, n_outputs) in [(3000, 10), (250, 60), (150_000, 3)] {
        let fitted = check(&table(n_rows, n_outputs, 5), &limited(None));
        // What is learned in a second is better than nothing.
        let held_out = &fitted.summary().held_out;
        let mean = held_out.iter().find(|scores| scores.name == "training mean");
        if let (Some(own), Some(mean)) = (held_out.first(), mean) {
            assert!(own.log_score > mean.log_score, "{n_rows}×{n_outputs}: {held_out:?}");
        }
    }
}

#[test]
fn time_models_end_in_time() {
    let _guard = alone();
    check(&table(3000, 8, 6), &limited(Some(TimeOptions::default())));
}

#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    let _guard = alone();
    let data = table(120, 3, 7);
    let of = |time_limit: Option<Duration>| {
        fit(&data, &FitOptions { time_limit, ..FitOptions::default() }, &go_on).unwrap()
    };
    let (plain, limited) = (of(None), of(Some(Duration::from_secs(100_000))));
    assert_eq!(plain.parts().model, limited.parts().model);
    assert_eq!(plain.summary(), limited.summary());
    assert!(!plain.summary().warnings.iter().any(|warning| warning.contains("time limit")));
}

#[test]
fn a_request_to_stop_is_answered_at_every_stage() {
    let _guard = alone();
    let data = table(1500, 10, 8);
    let stages = [Stage::Smoothness, Stage::Candidates, Stage::Structure, Stage::Learning];
    for stage in stages {
        let asked = Mutex::new(None);
        let stop = |event: Event| {
            // Later stages are reached by stopping the candidates early.
            let mut asked = asked.lock().unwrap();
            if asked.is_none() && event.stage == stage {
                *asked = Some(Instant::now());
            }
            if asked.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let budget = if stage == Stage::Candidates { Budget::Thorough } else { Budget::Quick };
        let fitted = fit(&data, &FitOptions { budget, ..FitOptions::default() }, &stop).unwrap();
        let since = asked.lock().unwrap().unwrap().elapsed();
        assert!(since < AT_MOST, "{stage:?}: {since:?}");
        let warnings = fitted.summary().warnings.join("; ");
        assert!(warnings.contains("interrupted"), "{stage:?}: {warnings}");
    }
}

#[test]
fn the_time_left_is_told_and_ends_at_nothing() {
    let left = Mutex::new(vec![]);
    let watch = |event: Event| {
        left.lock().unwrap().push(event.left);
        ControlFlow::Continue(())
    };
    fit(&table(300, 3, 9), &FitOptions { budget: Budget::Quick, ..FitOptions::default() }, &watch).unwrap();
    let left: Vec<Duration> = left.into_inner().unwrap().into_iter().map(Option::unwrap).collect();
    assert!(*left.last().unwrap() < Duration::from_millis(1), "{left:?}");
    assert!(left[0] > Duration::ZERO && left.iter().all(|left| *left < Duration::from_secs(600)), "{left:?}");
}

#[test]
fn the_expected_time_grows_with_the_table_and_keeps_to_the_limit() {
    let size = |n_rows, n_outputs| FitSize { n_rows, n_inputs: 1, n_outputs, n_observed: n_rows * n_outputs };
    let options = FitOptions::default();
    let seconds = |n_rows, n_outputs| options.expected_seconds(size(n_rows, n_outputs));
    assert!(seconds(200, 3) < seconds(2000, 3) && seconds(2000, 3) < seconds(2000, 12));
    assert!(seconds(2000, 12) < seconds(1_000_000, 12));
    // Processor seconds of default fits in a release build (docs/performance.md), to a factor of two.
    for (n_rows, n_outputs, measured) in [
        (200, 3, 0.1),
        (9357, 12, 11.7),
        (1000, 50, 21.5),
        (1000, 100, 20.3),
        (400, 120, 13.3),
        (12, 142, 1.3),
    ] {
        let found = seconds(n_rows, n_outputs);
        assert!(found < 2.0 * measured && found > measured / 2.0, "{n_rows}×{n_outputs}: {found}");
    }
    let limited = FitOptions { time_limit: Some(LIMIT), ..FitOptions::default() };
    let most = LIMIT.as_secs_f64() * rayon::current_num_threads() as f64;
    assert!(limited.expected_seconds(size(1_000_000, 12)) <= most);
}
