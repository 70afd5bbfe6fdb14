//! Exponents of transforms are learned where they help, and a plain table stays plain.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena_fit::scores::score;
use catena_fit::{
    Budget, Event, FitError, FitOptions, GivenParameters, KernelPair, Point, PowerTransform, Quantity,
    TransformKind, TransformOptions, fit,
};
use catena_testkit::random::SeededDraws;

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Two outputs along one input: a smooth function plus noise, each through the inverse of a transform.
fn table(n_rows: usize, powers: [PowerTransform; 2], center: f64, seed: u64) -> Vec<f64> {
    let mut draws = SeededDraws::new(seed);
    let smooth = |row: usize, phase: f64| (row as f64 / 9.0 + phase).sin() + 0.7 * (row as f64 / 23.0).cos();
    let cell = |at: usize, draws: &mut SeededDraws| {
        let (row, output) = (at / 2, at % 2);
        powers[output].inverse(center + smooth(row, output as f64) + 0.4 * draws.normal())
    };
    (0..2 * n_rows).map(|at| cell(at, &mut draws)).collect()
}

fn dataset(values: &[f64]) -> Dataset {
    let n_rows = values.len() / 2;
    let inputs = InputPoints::from_column((0..n_rows).map(|row| row as f64).collect()).unwrap();
    Dataset::new(inputs, Observations::from_dense(n_rows, 2, values).unwrap()).unwrap()
}

fn requested(text: &str) -> FitOptions {
    let output_names = ["a", "b"].map(str::to_owned).to_vec();
    FitOptions {
        transforms: text.parse().unwrap(),
        budget: Budget::Quick,
        output_names,
        ..FitOptions::default()
    }
}

#[test]
fn requested_exponents_are_recovered() {
    let powers = [
        PowerTransform::BoxCox { exponent: 0.4 },
        PowerTransform::YeoJohnson { exponent: 0.5, center: 0.0, unit: 1.0 },
    ];
    let values = table(600, powers, 4.0, 5);
    let fitted = fit(&dataset(&values), &requested("a=box-cox,b=yeo-johnson"), &go_on).unwrap();
    let outputs = &fitted.summary().outputs;
    let (first, second) = (outputs[0].power, outputs[1].power);
    assert_eq!((first.kind(), second.kind()), ("box-cox", "yeo-johnson"));
    // The marginal profile likelihood of 600 independent cells has a standard error of about 0.1 here.
    assert!((first.exponent().unwrap() - 0.4).abs() < 0.3, "{first:?}");
    // Around its mean the second output is another function of the value, but concave too.
    assert!((0.0..0.9).contains(&second.exponent().unwrap()), "{second:?}");
    // The summary is the density of the cells in the user's units.
    let log_evidence = fitted.log_evidence().unwrap();
    assert!((fitted.summary().log_evidence - log_evidence).abs() < 1e-9 * log_evidence.abs());
    // Draws have the marginals of the predictions.
    let at = InputPoints::from_column(vec![100.5]).unwrap();
    let predictive = fitted.predict(&at, Quantity::Observation).unwrap();
    let n_draws = 4000;
    let draws = fitted.draws(&at, Quantity::Observation, n_draws, 1).unwrap();
    for output in 0..2 {
        let below = predictive.quantile(output, 0.5);
        let share = draws.chunks_exact(2).filter(|draw| draw[output] < below).count() as f64 / n_draws as f64;
        // Four standard errors of a share of 4000.
        assert!((share - 0.5).abs() < 4.0 * 0.5 / (n_draws as f64).sqrt(), "{share}");
        assert_eq!(predictive.point(output, Point::Median), below);
        assert_eq!(predictive.point(output, Point::Mean), predictive.mean(output));
    }
}

#[test]
fn a_skewed_table_gets_exponents_with_calibrated_intervals() {
    let power = PowerTransform::BoxCox { exponent: 0.3 };
    let values = table(500, [power, power], 3.0, 8);
    // Every fifth cell is hidden from the fit.
    let hidden = |at: usize| at % 5 == 2;
    let given: Vec<f64> =
        values.iter().enumerate().map(|(at, value)| if hidden(at) { f64::NAN } else { *value }).collect();
    let truth: Vec<(usize, f64)> = values.iter().copied().enumerate().filter(|(at, _)| hidden(*at)).collect();
    let options = |transforms| FitOptions { transforms, ..FitOptions::default() };
    let scores = |options: &FitOptions| {
        let fitted = fit(&dataset(&given), options, &go_on).unwrap();
        let predictive = fitted.predict_rows(Quantity::Observation).unwrap();
        (fitted.summary().outputs[0].power, score(&predictive, truth.iter().copied(), &[1.0, 1.0]))
    };
    let (chosen, learned) = scores(&options(TransformOptions::AUTO));
    let (none, plain) = scores(&options(TransformOptions::NONE));
    assert_eq!(none, PowerTransform::None);
    assert_ne!(chosen, PowerTransform::None);
    assert!(learned.log_score > plain.log_score, "{learned:?} {plain:?}");
    // 200 cells: four standard errors of a coverage of 95 % are 6 %.
    assert!((learned.coverage - 0.95).abs() < 0.062, "{learned:?}");
}

#[test]
fn a_plain_table_stays_plain() {
    for seed in [1, 2, 3] {
        let values = table(300, [PowerTransform::None, PowerTransform::None], 5.0, seed);
        let fitted = fit(&dataset(&values), &FitOptions::default(), &go_on).unwrap();
        let powers = fitted.summary().outputs.iter().map(|output| output.power);
        assert!(
            powers.clone().all(|power| power == PowerTransform::None),
            "{:?}",
            powers.collect::<Vec<_>>()
        );
    }
}

#[test]
fn transforms_that_cannot_be_applied_are_refused() {
    let mut values = table(40, [PowerTransform::Log, PowerTransform::Log], 0.0, 2);
    values[2 * 7 + 1] = -1.5;
    let refused = |text: &str| fit(&dataset(&values), &requested(text), &go_on).unwrap_err();
    let FitError::NotTransformable { row, output, value, kind } = refused("b=box-cox") else {
        panic!("{}", refused("b=box-cox"))
    };
    assert_eq!((row.get(), output.get(), value, kind), (7, 1, -1.5, "box-cox"));
    assert!(matches!(refused("c=log"), FitError::NoOutputToTransform { .. }));
    let parameters = GivenParameters {
        kernel: "matern32".parse::<KernelPair>().unwrap(),
        mixing: vec![vec![1.0], vec![1.0]],
        has_private: false,
        length_scales: vec![3.0],
        noise: vec![0.1, 0.1],
    };
    let options = FitOptions { parameters: Some(parameters), ..requested("a=log") };
    let error = fit(&dataset(&values), &options, &go_on).unwrap_err();
    assert!(matches!(error, FitError::TransformsWith { .. }), "{error}");
    assert_eq!(TransformKind::ALL.map(TransformKind::name).join(" "), "auto none log box-cox yeo-johnson");
}
