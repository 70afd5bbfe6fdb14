//! More rows: parameters as they are with a warning when they no longer hold, or learned again from where they stand; linear
//! means that go on.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::{Budget, Event, Fit, FitOptions, MeanChoice, Quantity, TimeOptions, TimeSpec, fit};
use catena_testkit::random::SeededDraws;

/// A level and a cycle of 24 rows in two outputs; from row `change` on, everything is three times as large and elsewhere.
fn changing(n_rows: usize, change: usize) -> Vec<f64> {
    let mut draws = SeededDraws::new(5);
    let mut level = 0.0;
    let mut values = vec![];
    for row in 0..n_rows {
        level += 0.05 * draws.normal();
        for phase in [0.0, 1.3] {
            let angle = std::f64::consts::TAU * (row % 24) as f64 / 24.0 + phase;
            let value = 2.0 * level + angle.sin() + 0.2 * draws.normal();
            let value = if row < change { value } else { 20.0 + 3.0 * value };
            values.push(if draws.chance(0.1) { f64::NAN } else { value });
        }
    }
    values
}

fn table(rows: std::ops::Range<usize>, values: &[f64]) -> Dataset {
    let inputs = InputPoints::from_column(rows.clone().map(|row| row as f64).collect()).unwrap();
    let cells = &values[2 * rows.start..2 * rows.end];
    Dataset::new(inputs, Observations::from_dense(rows.len(), 2, cells).unwrap()).unwrap()
}

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn quick(time: Option<&str>) -> FitOptions {
    let number = |text: &str| text.parse().map_err(|_| "no number".to_owned());
    let spec = time.map(|text| TimeSpec::parse(text, &number).unwrap());
    let time = spec.map(|spec| TimeOptions { spec: Some(spec), ..TimeOptions::default() });
    FitOptions { time, budget: Budget::Quick, latents: None, ..FitOptions::default() }
}

fn noise(fit: &Fit) -> Vec<f64> {
    fit.summary().outputs.iter().map(|output| output.noise_deviation).collect()
}

#[test]
fn a_change_is_told_and_learned_again() {
    let values = changing(500, 300);
    let (before, after) = (table(0..300, &values), table(300..500, &values));
    for time in [None, Some("matern12+rw+qp(24,2)")] {
        let options = quick(time);
        let first = fit(&before, &options, &go_on).unwrap();
        let kept = first.with_more_rows(&after).unwrap();
        assert_eq!(kept.parts().model, first.parts().model);
        let told = kept.summary().warnings.join("; ");
        assert!(told.contains("one-step errors") && told.contains("--relearn"), "{told}");
        assert!(told.contains("was learned on values from"), "{told}");
        let again = first.relearned(&after, &options, &go_on).unwrap();
        assert_eq!(again.summary().n_rows, 500);
        assert_eq!(again.parts().model.n_latents(), first.parts().model.n_latents());
        let (old, new) = (kept.log_evidence().unwrap(), again.log_evidence().unwrap());
        assert!(new > old + 50.0, "{time:?}: log evidence {old} and {new}");
        assert!(again.summary().decisions.iter().any(|line| line.contains("learned again")));
        assert_eq!(again.summary().sums().len(), first.summary().sums().len());
        // To the bit the same when it is done again.
        let twice = first.relearned(&after, &options, &go_on).unwrap();
        assert_eq!(twice.parts().model, again.parts().model);
    }
}

/// Where nothing has changed nothing is told, and parameters stay about where they were.
#[test]
fn without_a_change_little_moves() {
    let values = changing(600, 600);
    let (before, after) = (table(0..500, &values), table(500..600, &values));
    for time in [None, Some("matern12+rw+qp(24,2)")] {
        let options = quick(time);
        let first = fit(&before, &options, &go_on).unwrap();
        let kept = first.with_more_rows(&after).unwrap();
        assert!(!kept.summary().warnings.iter().any(|warning| warning.contains("one-step")));
        let again = first.relearned(&after, &options, &go_on).unwrap();
        assert!(again.log_evidence().unwrap() > kept.log_evidence().unwrap() - 1.0);
        for (old, new) in noise(&first).into_iter().zip(noise(&again)) {
            assert!((new / old - 1.0).abs() < 0.3, "{time:?}: noise {old} and {new}");
        }
    }
}

/// An output without a single change, which then begins to move.
#[test]
fn an_output_that_wakes_up_is_learned() {
    let mut values = changing(300, 300);
    for row in 0..200 {
        values[2 * row + 1] = 4.0;
    }
    let (before, after) = (table(0..200, &values), table(200..300, &values));
    for time in [None, Some("matern12+qp(24,1)")] {
        let options = quick(time);
        let first = fit(&before, &options, &go_on).unwrap();
        let again = first.relearned(&after, &options, &go_on).unwrap();
        let OutputShares { shared, private } = shares(&again, 1);
        assert!(shared + private > 0.3, "{time:?}: {shared} {private}");
    }
}

struct OutputShares {
    shared: f64,
    private: f64,
}

fn shares(fit: &Fit, output: usize) -> OutputShares {
    let output = &fit.summary().outputs[output];
    OutputShares { shared: output.shared_share, private: output.private_share }
}

#[test]
fn linear_means_go_on_in_every_kind_of_model() {
    let mut draws = SeededDraws::new(9);
    let line = |row: usize| [0.5 * row as f64, 40.0 - 0.2 * row as f64];
    let values: Vec<f64> =
        (0..240).flat_map(|row| line(row).map(|value| value + 0.3 * draws.normal())).collect();
    let (first, more) = (table(0..200, &values), table(200..240, &values));
    let at = InputPoints::from_column(vec![400.0]).unwrap();
    for time in [None, Some("matern12+qp(24,1)")] {
        let options = FitOptions { mean: MeanChoice::Linear, ..quick(time) };
        let fitted = fit(&first, &options, &go_on).unwrap();
        let slopes: Vec<f64> = fitted.summary().outputs.iter().map(|output| output.slopes[0]).collect();
        assert!((slopes[0] - 0.5).abs() < 0.01 && (slopes[1] + 0.2).abs() < 0.01, "{slopes:?}");
        assert!(fitted.summary().to_text(&|length| length.to_string()).contains("means are linear"));
        let grown = fitted.with_more_rows(&more).unwrap();
        let again = fitted.relearned(&more, &options, &go_on).unwrap();
        for fitted in [&fitted, &grown, &again] {
            let ahead = fitted.predict(&at, Quantity::Function).unwrap();
            assert!((ahead.mean(0) - 200.0).abs() < 3.0 && (ahead.mean(1) + 40.0).abs() < 3.0, "{time:?}");
        }
        let plain = FitOptions { mean: MeanChoice::Constant, ..options };
        let flat = fit(&first, &plain, &go_on).unwrap();
        assert!(flat.summary().outputs.iter().all(|output| output.slopes.is_empty()));
    }
}
