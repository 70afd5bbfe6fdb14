//! Parameters of models along time, given again: the process on paper, the posterior of the fit they come from, clear refusals.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::f64::consts::TAU;
use std::ops::ControlFlow;

use catena::data::{Dataset, InputPoints, Observations};
use catena::kernel::Kernel;
use catena_fit::{
    Budget, ComponentKind, ComponentParameters, Fit, FitError, FitOptions, MeanChoice, Quantity,
    SharedHarmonic, SharedSeason, TimeOptions, TimeParameters, TimeSpec, fit,
};
use catena_testkit::random::SeededDraws;

const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;

/// Outputs in units of very different sizes with a level and a daily cycle, a row an hour but irregular, a tenth missing.
fn table(n_outputs: usize, n_rows: usize) -> Dataset {
    let mut draws = SeededDraws::new(5);
    let mut levels = vec![0.0; n_outputs];
    let (mut values, mut places) = (vec![], vec![]);
    for row in 0..n_rows {
        let time = 1e6 + HOUR * (row as f64 + 0.3 * draws.normal().tanh());
        for (output, level) in levels.iter_mut().enumerate() {
            *level += 0.05 * draws.normal();
            let season = (TAU * time / DAY + 0.8 * output as f64).sin();
            let value = 10.0_f64.powi(2 * output as i32) * (7.0 + *level + season + 0.2 * draws.normal());
            values.push(if draws.chance(0.1) { f64::NAN } else { value });
        }
        places.push(time);
    }
    let inputs = InputPoints::from_column(places).unwrap();
    Dataset::new(inputs, Observations::from_dense(n_rows, n_outputs, &values).unwrap()).unwrap()
}

fn fitted(table: &Dataset, options: &FitOptions) -> Result<Fit, FitError> {
    fit(table, options, &|_| ControlFlow::Continue(()))
}

fn given(parameters: TimeParameters) -> FitOptions {
    let time = TimeOptions { parameters: Some(parameters), ..TimeOptions::default() };
    FitOptions { time: Some(time), ..FitOptions::default() }
}

/// A level, an oscillator and a season of two harmonics in each of two sums, and a shared season of one.
fn by_hand() -> TimeParameters {
    let sum = |size: f64| {
        vec![
            ComponentParameters {
                kind: ComponentKind::Kernel(Kernel::Matern12),
                length_scale: 5.0 * HOUR,
                amplitudes: vec![1.0],
            },
            ComponentParameters {
                kind: ComponentKind::Level,
                length_scale: 100.0 * DAY,
                amplitudes: vec![4.0],
            },
            ComponentParameters {
                kind: ComponentKind::Season { period: DAY },
                length_scale: 20.0 * DAY,
                amplitudes: vec![0.8 * size, 0.3],
            },
        ]
    };
    TimeParameters {
        mean: MeanChoice::Constant,
        sums: vec![sum(1.0), sum(2.0)],
        mixing: vec![vec![1.0, -0.3], vec![30.0, 70.0]],
        shared: vec![SharedSeason {
            period: 7.0 * DAY,
            length_scale: 90.0 * DAY,
            harmonics: vec![SharedHarmonic { amplitudes: vec![0.6, 50.0], phases: vec![0.4, -1.1] }],
        }],
        noise: vec![0.04, 300.0],
    }
}

/// The covariance of output d at a time t and output e at s, from what the words of the parameters mean.
fn covariance(given: &TimeParameters, start: f64, (d, t): (usize, f64), (e, s): (usize, f64)) -> f64 {
    let lag = (t - s).abs();
    let of_sum = |sum: &Vec<ComponentParameters>| -> f64 {
        let of_piece = |piece: &ComponentParameters| -> f64 {
            let u = lag / piece.length_scale;
            let of_harmonic = |(at, amplitude): (usize, &f64)| {
                let correlation = match piece.kind {
                    ComponentKind::Kernel(Kernel::Matern12) => (-u).exp(),
                    ComponentKind::Level => 1.0 + (t.min(s) - start) / piece.length_scale,
                    ComponentKind::Season { period } => {
                        (-u).exp() * (TAU * (at + 1) as f64 * lag / period).cos()
                    }
                    _ => f64::NAN,
                };
                amplitude * amplitude * correlation
            };
            piece.amplitudes.iter().enumerate().map(of_harmonic).sum()
        };
        sum.iter().map(of_piece).sum()
    };
    let own: f64 = given
        .sums
        .iter()
        .enumerate()
        .map(|(at, sum)| given.mixing[d][at] * given.mixing[e][at] * of_sum(sum))
        .sum();
    let of_season = |season: &SharedSeason| -> f64 {
        let of_harmonic = |(at, harmonic): (usize, &SharedHarmonic)| {
            let SharedHarmonic { amplitudes, phases } = harmonic;
            // An output that is ahead has now what the other has later.
            let angle = TAU * (at + 1) as f64 * (t - s) / season.period + phases[d] - phases[e];
            amplitudes[d] * amplitudes[e] * (-lag / season.length_scale).exp() * angle.cos()
        };
        season.harmonics.iter().enumerate().map(of_harmonic).sum()
    };
    let noise = if d == e && t == s { given.noise[d] } else { 0.0 };
    own + given.shared.iter().map(of_season).sum::<f64>() + noise
}

/// The log density of the cells by Cholesky's algorithm, around the mean of each output.
fn log_density(given: &TimeParameters, table: &Dataset) -> f64 {
    let cells: Vec<(usize, f64, f64)> = table
        .observations()
        .cells()
        .map(|(row, cell)| (cell.output.get(), table.inputs().point(row)[0], cell.value))
        .collect();
    let start = table.inputs().values().iter().copied().fold(f64::INFINITY, f64::min);
    let mean = |output: usize| {
        let own: Vec<f64> = cells.iter().filter(|cell| cell.0 == output).map(|cell| cell.2).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let mut rest: Vec<f64> = cells.iter().map(|cell| cell.2 - mean(cell.0)).collect();
    let n = cells.len();
    let mut factor = vec![vec![0.0; n]; n];
    let mut sum = 0.0;
    for i in 0..n {
        for j in 0..=i {
            let (a, b) = (cells[i], cells[j]);
            let known: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
            let left = covariance(given, start, (a.0, a.1), (b.0, b.1)) - known;
            factor[i][j] = if i == j { left.sqrt() } else { left / factor[j][j] };
        }
        let known: f64 = (0..i).map(|k| factor[i][k] * rest[k]).sum();
        rest[i] = (rest[i] - known) / factor[i][i];
        sum -= 0.5 * (rest[i] * rest[i] + TAU.ln()) + factor[i][i].ln();
    }
    sum
}

#[test]
fn given_parameters_mean_what_they_say() {
    let (table, parameters) = (table(2, 40), by_hand());
    let fit = fitted(&table, &given(parameters.clone())).unwrap();
    let (found, expected) = (fit.log_evidence().unwrap(), log_density(&parameters, &table));
    assert!((found - expected).abs() < 1e-9 * expected.abs(), "{found} instead of {expected}");
    let back = fit.time_parameters().unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * a.abs(), "{a} {b}");
    for (there, back) in parameters.sums.iter().flatten().zip(back.sums.iter().flatten()) {
        close(there.length_scale, back.length_scale);
        there.amplitudes.iter().zip(&back.amplitudes).for_each(|(a, b)| close(*a, *b));
        assert_eq!(there.kind.name(), back.kind.name());
    }
    let (there, found) = (&parameters.shared[0], &back.shared[0]);
    close(there.period, found.period);
    close(there.length_scale, found.length_scale);
    there.harmonics[0].phases.iter().zip(&found.harmonics[0].phases).for_each(|(a, b)| close(*a, *b));
    there.harmonics[0].amplitudes.iter().zip(&found.harmonics[0].amplitudes).for_each(|(a, b)| close(*a, *b));
    parameters.noise.iter().zip(&back.noise).for_each(|(a, b)| close(*a, *b));
    assert_eq!(back.mean, MeanChoice::Constant);
    assert!(
        fit.summary().decisions[0].contains("as given, of matern12+rw+qp("),
        "{:?}",
        fit.summary().decisions
    );
    assert!(fit.parameters().is_none());
}

/// Means and deviations at the rows, between them and ahead.
fn answers(fit: &Fit) -> Vec<f64> {
    let last = fit.table().inputs().values().iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let others = (0..30).map(|at| last + HOUR * (f64::from(at) - 20.7)).collect();
    let others = InputPoints::from_column(others).unwrap();
    let rows = fit.predict_rows(Quantity::Observation).unwrap();
    let ahead = fit.predict(&others, Quantity::Function).unwrap();
    let scales = &fit.parts().preparation.outputs;
    let in_scales = |values: Vec<f64>| -> Vec<f64> {
        values.iter().enumerate().map(|(at, value)| value / scales[at % scales.len()].scale).collect()
    };
    [rows.means(), rows.deviations(), ahead.means(), ahead.deviations()]
        .into_iter()
        .flat_map(in_scales)
        .collect()
}

#[test]
fn what_was_learned_can_be_given_again() {
    let number =
        |text: &str| text.parse::<f64>().map(|hours| hours * HOUR).map_err(|_| "no number".to_owned());
    for (n_outputs, words, mean) in [
        (2, "sho+rw+qp(24,2)", MeanChoice::Auto),
        (2, "matern32+llt", MeanChoice::Constant),
        (3, "matern12+rw+shared(24,2,2)", MeanChoice::Linear),
        (1, "rw+qp(24,3)+qp(60,1)", MeanChoice::Linear),
    ] {
        let table = table(n_outputs, 96);
        let time =
            TimeOptions { spec: Some(TimeSpec::parse(words, &number).unwrap()), ..TimeOptions::default() };
        let options = FitOptions { time: Some(time), budget: Budget::Quick, mean, ..FitOptions::default() };
        let learned = fitted(&table, &options).unwrap();
        let parameters = learned.time_parameters().unwrap();
        assert_eq!(parameters.mean == MeanChoice::Linear, mean == MeanChoice::Linear);
        let again = fitted(&table, &given(parameters.clone())).unwrap();
        assert_eq!(again.summary().n_evaluations, 0);
        for (there, back) in answers(&learned).into_iter().zip(answers(&again)) {
            assert!((there - back).abs() < 1e-10 * there.abs().max(1.0), "{words}: {there} {back}");
        }
        let (there, back) = (learned.log_evidence().unwrap(), again.log_evidence().unwrap());
        assert!((there - back).abs() < 1e-10 * there.abs(), "{words}: {there} {back}");
        assert_eq!(learned.summary().sums().len(), again.summary().sums().len());
        // It is a model like any other: more rows, learned again.
        let relearned = again.relearned(&table, &options, &|_| ControlFlow::Continue(())).unwrap();
        assert!(relearned.time_parameters().is_some());
    }
}

/// An output that never varies has no weights, and a sum without weights has no proportions.
#[test]
fn silent_outputs_go_round() {
    let values: Vec<f64> = (0..80).flat_map(|row| [4.0, (f64::from(row) * 0.3).sin()]).collect();
    let inputs = InputPoints::from_column((0..80).map(f64::from).collect()).unwrap();
    let table = Dataset::new(inputs, Observations::from_dense(80, 2, &values).unwrap()).unwrap();
    let time = TimeOptions { periods: vec![20.0], ..TimeOptions::default() };
    let options = FitOptions { time: Some(time), budget: Budget::Quick, ..FitOptions::default() };
    let learned = fitted(&table, &options).unwrap();
    let again = fitted(&table, &given(learned.time_parameters().unwrap())).unwrap();
    for (there, back) in answers(&learned).into_iter().zip(answers(&again)) {
        assert!((there - back).abs() < 1e-10 * there.abs().max(1.0), "{there} {back}");
    }
}

#[test]
fn what_does_not_belong_to_the_table_is_refused() {
    let table = table(2, 30);
    let refused = |change: fn(&mut TimeParameters)| {
        let mut parameters = by_hand();
        change(&mut parameters);
        fitted(&table, &given(parameters)).unwrap_err()
    };
    let shape = |error: FitError| match error {
        FitError::ParameterShape { what, expected, found } => (what, expected, found),
        other => panic!("{other}"),
    };
    assert_eq!(shape(refused(|given| given.sums.truncate(1))), ("the list of sums", 2, 1));
    assert_eq!(shape(refused(|given| given.noise.push(1.0))), ("the noise", 2, 3));
    assert_eq!(shape(refused(|given| given.mixing[1].truncate(1))), ("a row of the mixing matrix", 2, 1));
    let phases = |given: &mut TimeParameters| given.shared[0].harmonics[0].phases.truncate(1);
    assert_eq!(shape(refused(phases)), ("the phases of a shared season", 2, 1));
    assert_eq!(
        shape(refused(|given| given.sums.iter_mut().for_each(|sum| sum[0].amplitudes.clear()))),
        ("the amplitudes of a component", 1, 0)
    );
    assert_eq!(refused(|given| given.sums[1].truncate(2)), FitError::DifferentComponents { sum: 2 });
    assert!(matches!(refused(|given| given.noise[0] = 0.0), FitError::Model(_)));
    assert!(matches!(refused(|given| given.sums[0][2].length_scale = -1.0), FitError::Model(_)));
    let mut options = given(by_hand());
    options.time.as_mut().unwrap().periods.push(DAY);
    assert!(matches!(fitted(&table, &options), Err(FitError::NotAlongTime { .. })));
}
